"""A Ray cluster of this machine, all of whose ports are on the loopback interface."""

import os
import shutil
import tempfile
from contextlib import ExitStack, chdir, contextmanager
from pathlib import Path

import pytest

from helpers.checkout import REPOSITORY
from sraven.data.engines.on_ray import connected

STORE = 80 << 20
"""Bytes of a node's object store, the fewest that Ray allows."""

TRIES = 3

VARIABLES = {
    "RAY_USAGE_STATS_ENABLED": "0",
    # Ray reads this when it is imported, which may have been before; its ports are on the loopback interface.
    "RAY_AUTH_MODE": "disabled",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    # A node that is killed is missed within seconds.
    "RAY_health_check_initial_delay_ms": "1000",
    "RAY_health_check_period_ms": "1000",
    "RAY_health_check_failure_threshold": "5",
    "PYTHONPATH": os.pathsep.join([str(REPOSITORY), str(REPOSITORY / "tests")]),
}


def stay_on_loopback(replace=setattr):
    """Keep Ray, which would use the address of another interface, on 127.0.0.1."""
    from ray._private import services

    replace(services, "resolve_ip_for_localhost", lambda host: host)
    replace(services, "get_node_ip_address", lambda address=None: "127.0.0.1")


def started(start, error, tries=TRIES):
    """Return what starts; Ray gives a node half a minute, which isn't enough while others are busy."""
    for _ in range(tries):
        try:
            return start()
        except error as fault:
            reason = str(fault)
            if "timed out during startup" not in reason:
                raise
    pytest.skip(f"this machine is too busy for Ray to start a node, {tries} times: {reason}")


def add_node(cluster):
    """Add a node with one processor, and wait until it is there; return it."""
    how = {"num_cpus": 1, "node_ip_address": "127.0.0.1", "object_store_memory": STORE}
    lean = {"include_dashboard": False, "include_log_monitor": False, "no_monitor": True}
    return started(lambda: cluster.add_node(**how, **lean), Exception)


@contextmanager
def short_folder():
    """Yield a folder for Ray, whose sockets have paths of 107 bytes at most."""
    folder = tempfile.mkdtemp(prefix="ray", dir="/tmp")
    try:
        yield Path(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def two_nodes():
    """Yield a cluster that ends with this, and its second node; this process, in a folder apart, uses it."""
    with ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        folder = stack.enter_context(short_folder())
        for name, value in {**VARIABLES, "RAY_TMPDIR": str(folder)}.items():
            patch.setenv(name, value)
        stay_on_loopback(patch.setattr)
        with chdir(folder):
            from ray.cluster_utils import Cluster

            cluster = Cluster()
            stack.callback(cluster.shutdown)
            add_node(cluster)
            second = add_node(cluster)
            stack.enter_context(connected(cluster.address))
        yield cluster, second
