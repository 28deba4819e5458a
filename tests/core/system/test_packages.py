"""The project's packages have common names: what is in their place is reported, and nothing of it runs."""

import os
import shutil

import pytest

from helpers.python import python
from sraven.core.system.isolation import ROOT
from sraven.core.system.packages import PACKAGES, check_packages

COMMAND = "from sraven.__main__ import main; main()"

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
    record(folder, "sraven", "0.1.0", *(f"{name}/__init__.py" for name in PACKAGES))
    return folder


@pytest.fixture
def installed(site, tmp_path):
    """The same, to be changed in one file, which is removed first: all are second names."""
    folder = shutil.copytree(site, tmp_path / "site", copy_function=os.link)
    (folder / "fuzzylogic" / "__init__.py").unlink()
    return folder


def record(folder, name, version, *files):
    metadata = folder / f"{name}-{version}.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    (metadata / "RECORD").write_text("".join(f"{file},,\n" for file in files))


def test_packages_are_ours_and_typed():
    check_packages(*PACKAGES)
    for name in PACKAGES:
        assert (ROOT / name / "py.typed").exists()


def test_the_packages_run_where_an_installer_puts_them(site, tmp_path):
    result = run_python(tmp_path, COMMAND, site)
    assert (result.stdout, result.stderr) == ("sraven 0.1.0\n", "")


LIBRARY = """
from sraven.core.families import FAMILIES, make_task
try:
    make_task({"task": "fuzzylogic", "version": "1"})
except ImportError as error:
    print(error)
try:
    import baselines
except ImportError as error:
    print(error)
"""


def test_a_package_that_another_project_overwrote(installed, tmp_path):
    """The library tells it, and the command, which names the other project where there is a record of it."""
    name = "fuzzylogic"
    path = installed / name / "__init__.py"
    path.write_text(FOREIGN)
    result = run_python(tmp_path, LIBRARY, installed)
    lines = result.stdout.splitlines()
    assert (result.stderr, len(lines)) == ("", 2)
    assert all(line.startswith(f"{path} isn't SRAVEN's") for line in lines)
    record(installed, "other-logic", "1.2", f"{name}/__init__.py")
    result = run_python(tmp_path, COMMAND, installed)
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr == (
        f"error: {path} (of other-logic) isn't SRAVEN's: another project's was put over it; run pip "
        f"uninstall other-logic, then install sraven again with pip install --force-reinstall --no-deps\n"
    )


def test_a_package_that_another_project_took_along(installed, tmp_path):
    """Uninstalling the other one does so."""
    result = run_python(tmp_path, COMMAND, installed)
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.startswith(
        f"error: {installed / 'fuzzylogic' / '__init__.py'} is missing; install sraven "
    )
    assert result.stderr.count("\n") == 1


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
