"""The recipes of the documentation run, and their models are those of the baselines."""

import os
import shutil
import sys
from functools import partial
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from baselines.model.config import TransformerConfig
from baselines.model.position import relative_buckets
from baselines.model.transformer import Transformer
from baselines.recipes import make_config
from baselines.train.optim import warmup_cosine
from baselines.train.weights import weights_bytes
from helpers.compiling import quick_compilation
from helpers.example import all_bytes
from helpers.scripts import import_file
from helpers.submissions import FUZZY_BOARD, SRAVEN_BOARD
from helpers.tiny_runs import compiled_once, shared_directory
from sraven import SRAVEN, evaluate_network
from sraven.board.board import read_board
from sraven.core.spec import values_of
from sraven.files.files import write_json
from sraven.leaderboard.submissions.submission import score_submission

RECIPES = Path(__file__).parent.parent / "docs" / "recipes"
SHAPE = {"layers": 1, "width": 12, "heads": 3, "qkv_width": 6, "mlp_width": 16}
LENGTH = 18


def load(name, monkeypatch):
    """Return a recipe as a module, with a small model."""
    module = import_file(RECIPES / f"{name}.py", monkeypatch)
    for field in ("width", "mlp_width"):
        monkeypatch.setattr(module, field.upper(), SHAPE[field])
    small = {field: SHAPE[field] for field in ("layers", "heads", "qkv_width")}
    for task, see in list(module.SEQUENCES.items()):
        monkeypatch.setitem(module.SEQUENCES, task, lambda task, see=see: see(task)._replace(**small))
    return module


@pytest.fixture(scope="module", autouse=True)
def _compiled_once(tmp_path_factory):
    """Compile in a fraction of the time, each program once."""
    with compiled_once(shared_directory(tmp_path_factory, "recipes")), quick_compilation():
        yield


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
    params = jax.jit(model.init)(jax.random.key(0), tokens)
    return request.param, tokens, _as_matrices(params["params"]), jax.jit(model.apply)(params, tokens)


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
    out = jax.jit(partial(for_jax.apply, attention=attention))({**ends, "blocks": blocks}, tokens=tokens)
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
    of = for_torch.SEQUENCES["sraven"](SRAVEN())._replace(inputs=5, outputs=4, length=LENGTH)
    model = for_torch.Transformer(attention, of)
    model.load_state_dict(weights)
    with torch.no_grad():
        out = model(torch.from_numpy(tokens)).numpy()
    np.testing.assert_allclose(out, expected, rtol=1e-4, atol=1e-5)


@pytest.fixture
def published(monkeypatch):
    """The recipe that reads published models."""
    for library in ("torch", "safetensors"):
        pytest.importorskip(library)
    return import_file(RECIPES / "published.py", monkeypatch)


def write_published(folder, params, **values):
    config = make_config(read_board("sraven-v1"), **{**SHAPE, **values})
    write_json(folder / "config.json", values_of(config))
    (folder / "model.safetensors").write_bytes(weights_bytes(params, config.digest))


@pytest.mark.parametrize(
    "changes",
    [
        {"attention": "softmax"},
        {"attention": "linear"},
        {"attention": "hyla"},
        {"attention": "hyla", "activation": "gelu", "position": "relative_both_ways", "layers": 2},
    ],
)
def test_a_published_model_in_pytorch_is_that_of_the_baselines(published, changes, tmp_path):
    import torch

    model = Transformer(TransformerConfig(5, 4, LENGTH, **{**SHAPE, **changes}))
    tokens = np.random.default_rng(0).standard_normal((2, LENGTH, 5)).astype(np.float32)
    params = jax.jit(model.init)(jax.random.key(0), tokens)
    drawn = iter(jax.random.split(jax.random.key(1), 100))  # biases and scales too: they begin with 0 and 1
    params = jax.tree.map(lambda leaf: leaf + 0.1 * jax.random.normal(next(drawn), leaf.shape), params)
    expected = jax.jit(model.apply)(params, tokens)
    write_published(tmp_path, params["params"], **changes)
    with torch.no_grad():
        out = published.load(tmp_path)(torch.from_numpy(tokens)).numpy()
    np.testing.assert_allclose(out, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"attention": "hyla_deep"}, "^transformer, hyla_deep attention, mlp: add it to this file$"),
        ({"attention": "hyla", "network": "looped"}, "^looped, hyla attention, mlp: "),
        ({"attention": "none", "network": "mixer"}, "^mixer, none attention, mlp: "),
    ],
)
def test_the_recipe_of_published_models_refuses_what_it_lacks(published, changes, message, tmp_path):
    write_published(tmp_path, {"out": {"bias": np.zeros(3)}}, **changes)
    with pytest.raises(ValueError, match=message):
        published.load(tmp_path)


@pytest.mark.parametrize(
    ("kind", "options"), [("for_jax", ()), ("for_torch", ()), ("published", (False,)), ("published", (True,))]
)
def test_the_buckets_of_positions_are_those_of_the_baselines(kind, options, request):
    recipe = request.getfixturevalue(kind)
    for length in (9, 18, 27, 32, 36, 54, 72, 108):
        expected = relative_buckets(length, length, bidirectional=options == (True,))
        assert np.array_equal(np.asarray(recipe.relative_buckets(length, *options)), expected)


def test_the_schedule_in_pytorch_is_that_of_the_baselines(for_torch):
    for step in (0, 10, 999, 1000, 5000, 19_999):
        expected = float(warmup_cosine(step, 20_000, 1000))
        assert for_torch.learning_rate(step, 20_000, 1000 / 20_000) == pytest.approx(expected, rel=1e-5)


def run(recipe, monkeypatch, board, out, *options):
    """Run a recipe's command for three steps."""
    argv = ["recipe.py", f"--board={board}", "--attention=hyla", "--steps=3", f"--out={out}", "--author=A"]
    monkeypatch.setattr(sys, "argv", [*argv, "--seeds", "0", *options])
    recipe.main()


@pytest.mark.usefixtures("small_boards")
@pytest.mark.parametrize(
    ("kind", "board"), [("for_jax", SRAVEN_BOARD), ("for_jax", FUZZY_BOARD), ("for_torch", SRAVEN_BOARD)]
)
def test_a_recipe_writes_a_submission_and_goes_on_from_its_checkpoint(
    kind, board, request, monkeypatch, tmp_path, capsys
):
    recipe = request.getfixturevalue(kind)
    options = ["--device=cpu", "--workers=0"] if kind == "for_torch" else []
    monkeypatch.setattr(recipe, "SAVE_EVERY", 1)
    monkeypatch.setattr(recipe, "CHUNK", 1, raising=False)
    run(recipe, monkeypatch, board, tmp_path / "entry", *options)
    printed = capsys.readouterr().out
    assert "seed 0, step 3 of 3" in printed and f"ood: {read_board(board).metric}" in printed
    assert "(chance 0.0" in printed and score_submission(tmp_path / "entry")
    whole = all_bytes(tmp_path / "entry" / "predictions")
    with pytest.raises(SystemExit):  # before anything is trained
        run(recipe, monkeypatch, board, tmp_path / "entry", *options)
    assert f"{tmp_path / 'entry'} exists" in capsys.readouterr().err

    (checkpoint,) = (tmp_path / "entry-checkpoints").glob("*/seed-0.[!j]*")  # beside its log
    checkpoint.unlink()
    replace, saved = os.replace, []

    def interrupted(source, goal):
        replace(source, goal)
        saved.append(goal)
        if len(saved) == 2:
            raise KeyboardInterrupt

    shutil.rmtree(tmp_path / "entry")
    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(recipe, monkeypatch, board, tmp_path / "entry", *options)
    monkeypatch.setattr(os, "replace", replace)
    capsys.readouterr()
    run(recipe, monkeypatch, board, tmp_path / "entry", *options)
    assert "step 1 of 3" not in capsys.readouterr().out
    assert all_bytes(tmp_path / "entry" / "predictions") == whole


@pytest.mark.usefixtures("small_boards")
def test_a_network_of_ones_own_by_one_call(monkeypatch, tmp_path):
    pytest.importorskip("torch", reason="PyTorch isn't installed: pip install '.[torch]' in a checkout")
    recipe = import_file(RECIPES / "own_network.py", monkeypatch)
    boards = [(SRAVEN_BOARD, 128), (FUZZY_BOARD, 128)]
    found = evaluate_network(recipe.Network, boards, out=tmp_path, device="cpu", on_progress=None)
    assert all(score_submission(each.folder)["board"] == each.board for each in found.results)
