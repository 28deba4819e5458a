"""Datasets on disk: writing them, their directory, their card."""
