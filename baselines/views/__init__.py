"""Learning curves: read from logs, drawn as pictures and in the terminal."""
