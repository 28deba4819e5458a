"""The project's packages have common names: what is in their place is reported, and nothing of it runs."""

import os
import re
import shutil
import tarfile

import pytest

from helpers.python import python
from sraven.core.packages import PACKAGES, ROOT, check_packages

COMMAND = "from sraven.__main__ import main; main()"

IN_SOURCES = (
    "CHANGELOG.md",
    "CITATION.cff",
    "LICENSE",
    "MANIFEST.in",
    "README.md",
    "pyproject.toml",
    "setup.cfg",
)
"""What a source distribution has besides the packages."""

FOREIGN = "raise SystemExit('a foreign package ran')\n"


def run_python(folder, program, *path):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, path))}
    return python("-P", "-c", program, "--version", cwd=folder, env=environment)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A folder with the packages as an installer copies them, and the record of it; tests only read it."""
    folder = tmp_path_factory.mktemp("site")
    for name in PACKAGES:
        shutil.copytree(ROOT / name, folder / name)
    metadata = folder / "sraven-0.1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: sraven\nVersion: 0.1.0\n")
    return folder


def test_packages_are_ours_and_typed():
    check_packages(*PACKAGES)
    for name in PACKAGES:
        assert (ROOT / name / "py.typed").exists()


def test_the_packages_run_where_an_installer_puts_them(site, tmp_path):
    result = run_python(tmp_path, COMMAND, site)
    assert (result.stdout, result.stderr) == ("sraven 0.1.0\n", "")


@pytest.mark.parametrize("text", [FOREIGN, None])
def test_a_package_that_another_project_overwrote_or_took_along(site, tmp_path, text):
    folder = shutil.copytree(site, tmp_path / "site", copy_function=os.link)
    path = folder / "fuzzylogic" / "__init__.py"
    path.unlink()
    # What is missing is found elsewhere where sraven is installed besides, as in a checkout.
    said = re.escape(f"{path} isn't SRAVEN's: another") if text else "is missing; install|but Python finds"
    if text:
        path.write_text(text)
    for program in (COMMAND, "import baselines"):
        result = run_python(tmp_path, program, folder)
        assert (result.returncode, result.stdout) == (1, "") and re.search(said, result.stderr)
    assert result.stderr.splitlines()[-1].startswith("sraven.core.errors.InstallationError: ")


@pytest.mark.parametrize("file", ["cli.py", "baselines/__init__.py"])
def test_a_package_in_front_of_ours(site, tmp_path, file):
    path = tmp_path / "mine" / file
    path.parent.mkdir(parents=True)
    path.write_text(FOREIGN)
    result = run_python(tmp_path, COMMAND, path.parents[file.count("/")], site)
    name = file.partition("/")[0].removesuffix(".py")
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr == (
        f"error: SRAVEN's package {name} is in {site}, but Python finds {path} first; rename that, "
        f"uninstall it, or take its folder off Python's path\n"
    )


def test_a_module_of_the_users_own_is_no_concern_of_the_library(site, tmp_path):
    (tmp_path / "cli.py").write_text("import fuzzylogic, sraven\nprint(sraven.SRAVEN.__name__)\n")
    result = run_python(tmp_path, "import cli", tmp_path, site)
    assert (result.stdout, result.stderr) == ("SRAVEN\n", "")


BUILD = "from setuptools.build_meta import build_sdist; build_sdist('out')"


def test_a_source_distribution_has_the_packages_and_no_half_of_the_tests(tmp_path):
    pytest.importorskip("setuptools", "77", reason="the build's back end isn't installed here")
    for name in PACKAGES:
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("tests/test_names.py", "tests/helpers/checkout.py", *IN_SOURCES):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    python("-c", BUILD, cwd=tmp_path, check=True)
    [archive] = (tmp_path / "out").iterdir()
    with tarfile.open(archive) as file:
        names = {name.partition("/")[2] for name in file.getnames()}
    assert {*IN_SOURCES, "sraven/boards/levels.yaml", "sraven/leaderboard/snapshot/standing.json"} <= names
    top = {name.partition("/")[0] for name in names} - {"", "PKG-INFO", "sraven.egg-info"}
    assert top == {*PACKAGES, *IN_SOURCES}
