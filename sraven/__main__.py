"""The command `sraven`, also as ``python -m sraven``.

It makes sure of what is imported, before it imports the command's own packages and theirs.
"""

import os
import sys
from importlib import import_module

from sraven.core.errors import InstallationError
from sraven.core.packages import PACKAGES, check_packages


def main() -> None:
    """Run the command line and exit."""
    os.environ["PYTHONSAFEPATH"] = "1"  # processes that are started here import nothing from where they are
    try:
        check_packages(*PACKAGES)
    except InstallationError as error:
        sys.exit(f"error: {error}")
    try:
        import_module("cli.main").console()  # by name: imports point the other way
    except KeyboardInterrupt:  # before the command itself can say so
        sys.stderr.write("error: interrupted\n")
        sys.exit(130)


if __name__ == "__main__":
    main()
