"""A submission to damage, to a board of a corpus."""

import shutil

import pytest


@pytest.fixture
def folder(corpus_original, tmp_path):
    """A submission, to be damaged."""
    return shutil.copytree(corpus_original, tmp_path / "submission")
