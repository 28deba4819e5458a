"""The former place of `sraven.scoring`; its public name is found here, too."""

from sraven.scoring import SRAVENScoring

__all__ = ["SRAVENScoring"]
