"""Boards, how they are frozen, and how predictions are scored."""
