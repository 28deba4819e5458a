"""SRAVEN for PyTorch: a stream of batches for its loaders, and the sequences that the paper's models see.

Only this module needs PyTorch: ``pip install '.[torch]'`` in a checkout.
"""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import torch
from torch.nn.functional import cross_entropy, pad

from sraven.core.torch.datasets import BatchStream, Tensors, View, as_tensors
from sraven.core.torch.sequences import SequenceTask

if TYPE_CHECKING:
    from sraven.task import SRAVEN

__all__ = ["BatchStream", "SequenceTask", "Tensors", "View", "as_tensors", "sequence_task", "sequences"]


def sequence_task(task: "SRAVEN") -> SequenceTask:
    """Return SRAVEN as sequences: the answer is read at the last M of 9 · M tokens."""
    M = task.M

    def loss(outputs: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        return cross_entropy(outputs[:, -M:].mT, target)

    def answer(outputs: torch.Tensor) -> torch.Tensor:
        return outputs[:, -M:].argmax(dim=-1).to(torch.uint8)

    return SequenceTask(9 * M, task.K, task.K, sequences(task), loss, answer, warmup=1000 / 156_250)


def sequences(task: "SRAVEN") -> Callable[[Tensors], tuple[torch.Tensor, torch.Tensor]]:
    """Return what makes sequences of a batch, those that the JAX baselines see (appendix B of the paper).

    It is a view for `BatchStream`, and takes a batch's tensors on any device.

    Args:
        task: whose K and M count.

    Returns:
        a function of tensors with ``context`` and ``target``. It gives tokens, float32 ``[B, 9 · M, K]``:
        the symbols of the eight panels, one-hot, and M tokens of zeros, at whose outputs the answer is
        read; and the answer, int64 ``[B, M]``.

    Example:
        >>> tokens, target = sequences(task)(next(iter(loader)))
        >>> loss = cross_entropy(model(tokens)[:, -4:].mT, target)
    """
    return partial(_sequences, task.M, task.K)  # which workers can be sent


def _sequences(M: int, K: int, batch: Tensors) -> tuple[torch.Tensor, torch.Tensor]:
    # By comparison: `one_hot` would look for the largest symbol, and wait for a GPU to find it.
    every_symbol = torch.arange(K, dtype=torch.uint8, device=batch["context"].device)
    symbols = batch["context"].flatten(1)[..., None] == every_symbol
    return pad(symbols.float(), (0, 0, 0, M)), batch["target"].long()
