"""Trains the same runs on several meshes of eight simulated devices; for a process of `test_sharding`.

Writes for each run in float64, and for each first step in float32 (``-gradient``), parameters and moments
(``.npz``), and how they lie on the devices (``.json``).
"""

import json
import shutil
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import jax
import numpy as np

from baselines.session import OnBoard, ScoringOptions
from baselines.train.checkpoint import Checkpoints
from baselines.train.directory import CHECKPOINTS
from baselines.train.experiment import board_experiment
from baselines.train.sharding import make_mesh
from baselines.train.train import train
from helpers.tiny_runs import STEPS, in_float64, leaves, quickly, tiny
from sraven import ConfigurationError
from sraven.board.board import read_board

DEVICES = 8

# Four divides all of the first and not the 14 hidden units of the second; eight divides the 16 hidden
# units of the first and not its width of 12. A batch of 512 is cut into parts, on eight devices, too, and
# its attention is in lanes.
CONFIGS = {"hyla": tiny("hyla"), "softmax": tiny("softmax", feedforward="moe", mlp_width=14, batch_size=512)}

MESHES = {"one": None, "data": "data=8", "both": "data=2,fsdp=4", "fsdp": "fsdp=8"}

WHOLE = [("hyla", "one"), ("hyla", "both")]
"""Runs from the first step to the last on one mesh."""

MOVES = [("both", "data"), ("one", "fsdp"), ("both", "one")]
"""Runs of hyla that have another mesh from half-way on."""

GRADIENTS = "one", "both"
"""Meshes on which softmax's first gradient is taken."""

SCORED = "hyla-one", "hyla-both"
"""Runs with scores while they train."""

SAVED = {f"hyla-{origin}" for origin, _ in MOVES}
"""Those of the whole runs that move."""

with_slices = OnBoard(read_board("fuzzylogic-v1")).experiment(ScoringOptions(STEPS // 2, 70))
"""Experiments with scores of 70 instances of each split, which no mesh divides."""


def _train(out, name, mesh, **changes):
    make_experiment = with_slices if name in SCORED else board_experiment
    config = replace(CONFIGS[name.split("-")[0]], **changes)
    options = {"mesh": make_mesh(MESHES[mesh]), "make_experiment": make_experiment, "save_every": STEPS // 2}
    state = train(config, out / name, **options)
    np.savez(out / f"{name}.npz", **leaves(state))
    lies = {
        jax.tree_util.keystr(path): {
            "shape": leaf.shape,
            "shards": [shard.data.shape for shard in leaf.addressable_shards],
        }
        for path, leaf in jax.tree_util.tree_leaves_with_path(state)
    }
    (out / f"{name}.json").write_text(json.dumps(lies))


def _move(out, origin, goal):
    """Go on with the first half of a run on another mesh."""
    name = f"hyla-{origin}-{goal}"
    shutil.copytree(out / f"hyla-{origin}", out / name)
    shutil.rmtree(out / name / CHECKPOINTS / str(STEPS))
    _train(out, name, goal)


@contextmanager
def _unsaved():
    """Leave out checkpoints that nobody reads: of states that are cut, they take as long as the training."""
    with patch.object(Checkpoints, "save"):
        yield


def _refuse(out):
    """Try what a mesh doesn't divide."""
    try:
        train(tiny(batch_size=12), out / "refused", mesh=make_mesh(MESHES["both"]))
    except ConfigurationError as error:
        (out / "refused.txt").write_text(str(error))


def main(out):
    """Do all of it in a directory."""
    out = Path(out)
    jax.config.update("jax_num_cpu_devices", DEVICES)
    with quickly(out / "compiled"):
        _refuse(out)
        for mesh in GRADIENTS:
            with _unsaved():
                _train(out, f"softmax-{mesh}-gradient", mesh, steps=1, warmup=1)
        with in_float64():
            for config, mesh in WHOLE:
                with nullcontext() if f"{config}-{mesh}" in SAVED else _unsaved():
                    _train(out, f"{config}-{mesh}", mesh)
            for origin, goal in MOVES:
                _move(out, origin, goal)
