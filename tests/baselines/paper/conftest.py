"""Commands of the GPUs' maker, by stand-ins."""

import stat

import pytest


@pytest.fixture
def stand_in(tmp_path, monkeypatch):
    """Return what puts an executable on PATH; it notes its arguments, its input and the service's folder."""
    place, log = tmp_path / "bin", tmp_path / "calls"
    place.mkdir()
    monkeypatch.setenv("PATH", f"{place}:/usr/bin:/bin")

    def make(name, then):
        path, said = place / name, '"$*|$(cat)|$CUDA_MPS_PIPE_DIRECTORY"'
        path.write_text(f"#!/bin/sh\necho {said} >> {log}\n{then}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return lambda: log.read_text().splitlines() if log.exists() else []

    return make
