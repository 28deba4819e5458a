"""Twins: certified variants of one puzzle, to see whether who solves it solves them all.

>>> from sraven.twins import Twins
>>> task = Twins(M=4, K=8)
>>> task.size
12
>>> task.sample("ood", start=0, count=task.size).set.tolist()
[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
"""

from typing import TYPE_CHECKING

from sraven.core.lazy import lazy_names

if TYPE_CHECKING:
    from sraven.twins.task import Twins as Twins

__getattr__, __dir__, __all__ = lazy_names(__name__, {"sraven.twins.task": "Twins"})
