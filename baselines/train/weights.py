"""The parameters of a trained run as `model.safetensors`, which any framework reads.

Tensors have the names and shapes of the parameters, such as ``block_0.attention.query.kernel`` ``[E, H, D]``,
and the file says of which run they are. A directory with this file in place of checkpoints is what
`sraven export` wrote: a run without what only training needs.
"""

from pathlib import Path
from typing import Any

import jax
import numpy as np
from flax.traverse_util import flatten_dict, unflatten_dict

from sraven.core.errors import ConfigurationError, OutputError
from sraven.core.escape import escape

_RUN = "run"
"""What the file calls the digest of its run's configuration; the one entry, as several have no order."""

_DTYPE = "F32"
"""That of all parameters, as the format has it."""


def check_finite(params: Any) -> None:
    """Refuse parameters of which one is NaN or infinite.

    Raises:
        ConfigurationError: naming the first such array.
    """
    for name, leaf in flatten_dict(params, sep=".").items():
        if not np.isfinite(np.asarray(leaf)).all():
            raise ConfigurationError(f"parameter {name} isn't finite: the run has diverged")


def weights_bytes(params: Any, run: str) -> bytes:
    """Return the file of parameters, the same bytes each time.

    Args:
        params: float32 arrays by name, nested.
        run: digest of the run's configuration.

    Raises:
        ConfigurationError: if a parameter isn't finite.
    """
    from safetensors.numpy import save

    check_finite(params)
    # The writer takes the memory as it lies, whatever its strides say.
    arrays = jax.tree.map(lambda leaf: np.ascontiguousarray(leaf, np.float32), params)
    return save(flatten_dict(arrays, sep="."), {_RUN: run})


def read_weights(path: Path, target: Any, run: str) -> Any:
    """Return parameters, once their names, types and shapes are those that are wanted.

    Args:
        path: of the file.
        target: what is wanted: `jax.ShapeDtypeStruct` by name, nested, with their shardings.
        run: digest of the run's configuration.

    Raises:
        OutputError: for another file, in one line.
    """
    from safetensors import SafetensorError, safe_open

    wanted = flatten_dict(target, sep=".")
    try:
        with safe_open(path, "numpy") as file:
            if (file.metadata() or {}).get(_RUN) != run:
                raise ValueError("it is of another run, or config.json was changed")
            slices = {name: file.get_slice(name) for name in file.keys()}  # noqa: SIM118  # no mapping
            held = {name: (each.get_dtype(), each.get_shape()) for name, each in slices.items()}
            forms = {name: (_DTYPE, list(leaf.shape)) for name, leaf in wanted.items()}
            for name in sorted({*held, *forms}):
                if held.get(name) != forms.get(name):
                    there, wanted_form = (_in_words(each.get(name)) for each in (held, forms))
                    raise ValueError(f"tensor {escape(name)} is {there}, and {wanted_form} by config.json")
            arrays = [jax.device_put(file.get_tensor(name), leaf.sharding) for name, leaf in wanted.items()]
    except (OSError, SafetensorError) as error:
        raise OutputError(f"{path} can't be read: {escape(str(error))}") from None
    except ValueError as error:
        raise OutputError(f"{path} can't be used: {error}") from None
    return unflatten_dict(dict(zip(wanted, arrays, strict=True)), sep=".")


def _in_words(form: tuple[str, list[int]] | None) -> str:
    return f"{form[0]} {form[1]}" if form else "not there"
