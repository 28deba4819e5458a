"""The command `sraven`."""

from sraven import core  # noqa: F401  # if that is another project's, Python says where it lies
from sraven.core.packages import PACKAGES, check_packages

__part_of__ = "sraven"

check_packages(*PACKAGES)
