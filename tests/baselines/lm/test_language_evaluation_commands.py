"""The command line of the language model: evaluate, what it prints and refuses."""

import json
import shutil

import numpy as np
import pyarrow.parquet as pq
import pytest

from baselines.evaluate import Evaluation
from baselines.lm.corpus import Corpus
from baselines.lm.evaluate import document_losses, mean_losses, unigram_entropy
from baselines.lm.sample import load_language_run
from baselines.runs.directory import read_run
from helpers.command import sraven
from helpers.tiny_language import (
    TWICE,
    VALIDATION,
    assert_refused,
    make_document,
    train_tokenizer,
    write_corpus,
)
from helpers.tiny_runs import changed_run
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


def test_evaluation_for_programs_and_the_file_of_losses_have_what_the_library_finds(language, evaluated):
    answer, table = evaluated
    documents = Corpus(language / VALIDATION)
    assert set(answer) == {"runs", "unigram_entropy"}
    assert answer["unigram_entropy"] == unigram_entropy(documents)
    for seed, (name, run) in enumerate(zip(TWICE, answer["runs"], strict=True)):
        assert (run.pop("folder"), run.pop("seed")) == (str(language / name), seed)
        assert set(run) == {"documents", "tokens", "loss", "perplexity", "bits_per_byte"}
    found = mean_losses(document_losses(*load_language_run(language / TWICE[0]), documents, rows=7))
    assert answer["runs"][0] == found
    assert found["documents"] == 13 and found["loss"] < answer["unigram_entropy"]
    assert answer["runs"][1] != found
    assert table.column_names == ["document", "targets", "bytes", "loss_0", "loss_1"]
    assert table.num_rows == 13 and table["document"][4].as_py().endswith("documents.jsonl:5")
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
    assert f"unigram entropy {evaluated[0]['unigram_entropy']:.4f}" in out.splitlines()[-1]


def test_submission_to_another_board_is_reported_to_programs(other_board, monkeypatch, tmp_path):
    board, sizes = read_board("fuzzylogic-v1"), {"test": 5, "ood": 7, "ood_terms": 7}
    scores = {split: {"r2_per_sequence": 0.5 + place} for place, split in enumerate(sizes)}
    found = Evaluation(board, [read_run(other_board)], None, {}, {0: scores}, sizes)
    monkeypatch.setattr("baselines.evaluate.write_entry", lambda *_, **__: found)
    line = ["evaluate", other_board, f"--out={tmp_path / 'entry'}"]
    code, out, err = sraven(*line, "--json")
    reported = {"by_seed": {"0": scores}, "instances": sizes, "unranked": ["ood_terms"]}
    assert (code, json.loads(out), err) == (0, {"path": str(tmp_path / "entry"), "scores": reported}, "")
    code, out, err = sraven(*line)
    assert (code, err) == (0, "")
    assert out.endswith(f"{tmp_path / 'entry'}\n\nsraven score {tmp_path / 'entry'}\n")
    rows = [row.split() for row in out.splitlines()[1:4]]
    assert rows == [["test", "5", "0.5000"], ["ood", "7", "1.5000"], ["ood_terms", "7", "2.5000", "unranked"]]


def test_runs_and_documents_that_can_not_be_are_refused(language, data, other_board, tmp_path):
    run, out = language / TWICE[0], f"--out={tmp_path / 'entry'}"
    faster = changed_run(run, tmp_path / "faster", learning_rate=0.5)
    begun = shutil.copytree(run, tmp_path / "begun")
    shutil.rmtree(begun / "checkpoints" / "60")
    tokenizer = train_tokenizer([make_document(number) + " xyz" for number in range(80)], 280)
    others = f"--data={write_corpus(tmp_path, 500, 2, tokenizer)}"  # with as many pieces
    apart = "{} differs from {} in more than its seed"
    for message, *line in (
        ("--data DIR", run),
        ("has the 364,608 documents of allenai/c4", run, data, out, f"--losses={tmp_path / 'losses'}"),
        (f"rows={1 << 40}: ", run, data, f"--rows={1 << 40}"),
        (apart.format(faster, run), run, faster, data),
        (apart.format(other_board, run), run, other_board, data, out),
        (apart.format(run, other_board), other_board, run),
        ("two of the runs have the same seed", run, run, data),
        (f"{tmp_path / 'no'} holds no run", tmp_path / "no", data),
        (f"{begun} has 40 of 60 steps", begun, data),
        (f"the documents have the tokenizer {tokenizer.sha256[:12]}… and {run} has ", run, others),
        ("name the submission to write: --out DIR", other_board),
    ):
        assert_refused(tmp_path, message, "evaluate", *line)
    for option in ("data=tokens", "losses=file", "rows=7", "mesh=data=1"):
        message = f"--{option.split('=')[0]} is for the language model"
        assert_refused(tmp_path, message, "evaluate", other_board, f"--{option}", out)
