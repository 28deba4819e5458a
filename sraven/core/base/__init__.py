"""What everything stands on: errors, texts for people, checks of arguments and names, canonical JSON."""
