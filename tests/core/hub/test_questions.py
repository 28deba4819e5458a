"""Questions as a benchmark of a Hub on loopback: published and verified by the commands."""

import json

import numpy as np
import pytest
import yaml
from huggingface_hub import errors

from sraven import SRAVEN, OutputError
from sraven.core.hub.remote import sums_of
from sraven.core.hub.service import FIRST_WAIT, KIND, MODEL, TRIES, Place, insist, read_place
from sraven.text import Choosing, Questions, find_question
from sraven.text.benchmark import make_files, read_manifest
from sraven.text.choice import draw_choices
from sraven.text.ladder import LADDER
from sraven.text.published import read_sets
from sraven.text.records import as_line, records

# huggingface_hub uploads in a way that its library for HTTP would have otherwise.
pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=")

NAME = "user/raven-text"
URI = f"hf://datasets/{NAME}"
SETS = LADDER[0].questions(count=3), LADDER[1].questions("untold", 2, count=4)
CHOICES = Choosing(LADDER[1].task, "ood", 5)


def write(path, *sets, solved=False):
    path.write_text("".join(as_line(each) for questions in sets for each in records(questions, None, solved)))
    return path


@pytest.fixture(scope="module")
def prompts(tmp_path_factory):
    return write(tmp_path_factory.mktemp("prompts") / "prompts.jsonl", *SETS)


def held(hub, commit=None):
    """Return what a commit holds, the newest one by default."""
    repository = hub.repositories[NAME]
    files = repository.commits[commit or repository.head]
    return {name: data for name, data in files.items() if name != ".gitattributes"}


def test_published_and_verified(hub, prompts):
    assert f'load_dataset("{NAME}", revision="v1")' in hub.done("publish", prompts, NAME, "--tag=v1")
    repository = hub.repositories[NAME]
    assert [held(hub, commit) for commit in repository.commits] == [{}, dict(make_files(SETS))]
    assert repository.tags == {"v1": repository.head}

    out = hub.done("verify", f"{URI}@v1")
    assert "7 questions, all files generated again" in out and "all is right" in out
    found = json.loads(hub.done("verify", URI, "--full", "--json"))
    assert found == {"ok": True, "checked": {"test": 7}, "faults": []}

    files = held(hub).values()
    rows = [json.loads(line) for data in files for line in data.splitlines() if line.startswith(b'{"id"')]
    asked = [(questions, index) for questions in SETS for index in range(questions.count)]
    assert [find_question(row["id"]) for row in rows] == asked
    for row, (questions, index) in zip(rows, asked, strict=True):
        assert (row["split"], row["index"]) == (questions.split, index)
        assert row["prompt"] == questions.prompts([index])[0]
        assert row["target"] == " ".join(map(str, questions.take([index]).target[0]))

    assert "there already" in hub.done("publish", prompts, NAME, "--tag=v1")
    assert len(repository.commits) == 2


def test_what_was_changed_on_the_hub_is_found(hub, prompts):
    hub.done("publish", prompts, NAME, "--tag=v1")
    files = held(hub)
    data = f"data/{SETS[0].name}.jsonl"
    forged = files[data].replace(b'"target": "', b'"target": "1', 1)
    manifest = json.loads(files["questions.json"])
    manifest["files"][data] = {"num_bytes": len(forged), "sha256": sums_of(forged).sha256}
    cases = {
        "not part of the": {**files, "loader.py": b"evil"},
        # Its checksum in the manifest helps nobody: the manifest's own is checked, too.
        data: {**files, data: forged, "questions.json": json.dumps(manifest, indent=1).encode() + b"\n"},
        "eval.yaml": {**files, "eval.yaml": files["eval.yaml"].replace(b"Answer", b"answer")},
        "README.md": {name: content for name, content in files.items() if name != "README.md"},
    }
    for words, content in cases.items():
        hub.repositories[NAME].commit(content)
        for more in ([], ["--full"]):
            code, _, err = hub.call("verify", URI, *more)
            assert code == 1 and words in err, (words, more, err)
    for wrong in (b"[]", b"{", b'{"layout": 2, "sets": []}', b'{"layout": 1, "sets": [{}]}'):
        hub.repositories[NAME].commit({**files, "questions.json": wrong})
        assert hub.refused("verify", URI)
    hub.done("verify", f"{URI}@v1")


def test_what_cant_be_published(run, tmp_path):
    whole = write(tmp_path / "prompts.jsonl", *SETS).read_bytes()
    lines = whole.splitlines(keepends=True)
    any_answer = Questions(SRAVEN(M=2, K=8), "ood", 2)
    cases = {
        "has no prompts": b"",
        "line 1 is no object of JSON": b"hello\n",
        "line 1: 3 is no id": b'{"id": 3}\n',
        f"ends before {SETS[0].name}_2": b"".join(lines[:2]),
        f"line 2 isn't what `sraven text generate` writes of {SETS[0].name}_1": lines[0] + lines[2],
        f"line 5 isn't what `sraven text generate` writes of {SETS[1].name}_1": b"".join(
            [*lines[:4], lines[4].replace(b"[", b" [", 1), *lines[5:]]
        ),
        "stands there twice": whole + lines[0],
        "two tracks": whole + write(tmp_path / "choices", CHOICES).read_bytes(),
        "may have several answers": write(tmp_path / "any", any_answer).read_bytes(),
        "there are 8,519,680 questions and examples; expected at most 131,072": lines[0].replace(
            b"-3_told-0", b"-131072_told-64"
        ),
        "expected at most 131,072": lines[0].replace(b"-3_told", b"-200000_told"),
    }
    for words, content in cases.items():
        path = tmp_path / "wrong.jsonl"
        path.write_bytes(content)
        code, _, err = run("publish", path, NAME)
        assert code == 2 and words in err and err.count("\n") == 1, (words, err)


def test_choices_and_solved_prompts(tmp_path):
    assert read_sets(write(tmp_path / "solved.jsonl", CHOICES, solved=True)) == (CHOICES,)
    files = dict(make_files((CHOICES,)))
    assert read_manifest(files["questions.json"]) == (CHOICES,)
    panels, right = draw_choices(CHOICES.task, "ood", np.arange(5), CHOICES.choices)
    rows = [json.loads(line) for line in files[f"data/{CHOICES.name}.jsonl"].splitlines()]
    for row, eight, number in zip(rows, panels.tolist(), right.tolist(), strict=True):
        assert row["choices"] == [f"[{' '.join(map(str, panel))}]" for panel in eight]
        assert row["target"] == "ABCDEFGH"[number]
    front = yaml.safe_load(files["README.md"].decode().split("---")[1])
    assert front["dataset_info"][0]["features"][-1] == {"name": "choices", "list": "string"}


# Names of datasets, and calls that are tried again


def test_places_are_read_as_they_are_written():
    assert read_place("user/name") == Place("user/name")
    assert read_place("hf://datasets/user/na.me-1@v1.0") == Place("user/na.me-1", "v1.0")
    assert str(Place("user/name", "v1")) == "hf://datasets/user/name@v1"
    assert read_place("user/name", MODEL) == Place("user/name", None, MODEL)
    assert read_place("hf://user/name@v1", MODEL) == Place("user/name", "v1", MODEL)
    assert str(Place("user/name", "v1", MODEL)) == "hf://user/name@v1"


@pytest.mark.parametrize(
    ("kind", "texts"),
    [
        (KIND, "name a/b/c hf://datasets/a a/b@ ../b a/b@../c a/b@c% hf://models/a/b"),
        (MODEL, "hf://datasets/user/name hf://name hf://user/name@"),
    ],
)
def test_what_is_no_place_is_refused(kind, texts):
    for text in (*texts.split(), "a/b\n", "a/b@c d"):
        with pytest.raises(OutputError, match=rf"names no {kind} on the Hub; expected user/name, or hf://"):
            read_place(text, kind)


class _Response:
    def __init__(self, status):
        self.status_code, self.headers, self.request = status, {}, None


def failing(status, times):
    """Return a call that fails so often, and the number of times that it was made."""
    made = []

    def call():
        made.append(status)
        if len(made) <= times:
            raise errors.HfHubHTTPError("as the test wants it", response=_Response(status))
        return "done"

    return call, made


def test_what_may_pass_is_tried_again_with_longer_waits(monkeypatch):
    waits = []
    monkeypatch.setattr("time.sleep", waits.append)
    call, made = failing(503, TRIES - 1)
    assert insist(call) == "done"
    assert waits == [FIRST_WAIT * 2**attempt for attempt in range(TRIES - 1)]
    call, made = failing(503, TRIES)
    with pytest.raises(errors.HfHubHTTPError):
        insist(call)
    assert len(made) == TRIES


@pytest.mark.parametrize("status", [401, 403, 404, 409, 412, 422])
def test_what_the_caller_has_to_change_isnt(status):
    call, made = failing(status, 1)
    with pytest.raises(errors.HfHubHTTPError):
        insist(call)
    assert len(made) == 1
