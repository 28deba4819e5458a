"""The result of a run: read off its own files, written whole at its end, extended by evaluation."""

import json
import shlex
import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from baselines.evaluate import UNKNOWN, describe_unranked, keep_scores, write_entry
from baselines.load import load_run
from baselines.session import OnBoard, ScoringOptions
from baselines.train import provenance
from baselines.train.code import add_code, check_code, code_digest, code_files, forget_code, imported_by
from baselines.train.directory import CHECKPOINTS, CONFIG
from baselines.train.log import LOG
from baselines.train.provenance import CHANGED, RECORD, code_commit, commit_of, hardware_of, read_provenance
from baselines.train.result import EVALUATION, RESULT, WHILE_TRAINING, read_result, write_result
from baselines.train.train import train
from cli.shared.training import _print_grid
from helpers.refusals import assert_refused
from helpers.tiny_runs import CHUNK, STEPS, lines_of, tiny
from sraven.board.board import read_board
from sraven.core.errors import OutputError
from sraven.core.spec import values_of
from sraven.files.files import write_json
from sraven.leaderboard.submissions.submission import read_description, score_submission

SLICE = 40


scored = OnBoard(read_board("fuzzylogic-v1")).experiment(ScoringOptions(15, SLICE))
"""Experiments that are scored in their last steps."""

pytestmark = pytest.mark.usefixtures("compiled")


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The directory of a finished run; tests only read it."""
    folder = tmp_path_factory.mktemp("runs") / "run"
    train(tiny(), folder, make_experiment=scored, save_every=STEPS // 2)
    return folder


@pytest.fixture
def copy(finished, tmp_path):
    return shutil.copytree(finished, tmp_path / "copy")


def test_result_has_the_run_and_what_it_came_to(finished):
    """Its scores are the last ones of the log, and say so."""
    found, lines = read_result(finished), lines_of(finished)
    names = "schema configuration digest benchmark_version command steps diverged seconds loss trained_by"
    assert list(found) == [*names.split(), "scores"]
    assert (found["configuration"], found["digest"]) == (values_of(tiny()), tiny().digest)
    assert found["steps"] == {"planned": STEPS, "done": STEPS} and found["diverged"] is None
    assert found["command"].startswith("sraven train fuzzylogic-v1 --attention hyla")
    assert found["seconds"] == pytest.approx(
        sum(CHUNK * tiny().batch_size / line["instances_per_second"] for line in lines), abs=1e-3
    )
    assert found["loss"] == {"mean": pytest.approx(sum(line["loss"] for line in lines) / 4), "steps": STEPS}
    scores = found["scores"]
    assert (scores["from"], scores["step"], scores["unranked"]) == (WHILE_TRAINING, STEPS, ["ood_terms"])
    assert scores["instances"] == dict.fromkeys(("test", "ood", "ood_terms"), SLICE)
    assert {**scores["splits"]["ood"], "instances": SLICE} == lines[-1]["scores"]["ood"]


def test_last_loss_is_of_the_last_thousand_steps(tmp_path):
    write_json(tmp_path / CONFIG, values_of(tiny(steps=1300)))
    steps = [(100, 9.0), (400, 8.0), (1200, 2.0), (1300, 4.0)]
    (tmp_path / LOG).write_text("".join(json.dumps({"step": s, "loss": loss}) + "\n" for s, loss in steps))
    write_result(tmp_path, tiny(steps=1300))
    found = read_result(tmp_path)
    # Of the last 1,000 steps: 300 from a line of 8, 800 of 2 and 100 of 4; a line counts whole.
    assert found["loss"] == {"mean": pytest.approx((300 * 8 + 800 * 2 + 100 * 4) / 1200), "steps": 1200}
    assert found["seconds"] is None and found["scores"] is None and found["trained_by"] == []


@pytest.fixture
def copies(tmp_path):
    """A run's directory with copies of three files that were imported, and their digest."""
    forget_code()
    for name in ("z.py", "a.py", "m.py"):
        (tmp_path / name).write_text(f"# {name}")
        add_code(tmp_path / name)
    (tmp_path / "run" / "imported").mkdir(parents=True)
    for place, content in code_files().items():
        (tmp_path / "run" / place).write_bytes(content)
    yield tmp_path / "run", code_digest()
    forget_code()


def test_the_command_of_a_run_imports_in_the_order_of_its_training(copies):
    run, code = copies
    config = replace(tiny(), code=code)
    assert list(imported_by(run, config)) == ["z.py", "a.py", "m.py"]
    forget_code()
    wanted = " ".join(f"--import {run / 'imported' / name}" for name in ("z.py", "a.py", "m.py"))
    assert_refused(f"then {wanted}", check_code, run, config, error=OutputError)


def test_a_log_without_a_loss_has_none(tmp_path):
    """As that of a training loop of one's own may be."""
    write_json(tmp_path / CONFIG, values_of(tiny(steps=10)))
    (tmp_path / LOG).write_text('{"step": 10, "score": 0.5}\n')
    write_result(tmp_path, tiny(steps=10))
    assert read_result(tmp_path)["loss"] is None


def test_run_that_diverged_says_where(copy):
    write_result(copy, tiny(), diverged=15)
    found = read_result(copy)
    assert (found["diverged"], found["steps"]) == (15, {"planned": STEPS, "done": 15})
    shutil.rmtree(copy / CHECKPOINTS / str(STEPS))
    assert_refused("diverged: its loss is no number after step 15", load_run, copy, error=OutputError)


def test_training_leaves_who_trained_without_naming_the_machine(finished):
    (record,) = read_provenance(finished)
    assert set(record) == {"commit", "sraven", "versions", "machine"}
    assert {"jax", "flax", "optax", "python"} <= set(record["versions"])
    assert set(record["machine"]) == {"device", "devices", "platform", "processors", "processes", "system"}
    assert record["machine"]["platform"] == "cpu" and record["machine"]["devices"] == 1
    assert read_result(finished)["trained_by"] == [record]


def test_machine_that_goes_on_has_a_record_beside_the_first(finished, copy, monkeypatch):
    """The result is the same, but for them and its time; and so are the scores on the way."""
    other = {"device": "NVIDIA H100", "devices": 4, "platform": "gpu", "processors": 8, "processes": 1}
    monkeypatch.setattr(provenance, "machine_of", lambda mesh: other)
    train(tiny(), copy, make_experiment=scored)  # nothing is left to train
    assert len(read_provenance(copy)) == 1
    shutil.rmtree(copy / CHECKPOINTS / str(STEPS))
    (copy / RESULT).unlink()
    train(tiny(), copy, make_experiment=scored)
    assert len(read_provenance(copy)) == 2
    assert hardware_of([copy]).endswith("; 4 × NVIDIA H100")
    one, again = read_result(finished), read_result(copy)
    assert one.pop("seconds") > 0 and again.pop("seconds") > 0
    assert {**one, "trained_by": None} == {**again, "trained_by": None}
    on_the_way, on_both = ([line.get("scores") for line in lines_of(run)] for run in (finished, copy))
    assert on_the_way == on_both and any(on_the_way[:-1])


def test_commit_is_that_of_the_checkout_and_says_if_files_were_changed(tmp_path, monkeypatch):
    assert (provenance._ROOT / "baselines" / "train" / "provenance.py").samefile(provenance.__file__)
    git = ["git", "-C", str(tmp_path), "-c", "user.name=A", "-c", "user.email=a@example.org"]
    find_commit = code_commit.__wrapped__  # which keeps nothing
    assert find_commit(tmp_path) is None
    (tmp_path / "sraven").mkdir()
    (tmp_path / "sraven" / "a.py").write_text("1")
    for command in (["init"], ["add", "."], ["commit", "-m", "First"]):
        provenance.subprocess.run([*git, *command], check=True, capture_output=True)
    commit = find_commit(tmp_path)
    assert len(commit) == 40 and set(commit) <= set("0123456789abcdef")
    (tmp_path / "sraven" / "a.py").write_text("2")
    assert find_commit(tmp_path) == commit + CHANGED
    monkeypatch.setattr(provenance.shutil, "which", lambda name: None)
    assert find_commit(tmp_path) is None


# Evaluation


@pytest.fixture(scope="module")
def entry(finished, tmp_path_factory):
    """A run, its submission, and its evaluation."""
    folder = tmp_path_factory.mktemp("evaluated")
    run = shutil.copytree(finished, folder / "run")
    return run, folder / "entry", write_entry([run], folder / "entry", authors=["A. Author"])


def test_evaluation_takes_the_place_of_the_slices_and_stays(entry):
    """An unranked split is scored by the same metrics and is no part of the submission."""
    run, out, evaluated = entry
    found = read_result(run)["scores"]
    board, official = read_board("fuzzylogic-v1"), score_submission(out)["splits"]
    assert (found["from"], found["unranked"]) == (EVALUATION, ["ood_terms"])
    assert found["instances"] == {**board.splits, "ood_terms": board.splits["ood"]}
    for split in board.splits:
        metrics = official[split]["metrics"]
        assert found["splits"][split] == {name: metrics[name]["mean"] for name in board.metrics}
    train(tiny(), run)  # nothing is left to train, and the result is written again
    assert read_result(run)["scores"] == found
    assert evaluated.unranked() == ("ood_terms",) and set(evaluated.predictions) == {"test", "ood"}
    assert {each["split"] for each in read_description(out)[0]["runs"]} == {"test", "ood"}
    said = describe_unranked(evaluated)
    assert "ood_terms" in said and said in (out / "README.md").read_text()


def test_hardware_is_what_trained_not_what_evaluates(entry, finished, copy, tmp_path, monkeypatch):
    monkeypatch.setattr(provenance, "machine_of", lambda mesh: pytest.fail("asked for its machine"))
    described = read_description(entry[1])[0]
    assert described["training"]["hardware"] == hardware_of([entry[0]])
    next(copy.glob(RECORD.format("*"))).unlink()
    for find in (hardware_of, commit_of):
        assert find([copy]) is find([finished, copy]) is None
    write_entry([copy], tmp_path / "entry", authors=["A. Author"])
    assert read_description(tmp_path / "entry")[0]["training"]["hardware"] == UNKNOWN


def test_run_that_cannot_be_written_is_evaluated_all_the_same(copy, capsys, monkeypatch):
    def fail(path, value):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("baselines.train.result.write_json", fail)
    keep_scores(copy, tiny(), {"test": {"mse": 0.1}}, {"test": 5})
    assert capsys.readouterr().err == f"note: {copy / RESULT} isn't written: Permission denied\n"


@pytest.mark.parametrize("content", ["", "[]", '{"schema": 2}', "[" * 10_000])
def test_result_that_is_none_is_refused_in_a_line_and_written_anew(copy, content):
    (copy / RESULT).write_text(content)
    assert_refused("can't be read", read_result, copy, error=OutputError)
    write_result(copy, tiny())
    assert read_result(copy)["digest"] == tiny().digest
    assert_refused(f"has no {RESULT}; training writes it", read_result, copy.parent, error=OutputError)


def test_the_printed_command_of_a_grid_imports_what_it_was_trained_with(copies, capsys):
    plan = SimpleNamespace(out=Path("my runs"))
    points = [
        {"folder": "rate-1", "seeds": [0, 2], "mean": 0.5, "standard_error": 0.1, "values": {"rate": 1.0}}
    ]
    summary = {"points": points, "selected": 0, "metric": "r2", "split": "test"}
    printed = []
    for board in ("fuzzylogic-v1", "c4-v1"):
        _print_grid({**summary, "board": board}, plan)
        printed.append(shlex.split(capsys.readouterr().out.splitlines()[-1]))
    runs = ["my runs/rate-1/seed-0", "my runs/rate-1/seed-2"]
    own = [word for name in ("z", "a", "m") for word in ("--import", f"{runs[0]}/imported/{name}.py")]
    begin, end = ["sraven", "evaluate", *own, *runs], ["--out", "entry"]
    assert printed == [[*begin, *end], [*begin, "--data", "DIR", *end]]
