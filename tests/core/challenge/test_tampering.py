"""A published round that was tampered with is refused."""

import numpy as np
import pytest

from helpers.challenges import edit_json, flip, refuse
from helpers.submissions import FUZZY_BOARD
from sraven.core.challenge import read_challenge
from sraven.core.challenge.files import npy_bytes

pytestmark = pytest.mark.usefixtures("small_boards")


def _replace(array):
    return lambda path: path.write_bytes(npy_bytes(array))


def _pickle(path):
    with open(path, "wb") as file:
        np.save(file, np.array([{"a": 1}], object), allow_pickle=True)


def _link(path):
    path.rename(path.parent.parent.parent.parent / "elsewhere")
    path.symlink_to(path.parent.parent.parent.parent / "elsewhere")


def _append(path):
    path.write_bytes(path.read_bytes() + b"!")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (flip, r"contexts/ood/context.npy: isn't what challenge.json says"),
        (_append, "context.npy: holds uint8 .*, or something besides"),
        (lambda path: path.write_bytes(b""), "isn't an .npy file"),
        (lambda path: path.write_bytes(b"\x93NUMPY\x01\x00\xff\xff"), "isn't an .npy file"),
        (lambda path: path.write_bytes(bytes(1 << 20)), "has 1,048,576 bytes"),
        (_replace(np.zeros((199, 8, 3), np.int64)), "has .* bytes; expected|holds int64"),
        (_replace(np.zeros((199, 8, 2), np.uint8)), r"holds uint8 \[199, 8, 2\]"),
        (_pickle, "holds object|isn't an .npy file"),
        (lambda path: path.unlink(), "can't be read"),
        (_link, "can't be read"),
        (lambda path: (path.parent / "target.npy").write_bytes(b""), "target.npy: isn't part of a round"),
        (lambda path: (path.parent.parent.parent / "x").symlink_to("/etc"), "is a link"),
    ],
)
def test_changed_contexts_are_refused(sraven_round, change, message):
    change(sraven_round / "public" / "contexts" / "ood" / "context.npy")
    refuse(message, read_challenge, sraven_round / "public")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda content: content.update(board="sraven-v9"), "there is no board"),
        (lambda content: content.update(board=FUZZY_BOARD), "use the version of sraven"),
        (lambda content: content["splits"].pop("test"), "has not the splits"),
        (lambda content: content["splits"]["ood"].update(instances=10**9), "has not the splits"),
        (lambda content: content["splits"]["ood"]["contexts"].update(target="0" * 64), "expected context"),
        (lambda content: content["splits"]["ood"]["contexts"].update(context="0" * 64), "isn't what"),
        (lambda content: content.update(labels=[1]), "has 'labels'; expected only"),
        (lambda content: content.update(opened="2026-11-21\n::notice::"), "opened is"),
    ],
)
def test_changed_description_is_refused(sraven_round, change, message):
    edit_json(sraven_round / "public" / "challenge.json", change)
    refuse(message, read_challenge, sraven_round / "public")


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text + " ",
        lambda text: text.replace('"schema": 1', '"schema": 1, "schema": 1'),
        lambda text: text.replace('"schema": 1', '"schema": 1.0'),
        lambda text: text[:-2],
        lambda text: "[" * 100_000,
        lambda text: "",
    ],
)
def test_description_has_one_way_to_be_written(sraven_round, change):
    path = sraven_round / "public" / "challenge.json"
    path.write_text(change(path.read_text()))
    refuse("isn't JSON|was edited|schema is", read_challenge, sraven_round / "public")
