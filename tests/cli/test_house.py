"""Each command begins with its summary, and its help has the defaults of what it calls."""

import importlib
from dataclasses import fields
from inspect import signature

import pytest

from baselines.lm.prepare import Preparation, TokenizerTraining
from baselines.lm.sample import continue_tokens
from cli.main import COMMANDS, cli
from helpers.commands import find_command
from sraven.core.dataset.write import write_dataset


def option_defaults(command):
    return {each.name: each.default for each in command.params}


@pytest.mark.parametrize("name", COMMANDS)
def test_summary_is_what_the_module_begins_with(name):
    module = importlib.import_module(find_command(name).callback.__module__)
    assert (module.__doc__ or "").split("\n")[0] == cli.summaries()[name]


def test_defaults_are_those_of_what_is_called():
    """Options say them in their help, which imports nothing of what is called."""
    made = signature(write_dataset).parameters["file_format"].default
    assert option_defaults(find_command("generate"))["file_format"] == made
    assert option_defaults(find_command("fuzzylogic", "generate"))["file_format"] == made
    sampled, drawn = option_defaults(find_command("c4", "sample")), signature(continue_tokens).parameters
    for name in ("samples", "temperature", "top", "seed"):
        assert sampled[name] == drawn[name].default
    prepared = option_defaults(find_command("c4", "prepare"))
    assert prepared["shard_documents"] == Preparation.shard_documents
    help_of = {each.name: each.help for each in find_command("c4", "prepare").params if hasattr(each, "help")}
    for name, each in zip(("vocab_size", "train_documents"), fields(TokenizerTraining), strict=True):
        assert f"[default: {each.default}]" in help_of[name]
