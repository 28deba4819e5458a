"""The path of the project's checkout."""

from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
