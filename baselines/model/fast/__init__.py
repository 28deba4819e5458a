"""Faster implementations of what `baselines.model` defines, each tested against it."""
