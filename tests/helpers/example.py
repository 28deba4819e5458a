"""A small dataset that several test files use, and how they compare directories."""

from pathlib import Path

SIZES = {"train": 3_001, "test": 1_009, "ood": 503}


def all_bytes(directory):
    """Return every file below a directory with its content."""
    files = sorted(path for path in Path(directory).rglob("*") if path.is_file())
    return {str(path.relative_to(directory)): path.read_bytes() for path in files}
