"""The base layer: errors, texts for people, checks of arguments and names, canonical JSON."""
