"""The pins of CI: one version, with hashes, of each requirement in `setup.cfg`."""

import re
from configparser import ConfigParser

import pytest
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from helpers.checkout import REPOSITORY

PYTHONS = ("3.11", "3.12", "3.13")

PIN = r"(?P<pin>[\w.-]+(?:\[[\w, -]+\])?==[\w.]+(?: ; [^\\]+)?)"
LINE = re.compile(PIN + r"(?: \\\n    --hash=sha256:[0-9a-f]{64})+\n")

RENEW = "run .ci/lock and commit what it writes"


@pytest.fixture(scope="module")
def pins():
    """The pinned requirements; each line of the file but the first is a part of one."""
    text = (REPOSITORY / ".ci" / "constraints.txt").read_text()
    comment, _, rest = text.partition("\n")
    assert comment.startswith("#")
    assert LINE.sub("", rest) == "", "a line that pins nothing by hash: an index, a path, another option"
    return [Requirement(found["pin"].strip()) for found in LINE.finditer(rest)]


BESIDES = {"torch", "transformers"}
"""Extras that CI installs without a pin, where it can (see .ci/run)."""


def wanted(besides=()):
    """All requirements of the package, of its extras and of its build."""
    setup = ConfigParser(interpolation=None)
    setup.read(REPOSITORY / "setup.cfg")
    texts = setup["options"]["install_requires"].split("\n")
    for extra, group in setup["options.extras_require"].items():
        texts += group.split("\n") * (extra not in besides)
    build = re.search(r"^requires = \[(.*)\]$", (REPOSITORY / "pyproject.toml").read_text(), re.MULTILINE)
    texts += re.findall(r'"([^"]+)"', build[1])
    return [Requirement(text) for text in texts if text and not text.startswith("%(")]


@pytest.mark.parametrize("python", PYTHONS)
def test_each_requirement_has_one_version_in_its_range(pins, python):
    named = {"python_version": python, "python_full_version": f"{python}.9"}
    here = {"sys_platform": "linux", "platform_machine": "x86_64", "os_name": "posix"}
    environment = {**default_environment(), **here, **named}
    found = [pin for pin in pins if pin.marker is None or pin.marker.evaluate(environment)]
    versions = {canonicalize_name(pin.name): str(pin.specifier).removeprefix("==") for pin in found}
    # A package may be pinned a second time, with its extras.
    pinned = {(canonicalize_name(pin.name), str(pin.specifier)) for pin in found}
    assert len(versions) == len(pinned), "a package has two versions"
    for requirement in wanted(BESIDES):
        version = versions.get(canonicalize_name(requirement.name))
        assert version, f"{requirement.name} has no version: {RENEW}"
        assert requirement.specifier.contains(version), f"{requirement} excludes {version}: {RENEW}"


def test_requirements_have_lower_bounds_alone():
    """An upper bound would make the package uninstallable beside what is new; a fault is mended instead."""
    for requirement in wanted():
        assert {part.operator for part in requirement.specifier} <= {">=", "!="}, requirement
