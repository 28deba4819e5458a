"""A PyTorch network on the quick boards by one call: a file to start from.

pip install '.[torch,analysis]'    # in a checkout of the benchmark
python own_network.py
"""

import torch
from torch import nn

import sraven


class Network(nn.Module):
    """PyTorch's own transformer: tokens [B, T, I] in, outputs [B, T, O] out."""

    def __init__(self, length, inputs, outputs, width=128):
        super().__init__()
        self.embedding = nn.Linear(inputs, width)
        self.position = nn.Parameter(torch.randn(length, width))
        layer = nn.TransformerEncoderLayer(width, 8, 256, 0.0, "gelu", batch_first=True, norm_first=True)
        self.layers = nn.TransformerEncoder(layer, 4, enable_nested_tensor=False)
        self.out = nn.Linear(width, outputs)

    def forward(self, tokens):
        """Return outputs, [B, T, O]."""
        return self.out(self.layers(self.embedding(tokens) + self.position))


if __name__ == "__main__":
    print(sraven.evaluate_network(Network, out="mine", authors=["Your Name"]))
