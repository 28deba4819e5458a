"""A run's analysis: what it says, its controls by name, and its files."""

import json
from pathlib import Path
from unittest.mock import patch

import pytest
from matplotlib.figure import Figure

from baselines.analysis.analysed import ANALYSIS, claimed
from baselines.analysis.report import analyse_run
from baselines.train.directory import read_run
from cli.commands.analyse import print_analysis
from sraven.core.errors import OutputError


def analyse(run, out, **options):
    """Return what an analysis says, and the stages as it named them."""
    begun = []
    content = analyse_run(run, out, "sraven analyse", begun.append, n=48, **options)
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
def of_sraven(sraven_run, tmp_path_factory):
    out = tmp_path_factory.mktemp("analysis") / "sraven"
    return out, *analyse(sraven_run, out)


@pytest.mark.long
def test_codes_are_written_first_and_everything_follows(of_sraven, sraven_run):
    out, content, stages = of_sraven
    assert stages[:2] == ["codes, trained", "codes, untrained"] and stages[-2:] == ["t-SNE", "figures"]
    assert content["run"]["digest"] == read_run(sraven_run).digest and content["protocol"] == "board"
    assert content["judged"] == "ood" and content["layers"] == [1, 2] and content["pairs"] == ["self", "row3"]
    files = {"trained-self", "trained-row3", "untrained-self", "untrained-row3"}
    assert set(content["codes"]) == {f"codes/{name}.parquet" for name in files}
    assert {path.stem for path in (out / "codes").iterdir()} == files
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
def test_fuzzy_logic_has_terms_and_functions(fuzzy_run, tmp_path):
    content, _ = analyse(fuzzy_run, tmp_path / "fuzzy")
    (probe,) = (found["controls"] for found in content["decoding"]["self"].values())
    assert set(probe) == {"majority", "always_positive", "permuted", "untrained", "raw_tokens"}
    alike = content["layouts"]["self"]["1"]["neighbours_among_codes"]
    given = content["layouts"]["inputs"]["alone"]["neighbours_among_codes"]
    assert set(alike) == set(given) == {"target", "function", "term 1", "term 2"}


@pytest.mark.parametrize(
    ("folder", "message"),
    [
        ("another", "another holds another analysis; choose another directory"),
        (".", "isn't empty and holds no analysis"),
        ("file", "is a file"),
        ("spoilt", "analysis.json can't be read; remove it"),
    ],
)
def test_directories_of_something_else_are_refused(tmp_path, folder, message):
    (tmp_path / "file").touch()
    for name, text in {"another": '{"run": {"digest": "0"}}', "spoilt": "[]"}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / ANALYSIS).write_text(text)
    with pytest.raises(OutputError, match=message), claimed(tmp_path / folder, "1"):
        pass
