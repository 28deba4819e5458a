"""Readers of untrusted input."""
