"""Trained runs as models of a Hub in memory: published, loaded, evaluated and analysed by the commands."""

import hashlib
import json
import shutil

import numpy as np
import pytest
import yaml

pytest.importorskip("safetensors")
pytest.importorskip("sklearn")  # an analysis loads it, and entries name what is loaded
from safetensors.numpy import load, save

from baselines.encode import encoding_of
from baselines.load import load_run, local_run
from baselines.save import save_run
from baselines.training.experiment import board_of, program_of
from helpers.example import all_bytes
from helpers.submissions import FUZZY_BOARD, SRAVEN_BOARD, only_boards
from helpers.tiny_runs import STEPS, assert_same_bits, tiny_options
from sraven import ConfigurationError, OutputError

NAME, URI = "user/fuzzy-hyla", "hf://user/fuzzy-hyla"
RUNS = {
    "fuzzy": (FUZZY_BOARD, "hyla"),
    "sraven": (SRAVEN_BOARD, "softmax"),
    "looped": (FUZZY_BOARD, "hyla", "--network=looped", "--layers=2"),
}
WEIGHTS, CONFIG = "model.safetensors", "config.json"


@pytest.fixture(scope="module", autouse=True)
def _boards(compiled, tmp_path_factory):
    with only_boards(tmp_path_factory.mktemp("boards")):
        yield


@pytest.fixture(scope="module")
def trained(_boards, tmp_path_factory):
    """A run of each task, with scores in its result; tests only read them."""
    from helpers.command import sraven

    folder = tmp_path_factory.mktemp("trained")
    for name, (board, attention, *more) in RUNS.items():
        line = ["train", board, f"--attention={attention}", *tiny_options(score_every=STEPS), *more]
        code, _, err = sraven(*line, "--score-instances=50", f"--out={folder / name}")
        assert code == 0, err
    return folder


@pytest.fixture
def on_hub(hub, trained):
    """The files of a model that is published, to be changed, and the repository."""
    hub.done("publish", trained / "fuzzy", NAME, "--tag=v1")
    return hub.repositories[NAME]


def files_of(repository):
    return dict(repository.commits[repository.head])


def front_matter(card):
    return yaml.safe_load(card.split("---\n")[1])


@pytest.mark.parametrize("name", RUNS)
def test_what_is_published_is_loaded_bit_for_bit(hub, trained, name):
    before = all_bytes(trained / name)
    said = json.loads(hub.done("publish", trained / name, NAME, "--tag=v1", "--json"))
    assert said["load"] == f'load_run("{URI}@v1")' and said["new"]
    repository = hub.repositories[NAME]
    assert repository.tags == {"v1": repository.head} and len(repository.commits) == 2

    config, params = load_run(trained / name)
    for place in (URI, f"{URI}@v1", f"{URI}@{repository.head}"):
        found, loaded = load_run(place)
        assert found == config
        assert_same_bits(params, loaded)
    assert_same_bits(params, load_run(f"{URI}@v1", step=-1)[1])
    with pytest.raises(OutputError, match=f"is a published model, of step {STEPS} alone"):
        load_run(URI, step=STEPS // 2)
    files = files_of(repository)
    assert files[CONFIG] == before[CONFIG] and files["result.json"] == before["result.json"]
    assert all_bytes(trained / name) == before

    assert "there already" in hub.done("publish", trained / name, NAME, "--tag=v1")


def test_the_card_says_what_it_is(hub, trained, on_hub):
    files, config = files_of(on_hub), load_run(trained / "fuzzy")[0]
    card = files["README.md"].decode()
    front = front_matter(card)
    assert (front["library_name"], front["license"]) == ("sraven", "apache-2.0")
    assert {"hyla", FUZZY_BOARD} <= set(front["tags"])
    scores = json.loads(files["result.json"])["scores"]["splits"]
    index = front["model-index"][0]
    assert index["name"] == "fuzzy-hyla"
    found = {each["dataset"]["split"]: each["metrics"][0]["value"] for each in index["results"]}
    assert found == {split: each["r2_per_sequence"] for split, each in scores.items()}
    digests = hashlib.sha256(files[WEIGHTS]).hexdigest(), config.digest, config.board_digest
    assert all(f"`{digest}`" in card for digest in digests)
    assert f'load_run("{URI}@v1")' in card and "published.py" in card
    assert f'snapshot_download("{NAME}", revision="v1")' in card
    assert "of training's end" in card and "seed 0" in card and f"{STEPS * 8:,} instances" in card
    assert "A transformer with hyla attention, trained" in card


def card_of(hub, run):
    hub.done("publish", run, NAME)
    return files_of(hub.repositories[NAME])["README.md"].decode()


def test_the_card_names_the_network(hub, trained):
    card = card_of(hub, trained / "looped")
    assert {"looped", "hyla"} <= set(front_matter(card)["tags"])
    assert "A network looped with hyla attention, trained" in card and ": looped hyla, " in card


def test_of_a_share_of_instances_the_card_has_an_interval(trained, hub):
    card = card_of(hub, trained / "sraven")
    rows = [line.split(" | ") for line in card.splitlines() if line.startswith(("| test", "| ood"))]
    assert len(rows) == 2
    for _, n, value, interval in rows:
        low, high = map(float, interval.removesuffix(" |").split(" to "))
        assert n == "50" and 0 <= low <= float(value) <= high <= 1


def test_a_dry_run_lists_all_and_asks_nothing(hub, trained):
    code, out, err = hub.call("publish", trained / "fuzzy", NAME, "--dry-run")
    assert (code, err, hub.requests) == (0, "", [])
    for name in (CONFIG, "result.json", WEIGHTS, "README.md", "trained-by-"):
        assert name in out
    assert f"to {URI}: 5 files" in out


@pytest.mark.long
def test_it_is_evaluated_and_analysed_as_the_run_itself(hub, trained, on_hub, tmp_path):
    local = shutil.copytree(trained / "fuzzy", tmp_path / "run")
    evaluated, analysed = [], []
    for each, out in ((local, "here"), (f"{URI}@v1", "there")):
        text = hub.done("evaluate", each, "--author=A", "--out", tmp_path / out, "--json")
        evaluated.append(json.loads(text)["scores"])
        brief = ("--out", tmp_path / f"{out}-analysed", "-n", 48, "--no-figures", "--json")
        analysed.append(json.loads(hub.done("analyse", each, *brief)))
    assert evaluated[0] == evaluated[1] and all_bytes(tmp_path / "here") == all_bytes(tmp_path / "there")
    published = files_of(on_hub)
    assert all(data == published[name] for name, data in all_bytes(local_run(URI)).items())
    command = analysed[1].pop("command")
    assert command.startswith(f"sraven analyse {URI}@v1 --out ") and analysed[0].pop("command") != command
    assert analysed[0] == analysed[1]


def test_training_cant_go_on_from_it(hub, trained, on_hub, tmp_path):
    folder = shutil.copytree(local_run(URI), tmp_path / "model")
    assert_same_bits(load_run(trained / "fuzzy")[1], load_run(folder)[1])
    before = all_bytes(folder)
    board, attention = RUNS["fuzzy"]
    line = ["train", board, f"--attention={attention}", *tiny_options()]
    assert "is a published model, without what its optimiser knew" in hub.refused(*line, f"--out={folder}")
    assert all_bytes(folder) == before
    assert "is an address (hf)" in hub.refused(*line, f"--out={URI}")


def test_what_isnt_finished_is_refused(hub, trained, tmp_path):
    run = shutil.copytree(trained / "fuzzy", tmp_path / "run")
    config = json.loads((run / CONFIG).read_text())
    result = json.loads((run / "result.json").read_text())
    (run / "result.json").write_text(json.dumps({**result, "scores": None}))
    assert "has no scores of this run; `sraven evaluate" in hub.refused("publish", run, NAME)
    (run / "result.json").unlink()
    assert "has no result.json" in hub.refused("publish", run, NAME)
    shutil.copy(trained / "fuzzy" / "result.json", run)
    (run / CONFIG).write_text(json.dumps({**config, "steps": 2 * STEPS}))
    assert "no checkpoint is whole" in hub.refused("publish", run, NAME)
    assert not hub.repositories


def _tensors(change):
    """Return what changes the tensors of a model, and no more."""

    def changed(files):
        tensors = load(files[WEIGHTS])
        change(tensors)
        header = json.loads(files[WEIGHTS][8 : 8 + int.from_bytes(files[WEIGHTS][:8], "little")])
        return {WEIGHTS: save(tensors, header["__metadata__"])}

    return changed


def _config(**changes):
    return lambda files: {CONFIG: json.dumps({**json.loads(files[CONFIG]), **changes}).encode()}


def _cast(tensors):
    tensors["out.bias"] = tensors["out.bias"].astype(np.float16)


FAULTS = {
    "tensor out.bias is not there, and F32 [1] by": _tensors(lambda held: held.pop("out.bias")),
    "tensor out.bias is F32 [1, 1], and F32 [1] by": _tensors(
        lambda held: held.update({"out.bias": np.zeros((1, 1), np.float32)})
    ),
    "tensor out.bias is F16 [1], and F32 [1] by": _tensors(_cast),
    "tensor more is F32 [2], and not there by": _tensors(
        lambda held: held.update(more=np.zeros(2, np.float32))
    ),
    "it is of another run, or config.json was changed": lambda files: {WEIGHTS: save(load(files[WEIGHTS]))},
    "model.safetensors can't be read: ": lambda files: {WEIGHTS: files[WEIGHTS][:-1]},
    "bytes; expected": lambda files: {WEIGHTS: files[WEIGHTS] + bytes(1 << 20)},
    "config.json has 1048577 bytes; expected 1,048,576 or fewer": lambda files: {CONFIG: b" " * (1048577)},
    "config.json can't be read": lambda files: {CONFIG: b"[" * 100_000},
    "it is of another run, or config.json was changed\n": _config(seed=1),
    "has nonsense, which this sraven doesn't know": _config(nonsense=1),
    "attention='evil'": _config(attention="evil"),
    "board_digest=": _config(board_digest="0" * 64),
    "has no model.safetensors: it is no run of `sraven publish`": lambda files: {WEIGHTS: None},
    "has no config.json: it is no run of `sraven publish`": lambda files: {CONFIG: None},
}


@pytest.mark.parametrize("words", FAULTS)
def test_what_was_changed_on_the_hub_is_one_line(hub, on_hub, words, tmp_path):
    files = files_of(on_hub)
    files |= FAULTS[words](files)
    on_hub.commit({name: data for name, data in files.items() if data is not None})
    said = hub.refused("evaluate", URI, "--author=A", "--out", tmp_path / "entry")
    assert words in said and not (tmp_path / "entry").exists()


def test_what_the_hub_says_is_one_line(hub, on_hub, tmp_path):
    line = ("--author=A", "--out", tmp_path / "entry")
    assert "the Hub knows no such model" in hub.refused("evaluate", "hf://user/absent", *line)
    assert "there is no such revision" in hub.refused("evaluate", f"{URI}@v2", *line)
    assert "names no model on the Hub" in hub.refused("analyse", "hf://evil/../x", *line[1:])
    hub.fail = lambda method, file: 503 if file == WEIGHTS else None
    assert "the Hub answered HTTP 503" in hub.refused("evaluate", URI, *line)


def test_a_configuration_tells_how_large_the_parameters_may_be(hub, on_hub, tmp_path):
    """What is larger isn't downloaded."""
    files = files_of(on_hub)
    on_hub.commit({**files, WEIGHTS: bytes(2 << 20)})
    hub.refused("evaluate", URI, "--author=A", "--out", tmp_path / "entry")
    assert ("hf_hub_download", WEIGHTS) not in hub.requests


def test_what_is_exported_is_what_is_published_and_digests_name_the_parameters(hub, trained, tmp_path):
    runs = [trained / name for name in ("fuzzy", "looped")]
    hub.done("export", runs[0], tmp_path / "files")
    hub.done("publish", runs[0], NAME, "--dry-run", f"--out={tmp_path / 'dry'}")
    exported, dry = all_bytes(tmp_path / "files"), all_bytes(tmp_path / "dry")
    assert {name for name in exported if exported[name] != dry[name]} == {"README.md"}
    assert_same_bits(load_run(runs[0])[1], load_run(tmp_path / "files")[1])
    said = json.loads(hub.done("export", *runs, tmp_path / "networks", "--json"))["sha256"]
    assert {name.rsplit("-", 1)[0] for name in said} == {
        f"{FUZZY_BOARD}-{network}-seed-0" for network in ("hyla", "looped-hyla")
    }
    for name, digest in said.items():
        weights = (tmp_path / "networks" / name / WEIGHTS).read_bytes()
        assert hashlib.sha256(weights).hexdigest() == digest
    hub.done("evaluate", tmp_path / "files", "--out", tmp_path / "entry", "--author=A. Author")
    assert hashlib.sha256(exported[WEIGHTS]).hexdigest() in (tmp_path / "entry" / "README.md").read_text()
    assert "exists; choose another directory" in hub.refused("export", runs[0], tmp_path / "files")


def test_states_of_another_shape_or_without_numbers_are_no_run(trained, tmp_path):
    config, _ = load_run(trained / "fuzzy")
    program = program_of(config, encoding_of(board_of(config).task))
    state = program.initialise(np.uint32(0))
    params = state.params
    for changed, message in (
        (
            {**params, "out": {**params["out"], "bias": np.full(1, np.nan, np.float32)}},
            "out.bias isn't finite",
        ),
        ({**params, "out": {**params["out"], "bias": np.zeros(2, np.float32)}}, r"'bias'\] has shape \(2,\)"),
    ):
        with pytest.raises(ConfigurationError, match=message):
            save_run(state._replace(params=changed), config, tmp_path / "run")
    assert not (tmp_path / "run").exists()
    save_run(state, config, tmp_path / "run")
    assert_same_bits(params, load_run(tmp_path / "run", step=-1)[1])
