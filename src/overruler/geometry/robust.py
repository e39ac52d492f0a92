"""Least squares in a box, with a soft limit for what is far off: loading scipy takes longer than a film's ways do.

Levenberg's and Marquardt's steps over the loss 2 s² (√(1 + (f / s)²) − 1), which is f² for small misfits f and grows
like |f| beyond the scale s; curvature as in Triggs and others, "Bundle adjustment: a modern synthesis" (2000), 4.3.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from overruler.geometry.pose import Array

Ends = tuple[NDArray[np.bool_], NDArray[np.bool_]]
"""Which of the numbers are at the lower and at the upper end of the box."""
STEP = 1e-6
"""For the slopes."""
SMALLEST, LARGEST = 1e-9, 1e9
"""How much shorter steps may be made; where that much is of no use it is at rest."""
ENOUGH = 1e-10
"""A step that makes the loss less by a smaller share is the last."""


def robust_fit(
    misfits: Callable[[Array], Array], start: Array, low: Array, high: Array, scale: float, rounds: int
) -> tuple[Array, float, Array]:
    """The numbers (N,) between `low` and `high` whose misfits (M,) are least, half the loss, and the slopes (M, N).

    The slopes are weighted so that their product with themselves is the information about the numbers.
    """
    numbers = np.clip(start, low, high)
    off, caution = misfits(numbers), 1e-3
    loss = _half_loss(off, scale)
    slopes = _slopes(misfits, numbers, off, high)
    for _ in range(rounds):
        step = _step(slopes, off, scale, caution, (numbers <= low, numbers >= high))
        tried = np.clip(numbers + step, low, high)
        new = misfits(tried)
        less = loss - _half_loss(new, scale)
        caution = np.clip(caution * (0.1 if less > 0 else 10.0), SMALLEST, LARGEST)
        if less > 0:
            numbers, off, loss = tried, new, loss - less
            slopes = _slopes(misfits, numbers, off, high)
        if caution >= LARGEST or 0 < less < ENOUGH * loss:
            break
    return numbers, loss, slopes * ((1 + (off / scale) ** 2) ** -0.75)[:, None]


def _half_loss(off: Array, scale: float) -> float:
    return float(scale**2 * np.sum(np.sqrt(1 + (off / scale) ** 2) - 1))


def _slopes(misfits: Callable[[Array], Array], numbers: Array, off: Array, high: Array) -> Array:
    steps = np.where(numbers + STEP > high, -STEP, STEP)
    return np.stack([(misfits(numbers + at) - off) / at.sum() for at in np.diag(steps)], -1)


def _step(slopes: Array, off: Array, scale: float, caution: float, ends: Ends) -> Array:
    """The step (N,), none beyond the ends of the box."""
    far = 1 + (off / scale) ** 2
    bent = slopes * (far**-0.75)[:, None]
    downhill = -slopes.T @ (off * far**-0.5)
    free = ~((ends[0] & (downhill < 0)) | (ends[1] & (downhill > 0)))
    information = bent.T @ bent
    information = information + caution * np.diag(np.maximum(np.diag(information), 1e-9))
    step = np.zeros(len(free))
    step[free] = np.linalg.solve(information[np.ix_(free, free)], downhill[free])
    return step
