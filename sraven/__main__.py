"""The command `sraven`, also as ``python -m sraven``.

It makes sure of what is imported, before it imports the command's own packages and theirs.
"""

import os
import sys
from importlib import import_module

from sraven.core.errors import InstallationError
from sraven.core.system.isolation import NUMBA_SETTINGS, leave_working_directory
from sraven.core.system.packages import PACKAGES, check_packages


def main() -> None:
    """Run the command line and exit."""
    leave_working_directory()
    if os.path.lexists(NUMBA_SETTINGS):
        sys.stderr.write(f"error: {NUMBA_SETTINGS} lies here, and Numba would run what it says; remove it\n")
        sys.exit(2)
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
