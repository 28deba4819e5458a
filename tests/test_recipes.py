"""The recipes of the documentation run, and their models are those of the baselines."""

import importlib.util
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from baselines.model.config import TransformerConfig
from baselines.model.position import relative_buckets
from baselines.model.transformer import Transformer
from baselines.optim import warmup_cosine
from sraven.core.submissions.submission import score_submission

RECIPES = Path(__file__).parent.parent / "docs" / "recipes"
SHAPE = {"layers": 2, "width": 12, "heads": 3, "qkv_width": 6, "mlp_width": 16}
LENGTH = 18


def load(name, monkeypatch):
    """Return a recipe as a module, with a model as small as its sums need."""
    spec = importlib.util.spec_from_file_location(f"recipe_{name}", RECIPES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, f"recipe_{name}", module)
    spec.loader.exec_module(module)
    for field, size in SHAPE.items():
        monkeypatch.setattr(module, field.upper(), size)
    return module


@pytest.fixture
def for_jax(monkeypatch):
    return load("plain_jax", monkeypatch)


@pytest.fixture
def for_torch(monkeypatch):
    torch = pytest.importorskip(
        "torch", reason="PyTorch isn't installed: pip install '.[torch]' in a checkout"
    )
    torch.set_num_threads(1)  # so small a model takes longer with more
    return load("pytorch", monkeypatch)


@pytest.fixture(scope="module", params=["softmax", "linear", "hyla"])
def baseline(request):
    """An attention, tokens, a baseline's parameters as rows of kernels, and what it makes of the tokens."""
    model = Transformer(TransformerConfig(5, 4, LENGTH, attention=request.param, **SHAPE))
    tokens = np.random.default_rng(0).standard_normal((2, LENGTH, 5)).astype(np.float32)
    params = model.init(jax.random.key(0), tokens)
    return request.param, tokens, _as_matrices(params["params"]), model.apply(params, tokens)


def _as_matrices(params):
    """Return parameters whose projections, to heads and from them, are matrices."""

    def flat(path, leaf):
        names = [each.key for each in path]
        if "attention" in names and names[-1] != "position":
            columns = SHAPE["width"] if "out" in names else SHAPE["qkv_width"]
            return jnp.reshape(leaf, (-1, columns) if names[-1] == "kernel" else (columns,))
        return leaf

    return jax.tree_util.tree_map_with_path(flat, params)


def test_the_model_in_plain_jax_is_that_of_the_baselines(for_jax, baseline):
    attention, tokens, params, expected = baseline
    blocks = [
        {
            "mlp" if name == "feedforward" else name.replace("feedforward", "mlp"): layer
            for name, layer in block
        }
        for block in (params[f"block_{layer}"].items() for layer in range(SHAPE["layers"]))
    ]
    ends = {name: params[name] for name in ("embedding", "norm", "out")}
    out = for_jax.apply({**ends, "blocks": blocks}, attention, tokens)
    np.testing.assert_allclose(out, expected, rtol=1e-4, atol=1e-5)


def test_the_model_in_pytorch_is_that_of_the_baselines(for_torch, baseline):
    import torch

    attention, tokens, params, expected = baseline
    weights = {}
    for path, leaf in jax.tree_util.tree_leaves_with_path(params):
        name = ".".join(each.key for each in path)
        name = name.replace("block_", "blocks.").replace("norm_feedforward", "norm_mlp")
        name = name.replace("feedforward.", "").replace("kernel", "weight").replace("scale", "weight")
        weights[name] = torch.tensor(np.asarray(leaf).T if path[-1].key == "kernel" else np.asarray(leaf))
    model = for_torch.Transformer(attention, inputs=5, outputs=4, length=LENGTH)
    model.load_state_dict(weights)
    with torch.no_grad():
        out = model(torch.from_numpy(tokens)).numpy()
    np.testing.assert_allclose(out, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("length", [9, 18, 27, 32, 36, 54, 72, 108])
def test_the_buckets_of_positions_are_those_of_the_baselines(for_jax, length):
    expected = relative_buckets(length, length, length, length, bidirectional=False)
    assert np.array_equal(for_jax.relative_buckets(length), expected)


@pytest.mark.parametrize("length", [9, 18, 27, 32, 36, 54, 72, 108])
def test_the_buckets_of_positions_in_pytorch_are_those_of_the_baselines(for_torch, length):
    expected = relative_buckets(length, length, length, length, bidirectional=False)
    assert np.array_equal(for_torch.relative_buckets(length).numpy(), expected)


def test_the_schedule_in_pytorch_is_that_of_the_baselines(for_torch):
    for step in (0, 10, 999, 1000, 5000, 19_999):
        expected = float(warmup_cosine(step, 20_000, for_torch.WARMUP))
        assert for_torch.learning_rate(step, 20_000) == pytest.approx(expected, rel=1e-5)


def run(recipe, monkeypatch, out, *options):
    """Run a recipe's command for three steps, of a model of one layer."""
    monkeypatch.setattr(recipe, "LAYERS", 1)
    argv = ["recipe.py", "--board=sraven-features2-v1", "--attention=hyla", "--steps=3", f"--out={out}"]
    monkeypatch.setattr(sys, "argv", [*argv, "--seeds", "0", *options])
    recipe.main()


def test_the_recipe_for_plain_jax_writes_a_submission(for_jax, monkeypatch, tmp_path, capsys):
    run(for_jax, monkeypatch, tmp_path / "entry")
    printed = capsys.readouterr().out
    assert "seed 0, step 3 of 3" in printed and "ood: accuracy" in printed
    assert score_submission(tmp_path / "entry")


def test_the_recipe_for_pytorch_writes_a_submission(for_torch, monkeypatch, tmp_path, capsys):
    run(for_torch, monkeypatch, tmp_path / "entry", "--device=cpu", "--workers=0")
    printed = capsys.readouterr().out
    assert "seed 0, step 3 of 3" in printed and "ood: accuracy" in printed
    assert score_submission(tmp_path / "entry")
