"""A task as a PyTorch network sees it: tokens in, outputs read, loss."""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch

from sraven.core.torch.datasets import Tensors


class SequenceTask(NamedTuple):
    """A task as sequences. The JAX baselines see the same ones.

    Attributes:
        length: T, tokens of a sequence.
        inputs: I, numbers of a token.
        outputs: O, numbers of an output.
        see: makes tokens float32 ``[B, T, I]`` of a batch's tensors, and what is wanted of them.
        loss: the mean loss, given outputs ``[B, T, O]``, or those of the last tokens, and what is wanted.
        answer: the predictions as boards want them, given outputs.
        warmup: the share of all steps over which the recipe's learning rate rises.
    """

    length: int
    inputs: int
    outputs: int
    see: Callable[[Tensors], tuple[torch.Tensor, Any]]
    loss: Callable[[torch.Tensor, Any], torch.Tensor]
    answer: Callable[[torch.Tensor], torch.Tensor]
    warmup: float
