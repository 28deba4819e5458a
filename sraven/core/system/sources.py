"""What a network was made of, so that another isn't taken for it."""

import inspect
from collections.abc import Iterable

from sraven.core.spec import digest


def digest_of_network(network: object, kinds: Iterable[type]) -> str:
    """Return the digest of how a network shows itself, and of the source of its classes.

    Args:
        network: its repr says of what shape it is.
        kinds: its classes; the source of one that was typed in isn't known, and doesn't count.
    """
    sources = {}
    for kind in kinds:
        try:
            sources[f"{kind.__module__}.{kind.__qualname__}"] = inspect.getsource(kind)
        except (OSError, TypeError):
            sources[f"{kind.__module__}.{kind.__qualname__}"] = ""
    return digest({"network": repr(network), "sources": dict(sorted(sources.items()))})
