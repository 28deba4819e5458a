"""Trains the same runs on several meshes of eight simulated devices; for a process of `test_sharding`.

Writes for each run in float64, and for each first step in float32 (``-gradient``), parameters and moments
(``.npz``), and how they lie on the devices (``.json``).
"""

import json
import shutil
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
from helpers.refusals import assert_refused
from helpers.tiny_runs import STEPS, in_float64, leaves, quickly, tiny
from sraven.board.board import read_board

DEVICES = 8

# Four divides all of the first and not the 14 hidden units of the second, whose batch of 512 is cut into
# parts, on eight devices, too.
CONFIGS = {"hyla": tiny("hyla"), "softmax": tiny("softmax", feedforward="moe", mlp_width=14, batch_size=512)}

MESHES = {"one": None, "both": "data=2,fsdp=4", "data": "data=8"}

WHOLE = "one", "both"
"""Meshes on which hyla is trained from the first step to the last, and softmax's first gradient is taken."""

MOVES = [("one", "both"), ("both", "data")]
"""Runs of hyla that have another mesh from half-way on."""

with_slices = OnBoard(read_board("fuzzylogic-v1")).experiment(ScoringOptions(STEPS // 2, 70))
"""Experiments with scores of 70 instances of each split, which no mesh divides."""


def _train(out, name, config, mesh, make_experiment=with_slices):
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
    _train(out, name, CONFIGS["hyla"], goal)


def main(out):
    """Do all of it in a directory."""
    out = Path(out)
    jax.config.update("jax_num_cpu_devices", DEVICES)
    with quickly(out / "compiled"):
        many = make_mesh(MESHES["both"])
        assert_refused("batch_size=12: ", train, tiny(batch_size=12), out / "refused", mesh=many)
        assert not (out / "refused").exists()
        with patch.object(Checkpoints, "save"):  # which nobody reads: it takes as long as the training
            for mesh in WHOLE:
                config = replace(CONFIGS["softmax"], steps=1, warmup=1)
                _train(out, f"softmax-{mesh}-gradient", config, mesh, board_experiment)
        with in_float64():
            for mesh in WHOLE:
                _train(out, f"hyla-{mesh}", CONFIGS["hyla"], mesh)
            for origin, goal in MOVES:
                _move(out, origin, goal)
