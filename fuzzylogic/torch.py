"""Fuzzy logic for PyTorch: the sequences that the paper's models see. `sraven.torch` has the stream.

Only this module needs PyTorch: ``pip install '.[torch]'`` in a checkout.
"""

from typing import TYPE_CHECKING

import torch
from torch.nn.functional import mse_loss

from sraven.core.torch.datasets import BatchStream, Tensors, View, as_tensors
from sraven.core.torch.sequences import SequenceTask

if TYPE_CHECKING:
    from fuzzylogic.task import FuzzyLogic

__all__ = ["BatchStream", "SequenceTask", "Tensors", "View", "as_tensors", "sequence_task", "sequences"]


def sequence_task(task: "FuzzyLogic") -> SequenceTask:
    """Return fuzzy logic as sequences: the query's target is read at the last of N tokens."""

    def loss(outputs: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        return mse_loss(answer(outputs), target)

    def answer(outputs: torch.Tensor) -> torch.Tensor:
        return outputs[:, -1, 0]

    return SequenceTask(task.N, task.L + 1, 1, sequences, loss, answer, warmup=100 / 50_000)


def sequences(batch: Tensors) -> tuple[torch.Tensor, torch.Tensor]:
    """Return a batch as sequences, those that the JAX baselines see (section 3 of the paper).

    Args:
        batch: tensors with ``inputs`` float32 ``[B, N, L]``, or flat ``[B, N · L]`` as of `load_dataset`,
            and ``targets`` float32 ``[B, N]``.

    Returns:
        tokens, float32 ``[B, N, L + 1]``: the inputs and the target of each point, 0 for that of the last,
        which is asked for; and that target, float32 ``[B]``.
    """
    targets = batch["targets"]
    inputs = batch["inputs"].reshape(*targets.shape, -1)  # a dataset's rows are flat
    tokens = torch.cat([inputs, targets[..., None]], dim=-1)
    tokens[:, -1, -1] = 0.0
    return tokens, targets[:, -1]
