"""The command `sraven`."""
