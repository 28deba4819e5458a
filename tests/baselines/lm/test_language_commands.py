"""The command line of the language model: train and sample, what they print and refuse."""

import json
import shutil

import pytest

from baselines.lm.sample import sample_text
from baselines.runs.directory import read_run
from helpers import tiny_runs
from helpers.command import sraven
from helpers.submissions import snapshot
from helpers.tiny_language import LINE, SOFTMAX, TRAINING, TWICE, VALIDATION, assert_refused
from helpers.tiny_runs import lines_of
from sraven.core.base.spec import values_of
from sraven.core.system.files import write_json

pytestmark = pytest.mark.usefixtures("compiled")


def test_training_ends_in_a_line_and_reports_the_last_one_of_the_log_to_programs(language):
    printed = json.loads((language / "printed.json").read_text())
    last = lines_of(language / TWICE[0])[-1]
    loss, perplexity = f"{last['loss']:.4f}", f"{last['perplexity']:,.2f}"
    wanted = f"{language / TWICE[0]}: 60 steps, loss {loss}, perplexity {perplexity} in training\n"
    assert printed[TWICE[0]] == [0, wanted, ""]
    code, out, err = printed[SOFTMAX]
    last = lines_of(language / SOFTMAX)[-1]
    assert last.pop("step") == 60
    assert (code, err) == (0, "")
    (found,) = json.loads(out)
    assert (found["folder"], found["training"], found["diverged"]) == (str(language / SOFTMAX), last, None)
    assert found["configuration"] == values_of(read_run(language / SOFTMAX))


def test_same_line_again_does_nothing_and_others_are_refused(language, tmp_path):
    folder = shutil.copytree(language / TWICE[0], tmp_path / "run")
    before, line = snapshot(tmp_path), [*LINE, f"--out={folder}"]
    assert sraven(*line, f"--data={language / TRAINING}") == (0, f"{folder}: 60 steps\n", "")
    assert snapshot(tmp_path) == before
    for options, names in (
        ([f"--data={language / VALIDATION}"], "corpus"),
        ([f"--data={language / TRAINING}", "--mlp-width=8", "--seed=3"], "seed, mlp_width"),
    ):
        wanted = f"{folder} holds another run ({names} differ); choose another directory"
        assert_refused(tmp_path, wanted, *line, *options)


HERE, THERE = "tokens", "nowhere"

TOKENS = f"--data={HERE}"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "--data DIR"),
        ([f"--data={THERE}"], f"{THERE} has no manifest.json"),
        ([TOKENS, f"--data={THERE}"], f"{THERE} has no manifest.json"),
        ([f"--data={HERE}/tokenizer.model"], f"'--data': Directory '{HERE}/tokenizer.model' is a file"),
        ([TOKENS, "--grid", "warmup=1,2"], "needs --validation DIR"),
        ([TOKENS, "--size=huge"], "size='huge': "),
        ([TOKENS, "--attention=none"], "attention='none': "),
        ([TOKENS, "--length=5000"], "length=5,000: 2,635 tokens make 0 windows"),
        ([TOKENS, "--parts=9"], "parts=9: "),
        ([TOKENS, "--tile=-1"], "tile=-1: "),
        ([TOKENS, "--heads=5"], "heads=5"),
        ([TOKENS, "--heads=4"], "head width 3"),
        ([TOKENS, "--mesh=data=2"], "mesh 'data=2' has 2 devices; here: 1"),
        ([TOKENS, "--seeds=0,0"], "seeds 0, 0"),
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
        ({"kind": "tokens", "layout": 9, "plan": {}, "shards": [], "tokenizer": {}}, "layout is 9"),
        (None, "unfinished: run the same `sraven c4 prepare` again"),
    ],
)
def test_directories_of_something_else_are_refused(tmp_path, manifest, message):
    if manifest:
        write_json(tmp_path / "manifest.json", manifest)
    else:
        (tmp_path / ".sraven-partial").mkdir()
    assert_refused(tmp_path, message, *LINE, f"--data={tmp_path}", f"--out={tmp_path / 'run'}")


GIVEN = ("data=tokens", "validation=tokens", "size=tiny", "length=9", "dtype=float32", "parts=1", "tile=0")


@pytest.mark.parametrize("option", [*GIVEN, "rematerialise", "fused"])
def test_options_of_the_language_model_are_refused_on_another_board(tmp_path, option):
    line = ["train", "fuzzylogic-v1", "--attention=hyla", *tiny_runs.tiny_options(steps=1)]
    assert_refused(tmp_path, f"--{option.split('=')[0]} ", *line, f"--{option}", f"--out={tmp_path / 'run'}")


WORDS = ["c4", "sample", "--prompt=the old", "--samples=2", "--temperature=0"]


def test_texts_are_printed_after_their_prompt(language, tmp_path):
    texts = sample_text(language / TWICE[0], "the old", 13, samples=2, temperature=0)
    assert texts[0] == texts[1] and texts[0].startswith(" ")
    printed = sraven(*WORDS, language / TWICE[0])
    assert printed == (0, "\n\n".join("the old" + text for text in texts) + "\n", "")
    code, out, err = sraven(*WORDS, language / TWICE[0], "--json")
    assert (code, json.loads(out), err) == (0, {"prompt": "the old", "texts": texts}, "")
    assert sample_text(language / TWICE[0], "the old", temperature=0) == texts[:1]  # as far as there is room
    assert_refused(tmp_path, "tokens=64: expected an", "c4", "sample", language / TWICE[0], "--tokens=64")
    assert_refused(tmp_path, "no holds no run", "c4", "sample", tmp_path / "no")
