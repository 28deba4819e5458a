"""Networks by name: what a run trains."""

from collections.abc import Callable

from flax import linen as nn

from baselines.model.bottleneck import Bottleneck
from baselines.model.composing import COMPOSING
from baselines.model.config import TransformerConfig
from baselines.model.cross_attention import CrossTransformer
from baselines.model.looped import LoopedTransformer
from baselines.model.mixer import Mixer
from baselines.model.names import look_up
from baselines.model.transformer import Transformer
from sraven.core.errors import ConfigurationError

MakeNetwork = Callable[[TransformerConfig], nn.Module]
"""Returns a module, given the requested shape, of which it uses what it has. The module takes tokens
``[B, T, I]``, a random key in training or None, and by name ``num_outputs``, A; it returns ``[B, A, O]``, or
``[B, T, O]`` of all tokens. One with ``has_codes`` takes ``return_codes`` as well, see
`baselines.model.sequence.SequenceModel`."""

LOOPED = "looped"

NETWORKS: dict[str, MakeNetwork] = {
    "transformer": Transformer,
    LOOPED: LoopedTransformer,
    "mixer": Mixer,
    "bottleneck": Bottleneck,
    "cross": CrossTransformer,
    **COMPOSING,
}
"""The networks by the name that a configuration has for them."""


OURS = frozenset(NETWORKS)
"""Those of this project."""


def add_network(name: str, make: MakeNetwork) -> None:
    """Add a network to `NETWORKS`, so that training and the command line know it.

    Args:
        name: a new one.
        make: returns the network.

    Raises:
        ConfigurationError: (a ValueError) for a name that is taken.
    """
    if name in NETWORKS:
        raise ConfigurationError(f"network {name!r} is there already; choose another name")
    NETWORKS[name] = make


def make_network(name: str, config: TransformerConfig) -> nn.Module:
    """Return the network of a name and a shape.

    Raises:
        ConfigurationError: (a ValueError) for an unknown name, a transformer without attention, or a mixer
            with one.
    """
    return look_up("network", name, NETWORKS, "; --import FILE.py brings one of your own")(config)
