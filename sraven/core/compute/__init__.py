"""Compiled kernels, threads, random streams, and their timing."""
