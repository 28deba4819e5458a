"""The command line of the language model: train and sample, what they print and refuse."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import jax
import numpy as np
import pytest

from baselines.lm.sample import load_language_run, sample_text
from baselines.run_directory import read_run
from helpers import tiny_runs
from helpers.command import sraven
from helpers.submissions import snapshot
from helpers.tiny_language import (
    LINE,
    SOFTMAX,
    TINY,
    TRAINING,
    TWICE,
    VALIDATION,
    assert_refused,
    lines_of,
)
from sraven.core.ground.errors import OutputError
from sraven.core.ground.spec import values_of
from sraven.core.system.files import write_json

pytestmark = pytest.mark.usefixtures("compiled")


def test_training_ends_in_a_line(language):
    code, out, err = json.loads((language / "printed.json").read_text())[TWICE[0]]
    last = lines_of(language / TWICE[0])[-1]
    loss, perplexity = f"{last['loss']:.4f}", f"{last['perplexity']:,.2f}"
    wanted = f"{language / TWICE[0]}: 60 steps, loss {loss}, perplexity {perplexity} in training\n"
    assert (code, out, err) == (0, wanted, "")


def test_training_for_programs_tells_the_last_line_of_the_log(language):
    code, out, err = json.loads((language / "printed.json").read_text())[SOFTMAX]
    last = lines_of(language / SOFTMAX)[-1]
    assert last.pop("step") == 60
    assert (code, err) == (0, "")
    (found,) = json.loads(out)
    assert (found["folder"], found["training"], found["diverged"]) == (str(language / SOFTMAX), last, None)
    assert found["configuration"] == values_of(read_run(language / SOFTMAX))


def test_a_run_can_be_looked_at_at_any_checkpoint(language):
    run = language / TWICE[0]
    (_, newest), (_, last), (_, earlier) = (load_language_run(run, step=step) for step in (-1, None, 40))
    jax.tree.map(np.testing.assert_array_equal, newest, last)
    assert not np.array_equal(earlier["embedding"], last["embedding"])
    with pytest.raises(OutputError, match="no checkpoint of step 20; there are 40, 60"):
        load_language_run(run, step=20)


def test_same_line_again_does_nothing(language, tmp_path):
    folder = shutil.copytree(language / TWICE[0], tmp_path / "run")
    before = snapshot(tmp_path)
    printed = sraven(*LINE, f"--data={language / TRAINING}", f"--out={folder}")
    assert printed == (0, f"{folder}: 60 steps\n", "")
    assert snapshot(tmp_path) == before


def test_run_does_not_go_on_with_other_tokens_or_another_size(language, tmp_path):
    folder = shutil.copytree(language / TWICE[0], tmp_path / "run")
    line = [*LINE, f"--out={folder}"]
    for options, names in (
        ([f"--data={language / VALIDATION}"], "corpus"),
        ([f"--data={language / TRAINING}", "--mlp-width=8", "--seed=3"], "seed, mlp_width"),
    ):
        wanted = f"{folder} holds another run ({names} differ); choose another directory"
        assert_refused(tmp_path, wanted, *line, *options)


HERE, THERE = "tokens", "nowhere"

TOKENS = f"--data={HERE}"

ATTENTIONS = (
    "softmax, linear, hyla, linear_rmshead, linear_rmshead_nonlinear, hyla_no_rmshead, hyla_linear, "
    "hyla_linear_no_rmshead, hyla_softmax, hyla_rmshead_softmax, hyla_deep"
)
OWN = "--import FILE.py brings one of your own"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            [],
            "c4-v1 needs --data DIR, tokens that `sraven c4 prepare` made; see sraven train --help",
        ),
        ([f"--data={THERE}"], f"{THERE} has no manifest.json; `sraven c4 prepare` makes one"),
        ([TOKENS, f"--data={THERE}"], f"{THERE} has no manifest.json; `sraven c4 prepare` makes one"),
        (
            [f"--data={HERE}/tokenizer.model"],
            f"Invalid value for '--data': Directory '{HERE}/tokenizer.model' is a file; "
            "see sraven train --help",
        ),
        (
            [TOKENS, "--grid", "warmup=1,2"],
            "a grid on c4-v1 needs --validation DIR, documents to choose by",
        ),
        ([TOKENS, "--size=huge"], "size='huge': expected one of paper, tiny"),
        ([TOKENS, "--recipe=paper-code"], "recipe='paper-code': the language model has 'paper' alone"),
        ([TOKENS, "--attention=none"], f"attention='none': expected one of {ATTENTIONS}; {OWN}"),
        ([TOKENS, "--dtype=int8"], "dtype='int8': expected one of 'bfloat16', 'float32'"),
        ([TOKENS, "--length=0"], "length=0: expected an integer from 1 to 16,777,216"),
        (
            [TOKENS, "--length=5000"],
            "length=5,000: 2,635 tokens make 0 windows; expected 1 to 4,294,967,295, so prepare more "
            "documents or use another length",
        ),
        ([TOKENS, "--parts=9"], "parts=9: expected an integer from 1 to 8"),
        ([TOKENS, "--tile=-1"], "tile=-1: expected an integer from 0 to 16,777,216"),
        ([TOKENS, "--heads=5"], "qkv_width=12: expected a multiple of heads=5"),
        ([TOKENS, "--heads=4"], "head width 3: rotary encoding turns pairs, so it must be even"),
        (
            [TOKENS, "--mesh=data=2"],
            "mesh 'data=2' has 2 devices; here: 1 device (cpu); choose a smaller mesh",
        ),
        ([TOKENS, "--seeds=0,0"], "seeds 0, 0: one is there twice"),
    ],
)
def test_bad_lines_of_training_are_refused_before_anything_is_written(
    language, tmp_path, monkeypatch, options, message
):
    (tmp_path / HERE).symlink_to(language / TRAINING)
    monkeypatch.chdir(tmp_path)
    assert_refused(tmp_path, message, *LINE, *options, "--out=run")


@pytest.mark.parametrize(
    ("manifest", "message"),
    [
        ({"layout": 1, "splits": {}}, "lacks 'kind'"),
        (
            {"kind": "tokens", "layout": 9, "plan": {}, "shards": [], "tokenizer": {}},
            "layout is 9; expected 1",
        ),
    ],
)
def test_directories_of_something_else_are_refused(tmp_path, manifest, message):
    write_json(tmp_path / "manifest.json", manifest)
    line = [*LINE, f"--data={tmp_path}", f"--out={tmp_path / 'run'}"]
    told = f"isn't the manifest of a directory of tokens ({message}); choose another"
    assert_refused(tmp_path, f"{tmp_path / 'manifest.json'} {told}", *line)


def test_tokens_that_are_not_prepared_to_the_end_are_refused(tmp_path):
    (tmp_path / "tokens" / ".sraven-partial").mkdir(parents=True)
    message = (
        f"{tmp_path / 'tokens'} has no manifest.json; unfinished: run the same `sraven c4 prepare` again, "
        "and it goes on"
    )
    assert_refused(tmp_path, message, *LINE, f"--data={tmp_path / 'tokens'}", f"--out={tmp_path / 'run'}")


@pytest.mark.parametrize(
    "option",
    [
        "data=tokens",
        "validation=tokens",
        "size=tiny",
        "length=9",
        "dtype=float32",
        "parts=1",
        "tile=8",
        "tile=0",
        "rematerialise",
    ],
)
def test_options_of_the_language_model_are_refused_on_another_board(tmp_path, option):
    message = (
        f"--{option.split('=')[0]} is for the language model; fuzzylogic-v1 makes its own instances; "
        "see sraven train --help"
    )
    line = ["train", "fuzzylogic-v1", "--attention=hyla", *tiny_runs.tiny_options(steps=1)]
    assert_refused(tmp_path, message, *line, f"--{option}", f"--out={tmp_path / 'run'}")


WORDS = ["c4", "sample", "--prompt=the old", "--tokens=13", "--samples=2", "--temperature=0"]


def test_texts_are_printed_after_their_prompt(language):
    texts = sample_text(language / TWICE[0], "the old", 13, samples=2, temperature=0)
    assert texts[0] == texts[1] and texts[0].startswith(" ")
    printed = sraven(*WORDS, language / TWICE[0])
    assert printed == (0, "\n\n".join("the old" + text for text in texts) + "\n", "")
    code, out, err = sraven(*WORDS, language / TWICE[0], "--json")
    assert (code, json.loads(out), err) == (0, {"prompt": "the old", "texts": texts}, "")


def test_unless_told_a_text_is_continued_as_far_as_there_is_room(language):
    texts = sample_text(language / TWICE[0], "the old", temperature=0)
    assert texts == sample_text(language / TWICE[0], "the old", 13, temperature=0)
    assert sraven("c4", "sample", "--prompt=the old", "--temperature=0", language / TWICE[0])[0] == 0


def test_bad_lines_of_sampling_are_refused(language, other_board, tmp_path):
    run = language / TWICE[0]
    room = f"; what the model's {TINY['length']} leave beside the prompt"
    for options, message in (
        ([run, "--tokens=64"], f"tokens=64: expected an integer from 1 to 15{room}"),
        ([run, "--tokens=0"], f"tokens=0: expected an integer from 1 to 15{room}"),
        ([run, "--tokens=1", "--temperature=nan"], "temperature=nan: expected a number, 0 or more"),
        ([run, "--tokens=1", "--top=-1"], "top=-1: expected an integer from 0 to 280"),
        ([tmp_path / "no"], f"{tmp_path / 'no'} holds no run; `sraven train` makes one"),
        ([other_board], f"{other_board} is a run on fuzzylogic-v1, not one of the language model"),
    ):
        assert_refused(tmp_path, message, "c4", "sample", *options)


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (
            ["c4"],
            ["prepare", "Documents to shards of tokens", "sample", "Text from a trained language model."],
        ),
        (
            ["c4", "sample"],
            ["--prompt", "--tokens", "--samples", "--temperature", "--top", "--seed", "--json"],
        ),
        (
            ["train"],
            ["--data", "--size", "--length", "--dtype", "--parts", "--tile", "--rematerialise", "paper|tiny"],
        ),
        (["evaluate"], ["--data", "--rows", "--mesh", "--losses", "--out", "--json"]),
    ],
)
def test_help_lists_the_options(command, words):
    code, out, _ = sraven(*command, "--help")
    assert code == 0
    assert [word for word in words if word not in out] == []


def test_commands_import_no_library_that_trains_before_they_need_it():
    code = """
import sys
from cli.main import main
import cli.commands.train, cli.commands.evaluate, cli.shared.language, cli.commands.c4.sample
for line in ("train --help", "evaluate --help", "c4 sample --help", "train c4-v1", "evaluate"):
    try:
        main(line.split())
    except SystemExit:
        pass
print({"jax", "flax", "optax", "orbax", "grain", "sentencepiece", "numpy", "datasets"} & set(sys.modules))
"""
    root = Path(__file__).parents[3]
    found = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert found.stdout.endswith("\nset()\n")
