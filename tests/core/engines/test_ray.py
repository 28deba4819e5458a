"""`on_a_cluster`, in a process of its own: Ray forks, which a process with JAX's threads must not."""

from pathlib import Path

import pytest

from helpers.checkout import REPOSITORY
from helpers.python import python

TESTS = Path(__file__).with_name("on_a_cluster.py")


@pytest.mark.long
def test_on_ray(tmp_path):
    pytest.importorskip("ray", reason="needs Ray: pip install '.[cluster]' in a checkout")
    alone = ["-p", "no:xdist", "-p", "no:cacheprovider", f"--basetemp={tmp_path / 'alone'}"]
    result = python("-m", "pytest", "-q", "-rs", *alone, TESTS, cwd=REPOSITORY, timeout=900)
    assert result.returncode == 0, result.stdout + result.stderr
    if "skipped" in result.stdout:
        pytest.skip(result.stdout)
    assert "2 passed" in result.stdout
