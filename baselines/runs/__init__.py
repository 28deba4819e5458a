"""Run directories: configuration, checkpoints, log, result, provenance."""
