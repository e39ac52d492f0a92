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
from numpy.lib.stride_tricks import sliding_window_view
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
BORDERED = 2 * HALF + 3
"""Grid points in a row, with one more on either side."""
NEAR = np.array([[0], [1], [-1], [-BORDERED], [BORDERED]]) + np.flatnonzero(np.pad(INSIDE, 1))
"""(5, N): which of all points with the border each point on the base is, and those right, left, above and below it."""


def linear(camera: Camera, xy_mm: Array, z_mm: float) -> tuple[Array, Array]:
    """The pixel (2,) of a place on the board and its slope (2, 2): the camera is linear over so little."""
    steps = np.array([[0, 0, 0], [0.5, 0, 0], [-0.5, 0, 0], [0, 0.5, 0], [0, -0.5, 0]])
    at = camera.project(np.array([*xy_mm, z_mm]) + steps)
    return at[0], np.stack([at[1] - at[2], at[3] - at[4]], -1)


def sampled(grey: Grey, camera: Camera, xy_mm: Array, z_mm: float, step_mm: float, half: int) -> NDArray[np.float32]:
    """The brightness on a grid round a place of the board."""
    pixel, slope = linear(camera, xy_mm, z_mm)
    return _brightness(grey, _pixels(pixel, step_mm * slope, half))


def _pixels(pixel: Array, slope: Array, half: int) -> NDArray[np.float32]:
    """Where a grid is seen (2, 2 half + 1, 2 half + 1), across and down, its middle being seen at a pixel (2,)."""
    return (pixel[:, None, None] + np.tensordot(slope, _unit(half), 1)).astype(np.float32)


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
    starts = [
        _searched(grey, camera, look, start_mm, z_mm, reach_mm, gain if look is looks[0] else 1.0) for look in looks
    ]
    tries = [aligned(grey, camera, looks[0], start, z_mm, gain) for start in starts]
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
    wanted = gain * patch.values
    windows = sliding_window_view(window, wanted.shape)
    coarse = _misfit(windows[::2, ::2, ::2, ::2], wanted[::2, ::2], INSIDE[::2, ::2])
    row, column = np.unravel_index(np.argmin(coarse), coarse.shape)
    rows, columns = (slice(max(0, 2 * int(at) - 1), 2 * int(at) + 2) for at in (row, column))
    fine = _misfit(windows[rows, columns], wanted, INSIDE)
    dy, dx = np.unravel_index(np.argmin(fine), fine.shape)
    shift = np.array([columns.start + dx - reach, reach - rows.start - dy])
    return np.asarray(start_mm + patch.step_mm * shift)


def _misfit(windows: NDArray[np.float32], wanted: NDArray[np.float32], inside: NDArray[np.bool_]) -> Array:
    off = windows[..., inside]
    off -= wanted[inside]  # in the same memory: new memory is slow
    return np.asarray(np.minimum(np.abs(off, out=off), LIMIT, out=off).mean(-1))


def aligned(grey: Grey, camera: Camera, patch: Patch, start_mm: Array, z_mm: float, gain: float = 1.0) -> Match:
    """The look to a fraction of a grid step, from a start within about a step."""
    pixel, slope = linear(camera, start_mm, z_mm)
    at, wanted = _pixels(pixel, patch.step_mm * slope, HALF + 1), patch.values[INSIDE]
    slopes = np.stack([wanted, wanted, -wanted, -np.ones_like(wanted)])
    shift, tone, off = np.zeros(2), np.array([gain, 0.0]), np.zeros_like(wanted)
    for _ in range(ROUNDS):
        beside = (slope @ shift).astype(np.float32)[:, None, None]
        seen, right, left, above, below = np.take(_brightness(grey, at + beside), NEAR)
        slopes[0], slopes[1] = (right - left) / (2 * patch.step_mm), (above - below) / (2 * patch.step_mm)
        off = float(tone[0]) * wanted + float(tone[1]) - seen
        weight = 1 / (1 + (off / TRUST) ** 2) ** 2
        pull = HELD * np.array([0, 0, gain - tone[0], -tone[1]])
        step = np.linalg.solve(slopes @ (slopes * weight).T + HOLD, slopes @ (weight * off) + pull)
        shift = shift + np.clip(step[:2], -patch.step_mm, patch.step_mm)
        tone = tone + step[2:]
        if np.abs(step[:2]).max() < SETTLED * patch.step_mm:
            break
    return Match(np.asarray(start_mm + shift), float(np.mean(np.abs(off) < AGREE)), float(np.clip(tone[0], *GAINS)))
