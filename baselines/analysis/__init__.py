"""Latent codes of trained runs: what they say of the task, each number beside its controls."""
