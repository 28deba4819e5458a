"""Machine code is never stale, and never kept where that can't be."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import sraven
from sraven.core.jit import source_digest

PACKAGE = Path(sraven.__file__).parent


def test_change_of_any_file_with_kernels_changes_the_digest(tmp_path):
    copy = shutil.copytree(PACKAGE, tmp_path / "sraven")
    before = source_digest([copy])
    assert before == source_digest([PACKAGE])
    for name in ("core/rng.py", "explanations.py", "kernels.py"):
        with open(copy / name, "a") as file:
            file.write("# changed\n")
        after = source_digest([copy])
        assert after != before
        before = after


def test_change_of_a_file_without_kernels_changes_nothing(tmp_path):
    copy = shutil.copytree(PACKAGE, tmp_path / "sraven")
    with open(copy / "describe.py", "a") as file:
        file.write("# changed\n")
    assert source_digest([copy]) == source_digest([PACKAGE])


def test_import_works_where_nothing_can_be_kept(tmp_path):
    (tmp_path / "file").write_text("")
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "file" / "below")}
    code = "from sraven.core.spec import digest; import sraven; print(len(digest({})))"
    command = [sys.executable, "-c", code]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout) == (0, "64\n"), result.stderr
