"""Fuzzy logic for the eye: instances and pictures, and what `sraven bench` measures."""
