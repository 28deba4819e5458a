"""The paper's transformer in PyTorch, from instances to a submission: a file to start from.

    pip install '.[torch]'    # in a checkout of the benchmark
    python pytorch.py --attention hyla --seeds 0 1 2 --out my-submission

Change `hyla` or add a function like it, and train. The JAX baselines are the same model (a test gives both
the same weights), with much that isn't here: sweeps, checkpoints, many devices.
"""

import argparse
import math
import time

import torch
from torch import nn
from torch.nn import functional
from torch.utils.data import DataLoader

import sraven
from sraven.torch import BatchStream, sequences

LAYERS, WIDTH, HEADS, QKV_WIDTH, MLP_WIDTH = 4, 128, 16, 64, 256  # Table A3, column SRAVEN
BATCH, RATE, DECAY, WARMUP = 128, 1e-3, 0.1, 1000


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

    def __init__(self, mix, length):
        super().__init__()
        self.mix = mix
        self.query, self.key, self.value = (nn.Linear(WIDTH, QKV_WIDTH) for _ in range(3))
        self.out = nn.Linear(QKV_WIDTH, WIDTH)
        self.position = nn.Parameter(torch.randn(HEADS, length) / length**0.5)
        self.register_buffer("bucket", relative_buckets(length), persistent=False)

    def forward(self, x):
        """Return what is added to tokens, [B, T, E]."""
        query, key, value = (
            project(x).unflatten(-1, (HEADS, -1)).transpose(1, 2)  # [B, H, T, D]
            for project in (self.query, self.key, self.value)
        )
        scores = query @ key.mT / query.shape[-1] ** 0.5 + self.position[:, self.bucket]
        return self.out(self.mix(scores, value).transpose(1, 2).flatten(2))


class Block(nn.Module):
    """x + attention(LayerNorm(x)), then the same with an MLP."""

    def __init__(self, mix, length):
        super().__init__()
        self.norm_attention, self.norm_mlp = nn.LayerNorm(WIDTH, eps=1e-6), nn.LayerNorm(WIDTH, eps=1e-6)
        self.attention = Attention(mix, length)
        self.up, self.down = nn.Linear(WIDTH, MLP_WIDTH), nn.Linear(MLP_WIDTH, WIDTH)

    def forward(self, x):
        """Return tokens as they came out, [B, T, E]."""
        x = x + self.attention(self.norm_attention(x))
        return x + self.down(functional.gelu(self.up(self.norm_mlp(x)), approximate="tanh"))


class Transformer(nn.Module):
    """Tokens [B, T, I] in, outputs [B, T, O] out."""

    def __init__(self, attention, inputs, outputs, length):
        super().__init__()
        self.embedding = nn.Linear(inputs, WIDTH)
        self.blocks = nn.Sequential(*(Block(ATTENTION[attention], length) for _ in range(LAYERS)))
        self.norm = nn.LayerNorm(WIDTH, eps=1e-6)
        self.out = nn.Linear(WIDTH, outputs)
        for module in self.modules():
            if isinstance(module, nn.Linear):  # as in the baselines: variance 1 / inputs
                nn.init.normal_(module.weight, std=module.in_features**-0.5)
                nn.init.zeros_(module.bias)

    def forward(self, tokens):
        """Return outputs, [B, T, O]."""
        return self.out(self.norm(self.blocks(self.embedding(tokens))))


# Training and prediction ------------------------------------------------------------------------------------


def learning_rate(step, steps):
    """Return the rate as a share of its peak: a linear rise, then a cosine down to a tenth."""
    progress = min(1.0, max(0.0, (step + 1 - WARMUP) / max(1, steps - WARMUP)))
    return min((step + 1) / WARMUP, 0.1 + 0.45 * (1 + math.cos(math.pi * progress)))


def train(task, attention, seed, steps, device, workers):
    """Return a trained model."""
    torch.manual_seed(seed)
    model = Transformer(attention, inputs=task.K, outputs=task.K, length=9 * task.M).to(device)
    decays = [p for name, p in model.named_parameters() if p.ndim > 1 and "position" not in name]
    others = [p for name, p in model.named_parameters() if p.ndim == 1 or "position" in name]
    groups = [{"params": decays, "weight_decay": DECAY}, {"params": others, "weight_decay": 0.0}]
    optimiser = torch.optim.AdamW(groups, lr=RATE)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: learning_rate(step, steps))
    see = sequences(task)
    stream = BatchStream(task, "train", BATCH, stop=steps)
    started = time.perf_counter()
    for step, batch in enumerate(DataLoader(stream, batch_size=None, num_workers=workers), start=1):
        tokens, target = see({name: batch[name].to(device) for name in ("context", "target")})
        loss = functional.cross_entropy(model(tokens)[:, -task.M :].mT, target)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
        if step % 100 == 0 or step == steps:
            speed = step / (time.perf_counter() - started)
            print(f"seed {seed}, step {step:,} of {steps:,}: loss {loss.item():.4f}, {speed:.1f} steps/s")
    return model.eval()


@torch.no_grad()
def predict(model, task, split, size, device):
    """Return the predictions of the first instances of a split, uint8 [size, M]."""
    see, found = sequences(task), []
    for batch in BatchStream(task, split, 512, stop=-(-size // 512)):
        tokens, _ = see({name: batch[name].to(device) for name in ("context", "target")})
        found.append(model(tokens)[:, -task.M :].argmax(dim=-1).to("cpu", torch.uint8))
    return torch.cat(found)[:size].numpy()


def main():
    """Train on a board, with several seeds, and write what they predict."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--board", default="sraven-v1")
    parser.add_argument("--attention", choices=ATTENTION, default="hyla")
    parser.add_argument("--steps", type=int, default=156_250, help="20 million instances in the paper")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--workers", type=int, default=2, help="processes that make batches")
    parser.add_argument("--out", required=True, help="folder for the submission; must not exist")
    options = parser.parse_args()

    board = sraven.load_board(options.board)
    predictions = {split: [] for split in board.splits}
    for seed in options.seeds:
        model = train(board.task, options.attention, seed, options.steps, options.device, options.workers)
        for split, size in board.splits.items():
            predictions[split].append(predict(model, board.task, split, size, options.device))
            accuracy = board.score(split, predictions[split][-1]).metrics["accuracy"].mean
            print(f"seed {seed}, {split}: accuracy {accuracy:.4f}")
    sraven.write_submission(
        options.out,
        options.board,
        predictions,
        method={
            "name": f"{options.attention} (PyTorch)",
            "description": f"A transformer with {options.attention} attention, by the PyTorch recipe.",
            "authors": ["Your Name"],
        },
        model={"parameters": sum(parameter.numel() for parameter in model.parameters())},
        training={"instances": options.steps * BATCH, "selection_split": None},
    )
    print(f"{options.out} is written; score it with: sraven score {options.out}")


if __name__ == "__main__":
    main()
