"""Plots: learning curves, scores, latent codes; learning curves in the terminal."""
