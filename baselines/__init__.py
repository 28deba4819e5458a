"""Baselines in JAX: the paper's transformers, their training, and what is read off them."""
