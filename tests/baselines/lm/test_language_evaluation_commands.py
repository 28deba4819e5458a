"""The command line of the language model: evaluate, what it prints and refuses."""

import json
import shutil

import numpy as np
import pyarrow.parquet as pq
import pytest

from baselines.evaluate import Evaluation
from baselines.lm.corpus import Corpus
from baselines.lm.evaluate import document_losses, summarise, unigram_entropy
from baselines.lm.sample import load_language_run
from baselines.run_directory import read_run
from helpers.command import sraven
from helpers.tiny_language import (
    TRAINING,
    TWICE,
    VALIDATION,
    assert_refused,
    changed_run,
    make_document,
    train_tokenizer,
    write_corpus,
)
from sraven.core.boards.board import read_board

pytestmark = pytest.mark.usefixtures("compiled")


@pytest.fixture(scope="module")
def evaluated(language, data, tmp_path_factory):
    """Both runs evaluated: the answer for programs, and the file of losses."""
    file = tmp_path_factory.mktemp("evaluated") / "losses.parquet"
    code, out, err = sraven(
        "evaluate", *(language / run for run in TWICE), data, "--json", f"--losses={file}", "--rows=7"
    )
    assert (code, err) == (0, "")
    assert [path.name for path in file.parent.iterdir()] == [file.name]
    return json.loads(out), pq.read_table(file)


def test_evaluation_for_programs_has_what_the_library_finds(language, evaluated):
    answer, _ = evaluated
    documents = Corpus(language / VALIDATION)
    assert set(answer) == {"runs", "unigram_entropy"}
    assert answer["unigram_entropy"] == unigram_entropy(documents)
    for seed, (name, run) in enumerate(zip(TWICE, answer["runs"], strict=True)):
        assert (run.pop("folder"), run.pop("seed")) == (str(language / name), seed)
        assert set(run) == {"documents", "tokens", "loss", "perplexity", "bits_per_byte"}
    found = summarise(document_losses(*load_language_run(language / TWICE[0]), documents, rows=7))
    assert answer["runs"][0] == found
    assert found["documents"] == 13 and found["loss"] < answer["unigram_entropy"]
    assert answer["runs"][1] != found


def test_file_of_losses_has_a_column_for_each_seed(evaluated):
    answer, table = evaluated
    assert table.column_names == ["document", "targets", "bytes", "loss_0", "loss_1"]
    assert table.num_rows == 13
    for seed, run in enumerate(answer["runs"]):
        losses, targets = (np.asarray(table[name]) for name in (f"loss_{seed}", "targets"))
        assert (losses > 0).all()
        assert losses.sum() / targets.sum() == pytest.approx(run["loss"])


def test_evaluation_is_printed_as_a_table(language, data, evaluated):
    code, out, err = sraven("evaluate", language / TWICE[1], data, "--rows=7")
    assert (code, err) == (0, "")
    run = evaluated[0]["runs"][1]
    assert f"13 documents, {run['tokens']:,} tokens" in out
    [row] = [line for line in out.splitlines() if str(language / TWICE[1]) in line]
    assert [cell.strip() for cell in row.strip("│ ").split("│")] == [
        str(language / TWICE[1]),
        f"{run['loss']:.4f}",
        f"{run['perplexity']:,.2f}",
        f"{run['bits_per_byte']:.4f}",
    ]
    entropy = evaluated[0]["unigram_entropy"]
    last = f"unigram entropy {entropy:.4f}: a loss below it has learnt more than how frequent tokens are"
    assert out.splitlines()[-1] == last


def test_submission_of_documents_that_are_not_the_boards_is_refused(language, data, tmp_path):
    message = (
        "c4-v1 has the 364,608 documents of allenai/c4, en, validation; here are 13, of which nothing can "
        "be submitted or pinned"
    )
    options = [f"--out={tmp_path / 'entry'}", f"--losses={tmp_path / 'losses.parquet'}"]
    assert_refused(tmp_path, message, "evaluate", language / TWICE[0], data, *options)


def test_evaluation_needs_documents(language, tmp_path):
    message = (
        "a run on c4-v1 needs --data DIR, tokens that `sraven c4 prepare` made; see sraven evaluate --help"
    )
    assert_refused(tmp_path, message, "evaluate", language / TWICE[0])


def test_runs_that_are_no_seeds_of_one_configuration_are_refused(language, data, tmp_path):
    first, other = (
        language / TWICE[0],
        changed_run(language / TWICE[0], tmp_path / "other", learning_rate=0.5),
    )
    message = f"{other} differs from {first} in more than its seed"
    assert_refused(tmp_path, message, "evaluate", first, other, data)
    assert_refused(tmp_path, "two of the runs have the same seed", "evaluate", first, first, data)


@pytest.mark.parametrize("out", [False, True])
def test_runs_on_two_boards_are_refused(language, data, other_board, tmp_path, out):
    first, options = language / TWICE[0], [f"--out={tmp_path / 'entry'}"] if out else []
    for one, two in ((first, other_board), (other_board, first)):
        message = f"{two} differs from {one} in more than its seed"
        assert_refused(tmp_path, message, "evaluate", one, two, data, *options)
        assert_refused(tmp_path, message, "evaluate", one, two, *options)


def test_unfinished_and_missing_runs_are_refused(language, data, tmp_path):
    wanted = f"{tmp_path / 'no'} holds no run; `sraven train` makes one"
    assert_refused(tmp_path, wanted, "evaluate", tmp_path / "no", data)
    begun = shutil.copytree(language / TWICE[0], tmp_path / "run")
    shutil.rmtree(begun / "checkpoints" / "60")
    wanted = f"{begun} has 40 of 60 steps; train it to the end first"
    assert_refused(tmp_path, wanted, "evaluate", begun, data)


def test_documents_of_another_tokenizer_are_refused_though_it_has_as_many_pieces(language, tmp_path):
    other = train_tokenizer([make_document(number) + " xyz" for number in range(80)], 280)
    tokens = write_corpus(tmp_path, 500, 2, other)
    run = language / TWICE[0]
    mine = Corpus(language / TRAINING).tokenizer["sha256"][:12]
    message = (
        f"the documents have the tokenizer {other.sha256[:12]}… and {run} has {mine}…; prepare them with "
        "the run's tokenizer"
    )
    assert_refused(tmp_path, message, "evaluate", run, f"--data={tokens}")


def test_rows_beyond_all_bounds_are_refused_by_their_name(language, data, tmp_path):
    message = "rows=1099511627776: expected an integer from 1 to 1,073,741,824"
    assert_refused(tmp_path, message, "evaluate", language / TWICE[0], data, f"--rows={1 << 40}")


def test_other_boards_need_a_submission_to_write(other_board, tmp_path):
    message = "name the submission to write: --out DIR; see sraven evaluate --help"
    assert_refused(tmp_path, message, "evaluate", other_board)


def test_submission_to_another_board_is_told_to_programs(other_board, monkeypatch, tmp_path):
    board, sizes = read_board("fuzzylogic-v1"), {"test": 5, "ood": 7, "ood_terms": 7}
    scores = {split: {"r2_per_sequence": 0.5 + place} for place, split in enumerate(sizes)}
    found = Evaluation(board, [read_run(other_board)], None, {}, {0: scores}, sizes)
    monkeypatch.setattr("baselines.evaluate.write_entry", lambda *_, **__: found)
    line = ["evaluate", other_board, f"--out={tmp_path / 'entry'}"]
    code, out, err = sraven(*line, "--json")
    told = {"by_seed": {"0": scores}, "instances": sizes, "unranked": ["ood_terms"]}
    assert (code, json.loads(out), err) == (0, {"path": str(tmp_path / "entry"), "scores": told}, "")
    code, out, err = sraven(*line)
    assert (code, err) == (0, "")
    assert out.endswith(f"{tmp_path / 'entry'}\n\nsraven score {tmp_path / 'entry'}\n")
    rows = [row.split() for row in out.splitlines()[1:4]]
    assert rows == [["test", "5", "0.5000"], ["ood", "7", "1.5000"], ["ood_terms", "7", "2.5000", "unranked"]]


@pytest.mark.parametrize("option", ["data=tokens", "losses=file", "rows=7", "mesh=data=1"])
def test_options_of_the_language_model_are_refused_for_runs_on_other_boards(other_board, tmp_path, option):
    name = option.split("=")[0]
    message = (
        f"--{name} is for runs on c4-v1; other boards make their own instances; see sraven evaluate --help"
    )
    out = f"--out={tmp_path / 'entry'}"
    assert_refused(tmp_path, message, "evaluate", other_board, f"--{option}", out)
