"""Codes are the model's, at the tokens that the generator's truth says; and their file."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pyarrow.parquet as pq
import pytest

from baselines.analysis.analysed import write_codes
from baselines.analysis.codes import Collector, load_analysed, traps_of, untrained_params
from baselines.analysis.labels import subject_of
from baselines.encode import encoding_of
from baselines.train.directory import CONFIG
from baselines.train.experiment import model_of
from helpers.analysed_runs import tiny_sraven
from helpers.oracle import follows
from helpers.refusals import assert_refused
from helpers.tiny_runs import leaves
from sraven import SRAVEN
from sraven.board.board import read_board
from sraven.core.spec import values_of
from sraven.files.files import write_json

pytestmark = pytest.mark.usefixtures("compiled", "few_at_once")

M, N = 4, 10


@pytest.fixture(scope="module")
def collected(compiled, few_at_once):
    """A configuration, its parameters and the codes of all parts of SRAVEN's board."""
    config = tiny_sraven()
    subject = subject_of(read_board(config.board).task)
    params = untrained_params(config, subject.task)
    collector = Collector(config, subject)
    return config, params, {part.name: collector.collect(params, part) for part in subject.parts(N)}


def test_codes_that_are_not_of_the_sequence_s_tokens_are_refused(tmp_path):
    config = replace(tiny_sraven(), network="bottleneck")
    write_json(tmp_path / CONFIG, values_of(config))
    assert_refused("bottleneck.* latent codes aren't of pairs", load_analysed, tmp_path)


# What is true of instances -----------------------------------------------------------------------------


def test_rows_follow_their_rule_from_the_tokens_that_they_are_paired_with():
    """By the rules' own definition: the two keys and the target are a row of the rule that is the label."""
    subject = subject_of(SRAVEN(M=M, K=8))
    batch = subject.task.sample("ood", 0, 200)
    truth = subject.truth(batch)
    tokens = batch.context.reshape(200, -1)
    for b in range(200):
        for at, p in enumerate(subject.positions):
            rule = truth.labels["rule"][b, at]
            first, second = truth.keys["row3"][b, at]
            assert first // M == 6 and second // M == 7 and truth.keys["self"][b, at] == [8 * M + p]
            x, y, z = tokens[b, first], tokens[b, second], truth.target[b, at]
            assert (x, y) == (truth.labels["first_input"][b, at], truth.labels["second_input"][b, at])
            assert z == batch.target[b, p]
            assert follows(int(rule), [(int(x), int(y), int(z))], 8)


@pytest.mark.parametrize("protocol", ["board", "fixed_context", "fixed_query"])
def test_terms_of_a_function_are_its_labels(protocol):
    board = read_board("fuzzylogic-v1")
    subject = subject_of(board.task, protocol)
    batch = subject.task.sample("ood", 0, 50)
    truth = subject.truth(batch)
    seen = np.unique(board.task.combinations("train"))
    assert list(truth.labels) == list(subject.decoded) == [f"term_{term}" for term in seen]
    for b, terms in enumerate(batch.terms):
        there = [name for name, values in truth.labels.items() if values[b, 0]]
        assert there == [f"term_{term}" for term in terms]
    assert (truth.target[:, 0] == batch.targets[:, -1]).all() and (truth.keys["self"] == 31).all()
    shared = {"board": 0, "fixed_context": 31, "fixed_query": 1}[protocol]
    assert (batch.inputs == batch.inputs[:1]).all(axis=(0, 2)).sum() == shared
    assert (subject.task.combinations("ood") == board.task.combinations("ood")).all()


def test_parts_are_the_boards_and_share_nothing():
    parts = subject_of(SRAVEN(M=M, K=8)).parts()
    assert [(part.name, part.split, part.start, part.count) for part in parts] == [
        ("fit", "test", 0, 10_240),
        ("test", "test", 10_240, 2_560),
        ("ood", "ood", 0, 10_240),
    ]
    assert [part.name for part in subject_of(SRAVEN(M=M, K=8, holdout=0)).parts(16)] == ["fit", "test"]


# Codes -------------------------------------------------------------------------------------------------


def test_codes_are_the_models_own_scores(collected):
    config, params, found = collected
    task = read_board(config.board).task
    encoding = encoding_of(task)
    for part, split, start, count in (("test", "test", N, N // 4), ("ood", "ood", 0, N)):
        batch = task.sample(split, start, count)
        tokens = encoding.tokens({name: jnp.asarray(getattr(batch, name)) for name in encoding.fields})
        model = model_of(config, encoding)
        out, codes = jax.jit(lambda x, m=model: m.apply({"params": params}, x, return_codes=True))(tokens)
        assert [each.shape for each in codes] == [(count, 3, 36, 36)] * 2
        own, row3 = found[part]["self"], found[part]["row3"]
        assert own.codes.shape == (2, count * M, 3) and row3.codes.shape == (2, count * M, 6)
        for row, (index, p) in enumerate(zip(own.index, own.position, strict=True)):
            b, query = index - start, 8 * M + p
            feature = batch.permutations[b, 2, p]
            keys = [6 * M + list(batch.permutations[b, 0]).index(feature)]
            keys += [7 * M + list(batch.permutations[b, 1]).index(feature)]
            for layer, each in enumerate(np.asarray(codes)):
                np.testing.assert_allclose(own.codes[layer, row], each[b, :, query, query], atol=1e-5)
                wanted = np.concatenate([each[b, :, query, key] for key in keys])
                np.testing.assert_allclose(row3.codes[layer, row], wanted, atol=1e-5)
            np.testing.assert_allclose(own.output[row], out[b, query], atol=1e-5)
            assert own.prediction[row] == own.output[row].argmax() and own.target[row] == batch.target[b, p]
            assert own.combination[row] == batch.combination[b]
        assert own.index.tolist() == row3.index.tolist() == np.repeat(range(start, start + count), M).tolist()


def test_untrained_networks_differ_by_their_seed(collected):
    config, params, _ = collected
    other = leaves(untrained_params(config, read_board(config.board).task, config.seed + 1))
    assert other.keys() == leaves(params).keys()
    assert any((other[name] != array).any() for name, array in leaves(params).items())


def test_traps_are_reported(collected):
    config, _, found = collected
    (line,) = traps_of(config, "self", found["fit"]["self"])
    assert line.startswith("self, layer 1: codes are constant (spread ")
    assert line.endswith("), as the query token is the same in every instance")
    assert traps_of(config, "row3", found["fit"]["row3"]) == []
    lone = replace(config, heads=1)
    (line,) = traps_of(lone, "row3", found["fit"]["row3"])
    assert line == "row3: with one head, RMSHead makes every code +1 or -1"
    constant = replace(found["fit"]["row3"], codes=np.ones((2, 40, 6), np.float32))
    notes = [each.partition(":")[0] for each in traps_of(config, "row3", constant)]
    assert notes == ["row3, layer 1", "row3, layer 2"]


# Their file ---------------------------------------------------------------------------------------------


def test_a_file_has_a_row_for_each_layer_and_position(collected, tmp_path):
    codes = {part: each["row3"] for part, each in collected[2].items()}
    write_codes(tmp_path / "row3.parquet", codes, {"n": N})
    table, start = pq.read_table(tmp_path / "row3.parquet"), 0
    for part, each in codes.items():
        for layer in (1, 2):
            rows = table.slice(start, len(each.index))
            start += len(each.index)
            assert set(zip(rows["part"].to_pylist(), rows["layer"].to_pylist(), strict=True)) == {
                (part, layer)
            }
            np.testing.assert_array_equal(rows["code"].to_pylist(), each.codes[layer - 1])
            np.testing.assert_array_equal(rows["label.rule"], each.labels["rule"])
            np.testing.assert_array_equal(rows["index"], each.index)
    assert start == table.num_rows and [path.name for path in tmp_path.iterdir()] == ["row3.parquet"]
