"""The command line of the language model: train, sample and evaluate, what they print and refuse."""

import json
import shlex
import shutil
from dataclasses import replace

import pytest

from baselines.config import read_config
from baselines.evaluate import Evaluation
from baselines.lm.evaluate import document_losses, mean_losses, unigram_entropy
from baselines.lm.session import load_language_run
from baselines.lm.tokenizer import train_tokenizer
from baselines.train.command import train_command
from baselines.train.directory import read_run
from helpers import tiny_runs
from helpers.submissions import snapshot
from helpers.tiny_language import (
    LINE,
    SOFTMAX,
    TRAINING,
    TWICE,
    assert_command_refused,
    make_document,
    write_corpus,
)
from helpers.tiny_runs import lines_of
from sraven.board.board import read_board
from sraven.core.spec import values_of

pytestmark = pytest.mark.usefixtures("compiled")


def test_training_ends_in_a_line_and_reports_the_last_one_of_the_log_to_programs(language):
    printed = json.loads((language / "printed.json").read_text())
    last = lines_of(language / TWICE[0])[-1]
    loss, perplexity = f"{last['loss']:.4f}", f"{last['perplexity']:,.2f}"
    wanted = f"{language / TWICE[0]}: 60 steps, loss {loss}, perplexity {perplexity} in training\n"
    assert printed[TWICE[0]] == [0, wanted, ""]
    code, out, err = printed[SOFTMAX]
    last = lines_of(language / SOFTMAX)[-1]
    assert (last.pop("step"), code, err) == (60, 0, "") and last.pop("scores")
    (found,) = json.loads(out)
    assert (found["folder"], found["training"], found["diverged"]) == (str(language / SOFTMAX), last, None)
    assert found["configuration"] == values_of(read_run(language / SOFTMAX))


def test_same_line_again_does_nothing(language, tmp_path, done):
    folder = shutil.copytree(language / TWICE[0], tmp_path / "run")
    before = snapshot(tmp_path)
    assert done(*LINE, f"--data={language / TRAINING}", f"--out={folder}") == f"{folder}: 60 steps\n"
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"attention": "softmax", "dtype": "bfloat16", "learning_rate": 1e-5, "steps": 10**6},
        {"attention": "hyla_deep", "feedforward": "moe", "activation": "silu", "attention_dropout": 0.1},
        {"layers": 3, "width": 20, "heads": 2, "qkv_width": 8, "mlp_width": 7, "length": 9, "batch_size": 3},
        {"weight_decay": 0.0, "warmup": 0, "learning_rate": 0.1 + 0.2},
    ],
)
def test_command_of_runs_trains_them_again(language, folder, done, changes):
    configs = [replace(read_run(folder), seed=seed, **changes) for seed in (0, 7, 2)]
    command = train_command(configs).replace("TOKENS", shlex.quote(str(language / TRAINING)))
    first, *line = shlex.split(command)
    found = json.loads(done(*line, "--print-config"))
    assert first == "sraven" and [read_config(each) for each in found] == configs


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
        ([TOKENS, "--parts=9"], "parts=9: "),
        ([TOKENS, "--tile=-1"], "tile=-1: "),
    ],
)
def test_bad_lines_of_training_are_refused_before_anything_is_written(
    language, tmp_path, monkeypatch, options, message
):
    (tmp_path / HERE).symlink_to(language / TRAINING)
    monkeypatch.chdir(tmp_path)
    assert_command_refused(tmp_path, message, *LINE, *options, "--out=run")


GIVEN = ("data=tokens", "validation=tokens", "size=tiny", "length=9", "dtype=float32", "parts=1", "tile=0")


@pytest.mark.parametrize("option", [*GIVEN, "rematerialise"])
def test_options_of_the_language_model_are_refused_on_another_board(tmp_path, option):
    line = ["train", "fuzzylogic-v1", "--attention=hyla", *tiny_runs.tiny_options(steps=1)]
    line += [f"--{option}", f"--out={tmp_path / 'run'}"]
    assert_command_refused(tmp_path, f"--{option.split('=')[0]} ", *line)


# Evaluation


def test_evaluation_for_programs_has_what_the_library_finds(language, data, done, unseen):
    line = "evaluate", *(language / run for run in TWICE), data, "--json", "--rows=7"
    answer = json.loads(done(*line))
    assert set(answer) == {"runs", "unigram_entropy"}
    assert answer["unigram_entropy"] == unigram_entropy(unseen)
    for seed, (name, run) in enumerate(zip(TWICE, answer["runs"], strict=True)):
        assert (run.pop("folder"), run.pop("seed")) == (str(language / name), seed)
        assert set(run) == {"documents", "tokens", "loss", "perplexity", "bits_per_byte"}
    found = mean_losses(document_losses(*load_language_run(language / TWICE[0]), unseen, rows=7))
    assert answer["runs"][0] == found
    assert found["documents"] == 13 and found["loss"] < answer["unigram_entropy"]
    assert answer["runs"][1] != found


def test_submission_to_another_board_is_reported_to_programs(other_board, monkeypatch, tmp_path, done):
    board, sizes = read_board("fuzzylogic-v1"), {"test": 5, "ood": 7, "ood_terms": 7}
    scores = {split: {"r2_per_sequence": 0.5 + place} for place, split in enumerate(sizes)}
    found = Evaluation(board, [read_run(other_board)], None, {}, {}, {0: scores}, sizes)
    monkeypatch.setattr("baselines.evaluate.write_entry", lambda *_, **__: found)
    line = ["evaluate", other_board, "--author=A", f"--out={tmp_path / 'entry'}"]
    reported = {"by_seed": {"0": scores}, "instances": sizes, "unranked": ["ood_terms"]}
    assert json.loads(done(*line, "--json")) == {"path": str(tmp_path / "entry"), "scores": reported}
    out = done(*line)
    assert out.endswith(f"{tmp_path / 'entry'}\n\nsraven score {tmp_path / 'entry'}\n")
    rows = [row.split() for row in out.splitlines()[1:4]]
    assert rows == [["test", "5", "0.5000"], ["ood", "7", "1.5000"], ["ood_terms", "7", "2.5000", "unranked"]]


def test_runs_and_documents_that_can_not_be_are_refused(language, data, other_board, tmp_path):
    run, out = language / TWICE[0], f"--out={tmp_path / 'entry'}"
    tokenizer = train_tokenizer([make_document(number) + " xyz" for number in range(80)], 280)
    others = f"--data={write_corpus(tmp_path, 500, 2, tokenizer)}"  # with as many pieces
    for message, *line in (
        ("--data DIR", run),
        ("nothing is submitted for c4-v1; leave --out out", run, data, out),
        (f"rows={1 << 40}: ", run, data, f"--rows={1 << 40}"),
        (f"{run} differs from {other_board} in more than its seed", other_board, run),
        (f"{tmp_path / 'no'} holds no run", tmp_path / "no", data),
        (f"the documents have the tokenizer {tokenizer.sha256[:12]}… and {run} has ", run, others),
        ("name the submission to write: --out DIR", other_board),
    ):
        assert_command_refused(tmp_path, message, "evaluate", *line)
    for option in ("data=tokens", "rows=7", "mesh=data=1"):
        message = f"this is for the language model; leave --{option.split('=')[0]} out"
        assert_command_refused(tmp_path, message, "evaluate", other_board, f"--{option}", out)
