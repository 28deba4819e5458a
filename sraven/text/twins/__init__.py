"""Sets of twins in words: certified variants of one puzzle, and the puzzle in other notations."""
