"""JAX on the CPU, whatever the machine has: before any test imports it."""

import os

os.environ.setdefault("JAX_PLATFORMS", "cpu")
