"""`sraven train --print-config`: the configuration that options make."""

import json
import shlex
from dataclasses import fields

from hypothesis import given, settings, strategies as st

from baselines.config import LanguageConfig, read_config
from baselines.train.command import train_command
from cli.commands.train import command
from helpers.command import sraven

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
def test_what_is_printed_is_the_run_that_its_command_trains(options):
    values = printed(*(f"--{name}={value}" for name, value in options.items()))
    config = read_config(values)
    for name, value in options.items():
        assert getattr(config, name.replace("-", "_")) == value
    assert printed(*shlex.split(train_command([config]))[3:]) == values


def test_every_field_is_an_option_or_follows_from_others():
    """Of the board, which is an argument, from the text and from the user's own code."""
    options = {each.name for each in command.params}
    others = {"board", "board_digest", "seed", "corpus", "vocabulary", "code"}
    assert {each.name for each in fields(LanguageConfig)} - others <= options and "seeds" in options


def test_nothing_is_printed_or_trained_that_cant_be(refused, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "Missing option '--out'; see sraven train --help" in refused(*LINE[:2], "--attention=hyla")
    assert "optimiser='adamv': " in refused(*LINE, "--attention=hyla", "--optimiser=adamv")
    printed("--attention=hyla")
    assert list(tmp_path.iterdir()) == []
