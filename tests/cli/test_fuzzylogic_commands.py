"""The commands of `sraven fuzzylogic`."""

import json
import runpy

import pytest


def generate(run, out, *more):
    sizes = ["--train", 300, "--test", 20, "--ood", 10, "--ood-terms", 5]
    return run("fuzzylogic", "generate", "--N", 7, *sizes, "--out", out, *more)


def test_generate_prints_the_line_that_loads_and_verifies(run, tmp_path):
    code, out, err = generate(run, tmp_path / "logic")
    assert (code, err) == (0, "")
    script = tmp_path / "load.py"
    script.write_text("\n".join(out.strip().splitlines()[-2:]))
    dataset = runpy.run_path(str(script))["dataset"]
    sizes = {name: len(split) for name, split in dataset.items()}
    assert sizes == {"train": 300, "test": 20, "ood": 10, "ood_terms": 5}
    assert run("verify", tmp_path / "logic")[0] == 0


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["--L", 16, "--K", 3], "L=16, K=3"),
        (["--unseen-terms", 0], "ood_terms=5"),
        (["--query", "odd"], "'uniform', 'fixed_context', 'fixed_query'"),
    ],
)
def test_bad_usage_is_one_line_and_creates_nothing(run, tmp_path, options, named):
    code, out, err = generate(run, tmp_path / "logic", *options)
    assert (code, out) == (2, "") and named in err and err.count("\n") == 1
    assert not (tmp_path / "logic").exists()


def test_show_hides_the_value_until_asked(run):
    _, out, _ = run("fuzzylogic", "show", "--N", 5)
    assert "?" in out and "∨" not in out
    _, out, _ = run("fuzzylogic", "show", "--N", 5, "--explain")
    assert "?" not in out and "∨" in out and "with the points shown" in out


def test_show_draws_functions_of_two_variables_only(run, refused, tmp_path):
    two = ["--L", 2, "--holdout", 0, "--unseen-terms", 0]
    code, _, _ = run("fuzzylogic", "show", *two, "--png", tmp_path / "surface.png")
    assert code == 0 and (tmp_path / "surface.png").read_bytes().startswith(b"\x89PNG")
    assert "use --L 2" in refused("fuzzylogic", "show", "--png", tmp_path / "surface.png")


def test_ambiguity_table_and_json(run):
    code, out, _ = run("fuzzylogic", "ambiguity", "--N", 6, "-n", 500)
    assert code == 0 and "observer R²" in out and "ood_terms" in out
    _, out, _ = run("fuzzylogic", "ambiguity", "--N", 6, "-n", 500, "--json")
    results = json.loads(out)["results"]
    assert [(result["split"], result["prior"]) for result in results[:3]] == [
        ("all", "all"),
        ("test", "all"),
        ("test", "test"),
    ]
    assert results[2]["r2"] >= results[1]["r2"]
