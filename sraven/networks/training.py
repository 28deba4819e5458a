"""Training and prediction of any PyTorch network on a task, by the recipe of the baselines (Table A3)."""

import json
import math
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from pickle import UnpicklingError
from typing import Any, NamedTuple

import torch
from numpy.typing import NDArray
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from sraven.core.errors import ConfigurationError, OutputError
from sraven.core.roles import Task
from sraven.core.torch.datasets import BatchStream, as_tensors
from sraven.core.torch.sequences import SequenceTask
from sraven.files.files import replacing, write_text
from sraven.networks.cost import Cost
from sraven.networks.identity import digest_of_classes
from sraven.networks.recipe import Recipe

OnLine = Callable[[Mapping[str, Any], float, float], None]
"""Is told a line of the log (``step``, ``loss``, now and then ``scores``), seconds so far and left."""

_LOG_EVERY, _JUDGE_EVERY, _SAVE_SECONDS, _PREDICTED = 100, 1000, 120.0, 512


class TrainingOptions(NamedTuple):
    """How a network is trained.

    Attributes:
        steps: updates.
        seed: of parameters.
        recipe: of training. Parameters that are called ``position`` or marked ``_no_weight_decay`` don't
            decay, as vectors don't.
        device: PyTorch's name of one.
    """

    steps: int
    seed: int = 0
    recipe: Recipe = Recipe()
    device: str = "cpu"


def rate_at(step: int, steps: int, warmup: int) -> float:
    """Return the learning rate of a step, from 0, as a share of its peak: up a line, down a cosine to 0.1."""
    if step < warmup:
        return (step + 1) / warmup
    progress = min(1.0, (step + 1 - warmup) / max(1, steps - warmup))
    return 0.1 + 0.45 * (1 + math.cos(math.pi * progress))


def _loss(network: nn.Module, of: SequenceTask, tensors: Mapping[str, torch.Tensor]) -> torch.Tensor:
    """Return the loss of a batch: the network's own ``training_loss``, if it has one."""
    tokens, target = of.see(tensors)
    own = getattr(network, "training_loss", None)
    if own is not None:
        return torch.as_tensor(own(tokens, target, lambda outputs: of.loss(outputs.float(), target)))
    return of.loss(network(tokens).float(), target)


def _answer(network: nn.Module, of: SequenceTask, tokens: torch.Tensor) -> torch.Tensor:
    """Return predictions of tokens: the network's own ``predict``, or what is read of its outputs."""
    own = getattr(network, "predict", None)
    found = torch.as_tensor(own(tokens)) if own else of.answer(network(tokens).float())
    return found.float() if found.is_floating_point() else found  # NumPy has no bfloat16


def _optimiser(network: nn.Module, recipe: Recipe) -> torch.optim.Optimizer:
    decayed, others = list[nn.Parameter](), list[nn.Parameter]()
    for name, each in network.named_parameters():
        decays = each.ndim > 1 and "position" not in name and not getattr(each, "_no_weight_decay", False)
        (decayed if decays else others).append(each)
    groups: list[dict[str, Any]] = [{"params": decayed}, {"params": others, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=recipe.learning_rate, weight_decay=recipe.weight_decay)


def _update(
    network: nn.Module,
    of: SequenceTask,
    batch: Mapping[str, torch.Tensor],
    optimiser: torch.optim.Optimizer,
    options: TrainingOptions,
    rate: float,
) -> torch.Tensor:
    """Take a step; return the loss before it."""
    loss = _loss(network, of, {name: each.to(options.device) for name, each in batch.items()})
    for group in optimiser.param_groups:
        group["lr"] = rate
    optimiser.zero_grad()
    torch.autograd.backward([loss])
    if options.recipe.clip_norm is not None:
        nn.utils.clip_grad_norm_(network.parameters(), options.recipe.clip_norm)
    optimiser.step()
    return loss


def _restore(
    path: Path, network: nn.Module, optimiser: torch.optim.Optimizer, wanted: Any, options: TrainingOptions
) -> tuple[int, list[dict[str, Any]]]:
    """Set network and optimiser to what `train_network` wrote, if it has; return the step and the log.

    Raises:
        OutputError: if it can't be read, or is of another network or of other options than ``wanted``.
    """
    if not path.exists():
        return 0, []
    try:
        found = torch.load(path, map_location=options.device, weights_only=True)
        made_of, step, log, weights, moments = found
    except (OSError, EOFError, RuntimeError, ValueError, TypeError, KeyError, UnpicklingError) as error:
        reason = f"{path} is damaged ({type(error).__name__})"
        raise OutputError(f"{reason}; remove it, and its seed is trained from the beginning") from None
    if made_of != wanted:
        raise OutputError(f"{path} is of another network, or was trained otherwise; choose another folder")
    network.load_state_dict(weights)
    optimiser.load_state_dict(moments)
    return step, log


def train_network(
    network: nn.Module,
    task: Task,
    of: SequenceTask,
    options: TrainingOptions,
    checkpoint: Path,
    judge: Callable[[nn.Module], Mapping[str, Any]],
    on_line: OnLine,
    stop: Callable[[], bool] = lambda: False,
) -> bool:
    """Train a network in place, and go on with what an earlier call for the same checkpoint left.

    Instances are those of the training split, in order, none twice.

    Returns:
        whether it has taken its last step; else ``stop`` ended it, with a checkpoint.

    Raises:
        OutputError: if the checkpoint is damaged, of another network, or of other options.

    Args:
        network: one of `evaluate_network`; its methods ``training_loss`` and ``predict`` count.
        task: what it learns.
        of: the same as sequences.
        options: of training.
        checkpoint: file of parameters, optimiser and log, written every few minutes, and beside it the log
            as JSON Lines for `sraven curves`.
        judge: returns scores for the log, given the network, every 1,000 steps and at the end.
        on_line: is told a line of the log every 100 steps.
        stop: called after every step: whether to stop there.
    """
    made_of, recipe = describe_training(network, task, options), options.recipe
    network.to(options.device).train()
    optimiser = _optimiser(network, recipe)
    begin, log = _restore(checkpoint, network, optimiser, made_of, options)
    warmup = recipe.warmup if recipe.warmup is not None else max(1, round(of.warmup * options.steps))
    step, since = begin, time.monotonic()
    saved = since
    batches = BatchStream(task, "train", recipe.batch_size, start=begin, stop=options.steps)
    for step, batch in enumerate(batches, begin + 1):
        rate = recipe.learning_rate * rate_at(step - 1, options.steps, warmup)
        loss = _update(network, of, batch, optimiser, options, rate)
        is_judged = step % _JUDGE_EVERY == 0 or step == options.steps
        if step % _LOG_EVERY == 0 or is_judged:
            log.append({"step": step, "loss": loss.item()})
            if is_judged:
                log[-1]["scores"] = judge(network.eval())
                network.train()
            seconds = time.monotonic() - since
            on_line(log[-1], seconds, seconds / (step - begin) * (options.steps - step))
        is_over = stop()
        if is_judged or is_over or time.monotonic() - saved > _SAVE_SECONDS:
            with replacing(checkpoint) as path:
                torch.save([made_of, step, log, network.state_dict(), optimiser.state_dict()], path)
            write_text(checkpoint.with_suffix(".jsonl"), "".join(json.dumps(line) + "\n" for line in log))
            saved = time.monotonic()
        if is_over:
            break
    network.eval()
    return step == options.steps


@torch.no_grad()
def predict_split(network: nn.Module, task: Task, of: SequenceTask, split: str, size: int) -> NDArray[Any]:
    """Return predictions of the first instances of a split: uint8 ``[size, M]``, or float32 ``[size]``."""
    device, found = next(network.parameters()).device, []
    for batch in BatchStream(task, split, _PREDICTED, stop=-(-size // _PREDICTED)):
        tokens, _ = of.see({name: each.to(device) for name, each in batch.items()})
        found.append(_answer(network, of, tokens).cpu())
    predictions: NDArray[Any] = torch.cat(found)[:size].numpy()
    return predictions


def measure_cost(network: nn.Module, task: Task, of: SequenceTask, batch_size: int) -> Cost:
    """Return what a network costs, counted on the first instances of the training split, on a CPU.

    Raises:
        ConfigurationError: if what it returns has another shape than is expected.
    """
    parameters = sum(each.numel() for each in network.parameters())
    batch = as_tensors(task.sample("train", 0, batch_size))
    tokens, target = of.see({name: each[:1] for name, each in batch.items()})
    own = getattr(network, "predict", None)
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        found = (own or network)(tokens)
    shape: list[int] = list(getattr(found, "shape", ()))
    if own and shape != list(target.shape):
        raise ConfigurationError(
            f"predict made {shape} of tokens {[*tokens.shape]}; expected {[*target.shape]}"
        )
    if not own and not (len(shape) == 3 and shape[::2] == [1, of.outputs] and shape[1] <= of.length):
        raise ConfigurationError(
            f"the network made {shape or type(found).__name__} of tokens {[1, of.length, of.inputs]}; "
            f"expected {[1, of.length, of.outputs]}, or of the last tokens alone"
        )
    shared = {each.untyped_storage().data_ptr() for each in network.parameters()}
    saved: dict[int, int] = {}

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in shared:
            saved[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        loss = _loss(network, of, batch)
    del loss
    sizes = sum(each.numel() * each.element_size() for each in network.parameters())
    state = getattr(network, "state_size", None)
    return Cost(parameters, float(counter.get_total_flops()), 4 * sizes + sum(saved.values()), state)


def describe_training(network: nn.Module, task: Task, options: TrainingOptions) -> dict[str, Any]:
    """Return what a checkpoint is of: options, task, classes of the network, shapes of its parameters."""
    kinds = {type(each) for each in network.modules()}
    return {
        "steps": options.steps,
        "seed": options.seed,
        **options.recipe._asdict(),
        "device": "",
        "task": dict(task.config),
        "classes": digest_of_classes(each for each in kinds if not each.__module__.startswith("torch.")),
        "parameters": {name: list(each.shape) for name, each in network.named_parameters()},
    }


def fingerprint(network: nn.Module, task: Task, of: SequenceTask) -> list[float]:
    """Return the loss and some outputs on fixed instances, by which a new network is known.

    Noise moves its parameters, so that what is zero at the beginning counts, too.

    Args:
        network: on a CPU; it is changed.
        task: it sees the first instances of its training split.
        of: the same as sequences.
    """
    tensors = as_tensors(task.sample("train", 0, 4))
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(0)
        for each in network.parameters():
            each.add_(0.02 * torch.randn_like(each))
        loss = _loss(network.train(), of, tensors)
        found = (getattr(network.eval(), "predict", None) or network)(of.see(tensors)[0])
    return [loss.item(), *found.float().flatten()[-16:].tolist()]


def make_seeded(make_network: Callable[[int, int, int], nn.Module], of: SequenceTask, seed: int) -> nn.Module:
    """Return a new network on the CPU, its parameters drawn from a seed.

    Raises:
        ConfigurationError: if it isn't a module of PyTorch.
    """
    torch.manual_seed(seed)
    network = make_network(of.length, of.inputs, of.outputs)
    if not isinstance(network, nn.Module):
        raise ConfigurationError(
            f"make_network returned a {type(network).__name__}; expected a torch.nn.Module "
            "(of JAX: baselines.evaluate_network)"
        )
    return network.cpu()


def default_device() -> str:
    """Return the name of a GPU if there is one, else of the processor."""
    return "cuda" if torch.cuda.is_available() else "cpu"
