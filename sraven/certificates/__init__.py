"""Exact answers about an instance: its explanations, its answers, and what an ideal observer says."""
