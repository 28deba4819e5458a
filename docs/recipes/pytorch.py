"""The paper's transformer in PyTorch, from instances to a submission: a file to start from.

    pip install '.[torch]'    # in a checkout of the benchmark
    python pytorch.py --board sraven-camps3-v1 --attention hyla --author "Your Name" --out my-submission

Change `hyla` or add a function like it, and train, on SRAVEN or on fuzzy logic. The same line goes on with
what was interrupted. `my-submission-checkpoints` has logs, too, for `sraven curves`. With `--also
sraven-twins-v1`, the models of sraven-v1 are evaluated on that board as well. The JAX baselines are the same
model (a test gives both the same weights).
"""

import argparse
import json
import math
import os
import time
from typing import NamedTuple

import torch
from torch import nn
from torch.nn import functional
from torch.utils.data import DataLoader

import fuzzylogic.torch
import sraven.torch

BATCH, RATE, DECAY, SAVE_EVERY, SCORED = 128, 1e-3, 0.1, 1000, 1024


# What a task is to a model --------------------------------------------------------------------------------


class Sequences(NamedTuple):
    """A task as sequences, and the model for it: Table A3. Warm-up is a share of the steps.

    `see` makes tokens [B, T, I] and what is wanted of a batch's tensors; `loss` and `answer` take the
    model's outputs [B, T, O].
    """

    inputs: int
    outputs: int
    length: int
    layers: int
    heads: int
    qkv_width: int
    warmup: float
    see: callable
    loss: callable
    answer: callable


def see_sraven(task):
    """M tokens of zeros ask for the M symbols of the answer."""

    def loss(out, target):
        return functional.cross_entropy(out[:, -task.M :].mT, target)

    def answer(out):
        return out[:, -task.M :].argmax(dim=-1).to(torch.uint8)

    see = sraven.torch.sequences(task)
    return Sequences(task.K, task.K, 9 * task.M, 4, 16, 64, 1000 / 156_250, see, loss, answer)


def see_fuzzylogic(task):
    """The last point lacks its target."""

    def loss(out, target):
        return functional.mse_loss(out[:, -1, 0], target)

    def answer(out):
        return out[:, -1, 0]

    return Sequences(task.L + 1, 1, task.N, 2, 8, 16, 100 / 50_000, fuzzylogic.torch.sequences, loss, answer)


SEQUENCES = {"sraven": see_sraven, "sraven-twins": see_sraven, "fuzzylogic": see_fuzzylogic}
WIDTH, MLP_WIDTH = 128, 256


# Attention: scores [B, H, Q, K] over √D and with their bias, values [B, H, K, V] -----------------------


def softmax(scores, value):
    """Sum values by the softmax of scores."""
    return scores.softmax(dim=-1) @ value


def linear(scores, value):
    """Sum values by the scores themselves."""
    return scores @ value


def hyla(scores, value):
    """Figure A1: the scores of a pair over heads are a code, which configures the pair's value network."""
    code = scores * (scores.square().mean(dim=1, keepdim=True) + 1e-6).rsqrt()  # RMSHead
    hidden = torch.einsum("bhqk,bhkv->bqkv", code, value).relu()
    return torch.einsum("bhqk,bqkv->bhqv", code, hidden)


ATTENTION = {"softmax": softmax, "linear": linear, "hyla": hyla}


# The model ------------------------------------------------------------------------------------------------


def relative_buckets(length):
    """Return the bucket of each pair of positions, long [Q, K]: T5's, one way, `length` of them."""
    exact = length // 2
    distance = (torch.arange(length)[:, None] - torch.arange(length)).clamp(min=0)
    far = exact + (distance / exact).clamp(min=1).log() / math.log(length / exact) * (length - exact)
    return torch.where(distance < exact, distance, far.clamp(max=length - 1).long())


class Attention(nn.Module):
    """Attention of a sequence to itself, with a bias for each head and distance."""

    def __init__(self, mix, of):
        super().__init__()
        self.mix, self.heads = mix, of.heads
        self.query, self.key, self.value = (nn.Linear(WIDTH, of.qkv_width) for _ in range(3))
        self.out = nn.Linear(of.qkv_width, WIDTH)
        self.position = nn.Parameter(torch.randn(of.heads, of.length) / of.length**0.5)
        self.register_buffer("bucket", relative_buckets(of.length), persistent=False)

    def forward(self, x):
        """Return what is added to tokens, [B, T, E]."""
        query, key, value = (
            project(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)  # [B, H, T, D]
            for project in (self.query, self.key, self.value)
        )
        scores = query @ key.mT / query.shape[-1] ** 0.5 + self.position[:, self.bucket]
        return self.out(self.mix(scores, value).transpose(1, 2).flatten(2))


class Block(nn.Module):
    """x + attention(LayerNorm(x)), then the same with an MLP."""

    def __init__(self, mix, of):
        super().__init__()
        self.norm_attention, self.norm_mlp = nn.LayerNorm(WIDTH, eps=1e-6), nn.LayerNorm(WIDTH, eps=1e-6)
        self.attention = Attention(mix, of)
        self.up, self.down = nn.Linear(WIDTH, MLP_WIDTH), nn.Linear(MLP_WIDTH, WIDTH)

    def forward(self, x):
        """Return tokens as they came out, [B, T, E]."""
        x = x + self.attention(self.norm_attention(x))
        return x + self.down(functional.gelu(self.up(self.norm_mlp(x)), approximate="tanh"))


class Transformer(nn.Module):
    """Tokens [B, T, I] in, outputs [B, T, O] out."""

    def __init__(self, attention, of):
        super().__init__()
        self.embedding = nn.Linear(of.inputs, WIDTH)
        self.blocks = nn.Sequential(*(Block(ATTENTION[attention], of) for _ in range(of.layers)))
        self.norm = nn.LayerNorm(WIDTH, eps=1e-6)
        self.out = nn.Linear(WIDTH, of.outputs)
        for module in self.modules():
            if isinstance(module, nn.Linear):  # as in the baselines: variance 1 / inputs
                nn.init.normal_(module.weight, std=module.in_features**-0.5)
                nn.init.zeros_(module.bias)

    def forward(self, tokens):
        """Return outputs, [B, T, O]."""
        return self.out(self.norm(self.blocks(self.embedding(tokens))))


# Training and prediction ----------------------------------------------------------------------------------


def learning_rate(step, steps, warmup):
    """Return the rate as a share of its peak: a linear rise, then a cosine down to a tenth."""
    warmup = max(1, round(warmup * steps))
    progress = min(1.0, max(0.0, (step + 1 - warmup) / max(1, steps - warmup)))
    return min((step + 1) / warmup, 0.1 + 0.45 * (1 + math.cos(math.pi * progress)))


def train(board, of, seed, options, run):
    """Return a trained model, and write checkpoints and the log of its run; go on with what is there."""
    torch.manual_seed(seed)
    task, checkpoint = board.task, f"{run}.pt"
    model = Transformer(options.attention, of).to(options.device)
    decays = [p for name, p in model.named_parameters() if p.ndim > 1 and "position" not in name]
    others = [p for name, p in model.named_parameters() if p.ndim == 1 or "position" in name]
    groups = [{"params": decays, "weight_decay": DECAY}, {"params": others, "weight_decay": 0.0}]
    optimiser = torch.optim.AdamW(groups, lr=RATE)
    begin, steps, log = 0, options.steps, []
    if os.path.exists(checkpoint):
        begin, log, weights, opt_state = torch.load(checkpoint, map_location=options.device)
        model.load_state_dict(weights)
        optimiser.load_state_dict(opt_state)
    stream = sraven.torch.BatchStream(task, "train", BATCH, start=begin, stop=steps)
    started = time.perf_counter()
    for step, batch in enumerate(DataLoader(stream, batch_size=None, num_workers=options.workers), begin + 1):
        tokens, wanted = of.see({name: tensor.to(options.device) for name, tensor in batch.items()})
        loss = of.loss(model(tokens), wanted)
        for group in optimiser.param_groups:
            group["lr"] = RATE * learning_rate(step - 1, steps, of.warmup)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        is_saved = step % SAVE_EVERY == 0 or step == steps
        if step % 100 == 0 or is_saved:
            speed = (step - begin) / (time.perf_counter() - started)
            print(f"seed {seed}, step {step:,} of {steps:,}: loss {loss.item():.4f}, {speed:.1f} steps/s")
            log.append({"step": step, "loss": loss.item()})
        if is_saved:
            log[-1]["scores"] = {
                split: {board.metric: score(model, of, board, split)} for split in board.splits
            }
            for split, scores in log[-1]["scores"].items():
                print(f"  {split}: {board.metric} {scores[board.metric]:.4f} ({levels(board, split)})")
            torch.save([step, log, model.state_dict(), optimiser.state_dict()], f"{checkpoint}.new")
            os.replace(f"{checkpoint}.new", checkpoint)  # whole, or the one before
            with open(f"{run}.jsonl", "w") as file:
                file.writelines(json.dumps(line) + "\n" for line in log)
    return model.eval()


def score(model, of, board, split):
    """Return the score on a slice of a split that is always the same."""
    device = next(model.parameters()).device
    found = predict(model, of, board.task, split, SCORED, device)
    return board.task.score(split, found).metrics[board.metric].mean


@torch.no_grad()
def predict(model, of, task, split, size, device):
    """Return the predictions of the first instances of a split: uint8 [size, M], or float32 [size]."""
    found = []
    for batch in sraven.torch.BatchStream(task, split, 512, stop=-(-size // 512)):
        tokens, _ = of.see({name: tensor.to(device) for name, tensor in batch.items()})
        found.append(of.answer(model(tokens)).cpu())
    return torch.cat(found)[:size].numpy()


def levels(board, split):
    """Return what a score is compared with, in words: chance, what composes nothing, the best possible."""
    known = {"chance": board.chance}
    known |= {level.title: level.value for level in board.reference_levels(split) if level.is_baseline}
    known["ceiling"] = ceiling.value if (ceiling := board.ceiling(split, board.metric)) else None
    return ", ".join(f"{name} {value:.4f}" for name, value in known.items() if value is not None)


def main():
    """Train on a board, with several seeds, and write what they predict."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--board", default="sraven-v1", help="such as sraven-camps3-v1, fuzzylogic-v1")
    parser.add_argument("--also", action="append", default=[], help="another board to evaluate the models on")
    parser.add_argument("--attention", choices=ATTENTION, default="hyla")
    parser.add_argument("--author", action="append", required=True, help="of the submission; may be repeated")
    parser.add_argument("--steps", type=int, help="of 128 instances; the board's budget unless given")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument(
        "--workers", type=int, default=0, help="processes that make batches; 0, none beside this, feeds best"
    )
    parser.add_argument("--out", required=True, help="folder for the submission; must not exist")
    options = parser.parse_args()
    boards = [sraven.load_board(name) for name in (options.board, *options.also)]
    outs = {
        board.id: f"{options.out}-{board.id}" if number else options.out
        for number, board in enumerate(boards)
    }
    if taken := [out for out in outs.values() if os.path.exists(out)]:
        parser.error(f"{taken[0]} exists; choose another folder")
    for board in boards:
        if board.task.name not in SEQUENCES:
            parser.error(f"{board.id} has no training split; choose a board of {' or '.join(SEQUENCES)}")

    of = SEQUENCES[boards[0].task.name](boards[0].task)
    options.steps = options.steps or boards[0].train_budget // BATCH
    folder = f"{options.out}-checkpoints/{options.board}-{options.attention}-{options.steps}"
    os.makedirs(folder, exist_ok=True)
    predictions = {board.id: {split: [] for split in board.splits} for board in boards}
    for seed in options.seeds:
        model = train(boards[0], of, seed, options, f"{folder}/seed-{seed}")
        for board in boards:
            for split, size in board.splits.items():
                found = predict(model, of, board.task, split, size, options.device)
                predictions[board.id][split].append(found)
                mean = board.score(split, found).metrics[board.metric].mean
                print(f"seed {seed}, {board.id}, {split}: {board.metric} {mean:.4f} ({levels(board, split)})")
    for board in boards:
        sraven.write_submission(
            outs[board.id],
            board.id,
            predictions[board.id],
            method={
                "name": f"{options.attention} (PyTorch)",
                "description": f"A transformer with {options.attention} attention, by the PyTorch recipe, "
                f"trained on {options.board}.",
                "authors": options.author,
            },
            model={"parameters": sum(parameter.numel() for parameter in model.parameters())},
            training={"instances": options.steps * BATCH, "selection_split": None, "tuning_trials": 1},
        )
        print(f"{outs[board.id]} is written; score it with: sraven score {outs[board.id]}")


if __name__ == "__main__":
    main()
