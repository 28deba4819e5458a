"""Submissions: their files, their scores, writing and filing them."""
