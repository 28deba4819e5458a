"""Trained language models on their board: the submission that is written, and what it says of them."""

import json
import math
import shlex
from dataclasses import replace

import jax
import numpy as np
import pytest

from baselines.lm.corpus import Corpus
from baselines.lm.evaluate import DocumentLosses
from baselines.lm.experiment import language_experiment
from baselines.lm.sample import load_language_run
from baselines.lm.session import MOST_LINES, check_corpus, corpus_fingerprint, thin_log, write_language_entry
from baselines.runs.command import train_command
from baselines.runs.directory import read_run
from baselines.runs.log import LOG
from baselines.training.sharding import make_mesh
from baselines.training.step import StepReport
from baselines.training.train import Outcome
from helpers.command import sraven
from helpers.corpus_submissions import CORPUS_BOARD, DEFINITION, SIZE
from helpers.refusals import assert_refused
from helpers.submissions import description, snapshot, use_boards
from helpers.tiny_language import TRAINING, TWICE, VALIDATION
from helpers.tiny_runs import changed_run
from sraven import score_submission
from sraven.board.board import read_board
from sraven.board.freeze import make_board
from sraven.leaderboard.fingerprints import parse_pins
from sraven.leaderboard.submissions.training_log import check_log

pytestmark = pytest.mark.usefixtures("compiled")


@pytest.fixture(scope="module", autouse=True)
def board(tmp_path_factory, unseen):
    """The board of these documents and their tokenizer, in place of the packaged ones."""
    config = {**DEFINITION["config"], "tokenizer_sha256": unseen.tokenizer["sha256"], "pieces": 280}
    with pytest.MonkeyPatch.context() as patch:
        contents = {CORPUS_BOARD: make_board({**DEFINITION, "config": config})}
        use_boards(patch, tmp_path_factory.mktemp("boards"), contents)
        yield read_board(CORPUS_BOARD)


@pytest.fixture(scope="module")
def runs(language, board, tmp_path_factory):
    """The runs as they would be on that board."""
    folder, changes = tmp_path_factory.mktemp("runs"), {"board": board.id, "board_digest": board.digest}
    return [changed_run(language / name, folder / name, **changes) for name in TWICE]


@pytest.fixture(scope="module")
def entry(language, runs, tmp_path_factory):
    """The submission of both, and what was printed."""
    out = tmp_path_factory.mktemp("entries") / "entry"
    options = ["--author=A", "--author=B", "--code-commit=0123abc", "--json", f"--out={out}"]
    code, printed, err = sraven("evaluate", *runs, f"--data={language / VALIDATION}", *options)
    assert (code, err) == (0, "")
    assert [path.name for path in out.parent.iterdir()] == ["entry"]
    return out, json.loads(printed)["runs"]


# What is written


def test_submission_scores_what_evaluation_found_and_has_the_fingerprint_of_the_documents(
    entry, unseen, board, language
):
    out, summaries = entry
    scores = score_submission(out)
    found = scores["splits"]["validation"]
    pins = {"validation": found["fingerprint"]}
    assert corpus_fingerprint(board.id, unseen) == pins
    line = "c4", "fingerprint", f"--board={board.id}"
    code, printed, err = sraven(*line, language / VALIDATION)
    assert (code, err) == (0, "") and parse_pins(printed.encode()) == {board.digest: pins}
    assert json.loads(sraven(*line, language / VALIDATION, "--json")[1])["fingerprints"] == pins
    code, printed, err = sraven(*line, language / TRAINING)
    assert (code, printed) == (2, "") and err.startswith(f"error: {board.id} has the {SIZE} documents of")
    assert (scores["board"], found["instances"], found["seeds"]) == (CORPUS_BOARD, SIZE, [0, 1])
    for name in ("loss", "perplexity", "bits_per_byte"):
        by_seed = found["metrics"][name]["by_seed"]
        assert by_seed == pytest.approx([summary[name] for summary in summaries], abs=1e-8)
    assert summaries[0]["loss"] != summaries[1]["loss"]


def test_submission_tells_how_the_runs_were_trained_and_has_their_logs(entry, runs):
    content = description(entry[0])
    config, params = load_language_run(runs[0])
    assert content["training"]["instances"] == 60 * 8 * 16
    parameters = sum(leaf.size for leaf in jax.tree.leaves(params))
    assert content["model"] == {"parameters": parameters, "layers": 1, "heads": 3, "width": 24}
    method = content["method"]
    assert method["name"] == "hyla, 7,680 tokens"
    assert (method["authors"], method["code_commit"]) == (["A", "B"], "0123abc")
    command = train_command([config, replace(config, seed=1)])
    assert command in method["description"] and command in (entry[0] / "README.md").read_text()
    for seed, run in enumerate(runs):
        assert (entry[0] / "training" / f"seed-{seed}.jsonl").read_text() == (run / LOG).read_text()


def test_submission_that_is_there_is_refused_before_documents_are_evaluated(
    language, runs, entry, monkeypatch
):
    monkeypatch.setattr("baselines.lm.session.document_losses", lambda *_, **__: pytest.fail("evaluated"))
    before = snapshot(entry[0].parent)
    printed = sraven("evaluate", *runs, f"--data={language / VALIDATION}", "--author=A", f"--out={entry[0]}")
    assert printed == (2, "", f"error: {entry[0]} exists; choose another directory for the submission\n")
    assert snapshot(entry[0].parent) == before


def test_long_log_is_thinned_and_one_that_says_nothing_makes_no_submission(runs, tmp_path):
    """With losses that nobody measured."""
    (tmp_path / "run").mkdir()
    targets, out = np.arange(1, SIZE + 1), tmp_path / "entry"
    found = DocumentLosses(targets * 1.5, targets, targets * 4)

    def write(log):
        (tmp_path / "run" / LOG).write_text(log)
        config = read_run(runs[0])
        write_language_entry([tmp_path / "run"], [config], {"a": np.ones(7)}, [found], out, authors=["A"])

    for log in ("", '{"step": 20, "loss": NaN}\n'):
        assert_refused(r"seed-0\.jsonl: (has 0 lines|line 1 is )", write, log)
        assert not out.exists()
    lines = [json.dumps({"step": step, "loss": 2.5}) + "\n" for step in range(20, 20 * 12_002, 20)]
    write("".join(lines))
    kept = (out / "training" / "seed-0.jsonl").read_text().splitlines(keepends=True)
    assert len(kept) == 4_001 and kept[-1] == lines[-1]
    [loss] = score_submission(out)["splits"]["validation"]["metrics"]["loss"]["by_seed"]
    assert loss == pytest.approx(1.5)


@pytest.mark.parametrize("loss", [0.0, 2.5, 689.0, 1e4, 3e38])
def test_whatever_a_run_logs_can_be_submitted(unseen, runs, loss):
    """The perplexity of a high loss is beyond what a float holds, and, before, beyond what a log may say."""
    config = replace(read_run(runs[0]), corpus=unseen.digest)
    describe = language_experiment(unseen)(config, make_mesh()).describe
    line = {"step": 20, **describe(StepReport(loss, 0.0, 1.0), 3.0)}
    check_log(json.dumps(line).encode(), "log")
    assert line["perplexity"] == pytest.approx(math.exp(min(loss, 690)), rel=1e-6)


# Thinning


@pytest.mark.parametrize("count", [1, 40, MOST_LINES, MOST_LINES + 1, 2 * MOST_LINES, 23_456])
def test_thin_logs_have_every_nth_line_and_the_last(count):
    kept = [int(line) for line in thin_log([f"{number}\n" for number in range(count)]).splitlines()]
    apart = -(-count // MOST_LINES)
    assert kept == list(range((count - 1) % apart, count, apart))
    assert kept[-1] == count - 1 and len(kept) <= MOST_LINES


# Documents of the board


def test_other_documents_than_the_boards_are_refused(unseen, language):
    other = Corpus(language / VALIDATION)
    other.tokenizer = {**other.tokenizer, "sha256": "0123456789ab" + "f" * 52}
    for corpus, message in (
        (Corpus(language / TRAINING), "has the 13 documents of .*; here are 80,"),
        (Corpus(language / VALIDATION, language / TRAINING), "has the 13 documents of .*; here are 93,"),
        (other, f"has the tokenizer {unseen.tokenizer['sha256'][:12]}…; .* 0123456789ab…"),
    ):
        assert_refused(f"{CORPUS_BOARD} {message}", check_corpus, CORPUS_BOARD, corpus)


# The command


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
def test_command_of_a_run_trains_it_again(language, runs, monkeypatch, tmp_path, changes):
    configs = [replace(read_run(runs[0]), seed=seed, **changes) for seed in (0, 7, 2)]
    found = []

    def train_nothing(configs, folders, **options):
        found.extend(configs)
        assert [folder.name for folder in folders] == ["seed-0", "seed-7", "seed-2"]
        return [Outcome(None, None, None)] * len(configs)

    monkeypatch.setattr("baselines.session.train_runs", train_nothing)
    command = train_command(configs).replace("TOKENS", shlex.quote(str(language / TRAINING)))
    first, *line = shlex.split(command)
    assert (first, *sraven(*line, f"--out={tmp_path / 'runs'}")[::2]) == ("sraven", 0, "")
    assert found == configs
