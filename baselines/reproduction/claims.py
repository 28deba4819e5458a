"""What the paper claims with each figure, and what a reader must know: the prose of the pages.

No sentence here is about what runs came to: those are made from the records.
"""

from collections.abc import Mapping
from typing import NamedTuple


class Claim(NamedTuple):
    """The prose of a page.

    Attributes:
        paper: what the paper says, or its authors, with where.
        notes: what can't be concluded, or is read in one way of several.
    """

    paper: str
    notes: tuple[str, ...] = ()


_SEEDS_OF_ORDER = "Fuzzy logic has a wide spread: at Table A1's setting the paper's standard error for HYLA is 0.078."

CLAIMS: Mapping[str, Claim] = {
    "figure-2c": Claim(
        "All three attentions solve the task given enough points in context. As more combinations of terms are held "
        "out, R² on held-out combinations falls for all of them, for HYLA less than for softmax and linear attention "
        "(section 3.1, Figure 2C). In distribution the differences are small (Figures A3B and A3D). On "
        "combinations of terms that never occur in training, no model succeeds (Figure A3C). The paper prints no "
        "numbers but those of 32 points and 70 % held out, in Table A1.",
        (
            "Figure A3B is of training tasks, in the published code on points that training has seen; `test` here is "
            "of training tasks and new points.",
            _SEEDS_OF_ORDER,
        ),
    ),
    "table-a1-fuzzylogic": Claim(
        "Each of HYLA's three changes to linear attention helps, RMSHead and mixing twice a little by themselves, and "
        "the whole generally does best (appendix A.1). A deeper value network does well too; a softmax in place of "
        "RMSHead does badly. Section 3.1 says of both RMSHead and the nonlinearity that they are needed together.",
        (
            "On fuzzy logic the paper's own numbers don't show that both are needed: HYLA with neither RMSHead nor "
            "nonlinearity has 79.4, HYLA 81.1, linear attention 59.9. What matters there is the second mixing.",
            "`linear_rmshead_nonlinear` is a reading: the published code has no such variant. φ is applied to the "
            "values before they are mixed.",
            "The table lists HYLA with a softmax twice. “HYLA − RMSHead + softmax” is `hyla_softmax`; “HYLA + softmax”, "
            "which the paper doesn't define, is read as a softmax after RMSHead, `hyla_rmshead_softmax`.",
        ),
    ),
    "table-a1-sraven": Claim(
        "The full HYLA generally does best; RMSHead, or mixing twice, by itself helps a little; with a softmax in place "
        "of RMSHead HYLA does badly (appendix A.1). By the numbers, HYLA is 13 points of accuracy on held-out "
        "combinations above softmax and linear attention; without its nonlinearity that is gone, without RMSHead half "
        "of it is. Mixtures of experts help linear attention by 8 points (1.8 combined standard errors), the others not.",
        (
            "`linear_rmshead_nonlinear` is a reading: the published code has no such variant.",
            "A quarter of the instances has several answers, so 0.941 is the ceiling on `ood`, not 1.",
        ),
    ),
    "figure-4": Claim(
        "With enough data and size, all attentions solve 80 % of the instances of held-out rule combinations. HYLA is "
        "ahead with little data and small models (section 4.4, Figure 4). The paper prints no numbers but those of "
        "4 layers and 20 million instances, in Table A1. Figure A4 has the training losses.",
        (
            "The width factor has two readings. Table A3 multiplies the widths of embedding, queries, keys and values, "
            "and MLP, which is this page. The published code multiplies the heads as well: those are other runs, "
            "on [a page of their own](figure-4-heads.md).",
        ),
    ),
    "figure-4-heads": Claim(
        "The same claim as of [Figure 4](figure-4.md). Here the width factor also multiplies the number of heads, as "
        "the published code does, and the paper's Table A3 doesn't say. Runs of width factor 1 are the same.",
        ("Which of the two readings the paper's figure shows isn't known.",),
    ),
    "activations": Claim(
        "The authors answered a reviewer with HYLA's accuracy on held-out rule combinations for five nonlinearities of "
        "the value network. By the numbers SiLU and ReLU do best; GELU, sigmoid and tanh are near softmax attention's "
        "0.566.",
    ),
    "figure-5c": Claim(
        "With a single head the hypernetwork mechanism is absent, and accuracy on held-out rule combinations is clearly "
        "lower (section 4.4, Figure 5C). The paper prints no numbers.",
        (
            "The comparison is confounded. With one head, RMSHead divides each score by its own size, so every latent "
            "code of HYLA is ±1: what its curve loses there needn't be the mechanism's.",
            "The total width of queries, keys and values is 64 at any number of heads, as in the published code.",
        ),
    ),
    "figure-5d": Claim(
        "The difficulty of SRAVEN grows with the number of features M (Figure 5D). The paper prints no numbers.",
        ("The ceiling falls with M as well: more features, more instances with several answers.",),
    ),
    "figure-a5": Claim(
        "The more rule combinations are held out, the lower the accuracy on them (Figure A5). The paper prints no "
        "numbers.",
        ("Every share has other combinations in `ood`, so differences along the axis aren't those of training alone.",),
    ),
    "figures-a6-a7": Claim(
        "The latent codes of these models form clusters by rule, in later layers above all (Figures 5A, 5B, A6, A7). "
        "This page has the scores of the models; the figures are drawn from latent codes, not from scores.",
        ("One seed each, as in the paper. They are runs of Figure 4 as well.",),
    ),
    "figure-6": Claim(
        "HYLA is better than linear attention on C4 and close to softmax attention (section 5, Figure 6). The paper "
        "prints no numbers.",
        (
            "The paper says 130 billion tokens, the authors' reply to reviewers 150 billion.",
            "A run takes 3e19 operations: weeks of an accelerator. On a CPU there is "
            "[a tiny model](../language-modelling.md#results), which is another experiment.",
        ),
    ),
    "attention-dropout": Claim(
        "The paper doesn't mention attention dropout. Its published code trains all models with 0.1, by a default that "
        "no configuration overrides. So the paper's numbers are with it, and the recipe `paper` is without.",
        (
            "Only the share differs here. The published code parts from the paper in other points too: "
            "`--recipe paper-code`.",
        ),
    ),
}
"""By the name of a figure."""

SEEDS = (
    "± is the standard error over seeds. In the published code a seed also draws the split and the data; here it draws "
    "parameters and dropout, while all runs see the same split and data. So an error here says less than one there."
)

INTRODUCTION = """\
# Results

The paper's figures and tables, run with this code. A figure is a list of runs: board × configuration × seed, each known
by the digest of its configuration. What ran has a record, a file with configuration, seed, command, commit, machine,
time and scores; these pages are made from the records, and say how much there is. “–” stands where nothing ran.

A run counts at full length only. One of another length is another experiment, since the learning rate's schedule depends
on the length: it is shown apart. The numbers of a row are means over seeds at one point of Table A3's grid, chosen by
the score in distribution."""

WITHOUT_SCORES = """\
Figures 2B, 2D, 5E, 5F, A2 and A8 are of latent codes, and A9 is of counts: they have no runs of their own.

## To go on

```sh
sraven reproduce --list
sraven reproduce --plan figure-2c
sraven reproduce --run figure-2c table-a1-fuzzylogic --budget 3h
sraven reproduce --render
```

[`--run`](cli.md#sraven-reproduce) trains what has no record yet, one seed of every row before second seeds and the
cheapest first. It stops at a checkpoint when its time is up; the same line goes on. A run that `sraven train` made
becomes a record by `sraven reproduce --adopt RUN` if its configuration is that of a run here."""
