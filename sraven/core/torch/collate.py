"""PyTorch's loaders take instances that were made together as they are, one tensor for each array."""

from collections.abc import Sequence
from typing import Any

import torch
from torch.utils.data._utils.collate import collate, default_collate_fn_map

from sraven.core.split import Instance, InstanceSequence


def _collate(instances: Sequence[Instance], *, collate_fn_map: Any = None) -> Any:
    """Return instances as tensors: those that were made together as they are, others one by one."""
    if isinstance(instances, InstanceSequence):
        return {name: torch.from_numpy(array) for name, array in instances.arrays.items()}
    return collate([dict(each) for each in instances], collate_fn_map=collate_fn_map)


default_collate_fn_map[Instance] = _collate
