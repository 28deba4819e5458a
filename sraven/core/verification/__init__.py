"""Checking a dataset against the task that made it."""
