"""`sraven train --config`: what a run wrote, or YAML, in the place of options; and `--print-config`."""

import json
import shlex

import pytest
import yaml
from hypothesis import given, settings, strategies as st

from baselines.config import read_config
from baselines.train.command import train_command
from baselines.train.config_file import FIELDS, PINNED, read_config_file
from baselines.train.directory import CONFIG, read_run
from baselines.train.log import LOG
from baselines.train.result import RESULT, read_result
from cli.commands.train import command
from helpers.command import sraven
from helpers.refusals import assert_refused
from helpers.tiny_runs import TINY, tiny, tiny_options

LINE = ["train", "fuzzylogic-v1", "--print-config"]

OPTIONS = st.fixed_dictionaries(
    {"attention": st.sampled_from(["softmax", "linear", "hyla_deep"])},
    optional={
        "recipe": st.sampled_from(["paper", "paper-code"]),
        "steps": st.integers(3_000, 1 << 40),
        "batch-size": st.integers(1, 1 << 20),
        "learning-rate": st.floats(0, 1e300) | st.sampled_from([1e-5, 3e-4]),
        "weight-decay": st.floats(0, 1),
        "warmup": st.integers(0, 3_000),
        "seed": st.integers(0, (1 << 32) - 1),
        "layers": st.integers(1, 3),
        "heads": st.sampled_from([1, 2, 4]),
        "attention-dropout": st.floats(0, 0.99),
        "network": st.sampled_from(["transformer", "looped"]),
        "optimiser": st.just("adamw"),
        "precision": st.sampled_from(["default", "high", "highest", "bfloat16"]),
    },
)


def printed(*arguments):
    """Return the configuration that a line prints."""
    code, out, err = sraven(*LINE, *arguments)
    assert (code, err) == (0, "")
    return json.loads(out)


@settings(max_examples=5)
@given(OPTIONS)
def test_what_is_printed_is_read_back_as_the_same_run(tmp_path_factory, options):
    """As it is, as YAML by hand, and as the command that a result names."""
    values = printed(*(f"--{name}={value}" for name, value in options.items()))
    config = read_config(values)
    for name, value in options.items():
        assert getattr(config, name.replace("-", "_")) == value
    folder = tmp_path_factory.mktemp("files")
    (folder / "run.json").write_text(json.dumps(values))
    (folder / "run.yaml").write_text(yaml.safe_dump(values))
    assert printed(f"--config={folder / 'run.json'}") == values
    assert printed(f"--config={folder / 'run.yaml'}") == values
    assert printed(*shlex.split(train_command([config]))[3:]) == values


def test_every_field_is_an_option_or_pinned():
    """But for the board, which is an argument, and seeds: so options go before all that a file says."""
    options = {each.name for each in command.params}
    assert set(FIELDS) - {"board", "seed"} - set(PINNED) <= options and {"board_id", "seeds"} <= options


@pytest.fixture(scope="module")
def trained(compiled, tmp_path_factory):
    """The directory of a run, and what the command printed of it as JSON."""
    out = tmp_path_factory.mktemp("runs") / "run"
    line = ["train", "fuzzylogic-v1", "--attention=hyla", *tiny_options(), f"--out={out}", "--json"]
    code, text, _ = sraven(*line)
    assert code == 0
    return out, json.loads(text)


@pytest.mark.parametrize("place", ["", CONFIG, RESULT])
def test_a_run_is_repeated_from_any_of_its_files(trained, place):
    file = trained[0] / place
    assert printed(f"--config={file}") == json.loads((trained[0] / CONFIG).read_text())
    again = read_config(printed(f"--config={file}", "--seed=7", "--learning-rate=0.5"))
    assert (again.seed, again.learning_rate, again.width) == (7, 0.5, TINY["width"])
    code, out, _ = sraven("train", f"--config={file}", "--print-config")  # it names its board, too
    assert (code, read_config(json.loads(out))) == (0, read_run(trained[0]))


def test_training_prints_its_result_as_json(trained):
    (found,) = trained[1]
    log = json.loads((trained[0] / LOG).read_text().splitlines()[-1])
    assert found == {"folder": str(trained[0]), "training": found["training"], **read_result(trained[0])}
    assert {"step": found["steps"]["done"], **found["training"]} == log


WRONG = {
    "learning_rat: 1e-3": "a run's configuration has no 'learning_rat'; did you mean learning_rate?",
    "learning_rate: fast": "learning_rate='fast': expected a number, without quotes",
    "steps: '10'": "steps='10': ",
    "heads: !!python/name:os.system": "line 1: has the tag",
    "- heads: 1": "expected names and values",
    "[]": "holds []; expected names and values, such as attention: hyla",
    "board_digest: abc": "board_digest='abc', but board fuzzylogic-v1 has '2b75",
    "corpus: abc": "corpus='abc', but --data has None; name what the run was trained on, or leave",
    "steps: {": "isn't YAML",
}


@pytest.mark.parametrize("text", WRONG)
def test_what_is_wrong_in_a_file_is_one_line(refused, tmp_path, text):
    (tmp_path / "mine.yaml").write_text(text)
    attention = [] if "attention" in text else ["--attention=hyla"]
    assert WRONG[text] in refused(*LINE, *attention, f"--config={tmp_path / 'mine.yaml'}")


def test_another_board_on_the_command_line_is_no_contradiction(tmp_path):
    (tmp_path / "mine.json").write_text(json.dumps({**vars(tiny()), "board": "fuzzylogic-v1"}))
    code, out, _ = sraven("train", "sraven-v1", f"--config={tmp_path / 'mine.json'}", "--print-config")
    assert code == 0
    found = read_config(json.loads(out))
    assert (found.board, found.width) == ("sraven-v1", TINY["width"])


def test_files_that_cant_be_read_are_named(tmp_path):
    with open(tmp_path / "large.yaml", "wb") as file:
        file.truncate(1 << 21)
    for path, message in (
        (tmp_path / "absent.yaml", r"absent\.yaml can't be read: No such file"),
        (tmp_path, r"config\.json can't be read: No such file"),
        (tmp_path / "large.yaml", "more than 1,048,576 bytes"),
    ):
        assert_refused(message, read_config_file, path)


def test_nothing_is_printed_or_trained_that_cant_be(refused, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "Missing option '--out'; see sraven train --help" in refused(*LINE[:2], "--attention=hyla")
    assert "optimiser='adamv': " in refused(*LINE, "--attention=hyla", "--optimiser=adamv")
    printed("--attention=hyla")
    assert list(tmp_path.iterdir()) == []
