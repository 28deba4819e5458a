"""Meshes of devices, and which part of training lies where: one partition table.

A mesh has two axes. ``data`` cuts each batch; ``fsdp`` cuts it too, and parameters and optimiser state
besides. Each device computes the model, with whole parameters, for its part of the batch.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import numpy as np
from jax.flatten_util import ravel_pytree
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec

from sraven.core.errors import ConfigurationError

AXES = ("data", "fsdp")
BATCH_SPEC, CHUNK_SPEC = PartitionSpec(AXES), PartitionSpec(None, AXES)
"""How devices divide the instances of batches ``[B, ...]``, and of steps of them ``[S, B, ...]``."""

PARTITION: Mapping[str, int] = {
    "query/kernel": -3,
    "key/kernel": -3,
    "value/kernel": -3,
    "attention/out/kernel": -1,
    "up/kernel": -1,
    "down/kernel": -2,
    "embedding/kernel": -1,
    "embedding": -1,
}
"""Which axis of a parameter ``fsdp`` cuts, from behind, by the end of its path: the longest end decides.

What isn't here, or doesn't divide, every device has whole: biases, LayerNorms, position tables. Moments
of the optimiser end as their parameters do.
"""


def make_mesh(shape: str | None = None) -> Mesh:
    """Return a mesh of devices.

    Args:
        shape: such as ``data=4,fsdp=2``; an axis that isn't named has size 1. None is one device, or,
            with several processes, all of them as ``data``.

    Raises:
        ConfigurationError: for another form, or a size that the devices don't have.
    """
    devices = jax.devices()
    several = jax.process_count() > 1
    sizes = _read_shape(shape) if shape else {"data": len(devices) if several else 1}
    counts = [sizes.get(axis, 1) for axis in AXES]
    needed = int(np.prod(counts))
    if needed > len(devices) or (several and needed < len(devices)):
        rule = "all devices of all processes are needed" if several else "choose a smaller mesh"
        if devices[0].platform == "cpu" and not several:
            rule += f", or make as many of the processors: JAX_NUM_CPU_DEVICES={needed}"
        found = f"{len(devices)} device{'s' if len(devices) > 1 else ''} ({devices[0].platform})"
        raise ConfigurationError(f"mesh {shape!r} has {needed} devices; here: {found}; {rule}")
    return _mesh_of(devices[:needed], counts)


def own_mesh() -> Mesh:
    """Return a mesh of one device of this process, for work that the others take no part in."""
    return _mesh_of(jax.local_devices()[:1], [1] * len(AXES))


def _mesh_of(devices: Sequence[Any], counts: Sequence[int]) -> Mesh:
    kinds = (AxisType.Auto,) * len(AXES)
    return Mesh(np.array(devices).reshape(counts), AXES, axis_types=kinds)


def _read_shape(shape: str) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for part in shape.split(","):
        found = re.fullmatch(r"\s*(\w+)\s*=\s*([1-9]\d{0,6})\s*", part)
        if not found or found[1] not in AXES or found[1] in sizes:
            raise ConfigurationError(f"mesh {shape!r}: expected sizes by axis, such as data=4,fsdp=2")
        sizes[found[1]] = int(found[2])
    return sizes


def on_cpu(mesh: Mesh) -> bool:
    """Return whether a mesh's devices are CPUs."""
    return bool(mesh.devices.flat[0].platform == "cpu")


def check_batch(mesh: Mesh, batch_size: int, num_microbatches: int) -> None:
    """Check that a mesh divides a batch, or the microbatches that one is cut into.

    Raises:
        ConfigurationError: if it doesn't.
    """
    if batch_size % (mesh.size * num_microbatches):
        cut = f" in {num_microbatches} parts" if num_microbatches > 1 else ""
        raise ConfigurationError(
            f"batch_size={batch_size}{cut}: expected a multiple of {mesh.size * num_microbatches}, "
            f"for a mesh of {mesh.size} device{'s' if mesh.size > 1 else ''}"
        )


def _axis_of(path: str) -> int | None:
    """Return which axis of a parameter is cut, None for none."""
    ends = [end for end in PARTITION if path == end or path.endswith(f"/{end}")]
    return PARTITION[max(ends, key=len)] if ends else None


def state_shardings(mesh: Mesh, states: Any) -> Any:
    """Return the sharding of each array of a state.

    Args:
        mesh: of devices.
        states: of one run or of stacked ones: anything with shapes.
    """

    def sharding(path: tuple[Any, ...], leaf: Any) -> NamedSharding:
        name, size = jax.tree_util.keystr(path, simple=True, separator="/"), mesh.shape["fsdp"]
        axis = _axis_of(name)
        if axis is None or leaf.shape[axis] % size:
            return whole(mesh)
        places: list[str | None] = [None] * leaf.ndim
        places[axis] = "fsdp"
        return NamedSharding(mesh, PartitionSpec(*places))

    return jax.tree.map_with_path(sharding, states)


def place_chunk(mesh: Mesh, chunk: Mapping[str, Any]) -> dict[str, jax.Array]:
    """Put the batches of some steps on the devices, cut along the axis of instances.

    Args:
        mesh: of devices.
        chunk: arrays ``[S, B, ...]``, the same in every process; each device takes its part.
    """
    sharding = NamedSharding(mesh, CHUNK_SPEC)
    return {
        name: jax.make_array_from_callback(array.shape, sharding, array.__getitem__)
        for name, array in chunk.items()
    }


def place_rows(mesh: Mesh, chunk: Mapping[str, Any]) -> dict[str, jax.Array]:
    """Put the batches of some steps on the devices, when each process has its own rows of them.

    Args:
        mesh: of devices.
        chunk: arrays ``[S, B / processes, ...]``; process p has the p-th part of the batch.
    """
    sharding = NamedSharding(mesh, CHUNK_SPEC)
    return {name: jax.make_array_from_process_local_data(sharding, array) for name, array in chunk.items()}


def on_each_device(
    mesh: Mesh, function: Callable[..., Any], instances: PartitionSpec, results: PartitionSpec
) -> Callable[..., Any]:
    """Return a function that each device computes for its part of the instances.

    The compiler divides nothing in it, so that functions it can't look into compute a part each.

    Args:
        mesh: of devices.
        function: of what every device has whole, such as parameters, and of arrays of instances.
        instances: which axis of these is divided, `BATCH_SPEC` or `CHUNK_SPEC`.
        results: which axis of results is; ``PartitionSpec()`` if every device returns the same.
    """
    if mesh.size == 1:
        return function
    whole_and_parts = PartitionSpec(), instances
    # Unchecked: a function that the compiler can't look into doesn't say what differs between devices.
    return jax.shard_map(function, mesh=mesh, in_specs=whole_and_parts, out_specs=results, check_vma=False)


def mean_over_devices(mesh: Mesh, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of a batch whose results are means of what each device computes for its part.

    Args:
        mesh: of devices.
        function: of what every device has whole, and of a batch; returns floating arrays.
    """
    if mesh.size == 1:
        return function

    def mean(shared: Any, part: Any) -> Any:
        found = function(shared, part)
        if not on_cpu(mesh):
            return jax.lax.pmean(found, AXES)  # the compiler sends them together
        # Between processes a message takes a third of a millisecond and more, whatever its length: one.
        numbers, unravel = ravel_pytree(found)
        return unravel(jax.lax.pmean(numbers, AXES))

    return on_each_device(mesh, mean, BATCH_SPEC, PartitionSpec())


def whole(mesh: Mesh) -> NamedSharding:
    """Return the sharding of what every device has whole."""
    return NamedSharding(mesh, PartitionSpec())
