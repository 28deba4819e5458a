"""Figures of an analysis, as SVG and PNG; the only modules of the package that import matplotlib.

Each function returns a `baselines.analysis.plots.frame.Picture`, given arrays; `save_picture` writes it.
"""
