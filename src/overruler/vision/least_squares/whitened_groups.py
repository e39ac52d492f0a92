"""Many small groups of measurements, whitened and multiplied at once, those of equal size together."""

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from overruler.geometry.pose import Array


class Products(NamedTuple):
    """Sums over each of G groups of whitened rows of P columns."""

    squares: Array
    """(G,): the residuals' sum of squares."""
    information: Array
    """(G, P, P): the Jacobian's product with itself."""
    gradient: Array
    """(G, P): the Jacobian's product with the residuals."""


class WhitenedGroups:
    """The whitening matrices (K, K) of groups, whose K rows each follow those of the group before."""

    __slots__ = ("_batches", "_count")

    def __init__(self, whiteners: Sequence[Array]) -> None:
        self._count = len(whiteners)
        starts = np.cumsum([0, *(len(whitener) for whitener in whiteners)])
        by_size = defaultdict(list)
        for k, whitener in enumerate(whiteners):
            by_size[len(whitener)].append(k)
        self._batches: list[tuple[NDArray[np.intp], NDArray[np.intp], Array]] = [
            (
                np.array(members),
                starts[members][:, None] + np.arange(size),
                np.stack([whiteners[k] for k in members]),
            )
            for size, members in by_size.items()
        ]

    def sums_of_squares(self, residual: Array) -> Array:
        """The sum of squares (G,) of each group's whitened residuals (N,)."""
        squares = np.empty(self._count)
        for members, chosen, whiteners in self._batches:
            white = whiteners @ residual[chosen][..., None]
            squares[members] = (white.swapaxes(1, 2) @ white)[:, 0, 0]
        return squares

    def products(self, rows: Array) -> Products:
        """What the groups say by their rows (N, 1 + P): the residuals, then the Jacobian."""
        width = rows.shape[1] - 1
        found = Products(
            np.empty(self._count),
            np.empty((self._count, width, width)),
            np.empty((self._count, width)),
        )
        for members, chosen, whiteners in self._batches:
            white = whiteners @ rows[chosen]
            residual, jacobian = white[..., :1], white[..., 1:]
            across = jacobian.swapaxes(1, 2)
            found.squares[members] = (residual.swapaxes(1, 2) @ residual)[:, 0, 0]
            found.information[members] = across @ jacobian
            found.gradient[members] = (across @ residual)[..., 0]
        return found
