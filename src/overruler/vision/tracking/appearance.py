"""What a piece looks like from straight above, and where that look is found again, partly hidden or not.

The look is the brightness on a grid over the base's disc. Finding it is robust twice: a coarse search that counts each
grid point's misfit up to a limit, then least squares whose weights forget the points that a hand covers. The light may
have changed: gain and offset are fitted along (Baker and Matthews, "Lucas-Kanade 20 years on", 2004).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

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
SOON, HIDDEN = 3, 0.1
"""A look of which no larger share agrees after so many steps is not there."""
TRUST = 9.0
"""Grey levels of the weights' scale (Geman and McClure)."""
HELD = np.array([1e-3, 1e-3, 3e6, 3e2]) / TRUST**4
"""How firmly x, y, the light's gain and its offset are held where they were: what a hand shows says nothing of them.

The weights of the points leave that power of `TRUST` away too."""
PULL = HELD * [0, 0, 1, 1]
"""How firmly each is drawn back to where it began."""
FARTHEST = np.array([0.5, 0.5, np.inf, np.inf])
"""A round of the fit goes no farther; in two steps of the grid, as its slopes are."""
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


INSIDE = np.hypot(*np.mgrid[-HALF : HALF + 1, -HALF : HALF + 1]) <= HALF * 1.02
"""(2 HALF + 1, 2 HALF + 1): whether a point lies on the base."""
POINTS = np.flatnonzero(INSIDE)
"""(N,): which of all points lie on it."""
EVERY_OTHER = (INSIDE[::2, ::2] / np.count_nonzero(INSIDE[::2, ::2])).astype(np.float32).ravel()
"""((HALF + 1)²,): what every other point either way counts of those on the base, in a mean."""
BORDERED, BORDERED_POINTS = 2 * HALF + 3, np.flatnonzero(np.pad(INSIDE, 1))
"""Grid points in a row with one more on either side; (N,): which of all points of such a grid lie on the base."""
NEAR = np.array([[0], [1], [-BORDERED], [-1], [BORDERED]]) + BORDERED_POINTS
"""(5, N): each point on the base, and those right, above, left and below it."""
ROUND = np.array([(x, y) for y in (1, 0, -1) for x in (-1, 0, 1)])
"""(9, 2): the places within a step of one, rows from far to near."""
BESIDE = ROUND @ [[1], [-BORDERED]] + BORDERED_POINTS
"""(9, N): each point on a base that is moved to these."""

DOWN = np.array([1.0, -1.0])
"""Rows of a grid go from far to near."""
STEPS = np.array([[0, 0, 0], [0.5, 0, 0], [0, 0.5, 0], [-0.5, 0, 0], [0, -0.5, 0]])
"""In mm: to a place, and half a mm to either side of it along x and along y."""
FROM_GRID = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP


def linear(camera: Camera, xy_mm: Array, z_mm: float) -> tuple[Array, Array]:
    """The pixel (2,) of a place on the board and its slope (2, 2): the camera is linear over so little."""
    at = cv2.projectPoints(np.array([*xy_mm, z_mm]) + STEPS, *_numbers(camera))[0][:, 0]
    return np.asarray(at[0], float), np.asarray((at[1:3] - at[3:]).T, float)


@lru_cache(maxsize=8)
def _numbers(camera: Camera) -> tuple[Array, Array, Array, Array]:
    """A camera as OpenCV has it, which projects so few points in a fifth of NumPy's time."""
    pose = camera.T_camera_board
    return np.asarray(cv2.Rodrigues(pose.rotation)[0]), pose.translation_mm, camera.matrix, camera.distortion


def seen_as(pixel: Array, slope: Array, half: int) -> Array:
    """(2, 3): from a grid's columns and rows to pixels; its middle is seen at a pixel (2,), its steps as `slope`."""
    at = np.empty((2, 3))
    at[:, :2] = slope * DOWN
    at[:, 2] = pixel - half * (at[:, 0] + at[:, 1])
    return at


def brightness(grey: Grey, at: Array, half: int) -> Grey:
    """(2 half + 1, 2 half + 1): of a grid that is `seen_as` this."""
    return np.asarray(cv2.warpAffine(grey, at, (2 * half + 1, 2 * half + 1), flags=FROM_GRID), np.uint8)


def sampled(grey: Grey, camera: Camera, xy_mm: Array, z_mm: float, step_mm: float, half: int) -> Grey:
    """The brightness on a grid round a place of the board."""
    pixel, slope = linear(camera, xy_mm, z_mm)
    return brightness(grey, seen_as(pixel, step_mm * slope, half), half)


def patch_of(grey: Grey, camera: Camera, xy_mm: Array, z_mm: float, radius_mm: float) -> Patch:
    """The look of a base that stands in full view."""
    step_mm = radius_mm / HALF
    return Patch(step_mm, sampled(grey, camera, xy_mm, z_mm, step_mm, HALF).astype(np.float32))


def agreeing(grey: Grey, camera: Camera, patch: Patch, xy_mm: Array, z_mm: float) -> float:
    """Share of a look that agrees at a place as it is."""
    return agreement(patch, sampled(grey, camera, xy_mm, z_mm, patch.step_mm, HALF))


def agreement(patch: Patch, seen: Grey) -> float:
    """Share of a look that agrees with what is seen on the same grid."""
    return _small(patch.values.take(POINTS) - seen.take(POINTS))


def _small(off: NDArray[np.float32]) -> float:
    return np.count_nonzero(np.abs(off) < AGREE) / off.size


def find(
    grey: Grey, camera: Camera, looks: Sequence[Patch], start_mm: Array, z_mm: float, reach_mm: float, gain: float
) -> Match:
    """The first of the looks near `start_mm` (2,), at most about `reach_mm` away on either axis.

    The other looks say where to try too, and which try is right: the piece in the hand that carries it, a shot ago.
    """
    seen = linear(camera, start_mm, z_mm)
    first, *more = (
        start_mm + _searched(grey, *seen, look, reach_mm, gain if look is looks[0] else 1.0) for look in looks
    )
    starts = [first, *(start for start in more if np.hypot(*(start - first)) > looks[0].step_mm)]  # less is the same
    tries = [aligned(grey, camera, looks[0], start, z_mm, gain) for start in starts]
    if len(tries) == 1:
        return tries[0]
    return max(
        tries,
        key=lambda one: one.share + sum(CARRIED * agreeing(grey, camera, look, one.xy_mm, z_mm) for look in looks[1:]),
    )


def _searched(grey: Grey, pixel: Array, slope: Array, patch: Patch, reach_mm: float, gain: float) -> Array:
    """How far off (2,), in whole steps of the grid, most of the look agrees."""
    wanted, step, reach = gain * patch.values, patch.step_mm * slope, int(np.ceil(reach_mm / patch.step_mm / 2))
    half = HALF // 2 + reach
    row, column = _coarsely(brightness(grey, seen_as(pixel, 2 * step, half), half), wanted[::2, ::2])
    off = 2 * np.array([column - reach, reach - row])
    near = brightness(grey, seen_as(pixel + step @ off, step, HALF + 1), HALF + 1)
    misfit = np.minimum(np.abs(wanted.take(POINTS) - near.take(BESIDE)), LIMIT)
    return np.asarray(patch.step_mm * (off + ROUND[np.argmin(misfit.sum(1))]))


def _coarsely(window: Grey, wanted: NDArray[np.float32]) -> tuple[int, int]:
    """The row and the column on which a look's corner lies best in a window (S, S).

    In whole levels: it is memory that takes the time, and they need a quarter of it.
    """
    most = len(window) - len(wanted) + 1
    laid = np.ndarray((most, most, *wanted.shape), np.uint8, window, strides=2 * window.strides).reshape(
        -1, wanted.size
    )
    look = np.rint(wanted).clip(0, 255).astype(np.uint8).reshape(1, -1)
    off = np.minimum(cv2.absdiff(laid, look.repeat(len(laid), 0)), np.uint8(LIMIT))
    row, column = divmod(int(np.argmin(off @ EVERY_OTHER)), most)
    return row, column


def aligned(grey: Grey, camera: Camera, patch: Patch, start_mm: Array, z_mm: float, gain: float = 1.0) -> Match:
    """The look to a fraction of a grid step, from a start within about a step."""
    wide_mm, wanted = 2 * patch.step_mm, patch.values.take(POINTS)  # places are fitted in two steps of the grid
    pixel, slope = linear(camera, start_mm, z_mm)
    at, slope = seen_as(pixel, patch.step_mm * slope, HALF + 1), wide_mm * slope
    terms = np.stack([wanted, wanted, -wanted, -np.ones_like(wanted), wanted])
    off, corner, hold = terms[4], at[:, 2].copy(), np.diag(HELD * np.array([wide_mm**2] * 2 + [1, 1]))
    start = now = np.array([0.0, 0.0, gain, 0.0])
    for tried in range(1, ROUNDS + 1):
        at[:, 2] = corner + slope @ now[:2]
        near = brightness(grey, at, HALF + 1).take(NEAR).astype(np.float32)
        np.subtract(near[1:3], near[3:], out=terms[:2])
        np.subtract(float(now[2]) * wanted + float(now[3]), near[0], out=off)
        known = terms[:4] / (off * off + TRUST**2) ** 2 @ terms.T
        down = known[:, 4] + PULL * (start - now)
        step = cv2.solve(known[:, :4] + hold, down[:, None])[1][:, 0]  # sooner solved than by NumPy
        now = now + step.clip(-FARTHEST, FARTHEST)
        if np.abs(step[:2]).max() < SETTLED / 2 or (tried == SOON and _small(off) < HIDDEN):
            break
    return Match(start_mm + wide_mm * now[:2], _small(off), float(now[2].clip(*GAINS)))
