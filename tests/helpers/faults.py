"""Faults of submissions: each is a function that damages the folder of one."""

from helpers.submissions import edit, path_of, plant

FIRST = path_of("test", 0)
"""Where the predictions of the first run lie."""

DESCRIPTION = "submission.yaml: "
"""What a message about the description begins with."""


def rewrite(change):
    """Return a fault: the text of ``submission.yaml`` is another."""

    def fault(folder):
        path = folder / "submission.yaml"
        path.write_bytes(change(path.read_bytes()))

    return fault


def say(*place, value):
    """Return a fault: ``submission.yaml`` has another value at a place."""

    def fault(folder):
        def change(content):
            for name in place[:-1]:
                content = content.setdefault(name, {}) if isinstance(content, dict) else content[name]
            content[place[-1]] = value

        edit(folder, change)

    return fault


def drop(*place):
    """Return a fault: ``submission.yaml`` lacks a name."""

    def fault(folder):
        def change(content):
            for name in place[:-1]:
                content = content[name]
            del content[place[-1]]

        edit(folder, change)

    return fault


def touch(change):
    """Return a fault: something is done to the file of the first run."""

    def fault(folder):
        path = folder / FIRST
        data = path.read_bytes()
        path.unlink()
        change(path, data)

    return fault


def put(data):
    """Return a fault: the first run has another file, with its right checksum."""
    return lambda folder: plant(folder, data(folder) if callable(data) else data)
