"""A published model in PyTorch: what `sraven export` wrote of a run, read with torch and safetensors alone.

    from huggingface_hub import snapshot_download
    model = load(snapshot_download("user/name"))
    outputs = model(tokens)                                  # float32 [B, T, I] to [B, T, O]

The modules have the names and shapes of the file, those of the JAX baselines, so nothing is renamed or
transposed; a test compares the outputs of both. Letters: B instances, T tokens, I numbers of a token, O of an
output, E width, H heads, D width of a head.
"""

import json
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import nn
from torch.nn import functional

# Attention: scores [B, H, Q, K] over √D and with their bias, values [B, H, K, D] -------------------------


def softmax(scores, value, activation):
    """Sum values by the softmax of scores."""
    return scores.softmax(dim=-1) @ value


def linear(scores, value, activation):
    """Sum values by the scores themselves."""
    return scores @ value


def hyla(scores, value, activation):
    """Attention as a hypernetwork: a pair's scores over heads are a code, which configures the pair's MLP."""
    code = scores * (scores.square().mean(dim=1, keepdim=True) + 1e-6).rsqrt()  # RMSHead
    hidden = activation(torch.einsum("bhqk,bhkd->bqkd", code, value))  # the code mixes the heads' values,
    return torch.einsum("bhqk,bqkd->bhqd", code, hidden)  # and the heads' output projections


ATTENTION = {"softmax": softmax, "linear": linear, "hyla": hyla}
ACTIVATION = {
    "relu": torch.relu,
    "silu": functional.silu,
    "gelu": nn.GELU("tanh"),
    "sigmoid": torch.sigmoid,
    "tanh": torch.tanh,
}


def relative_buckets(length, both_ways):
    """Return the bucket of each pair of positions, long [Q, K]: T5's, with `length` of them in all.

    Half of a direction's buckets hold a distance each, the others grow logarithmically up to `length`. One
    way, all are for earlier keys, and later ones share bucket 0; both ways, later keys have the upper half.
    """
    buckets = length // 2 if both_ways else length
    exact = buckets // 2
    distance = torch.arange(length)[:, None] - torch.arange(length)
    near = distance.abs() if both_ways else distance.clamp(min=0)
    # The greatest j with (length / exact)^(j / wide) <= n / exact, in integers, as logarithms are rounded.
    wide, bucket_of = buckets - exact, list(range(exact))
    for n in range(exact, length):
        reached = [j for j in range(wide) if length**j * exact ** (wide - j) <= n**wide]
        bucket_of.append(exact + reached[-1])
    return torch.tensor(bucket_of)[near] + buckets * (both_ways & (distance < 0))


# The model: parameters have the names and shapes of the file ----------------------------------------------


class Dense(nn.Module):
    """A linear layer from axes to axes, kernel [*inputs, *outputs]."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.axes = len(inputs)
        self.kernel, self.bias = (nn.Parameter(torch.empty(s)) for s in ((*inputs, *outputs), outputs))

    def forward(self, x):
        """Apply the layer to the last axes of [B, T, *inputs]."""
        return torch.tensordot(x, self.kernel, self.axes) + self.bias


class LayerNorm(nn.Module):
    """LayerNorm with 1e-6 added to the variance."""

    def __init__(self, width):
        super().__init__()
        self.scale, self.bias = nn.Parameter(torch.empty(width)), nn.Parameter(torch.empty(width))

    def forward(self, x):
        """Apply the layer to [..., E]."""
        return functional.layer_norm(x, x.shape[-1:], self.scale, self.bias, eps=1e-6)


class Attention(nn.Module):
    """Attention of a sequence to itself, with a bias for each head and bucket of relative positions."""

    def __init__(self, config, length):
        super().__init__()
        width, heads = (config["width"],), (config["heads"], config["qkv_width"] // config["heads"])
        self.query, self.key, self.value = (Dense(width, heads) for _ in range(3))
        self.out = Dense(heads, width)
        self.position = nn.Parameter(torch.empty(config["heads"], length))
        bucket = relative_buckets(length, config["position"] == "relative_both_ways")
        self.register_buffer("bucket", bucket, persistent=False)
        self.mix, self.activation = ATTENTION[config["attention"]], ACTIVATION[config["activation"]]

    def forward(self, x):
        """Return what is added to tokens, [B, T, E]."""
        query, key, value = (project(x).transpose(1, 2) for project in (self.query, self.key, self.value))
        scores = query @ key.mT / query.shape[-1] ** 0.5 + self.position[:, self.bucket]
        return self.out(self.mix(scores, value, self.activation).transpose(1, 2))


class Block(nn.Module):
    """x + attention(LayerNorm(x)), then the same with an MLP."""

    def __init__(self, config, length):
        super().__init__()
        width, hidden = (config["width"],), (config["mlp_width"],)
        self.norm_attention, self.norm_feedforward = LayerNorm(width), LayerNorm(width)
        self.attention = Attention(config, length)
        self.feedforward = nn.ModuleDict({"up": Dense(width, hidden), "down": Dense(hidden, width)})

    def forward(self, x):
        """Return tokens as they came out, [B, T, E]."""
        x = x + self.attention(self.norm_attention(x))
        hidden = functional.gelu(self.feedforward["up"](self.norm_feedforward(x)), approximate="tanh")
        return x + self.feedforward["down"](hidden)


class Transformer(nn.Module):
    """Tokens [B, T, I] in, outputs [B, T, O] out."""

    def __init__(self, config, inputs, outputs, length):
        super().__init__()
        self.embedding = Dense((inputs,), (config["width"],))
        self.blocks = [Block(config, length) for _ in range(config["layers"])]
        for layer, block in enumerate(self.blocks):
            self.add_module(f"block_{layer}", block)
        self.norm, self.out = LayerNorm(config["width"]), Dense((config["width"],), (outputs,))

    def forward(self, tokens):
        """Return outputs, [B, T, O]."""
        x = self.embedding(tokens)
        for block in self.blocks:
            x = block(x)
        return self.out(self.norm(x))


def load(folder):
    """Return the model of a folder with `config.json` and `model.safetensors`, whose tensors must be its."""
    config = json.loads(Path(folder, "config.json").read_text())
    network = config.get("network", "transformer")
    if network != "transformer" or config["attention"] not in ATTENTION or config["feedforward"] != "mlp":
        found = f"{network}, {config['attention']} attention, {config['feedforward']}"
        raise ValueError(f"{found}: add it to this file")
    weights = load_file(Path(folder, "model.safetensors"))
    inputs, outputs = len(weights["embedding.kernel"]), len(weights["out.bias"])
    model = Transformer(config, inputs, outputs, weights["block_0.attention.position"].shape[1])
    model.load_state_dict(weights)
    return model.eval()
