"""The kernels once more, with every access to an array checked; Numba leaves that out otherwise."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import sraven

PROGRAM = Path(__file__).with_name("use_every_kernel.py")


@pytest.mark.long
def test_no_kernel_leaves_its_arrays(pytestconfig, tmp_path):
    """Compiling takes nearly all of the time, so the code is kept from run to run, in a place apart."""
    cache = getattr(pytestconfig, "cache", None)
    environment = {
        **os.environ,
        "NUMBA_BOUNDSCHECK": "1",
        "NUMBA_OPT": "1",
        "NUMBA_CACHE_DIR": str(cache.mkdir("checked-kernels") if cache else tmp_path),
        "PYTHONPATH": str(Path(sraven.__file__).parents[1]),
    }
    finished = subprocess.run(
        [sys.executable, PROGRAM], env=environment, capture_output=True, text=True, check=False
    )
    assert finished.returncode == 0, finished.stderr
