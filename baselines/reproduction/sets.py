"""The paper's figures and tables as data: which rows each has, and on which board they are trained.

What a row doesn't say is the recipe's: `baselines.table_a3.TABLE_A3`, at one point of its grid.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import product
from typing import Any

from baselines.config import TextRecipe, find_board
from baselines.table_a3 import TABLE_A3
from sraven.board.board import Board

read_board_once = cache(find_board)

ATTENTIONS = {"softmax": "softmax", "linear": "linear", "hyla": "HYLA"}
"""The three that all figures compare: names of functions, and what pages call them."""


@dataclass(frozen=True)
class Row:
    """A row of a table, or a point of a figure: one configuration but for seed and point of the grid.

    Attributes:
        board: id of the board.
        labels: what distinguishes it from other rows, by the heading of a column.
        changes: fields of the configuration in which it differs from the recipe.
        instances: that it is trained on; None for the board's budget.
        reported: name of the method among the board's reported figures; None if there is no number.
    """

    board: str
    labels: Mapping[str, str]
    changes: Mapping[str, Any]
    instances: int | None = None
    reported: str | None = None


@dataclass(frozen=True)
class Chart:
    """How the rows of a figure are drawn: a line for each attention.

    Attributes:
        across: heading of the column along the horizontal axis.
        panel: heading of the column of which each value has a panel; None for one.
    """

    across: str
    panel: str | None = None


@dataclass(frozen=True)
class Figure:
    """A figure or table of the paper.

    Attributes:
        name: short, for commands and files.
        title: what it is in the paper, and of what.
        family: of its tasks, a name of `TABLE_A3`.
        rows: what is compared.
        seeds: how often each.
        chart: how it is drawn; None for a table.
        gridded: whether the paper searches the grid for it.
        compared: headings of the columns along which rows are compared, all others being equal.
        costed: whether its page says what each row costs, and what its scores are read against.
        kept: whether its page says what rows keep of their score on known combinations.
    """

    name: str
    title: str
    family: str
    rows: tuple[Row, ...]
    seeds: tuple[int, ...] = (0, 1, 2)
    chart: Chart | None = None
    gridded: bool = True
    compared: tuple[str, ...] = ("attention",)
    costed: bool = False
    kept: bool = False

    @cached_property
    def points(self) -> tuple[Mapping[str, float], ...]:
        """Points of the grid, the recipe's first."""
        points = TABLE_A3[self.family].points
        return points if self.gridded else points[:1]

    @property
    def headings(self) -> tuple[str, ...]:
        """Of the columns that distinguish rows."""
        return tuple(self.rows[0].labels)

    @property
    def board(self) -> Board | TextRecipe:
        """Of the first row; its metric and splits are those of all."""
        return read_board_once(self.rows[0].board)


_ABLATIONS: Mapping[str, Mapping[str, Any]] = {
    "softmax attention": {"attention": "softmax"},
    "linear attention": {"attention": "linear"},
    "HYLA": {"attention": "hyla"},
    "linear attention + RMSHead": {"attention": "linear_rmshead"},
    "linear attention + RMSHead + nonlinear value": {"attention": "linear_rmshead_nonlinear"},
    "HYLA − RMSHead": {"attention": "hyla_no_rmshead"},
    "HYLA − nonlinearity": {"attention": "hyla_linear"},
    "HYLA − nonlinearity − RMSHead": {"attention": "hyla_linear_no_rmshead"},
    "HYLA − RMSHead + softmax": {"attention": "hyla_softmax"},
    "HYLA + deep value network": {"attention": "hyla_deep"},
    "HYLA + softmax": {"attention": "hyla_rmshead_softmax"},
    "softmax attention + MoE": {"attention": "softmax", "feedforward": "moe"},
    "linear attention + MoE": {"attention": "linear", "feedforward": "moe"},
    "HYLA + MoE": {"attention": "hyla", "feedforward": "moe"},
}
"""Table A1: the method's name there, and what its network has beside the recipe's."""

_RIVALS: Mapping[str, Mapping[str, Any]] = {
    "softmax attention": {"attention": "softmax"},
    "linear attention": {"attention": "linear"},
    "HYLA": {"attention": "hyla"},
    "HYLA + deep value network": {"attention": "hyla_deep"},
    "sparse-coding attention": {"attention": "sparse_coding"},
    "Gated DeltaNet": {"attention": "gated_delta"},
    "dual attention": {"attention": "dual"},
    "looped softmax transformer": {"network": "looped", "attention": "softmax"},
    "looped HYLA transformer": {"network": "looped", "attention": "hyla"},
    "one layer of softmax attention": {"layers": 1, "attention": "softmax"},
    "one layer of HYLA": {"layers": 1, "attention": "hyla"},
    "MLP-Mixer": {"network": "mixer", "attention": "none"},
}
"""Networks of other papers beside the three. A looped transformer has a control of the same operations, that
with layers of their own, and one of the same parameters, that of one layer."""

_COMPOSERS = {
    name: _RIVALS[name]
    for name in (
        "softmax attention",
        "linear attention",
        "HYLA",
        "sparse-coding attention",
        "looped softmax transformer",
        "looped HYLA transformer",
    )
}
"""Those of which their papers say that they compose, beside the three."""

_ACTIVATIONS = {"relu": "ReLU", "silu": "SiLU", "gelu": "GELU", "sigmoid": "sigmoid", "tanh": "tanh"}


FUZZY: Mapping[str, Any] = {"position": "relative_both_ways"}
"""Runs on fuzzy logic have buckets for both ways: most were trained before the recipe's became one-way, and
their points are a set. What that changes is the figure `positions-fuzzylogic`."""


_RANKED: Mapping[str, tuple[str, str, Mapping[str, Any]]] = {
    "fuzzylogic": ("fuzzy logic", "fuzzylogic-v1", FUZZY),
    "sraven": ("SRAVEN", "sraven-v1", {}),
}
"""Families with a figure each on their ranked board: title, board and fields of the configuration."""


def _attentions(
    board: str,
    labels: Mapping[str, str],
    *,
    names: Mapping[str, str] = ATTENTIONS,
    instances: int | None = None,
    **changes: Any,
) -> Iterator[Row]:
    """Yield a row for each attention, alike in all else."""
    for attention, name in names.items():
        yield Row(board, {**labels, "attention": name}, {"attention": attention, **changes}, instances)


def _over(rows: Callable[..., Iterable[Row]], *axes: Iterable[Any]) -> tuple[Row, ...]:
    """Return the rows that a function makes of each choice of values, the last one varying fastest."""
    return tuple(row for values in product(*axes) for row in rows(*values))


def _in_context(points: int, held_out: int) -> Iterator[Row]:
    is_ranked = (points, held_out) == (32, 70)  # the ranked board of the paper's setting
    board = "fuzzylogic-v1" if is_ranked else f"fuzzylogic-points{points}-holdout{held_out}-v1"
    return _attentions(board, {"points": str(points), "held out": f"{held_out} %"}, **FUZZY)


def _unknown_terms(terms: str, board: str) -> Iterator[Row]:
    names = {**ATTENTIONS, "hyla_deep": "HYLA + deep value network"}
    yield from _attentions(board, {"terms": terms}, names=names)
    labels = {"terms": terms, "attention": "one layer of HYLA"}
    yield Row(board, labels, {"attention": "hyla", "layers": 1})


def _methods(
    board: str,
    methods: Mapping[str, Mapping[str, Any]],
    fields: Mapping[str, Any],
    *,
    are_reported: bool = False,
) -> tuple[Row, ...]:
    """Return a row for each method, given what each changes, and the fields that all of them have."""
    return tuple(
        Row(board, {"method": name}, {**fields, **changes}, reported=name if are_reported else None)
        for name, changes in methods.items()
    )


def _scaled(model: tuple[str, Mapping[str, Any]], instances: int) -> Iterator[Row]:
    """Return rows of Figure 4: a model's name and shape, and on how much it is trained."""
    labels = {"model": model[0], "instances": f"{instances // 1_000_000} M"}
    return _attentions("sraven-v1", labels, instances=instances, **model[1])


def _composing(board: str, instances: int) -> Iterator[Row]:
    """Return rows on a board that holds out pairs of rules, or its control; warm-up is the usual part."""
    warmup = instances * _SRAVEN.start["warmup"] // _SRAVEN_BUDGET
    labels = {"board": f"`{board}`", "instances": f"{instances / 1e6:g} M"}
    return _attentions(f"sraven-{board}-v1", labels, instances=instances, warmup=int(warmup))


def _widened(factor: int, **more: int) -> dict[str, int]:
    """Return the widths that Table A3's width factor multiplies, times the factor."""
    shape = _SRAVEN.shape
    return {**{name: factor * shape[name] for name in ("width", "qkv_width", "mlp_width")}, **more}


def _by_value(
    board: str, heading: str, field: str, words: Mapping[Any, str], **changes: Any
) -> tuple[Row, ...]:
    """Return a row for each attention and each value of a field, which a column has in words."""
    return tuple(
        Row(board, {"attention": name, heading: word}, {"attention": attention, field: value, **changes})
        for attention, name in ATTENTIONS.items()
        for value, word in words.items()
    )


_SRAVEN, _SRAVEN_BUDGET = TABLE_A3["sraven"], 20_000_000
_DEPTHS = {f"{layers} layers": {"layers": layers} for layers in _SRAVEN.layers}
_WIDTHS = {f"width factor {factor}": _widened(factor) for factor in (2, 4)}
_WIDTHS_AND_HEADS = {
    f"width factor {factor} for heads too": _widened(factor, heads=factor * _SRAVEN.shape["heads"])
    for factor in (2, 4)
}
_BUCKETS = {"relative_one_way": "one way", "relative_both_ways": "both ways"}
_PHIS = tuple(
    Row(
        "sraven-v1",
        {"φ": name},
        {"attention": "hyla", "activation": activation},
        reported="HYLA" if activation == "relu" else f"HYLA, φ = {name}",
    )
    for activation, name in _ACTIVATIONS.items()
)
_SHOWN = tuple(
    Row(
        "sraven-v1",
        {"model": f"{layers} layers", "attention": ATTENTIONS[attention]},
        {"attention": attention, "layers": layers},
        instances=40_000_000,
    )
    for layers, attention in ((4, "softmax"), (4, "linear"), (4, "hyla"), (16, "softmax"))
)
_DROPOUTS = {0.0: "0", 0.1: "0.1"}
_DROPOUT = _by_value("fuzzylogic-v1", "attention dropout", "attention_dropout", _DROPOUTS, **FUZZY)
_PRECISION = _by_value(
    "fuzzylogic-v1", "precision", "precision", {"default": "float32", "bfloat16": "bfloat16"}, **FUZZY
)
_TERMS = (("the paper's", "fuzzylogic-paper-terms-v1"), ("drawn", "fuzzylogic-terms-v1"))
_HEADS = _over(lambda heads: _attentions("sraven-v1", {"heads": str(heads)}, heads=heads), (1, 2, 4, 8, 16))
_FEATURES = _over(
    lambda M: _attentions("sraven-v1" if M == 4 else f"sraven-features{M}-v1", {"M": str(M)}), range(2, 9)
)
_SHARES = _over(
    lambda share: _attentions(f"sraven-holdout{share}-v1", {"held out": f"{share} %"}), range(10, 100, 10)
)
_DIVISIONS = tuple(
    row
    for seed, place in enumerate(("", "-split1", "-split2"))
    for row in _attentions(f"fuzzylogic{place}-v1", {"split seed": str(seed)}, **FUZZY)
)
_THREE_FEATURES = (
    *(("blocks3", instances) for instances in (500_000, 2_000_000, 5_000_000)),
    *(("few3", instances) for instances in (2_000_000, 5_000_000)),
)
_FOUR_FEATURES = (("blocks", 20_000_000), ("few", 20_000_000), ("pairs", 20_000_000))
_OTHER_BLOCKS = (("blocks3-1", 5_000_000), ("blocks3-2", 5_000_000))
_SIZES = _over(_scaled, {**_DEPTHS, **_WIDTHS}.items(), _SRAVEN.budgets)
_SIZES_WITH_HEADS = _over(_scaled, _WIDTHS_AND_HEADS.items(), _SRAVEN.budgets)
_BY_SIZE = Chart("instances", panel="model")

_ALL: Sequence[Figure] = (
    Figure(
        "figure-2c",
        "Figures 2C and A3: fuzzy logic, points in context and tasks held out",
        "fuzzylogic",
        _over(_in_context, (16, 32, 64, 96), (30, 50, 70)),
        chart=Chart("held out", panel="points"),
    ),
    Figure(
        "figure-a3c",
        "Figure A3C: fuzzy logic, unknown terms",
        "fuzzylogic",
        tuple(row for terms in _TERMS for row in _unknown_terms(*terms)),
    ),
    *(
        Figure(
            f"table-a1-{family}",
            f"Table A1, {title}: ablations of HYLA",
            family,
            _methods(board, _ABLATIONS, fields, are_reported=True),
            compared=("method",),
        )
        for family, (title, board, fields) in _RANKED.items()
    ),
    Figure("figure-4", "Figures 4 and A4: SRAVEN, data, depth and width", "sraven", _SIZES, chart=_BY_SIZE),
    Figure(
        "figure-4-heads",
        "Figures 4 and A4, width as in the published code: heads are multiplied too",
        "sraven",
        _SIZES_WITH_HEADS,
        chart=_BY_SIZE,
    ),
    Figure(
        "activations",
        "The authors' reply to reviewers: φ of HYLA's value network, on SRAVEN",
        "sraven",
        _PHIS,
        compared=("φ",),
    ),
    Figure("figure-5c", "Figure 5C: SRAVEN, number of heads", "sraven", _HEADS, chart=Chart("heads")),
    Figure("figure-5d", "Figure 5D: SRAVEN, number of features M", "sraven", _FEATURES, chart=Chart("M")),
    Figure(
        "figure-a5",
        "Figure A5: SRAVEN, share of rule combinations held out",
        "sraven",
        _SHARES,
        chart=Chart("held out"),
    ),
    Figure(
        "figures-a6-a7",
        "Figures 5A, 5B, A6 and A7: the SRAVEN models whose latent codes are shown",
        "sraven",
        _SHOWN,
        seeds=(0,),
        gridded=False,
    ),
    Figure("figure-6", "Figure 6: language modelling on C4", "c4", tuple(_attentions("c4-v1", {})), (0,)),
    Figure(
        "attention-dropout",
        "Not in the paper: attention dropout, with which its published code trains",
        "fuzzylogic",
        _DROPOUT,
        compared=("attention", "attention dropout"),
    ),
    Figure(
        "attention-dropout-sraven",
        "Not in the paper: attention dropout, with which its published code trains, on SRAVEN",
        "sraven",
        _by_value("sraven-v1", "attention dropout", "attention_dropout", _DROPOUTS),
        compared=("attention", "attention dropout"),
    ),
    Figure(
        "precision-fuzzylogic",
        "Not in the paper: dense layers with inputs rounded to bfloat16, on fuzzy logic",
        "fuzzylogic",
        _PRECISION,
        compared=("attention", "precision"),
    ),
    Figure(
        "splits-fuzzylogic",
        "Not in the paper: other divisions of fuzzy logic's terms and combinations",
        "fuzzylogic",
        _DIVISIONS,
        seeds=(0, 1),
    ),
    *(
        Figure(
            f"rivals-{family}",
            f"Not in the paper: who composes? Other networks on {title}",
            family,
            _methods(board, _RIVALS, fields),
            compared=("method",),
            costed=True,
        )
        for family, (title, board, fields) in _RANKED.items()
    ),
    *(
        Figure(
            f"positions-{family}",
            f"Not in the paper: buckets of relative positions, on {title}",
            family,
            _by_value(board, "buckets", "position", _BUCKETS),
            compared=("attention", "buckets"),
        )
        for family, (title, board, _) in _RANKED.items()
    ),
    *(
        Figure(
            name,
            f"Not in the paper: who composes? SRAVEN, pairs of rules held out, {title}",
            "sraven",
            tuple(row for setting in settings for row in _composing(*setting)),
            seeds=seeds,
            gridded=False,
            costed=True,
            kept=True,
        )
        for name, title, settings, seeds in (
            ("who-composes", "three features", _THREE_FEATURES, (0, 1, 2)),
            ("who-composes-flagship", "four features", _FOUR_FEATURES, (0, 1, 2)),
            ("who-composes-blocks", "other blocks", _OTHER_BLOCKS, (0,)),
        )
    ),
    Figure(
        "rivals-blocks",
        "Not in the paper: who composes? Other networks on SRAVEN, blocks held out",
        "sraven",
        _methods("sraven-blocks-v1", _COMPOSERS, {}),
        compared=("method",),
        costed=True,
    ),
    Figure(
        "seeds-sraven",
        "Not in the paper: seven seeds of each attention on SRAVEN",
        "sraven",
        tuple(_attentions("sraven-v1", {})),
        seeds=tuple(range(7)),
        gridded=False,
    ),
)

FIGURES: Mapping[str, Figure] = {figure.name: figure for figure in _ALL}
"""By name, in the order of the paper. A run that several have is trained once; its record is the first's."""
