"""The commands, a module each: `sraven x` is `command` in ``x``, which begins with its summary."""
