"""Polygons that another thread finds, while whoever needs them has other things to do first."""

from collections.abc import Callable, Sequence
from typing import overload

from overruler.geometry.pose import Array


class LazyPolygons(Sequence[Array]):
    """Polygons that another thread computes; the first access waits for them."""

    __slots__ = ("_compute",)

    def __init__(self, compute: Callable[[], Sequence[Array]]) -> None:
        self._compute = compute

    @overload
    def __getitem__(self, which: int) -> Array: ...

    @overload
    def __getitem__(self, which: slice) -> Sequence[Array]: ...

    def __getitem__(self, which: int | slice) -> Array | Sequence[Array]:
        return self._compute()[which]

    def __len__(self) -> int:
        return len(self._compute())
