"""Checkpoints of training: written whole or not at all, the newest whole one restored."""

from pathlib import Path
from typing import Any

import jax
from orbax.checkpoint import v1 as ocp

from sraven.core.errors import OutputError

KEPT = 2
"""How many are kept: the newest, and one before, should the newest be damaged."""


class Checkpoints:
    """The checkpoints of a run directory, by step."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._orbax = ocp.training.Checkpointer(
            folder.absolute(),
            preservation_policy=ocp.training.preservation_policies.LatestN(KEPT),
            cleanup_tmp_directories=True,
        )

    def save(self, step: int, state: Any) -> None:
        """Write a checkpoint, in place of a damaged one if need be; when this returns, it is on disk."""
        self._orbax.save(step, _by_path(state), force=True, overwrite=True)

    def restore(self, target: Any) -> tuple[int, Any] | None:
        """Return the newest checkpoint that can be read, and its step; None if there is none.

        Args:
            target: a state of `jax.ShapeDtypeStruct`, with the shardings wanted; they needn't be those
                that it was saved with.

        Raises:
            OutputError: if there are checkpoints but none can be read.
        """
        wanted = _by_path(target)
        steps = sorted((found.step for found in self._orbax.checkpoints), reverse=True)
        for step in steps:
            try:
                leaves = self._orbax.load(step, wanted)
                return step, jax.tree.unflatten(jax.tree.structure(target), [leaves[path] for path in wanted])
            except Exception:  # noqa: S112  # damage has many faces; an older one will do
                continue
        if steps:
            raise OutputError(
                f"{self._folder} has checkpoints, but none can be read; delete it to start anew"
            )
        return None

    def __enter__(self) -> "Checkpoints":
        return self

    def __exit__(self, *_: object) -> None:
        """Give back what Orbax holds."""
        self._orbax.close()


def _by_path(tree: Any) -> dict[str, Any]:
    """Return the leaves of a tree by their paths, in order: Orbax knows no optimiser's classes."""
    return {jax.tree_util.keystr(path): leaf for path, leaf in jax.tree_util.tree_leaves_with_path(tree)}
