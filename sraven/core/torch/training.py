"""Training and prediction of any PyTorch network on a task, by the recipe of the baselines (Table A3)."""

import copy
import json
import math
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
from numpy.typing import NDArray
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from sraven.core.cost import Cost
from sraven.core.errors import ConfigurationError, OutputError
from sraven.core.system.files import replacing, write_text
from sraven.core.system.sources import digest_of_network
from sraven.core.task import Task
from sraven.core.torch.datasets import BatchStream, as_tensors
from sraven.core.torch.sequences import SequenceTask

Progress = Callable[[Mapping[str, Any]], None]
"""Is told a line of the log: ``step``, ``loss`` and now and then ``scores``."""

_LOG_EVERY, _JUDGE_EVERY, _JUDGED, _SAVE_SECONDS, _PREDICTED = 100, 1000, 1024, 120.0, 512


class TrainingOptions(NamedTuple):
    """How a network is trained.

    Attributes:
        steps: updates.
        batch_size: instances of each.
        learning_rate: its peak.
        weight_decay: of matrices, but those that are called ``position``; vectors have none.
        device: PyTorch's name of one.
    """

    steps: int
    batch_size: int = 128
    learning_rate: float = 1e-3
    weight_decay: float = 0.1
    device: str = "cpu"


def rate_at(step: int, steps: int, warmup: int) -> float:
    """Return the learning rate of a step, from 0, as a share of its peak: up a line, down a cosine to 0.1."""
    if step < warmup:
        return (step + 1) / warmup
    progress = min(1.0, (step + 1 - warmup) / max(1, steps - warmup))
    return 0.1 + 0.45 * (1 + math.cos(math.pi * progress))


def _loss(network: nn.Module, of: SequenceTask, tensors: Mapping[str, torch.Tensor]) -> torch.Tensor:
    """Return the loss of a batch: the network's own ``training_loss``, if it has one."""
    tokens, wanted = of.see(tensors)
    own = getattr(network, "training_loss", None)
    if own is not None:
        return torch.as_tensor(own(tokens, lambda outputs: of.loss(outputs, wanted)))
    return of.loss(network(tokens), wanted)


def _optimiser(network: nn.Module, options: TrainingOptions) -> torch.optim.Optimizer:
    named = list(network.named_parameters())
    decays = [each.ndim > 1 and "position" not in name for name, each in named]
    groups = [
        {"params": [each for (_, each), does in zip(named, decays, strict=True) if does is which], **decay}
        for which, decay in ((True, {"weight_decay": options.weight_decay}), (False, {"weight_decay": 0.0}))
    ]
    return torch.optim.AdamW(groups, lr=options.learning_rate)


def train_network(
    network: nn.Module,
    task: Task,
    of: SequenceTask,
    options: TrainingOptions,
    checkpoint: Path,
    judge: Callable[[nn.Module], Mapping[str, Any]],
    on_progress: Progress,
) -> None:
    """Train a network in place, and go on with what an earlier call for the same checkpoint left.

    Instances are those of the training split, in order, none twice.

    Raises:
        OutputError: if the checkpoint is of another network, or of other options.

    Args:
        network: of tokens; one with a method ``training_loss(tokens, loss)`` says itself what is minimised.
        task: what it learns.
        of: the same as sequences.
        options: of training.
        checkpoint: file of parameters, optimiser and log, written every few minutes, and beside it the log
            as JSON Lines for `sraven curves`.
        judge: returns scores for the log, given the network, every 1,000 steps and at the end.
        on_progress: is told a line of the log every 100 steps.
    """
    kinds = {type(each) for each in network.modules()}
    own = (each for each in kinds if not each.__module__.startswith("torch."))
    made_of = {**options._asdict(), "device": "", "network": digest_of_network(network, own)}
    network.to(options.device).train()
    optimiser, begin, log = _optimiser(network, options), 0, []
    if checkpoint.exists():
        found, begin, log, weights, moments = torch.load(checkpoint, map_location=options.device)
        if found != made_of:
            raise OutputError(
                f"{checkpoint} is of another network, or was trained otherwise; choose another folder"
            )
        network.load_state_dict(weights)
        optimiser.load_state_dict(moments)
    warmup = max(1, round(of.warmup * options.steps))
    saved = time.monotonic()
    batches = BatchStream(task, "train", options.batch_size, start=begin, stop=options.steps)
    for step, batch in enumerate(batches, begin + 1):
        loss = _loss(network, of, {name: each.to(options.device) for name, each in batch.items()})
        for group in optimiser.param_groups:
            group["lr"] = options.learning_rate * rate_at(step - 1, options.steps, warmup)
        optimiser.zero_grad()
        torch.autograd.backward([loss])
        optimiser.step()
        is_judged = step % _JUDGE_EVERY == 0 or step == options.steps
        if step % _LOG_EVERY == 0 or is_judged:
            log.append({"step": step, "loss": loss.item()})
            if is_judged:
                log[-1]["scores"] = judge(network.eval())
                network.train()
            on_progress(log[-1])
        if is_judged or time.monotonic() - saved > _SAVE_SECONDS:
            with replacing(checkpoint) as path:
                torch.save([made_of, step, log, network.state_dict(), optimiser.state_dict()], path)
            write_text(checkpoint.with_suffix(".jsonl"), "".join(json.dumps(line) + "\n" for line in log))
            saved = time.monotonic()
    network.eval()


@torch.no_grad()
def predict_split(network: nn.Module, task: Task, of: SequenceTask, split: str, size: int) -> NDArray[Any]:
    """Return predictions of the first instances of a split: uint8 ``[size, M]``, or float32 ``[size]``."""
    device, found = next(network.parameters()).device, []
    for batch in BatchStream(task, split, _PREDICTED, stop=-(-size // _PREDICTED)):
        tokens, _ = of.see({name: each.to(device) for name, each in batch.items()})
        found.append(of.answer(network(tokens)).cpu())
    predictions: NDArray[Any] = torch.cat(found)[:size].numpy()
    return predictions


def measure_cost(network: nn.Module, task: Task, of: SequenceTask, batch_size: int) -> Cost:
    """Return what a network costs, counted on the first instances of the training split, on a CPU."""
    parameters = sum(each.numel() for each in network.parameters())
    batch = as_tensors(task.sample("train", 0, batch_size))
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        outputs = network(of.see({name: each[:1] for name, each in batch.items()})[0])
    if outputs.ndim != 3 or outputs.shape[::2] != (1, of.outputs) or outputs.shape[1] > of.length:
        raise ConfigurationError(
            f"the network made {list(outputs.shape)} of tokens {[1, of.length, of.inputs]}; expected "
            f"{[1, of.length, of.outputs]}, or of the last tokens alone"
        )
    own = {each.untyped_storage().data_ptr() for each in network.parameters()}
    saved: dict[int, int] = {}

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            saved[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        loss = _loss(network, of, batch)
    del loss
    sizes = sum(each.numel() * each.element_size() for each in network.parameters())
    state = getattr(network, "state_size", None)
    return Cost(parameters, float(counter.get_total_flops()), 4 * sizes + sum(saved.values()), state)


def train_seeds(
    make_network: Callable[[int, int, int], nn.Module],
    task: Task,
    splits: Mapping[str, int],
    options: TrainingOptions,
    seeds: Sequence[int],
    folder: Path,
    judge: Callable[[str, NDArray[Any]], Mapping[str, float]],
    on_progress: Callable[[str], None],
) -> tuple[dict[str, dict[int, NDArray[Any]]], Cost]:
    """Return what networks of some seeds predict, and what one costs; each is trained in turn.

    Args:
        make_network: returns a new one, given T, I and O of a `SequenceTask`.
        task: to train on.
        splits: what is predicted: instances by name.
        options: of training.
        seeds: of parameters.
        folder: of checkpoints and logs, ``seed-0.pt`` and ``seed-0.jsonl``.
        judge: returns scores for the log, given a split and predictions of its first instances.
        on_progress: is told a line now and then.

    Raises:
        ConfigurationError: for outputs of another shape than ``[B, T, O]`` or ``[B, A, O]``.
        OutputError: for checkpoints of another network, or of other options.
    """
    of: SequenceTask = task.sequences
    folder.mkdir(parents=True, exist_ok=True)
    predictions: dict[str, dict[int, NDArray[Any]]] = {split: {} for split in splits}
    for seed in seeds:
        torch.manual_seed(seed)
        network = make_network(of.length, of.inputs, of.outputs).cpu()
        cost = measure_cost(copy.deepcopy(network), task, of, options.batch_size)

        def score(network: nn.Module) -> dict[str, Mapping[str, float]]:
            return {split: judge(split, predict_split(network, task, of, split, _JUDGED)) for split in splits}

        def say(line: Mapping[str, Any], seed: int = seed) -> None:
            scores = line.get("scores", {}).items()
            words = [f"{split} {value:.4f}" for split, each in scores for value in each.values()]
            text = f"seed {seed}, step {line['step']:,} of {options.steps:,}: loss {line['loss']:.4f}"
            on_progress(", ".join([text, *words]))

        train_network(network, task, of, options, folder / f"seed-{seed}.pt", score, say)
        for split, size in splits.items():
            predictions[split][seed] = predict_split(network, task, of, split, size)
    return predictions, cost


def default_device() -> str:
    """Return the name of a GPU if there is one, else of the processor."""
    return "cuda" if torch.cuda.is_available() else "cpu"
