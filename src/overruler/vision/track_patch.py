"""What a piece looks like from straight above, and where that look is found again, partly hidden or not.

The look is the brightness on a grid over the base's disc. Finding it is robust twice: a coarse search that counts each
grid point's misfit up to a limit, then least squares whose weights forget the points that a hand covers. The light may
have changed: gain and offset are fitted along (Baker and Matthews, "Lucas-Kanade 20 years on", 2004).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import cv2
import numpy as np
from numpy.typing import NDArray

from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array

Grey = NDArray[np.uint8]
HALF = 14
"""Grid steps in a radius."""
LIMIT = 24.0
"""Grey levels from which on a point counts as hidden."""
AGREE = 14.0
"""Grey levels within which a point counts as seen."""
ROUNDS, SETTLED = 8, 0.03
"""Steps of the fit at most; one shorter than this, in steps of the grid, is the last."""
CARRIED = 0.5
"""What the look of a shot ago says of a place, against the look at rest."""
TRUST = 9.0
"""Grey levels of the weights' scale (Geman and McClure)."""
HELD = np.array([1e-3, 1e-3, 3e6, 3e2])
"""How firmly x, y, the light's gain and its offset are held where they were: what a hand shows says nothing of them."""
HOLD = np.diag(HELD)
PULL = HELD * [0, 0, 1, 1]
"""How firmly each is drawn back to where it began."""
GAINS = 0.65, 1.5
"""The shade of a hand, and a lamp."""


@dataclass(frozen=True, slots=True, eq=False)
class Patch:
    """A base's look."""

    step_mm: float
    values: NDArray[np.float32]
    """(2 HALF + 1, 2 HALF + 1): brightness, rows from far to near."""


@dataclass(frozen=True, slots=True, eq=False)
class Match:
    """Where a look was found."""

    xy_mm: Array
    """(2,)."""
    share: float
    """Share of the base that looks as it did: what is not hidden."""
    gain: float
    """How much brighter it is."""


def grid(half: int, step_mm: float) -> Array:
    """Offsets (2 half + 1, 2 half + 1, 2) in mm, rows from far to near."""
    return step_mm * np.moveaxis(_unit(half), 0, -1)


@cache
def _unit(half: int) -> Array:
    steps = np.arange(-half, half + 1.0)
    return np.stack(np.meshgrid(steps, -steps))


INSIDE = np.hypot(*_unit(HALF)) <= HALF * 1.02
"""(2 HALF + 1, 2 HALF + 1): whether a point lies on the base."""
EVERY, EVERY_OTHER = np.array(np.nonzero(INSIDE)), 2 * np.array(np.nonzero(INSIDE[::2, ::2]))
"""(2, N): the rows and columns of all points on the base, and of every other one either way."""
BORDERED = 2 * HALF + 3
"""Grid points in a row, with one more on either side."""
NEAR = np.array([[0], [1], [-1], [-BORDERED], [BORDERED]]) + np.flatnonzero(np.pad(INSIDE, 1))
"""(5, N): which of all points with the border each point on the base is, and those right, left, above and below it."""


STEPS = np.array([[0, 0, 0], [0.5, 0, 0], [-0.5, 0, 0], [0, 0.5, 0], [0, -0.5, 0]])
"""In mm: to a place, and half a mm to either side of it along x and along y."""


def linear(camera: Camera, xy_mm: Array, z_mm: float) -> tuple[Array, Array]:
    """The pixel (2,) of a place on the board and its slope (2, 2): the camera is linear over so little."""
    at = camera.project(np.array([*xy_mm, z_mm]) + STEPS)
    return at[0], (at[1::2] - at[2::2]).T


def sampled(grey: Grey, camera: Camera, xy_mm: Array, z_mm: float, step_mm: float, half: int) -> NDArray[np.float32]:
    """The brightness on a grid round a place of the board."""
    pixel, slope = linear(camera, xy_mm, z_mm)
    return _brightness(grey, _pixels(pixel, step_mm * slope, half))


def _pixels(pixel: Array, slope: Array, half: int) -> NDArray[np.float32]:
    """Where a grid is seen (2, 2 half + 1, 2 half + 1), across and down, its middle being seen at a pixel (2,)."""
    unit = _unit(half)
    return (pixel[:, None] + slope @ unit.reshape(2, -1)).astype(np.float32).reshape(unit.shape)


def _brightness(grey: Grey, at_px: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.asarray(cv2.remap(grey, at_px[0], at_px[1], cv2.INTER_LINEAR), np.float32)


def patch_of(grey: Grey, camera: Camera, xy_mm: Array, z_mm: float, radius_mm: float) -> Patch:
    """The look of a base that stands in full view."""
    step_mm = radius_mm / HALF
    return Patch(step_mm, sampled(grey, camera, xy_mm, z_mm, step_mm, HALF))


def agreeing(grey: Grey, camera: Camera, patch: Patch, xy_mm: Array, z_mm: float) -> float:
    """Share of a look that agrees at a place as it is."""
    seen = sampled(grey, camera, xy_mm, z_mm, patch.step_mm, HALF)
    return float(np.mean(np.abs(seen - patch.values)[INSIDE] < AGREE))


def find(
    grey: Grey, camera: Camera, looks: Sequence[Patch], start_mm: Array, z_mm: float, reach_mm: float, gain: float
) -> Match:
    """The first of the looks near `start_mm` (2,), at most about `reach_mm` away on either axis.

    The other looks say where to try too, and which try is right: the piece in the hand that carries it, a shot ago.
    """
    first, *more = (
        _searched(grey, camera, look, start_mm, z_mm, reach_mm, gain if look is looks[0] else 1.0) for look in looks
    )
    starts = [first, *(start for start in more if np.hypot(*(start - first)) > looks[0].step_mm)]  # less is the same
    tries = [aligned(grey, camera, looks[0], start, z_mm, gain) for start in starts]
    if len(tries) == 1:
        return tries[0]
    return max(
        tries,
        key=lambda one: one.share + sum(CARRIED * agreeing(grey, camera, look, one.xy_mm, z_mm) for look in looks[1:]),
    )


def _searched(
    grey: Grey, camera: Camera, patch: Patch, start_mm: Array, z_mm: float, reach_mm: float, gain: float
) -> Array:
    """The whole step of the grid where most of the look agrees."""
    reach = int(np.ceil(reach_mm / patch.step_mm / 2)) * 2
    window = sampled(grey, camera, start_mm, z_mm, patch.step_mm, HALF + reach)
    wanted, steps = gain * patch.values, np.arange(2 * reach + 1)
    coarse = _misfit(window, steps[::2], steps[::2], wanted, EVERY_OTHER)
    rows, columns = (
        steps[max(0, 2 * int(at) - 1) : 2 * int(at) + 2] for at in np.unravel_index(np.argmin(coarse), coarse.shape)
    )
    fine = _misfit(window, rows, columns, wanted, EVERY)
    dy, dx = np.unravel_index(np.argmin(fine), fine.shape)
    return np.asarray(start_mm + patch.step_mm * np.array([columns[dx] - reach, reach - rows[dy]]))


def _misfit(
    window: NDArray[np.float32],
    rows: NDArray[np.intp],
    columns: NDArray[np.intp],
    wanted: NDArray[np.float32],
    points: NDArray[np.intp],
) -> Array:
    """How badly some points (2, N) of a look agree (R, C), its corner being laid on these rows and columns."""
    width = window.shape[1]
    corners = rows[:, None] * width + columns
    off = np.take(window, corners[..., None] + (points[0] * width + points[1]))
    off -= wanted[points[0], points[1]]  # in the same memory: new memory is slow
    return np.asarray(np.minimum(np.abs(off, out=off), LIMIT, out=off).mean(-1))


def aligned(grey: Grey, camera: Camera, patch: Patch, start_mm: Array, z_mm: float, gain: float = 1.0) -> Match:
    """The look to a fraction of a grid step, from a start within about a step."""
    pixel, slope = linear(camera, start_mm, z_mm)
    at, wanted = _pixels(pixel, patch.step_mm * slope, HALF + 1), patch.values[INSIDE]
    slopes = np.stack([wanted, wanted, -wanted, -np.ones_like(wanted)])
    farthest = np.array([patch.step_mm, patch.step_mm, np.inf, np.inf])
    start = now = np.array([0.0, 0.0, gain, 0.0])
    off = np.zeros_like(wanted)
    for _ in range(ROUNDS):
        beside = (slope @ now[:2]).astype(np.float32)[:, None, None]
        seen, right, left, above, below = np.take(_brightness(grey, at + beside), NEAR)
        slopes[0], slopes[1] = (right - left) / (2 * patch.step_mm), (above - below) / (2 * patch.step_mm)
        off = float(now[2]) * wanted + float(now[3]) - seen
        weight = 1 / (1 + (off / TRUST) ** 2) ** 2
        down = slopes @ (weight * off) + PULL * (start - now)
        step = cv2.solve(slopes @ (slopes * weight).T + HOLD, down[:, None])[1][:, 0]  # sooner solved than by NumPy
        now = now + step.clip(-farthest, farthest)
        if np.abs(step[:2]).max() < SETTLED * patch.step_mm:
            break
    return Match(start_mm + now[:2], float(np.mean(np.abs(off) < AGREE)), float(now[2].clip(*GAINS)))
