"""The command line of the language model: train, evaluate and sample, what they print and refuse."""

import json
import shutil
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from baselines.lm.corpus import Corpus
from baselines.lm.evaluate import document_losses, summarise, unigram_entropy
from baselines.lm.sample import load_language_run, sample_text
from baselines.run_directory import CONFIG
from helpers import tiny_runs
from helpers.submissions import snapshot
from helpers.tiny_language import (
    LINE,
    SOFTMAX,
    TINY,
    TRAINING,
    TWICE,
    VALIDATION,
    all_quickly,
    changed_run,
    lines_of,
    make_document,
    make_language,
    sraven,
    train_tokenizer,
    write_corpus,
)
from helpers.tiny_runs import shared_directory
from sraven.core.system.files import write_json


@pytest.fixture(scope="module", autouse=True)
def _compiled(tmp_path_factory):
    with all_quickly(shared_directory(tmp_path_factory, "compiled")):
        yield


@pytest.fixture(scope="module")
def language(tmp_path_factory, _compiled):
    """The tokens and runs of `make_language`; tests only read them."""
    return make_language(tmp_path_factory)


@pytest.fixture(scope="module")
def data(language):
    return f"--data={language / VALIDATION}"


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


@pytest.fixture
def other_board(tmp_path):
    """The directory of a run on a board that makes its own instances, as far as a configuration goes."""
    folder = tmp_path / "other"
    folder.mkdir()
    write_json(folder / CONFIG, asdict(tiny_runs.tiny()))
    return folder


def assert_refused(tmp_path, message, *arguments, code=2):
    """Check that a command ends with one line, and leaves everything as it was."""
    before = snapshot(tmp_path)
    assert sraven(*arguments) == (code, "", f"error: {message}\n")
    assert snapshot(tmp_path) == before


# Training


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
    assert json.loads(out) == [{"folder": str(language / SOFTMAX), "training": last, "diverged": None}]


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
            "a grid on c4-v1 needs --validation DIR, documents to choose by; see sraven train --help",
        ),
        ([TOKENS, "--size=huge"], "size='huge': expected one of paper, tiny"),
        ([TOKENS, "--recipe=paper-code"], "recipe='paper-code': the language model has 'paper' alone"),
        ([TOKENS, "--attention=none"], f"attention='none': expected one of {ATTENTIONS}"),
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
        ({"layout": 1, "splits": {}}, "isn't the manifest of a directory of tokens; choose another"),
        (
            {"kind": "tokens", "layout": 9, "plan": {}, "shards": [], "tokenizer": {}},
            "has kind 'tokens', layout 9; this version reads 'tokens', layout 1",
        ),
    ],
)
def test_directories_of_something_else_are_refused(tmp_path, manifest, message):
    write_json(tmp_path / "manifest.json", manifest)
    line = [*LINE, f"--data={tmp_path}", f"--out={tmp_path / 'run'}"]
    assert_refused(tmp_path, f"{tmp_path / 'manifest.json'} {message}", *line)


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


# Evaluation


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
        "c4-v1 has the 364,608 documents of allenai/c4, en, validation; here are 13, which make no "
        "submission: leave out --out"
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


def test_file_of_losses_needs_a_directory_that_is_there(language, data, tmp_path):
    file = tmp_path / "nowhere" / "losses.parquet"
    message = f"{file.parent} isn't a directory; --losses needs one that is there"
    assert_refused(
        tmp_path,
        message + "; see sraven evaluate --help",
        "evaluate",
        language / TWICE[0],
        data,
        f"--losses={file}",
    )


def test_rows_beyond_all_bounds_are_refused_by_their_name(language, data, tmp_path):
    message = "rows=1099511627776: expected an integer from 1 to 1,073,741,824"
    assert_refused(tmp_path, message, "evaluate", language / TWICE[0], data, f"--rows={1 << 40}")


# Evaluation on other boards


def test_other_boards_need_a_submission_to_write(other_board, tmp_path):
    message = "name the submission to write: --out DIR; see sraven evaluate --help"
    assert_refused(tmp_path, message, "evaluate", other_board)


def test_submission_to_another_board_is_told_to_programs(other_board, monkeypatch, tmp_path):
    monkeypatch.setattr("baselines.evaluate.write_entry", lambda *_, **__: None)
    line = ["evaluate", other_board, f"--out={tmp_path / 'entry'}"]
    code, out, err = sraven(*line, "--json")
    assert (code, json.loads(out), err) == (0, {"path": str(tmp_path / "entry")}, "")
    assert sraven(*line) == (0, f"{tmp_path / 'entry'}\n\nsraven score {tmp_path / 'entry'}\n", "")


@pytest.mark.parametrize("option", ["data=tokens", "losses=file", "rows=7", "mesh=data=1"])
def test_options_of_the_language_model_are_refused_for_runs_on_other_boards(other_board, tmp_path, option):
    name = option.split("=")[0]
    message = (
        f"--{name} is for runs on c4-v1; other boards make their own instances; see sraven evaluate --help"
    )
    out = f"--out={tmp_path / 'entry'}"
    assert_refused(tmp_path, message, "evaluate", other_board, f"--{option}", out)


# Text

WORDS = ["c4", "sample", "--prompt=the old", "--tokens=13", "--samples=2", "--temperature=0"]


def test_texts_are_printed_after_their_prompt(language):
    texts = sample_text(language / TWICE[0], "the old", 13, samples=2, temperature=0)
    assert texts[0] == texts[1] and texts[0].startswith(" ")
    printed = sraven(*WORDS, language / TWICE[0])
    assert printed == (0, "\n\n".join("the old" + text for text in texts) + "\n", "")
    code, out, err = sraven(*WORDS, language / TWICE[0], "--json")
    assert (code, json.loads(out), err) == (0, {"prompt": "the old", "texts": texts}, "")


def test_bad_lines_of_sampling_are_refused(language, other_board, tmp_path):
    run = language / TWICE[0]
    room = f"; what the model's {TINY['length']} leave beside the prompt"
    for options, message in (
        ([run], f"tokens=64: expected an integer from 1 to 15{room}"),
        ([run, "--tokens=0"], f"tokens=0: expected an integer from 1 to 15{room}"),
        ([run, "--tokens=1", "--temperature=nan"], "temperature=nan: expected a number, 0 or more"),
        ([run, "--tokens=1", "--top=-1"], "top=-1: expected an integer from 0 to 280"),
        ([tmp_path / "no"], f"{tmp_path / 'no'} holds no run; `sraven train` makes one"),
        ([other_board], f"{other_board} is a run on fuzzylogic-v1, not one of the language model"),
    ):
        assert_refused(tmp_path, message, "c4", "sample", *options)


# Help, and imports


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
import cli.train, cli.evaluate, cli.language, cli.c4.sample
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
