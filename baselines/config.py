"""Configurations of runs: frozen, checked on construction, with one canonical form.

A field that is added after a release is declared with `sraven.core.spec.added`, its default being what
runs did before: then older runs can be read and go on, under the digest that they had.
"""

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from math import log
from typing import TYPE_CHECKING, Any, TypeVar

from sraven.core.arguments import check_choice, check_integer, check_number, check_share
from sraven.core.errors import ConfigurationError
from sraven.core.escape import escape
from sraven.core.spec import SEED_LIMIT, added, digest, values_of
from sraven.files.names import name_fault

if TYPE_CHECKING:
    from sraven.board.board import Board

PRECISIONS = ("default", "high", "highest", "bfloat16")
"""How products of float32 are computed. The first three are JAX's names: as the device does by default, in
three passes of bfloat16 or in TF32, and in float32; on a CPU they are the same. ``bfloat16`` is one thing on
every device: dense layers round their inputs to bfloat16 and add up in float32, forwards and backwards; all
else is float32."""


UNNAMED: Mapping[str, Mapping[str, str]] = {
    "paper": {
        "position": "relative_both_ways",
        "lr_schedule": "warmup_cosine",
        "weight_decay_mask": "no_biases",
    },
    "paper-code": {
        "position": "relative_one_way",
        "lr_schedule": "warmup_cosine_paper_code",
        "weight_decay_mask": "no_vectors",
    },
}
"""What a run has whose configuration is older than these fields, by recipe. Such runs keep their digests;
a recipe means something else today, see `baselines.recipes.RECIPES`."""


@dataclass(frozen=True, kw_only=True)
class RunConfig:
    """All that determines one run of training, but for the machine.

    Attributes:
        board: id of the board.
        board_digest: digest of its file.
        attention: its name: softmax, linear, hyla, an ablation or a rival (docs/baselines.md), or none.
        recipe: details of training: paper (the default), or paper-code for what the published code does.
        steps: updates; by default those of the board's budget.
        batch_size: instances of an update.
        learning_rate: its peak.
        weight_decay: of the optimiser.
        warmup: updates over which the rate rises.
        seed: draws the initial parameters and dropout.
        layers: blocks of the network.
        width: of the embedding.
        heads: of attention.
        qkv_width: of queries, keys and values, summed over the heads.
        mlp_width: of the hidden layer.
        activation: of the value network: relu, silu, gelu, sigmoid, tanh.
        feedforward: layer after attention: mlp, moe or none.
        attention_dropout: share of keys that are dropped in training.
        position: how positions enter: relative_one_way, relative_both_ways or rotary.
        lr_schedule: of the rate: warmup_cosine, or warmup_cosine_paper_code.
        weight_decay_mask: which parameters decay: no_biases, or no_vectors.
        optimiser: by default adamw; or one of the user's own code.
        precision: of products of float32: default (as JAX does on the device), high, highest or bfloat16.
        network: its name: transformer (the default), looped, mixer, bottleneck, cross, composing,
            composing_each_alone, composing_one_mlp, composing_rules_apart, or one of the user's own.
        code: digest of the user's own code that was imported, see `baselines.train.code`; empty if none was.
    """

    board: str
    board_digest: str
    attention: str
    recipe: str
    steps: int
    batch_size: int
    learning_rate: float
    weight_decay: float
    warmup: int
    seed: int
    layers: int
    width: int
    heads: int
    qkv_width: int
    mlp_width: int
    activation: str
    feedforward: str
    attention_dropout: float
    position: str = ""
    lr_schedule: str = ""
    weight_decay_mask: str = ""
    optimiser: str = added("adamw")
    precision: str = added("default")
    network: str = added("transformer")
    code: str = added("")

    def __post_init__(self) -> None:
        for name, value in self._unnamed.items():
            object.__setattr__(self, name, getattr(self, name) or value)
        for each in fields(self):
            value = getattr(self, each.name)
            if each.type is str and (not isinstance(value, str) or (value and name_fault(value))):
                raise ConfigurationError(f"{each.name}={escape(value)}: expected a name")
        limits = {
            "steps": (1, 1 << 40),
            "batch_size": (1, 1 << 20),
            "warmup": (0, 1 << 40),
            "seed": (0, min(SEED_LIMIT, (1 << 32) - 1)),
            "layers": (1, 1 << 7),
            "width": (1, 1 << 16),
            "heads": (1, 1 << 10),
            "qkv_width": (1, 1 << 16),
            "mlp_width": (1, 1 << 20),
        }
        for name, (low, high) in limits.items():
            object.__setattr__(self, name, check_integer(name, getattr(self, name), low, high))
        for name in ("learning_rate", "weight_decay", "attention_dropout"):
            object.__setattr__(self, name, check_number(name, getattr(self, name)))
        check_choice("precision", self.precision, PRECISIONS)
        if self.qkv_width % self.heads:
            raise ConfigurationError(f"qkv_width={self.qkv_width}: expected a multiple of heads={self.heads}")
        check_share("attention_dropout", self.attention_dropout, "such as 0.1")

    @property
    def _unnamed(self) -> Mapping[str, str]:
        """What the recipe's name alone stood for, in runs of before configurations named these choices."""
        return UNNAMED.get(self.recipe, UNNAMED["paper"])

    @property
    def architecture(self) -> str:
        """What runs are called by: network and attention, the transformer's attention alone."""
        named = (self.network, "transformer"), (self.attention, "none")
        return " ".join(name for name, left_out in named if name != left_out)

    @property
    def in_words(self) -> str:
        """The same as a phrase."""
        network = self.network if self.network == "transformer" else f"network {self.network}"
        return network if self.attention == "none" else f"{network} with {self.attention} attention"

    @property
    def digest(self) -> str:
        """SHA-256 of the canonical JSON of all this, but for what is as in runs that left it unnamed."""
        unnamed = self._unnamed
        named = {name: value for name, value in values_of(self).items() if value != unnamed.get(name)}
        return digest(named)


@dataclass(frozen=True, kw_only=True)
class LanguageConfig(RunConfig):
    """All that determines one run of the language model, but for the machine.

    Its instances are windows of text, and there are ``vocabulary`` outputs.

    Attributes:
        corpus: digest of the tokens that it is trained on, see `baselines.lm.corpus.Corpus`.
        vocabulary: pieces of the tokenizer.
        length: tokens that a window predicts, T.
        dtype: what is computed in, bfloat16 or float32; parameters are float32.
    """

    corpus: str
    vocabulary: int
    length: int
    dtype: str

    @property
    def _unnamed(self) -> Mapping[str, str]:
        return {**super()._unnamed, "position": "rotary"}

    def __post_init__(self) -> None:
        super().__post_init__()
        check_integer("vocabulary", self.vocabulary, 1, 1 << 16)
        check_integer("length", self.length, 1, 1 << 24)
        check_choice("dtype", self.dtype, ("bfloat16", "float32"))
        check_choice("network", self.network, ("transformer",))


@dataclass(frozen=True)
class TextRecipe:
    """What runs of the language model have in place of a board: section 5 of the paper. Nothing ranks them.

    Attributes:
        id: its name, which configurations have as their board.
        digest: which they have as their board's.
        version: of the benchmark.
        train_budget: tokens.
        pieces: of the tokenizer that C4's own models have.
        metric: that runs are compared by, less being better.
        splits: documents on which runs are scored, by split: those of C4, configuration ``en``.
        primary_split: on which runs are compared.
        higher_is_better: whether more of the metric is better.
        held_out, reported: none.
    """

    id: str = "c4-v1"
    digest: str = "ce3bf977db6db3fd16a3e88a11da4ab08eff5025e31568aca1030beae7dda79f"
    version: str = "1"
    train_budget: int = 130_000_000_000
    pieces: int = 32_101
    metric: str = "loss"
    splits: Mapping[str, int] = field(default_factory=lambda: {"validation": 364_608})
    primary_split: str = "validation"
    higher_is_better: bool = False
    held_out: Mapping[str, Any] = field(default_factory=dict)
    reported: tuple[Any, ...] = ()

    @property
    def chance(self) -> float:
        """Nats that it costs if all pieces are equally likely."""
        return log(self.pieces)

    def ceiling(self, split: str, metric: str, prior: str = "") -> None:
        """Return nothing: no observer of text is ideal."""

    def reference_levels(self, split: str) -> tuple[()]:
        """Return nothing: none is known."""
        return ()


C4 = TextRecipe()


def find_board(name: str) -> "Board | TextRecipe":
    """Return what runs are trained on, by its id: a board, or the recipe of the language model.

    Raises:
        ConfigurationError: if there is none.
    """
    from sraven.board.board import read_board

    return C4 if name == C4.id else read_board(name)


C = TypeVar("C", bound=RunConfig)


def check_warmup(config: C) -> C:
    """Return a configuration whose rate reaches its peak.

    New runs are held to it; old ones that weren't stay readable.

    Raises:
        ConfigurationError: if the run ends before.
    """
    if config.warmup > config.steps:
        raise ConfigurationError(
            f"steps={config.steps:,} with warmup={config.warmup:,}: the learning rate would never reach "
            f"{config.learning_rate:g}; choose a warm-up of as many steps at most"
        )
    return config


def read_config(values: Mapping[str, Any]) -> RunConfig:
    """Return the configuration that a file holds; fields that are younger than it get their default.

    Raises:
        ConfigurationError: if it lacks a field, has a strange one, or a value out of range.
    """
    if not isinstance(values, Mapping):
        raise ConfigurationError(f"the run's configuration is {escape(values)}; expected names and values")
    kind = LanguageConfig if "corpus" in values else RunConfig
    known = fields(kind)
    lacking = [each.name for each in known if each.default is MISSING and each.name not in values]
    if lacking:
        raise ConfigurationError(f"the run's configuration lacks {', '.join(lacking)}")
    strange = sorted(set(map(str, values)) - {each.name for each in known})
    if strange:
        raise ConfigurationError(
            f"the run's configuration has {escape(', '.join(strange))}, which this sraven doesn't know; "
            "a run of a newer sraven takes a newer sraven"
        )
    return kind(**values)
