"""A run's analysis: what it says, its controls by name, and its files."""

import json
from itertools import product
from pathlib import Path
from unittest.mock import patch

import pytest
from matplotlib.figure import Figure

from baselines.analysis import report
from baselines.analysis.analysed import ANALYSIS
from baselines.analysis.report import analyse_run
from baselines.analysis.stages import STAGES
from baselines.train.directory import read_run
from cli.commands.analyse import print_analysis
from helpers.refusals import assert_refused
from sraven.core.errors import OutputError


def analyse(runs, name, out, stages=tuple(STAGES), **options):
    """Return what an analysis says, and the stages as it named them; with some of them alone, to be quick."""
    begun = []
    with patch.object(report, "STAGES", {stage: STAGES[stage] for stage in stages}):
        content = analyse_run(runs / name, out, "sraven analyse", begun.append, n=48, **options)
    assert json.loads((out / ANALYSIS).read_text()) == content
    return content, begun


@pytest.fixture(scope="module", autouse=True)
def _quick_pictures():
    """Draw pictures, but write next to nothing: to make pixels of them takes longer than all else."""

    def savefig(figure, path, **options):
        Path(path).write_text(options["format"])

    with patch.object(Figure, "savefig", savefig):
        yield


@pytest.fixture(scope="module")
def of_sraven(runs, tmp_path_factory):
    out = tmp_path_factory.mktemp("analysis") / "sraven"
    return out, *analyse(runs, "sraven", out)


@pytest.mark.long
def test_codes_are_written_first_and_everything_follows(of_sraven, runs):
    out, content, stages = of_sraven
    assert stages[:2] == ["codes, trained", "codes, untrained"] and stages[-2:] == ["t-SNE", "figures"]
    config = read_run(runs / "sraven")
    assert content["run"]["digest"] == config.digest and content["protocol"] == "board"
    assert content["judged"] == "ood" and content["layers"] == [1, 2] and content["pairs"] == ["self", "row3"]
    pairs = product(("trained", "untrained"), ("self", "row3"))
    names = {f"codes/{network}-{pair}.parquet" for network, pair in pairs}
    assert set(content["codes"]) == names
    assert {str(path.relative_to(out)) for path in out.rglob("*.parquet")} == names
    (trap,) = content["notes"]
    assert trap.startswith("self, layer 1: codes are constant")


@pytest.mark.long
def test_every_control_is_there_by_its_name(of_sraven):
    _, content, _ = of_sraven
    for pair, layers in content["decoding"].items():
        for layer, found in layers.items():
            beside = {"majority", "permuted", "untrained", "raw_tokens", "row3_inputs"}
            beside |= {"codes_with_inputs", "bayes"}
            assert set(found["controls"]) == beside
            constant = (pair, layer) == ("self", "1")
            assert set(found["probe"]["scores"]) == (set() if constant else {"test", "ood"})
            assert 0.8 < found["controls"]["bayes"]["scores"]["ood"]["metrics"]["accuracy"]["value"] <= 1
    assert set(content["similarity"]) == {"trained", "untrained"}
    assert set(content["layouts"]["self"]) == {"2"}  # constant codes are no picture
    layout, inputs = content["layouts"]["row3"]["2"], content["layouts"]["inputs"]["alone"]
    assert inputs["neighbours_among_codes"]["input 1"]["score"] > 0.5 and inputs["points"] == layout["points"]
    neighbours = ["neighbours_among_codes", "neighbours_in_the_plane", "neighbours_untrained"]
    assert all(layout[each]["rule"]["permutations"] == 199 for each in neighbours)
    assert list(layout) == ["points", "trustworthiness", "perplexity", "seed", *neighbours]


@pytest.mark.long
def test_all_of_it_is_printed_in_brief_and_pictures_are_listed_and_there(of_sraven, capsys):
    out, content, _ = of_sraven
    print_analysis(content, out)
    text = capsys.readouterr().out
    for words in ("probes, row3, ood", "constant", "bayes"):
        assert words in text
    assert text.count("self, layer 1: codes are constant") == 1
    assert f"{out}: codes, analysis.json, {len(content['figures'])} pictures" in text
    stems = {"decoding-row3", "similarity-row3", "codes-self", "tsne-row3"}
    assert stems <= {path.stem for path in (out / "figures").iterdir()}
    assert set(content["figures"]) == {str(path.relative_to(out)) for path in (out / "figures").iterdir()}


@pytest.mark.long
def test_fuzzy_logic_has_terms_and_functions(runs, tmp_path):
    content, _ = analyse(runs, "fuzzy", tmp_path / "fuzzy")
    (probe,) = (found["controls"] for found in content["decoding"]["self"].values())
    assert set(probe) == {"majority", "always_positive", "permuted", "untrained", "raw_tokens"}
    alike = content["layouts"]["self"]["1"]["neighbours_among_codes"]
    given = content["layouts"]["inputs"]["alone"]["neighbours_among_codes"]
    assert set(alike) == set(given) == {"target", "function", "term 1", "term 2"}


def test_another_protocol(runs, tmp_path):
    options = {"protocol": "fixed_context", "figures": False}
    content, _ = analyse(runs, "fuzzy", tmp_path / "out", ["similarity"], **options)
    assert content["protocol"] == "fixed_context" and "similarity" in content


@pytest.mark.long
def test_directories_of_something_else_are_refused(of_sraven, runs, tmp_path):
    out, _, _ = of_sraven
    (tmp_path / "file").touch()
    (tmp_path / "spoilt" / "codes").mkdir(parents=True)
    (tmp_path / "spoilt" / ANALYSIS).write_text("[]")
    for folder, message in (
        (out, "sraven holds another analysis; choose another directory"),
        (runs, "isn't empty and holds no analysis"),
        (tmp_path / "file", "is a file"),
        (tmp_path / "spoilt", "analysis.json can't be read; remove it"),
    ):
        assert_refused(message, analyse, runs, "fuzzy", folder, error=OutputError)
