"""Finished runs that are analysed in a second or two: a few steps of a few parameters."""

from baselines.recipes import make_config
from baselines.training.train import train
from helpers.tiny_runs import TINY, once, tiny
from sraven.core.boards.board import read_board

SRAVEN_LAYERS = 2


def tiny_sraven(attention="hyla", **changes):
    """Return the configuration of a tiny run of two layers on SRAVEN's board."""
    changes = {"layers": SRAVEN_LAYERS, "steps": 5, **changes}
    return make_config(read_board("sraven-v1"), attention, **{**TINY, **changes})


def finished_runs(tmp_path_factory):
    """Return a directory with finished runs ``sraven``, ``fuzzy`` and ``softmax``, which workers share."""

    def make(folder):
        train(tiny_sraven("linear"), folder / "sraven")
        train(tiny(), folder / "fuzzy")
        train(tiny("softmax", seed=1), folder / "softmax")

    return once(tmp_path_factory, "finished", make)
