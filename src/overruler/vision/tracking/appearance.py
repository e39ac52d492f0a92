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
HALF_GRID = 14
"""Grid steps in a radius."""
MISFIT_LIMIT = 24.0
"""Grey levels from which on a point counts as hidden."""
AGREEMENT_LEVELS = 14.0
"""Grey levels within which a point counts as seen."""
MAX_ITERATIONS, CONVERGENCE_STEP = 8, 0.03
"""Steps of the fit at most; one shorter than this, in steps of the grid, is the last."""
CARRIED_WEIGHT = 0.5
"""What the look of a shot ago says of a place, against the look at rest."""
EARLY_STOP_ITERATION, EARLY_STOP_SHARE = 3, 0.1
"""A look of which no larger share agrees after so many steps is not there."""
ROBUST_SCALE_LEVELS = 9.0
"""Grey levels of the weights' scale (Geman and McClure)."""
DAMPING = np.array([1e-3, 1e-3, 3e6, 3e2]) / ROBUST_SCALE_LEVELS**4
"""How firmly x, y, the light's gain and its offset are held where they were: what a hand shows says nothing of them.

The weights of the points leave that power of `ROBUST_SCALE_LEVELS` away too."""
PRIOR_WEIGHTS = DAMPING * [0, 0, 1, 1]
"""How firmly each is drawn back to where it began."""
MAX_UPDATE = np.array([0.5, 0.5, np.inf, np.inf])
"""A round of the fit goes no farther; in two steps of the grid, as its slopes are."""
GAIN_BOUNDS = 0.65, 1.5
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


DISC_MASK = (
    np.hypot(*np.mgrid[-HALF_GRID : HALF_GRID + 1, -HALF_GRID : HALF_GRID + 1]) <= HALF_GRID * 1.02
)
"""(2 HALF + 1, 2 HALF + 1): whether a point lies on the base."""
DISC_POINTS = np.flatnonzero(DISC_MASK)
"""(N,): which of all points lie on it."""
COARSE_WEIGHTS = (
    (DISC_MASK[::2, ::2] / np.count_nonzero(DISC_MASK[::2, ::2])).astype(np.float32).ravel()
)
"""((HALF + 1)²,): what every other point either way counts of those on the base, in a mean."""
BORDERED_SIZE, BORDERED_DISC_POINTS = 2 * HALF_GRID + 3, np.flatnonzero(np.pad(DISC_MASK, 1))
"""Grid points in a row with one more on either side; (N,): which of all points of such a grid lie on the base."""
GRADIENT_STENCIL = (
    np.array([[0], [1], [-BORDERED_SIZE], [-1], [BORDERED_SIZE]]) + BORDERED_DISC_POINTS
)
"""(5, N): each point on the base, and those right, above, left and below it."""
NEIGHBOUR_OFFSETS = np.array([(x, y) for y in (1, 0, -1) for x in (-1, 0, 1)])
"""(9, 2): the places within a step of one, rows from far to near."""
NEIGHBOUR_POINTS = NEIGHBOUR_OFFSETS @ [[1], [-BORDERED_SIZE]] + BORDERED_DISC_POINTS
"""(9, N): each point on a base that is moved to these."""

GRID_AXIS_SIGNS = np.array([1.0, -1.0])
"""Rows of a grid go from far to near."""
DIFFERENCE_STEPS_MM = np.array([[0, 0, 0], [0.5, 0, 0], [0, 0.5, 0], [-0.5, 0, 0], [0, -0.5, 0]])
"""In mm: to a place, and half a mm to either side of it along x and along y."""
WARP_FLAGS = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP


def linearize_projection(camera: Camera, xy_mm: Array, z_mm: float) -> tuple[Array, Array]:
    """The pixel (2,) of a place on the board and its slope (2, 2): the camera is linear over so little."""
    at = cv2.projectPoints(np.array([*xy_mm, z_mm]) + DIFFERENCE_STEPS_MM, *_opencv_camera(camera))[
        0
    ][:, 0]
    return np.asarray(at[0], float), np.asarray((at[1:3] - at[3:]).T, float)


@lru_cache(maxsize=8)
def _opencv_camera(camera: Camera) -> tuple[Array, Array, Array, Array]:
    """A camera as OpenCV has it, which projects so few points in a fifth of NumPy's time."""
    pose = camera.T_camera_board
    return (
        np.asarray(cv2.Rodrigues(pose.rotation)[0]),
        pose.translation_mm,
        camera.matrix,
        camera.distortion,
    )


def grid_to_pixels(pixel: Array, slope: Array, half: int) -> Array:
    """(2, 3): from a grid's columns and rows to pixels; its middle is seen at a pixel (2,), its steps as `slope`."""
    at = np.empty((2, 3))
    at[:, :2] = slope * GRID_AXIS_SIGNS
    at[:, 2] = pixel - half * (at[:, 0] + at[:, 1])
    return at


def sample_brightness(grey: Grey, at: Array, half: int) -> Grey:
    """(2 half + 1, 2 half + 1): of a grid that is `grid_to_pixels` this."""
    return np.asarray(
        cv2.warpAffine(grey, at, (2 * half + 1, 2 * half + 1), flags=WARP_FLAGS), np.uint8
    )


def sample_grid(
    grey: Grey, camera: Camera, xy_mm: Array, z_mm: float, step_mm: float, half: int
) -> Grey:
    """The brightness on a grid round a place of the board."""
    pixel, slope = linearize_projection(camera, xy_mm, z_mm)
    return sample_brightness(grey, grid_to_pixels(pixel, step_mm * slope, half), half)


def cut_patch(grey: Grey, camera: Camera, xy_mm: Array, z_mm: float, radius_mm: float) -> Patch:
    """The look of a base that stands in full view."""
    step_mm = radius_mm / HALF_GRID
    return Patch(
        step_mm, sample_grid(grey, camera, xy_mm, z_mm, step_mm, HALF_GRID).astype(np.float32)
    )


def agreement_at(grey: Grey, camera: Camera, patch: Patch, xy_mm: Array, z_mm: float) -> float:
    """Share of a look that agrees at a place as it is."""
    return agreement_share(patch, sample_grid(grey, camera, xy_mm, z_mm, patch.step_mm, HALF_GRID))


def agreement_share(patch: Patch, seen: Grey) -> float:
    """Share of a look that agrees with what is seen on the same grid."""
    return _small_residual_share(patch.values.take(DISC_POINTS) - seen.take(DISC_POINTS))


def _small_residual_share(off: NDArray[np.float32]) -> float:
    return np.count_nonzero(np.abs(off) < AGREEMENT_LEVELS) / off.size


def find_patch(
    grey: Grey,
    camera: Camera,
    looks: Sequence[Patch],
    start_mm: Array,
    z_mm: float,
    reach_mm: float,
    gain: float,
) -> Match:
    """The first of the looks near `start_mm` (2,), at most about `reach_mm` away on either axis.

    The other looks say where to try too, and which try is right: the piece in the hand that carries it, a shot ago.
    """
    seen = linearize_projection(camera, start_mm, z_mm)
    first, *more = (
        start_mm + _coarse_search(grey, *seen, look, reach_mm, gain if look is looks[0] else 1.0)
        for look in looks
    )
    starts = [
        first,
        *(start for start in more if np.hypot(*(start - first)) > looks[0].step_mm),
    ]  # less is the same
    tries = [align_patch(grey, camera, looks[0], start, z_mm, gain) for start in starts]
    if len(tries) == 1:
        return tries[0]
    return max(
        tries,
        key=lambda one: (
            one.share
            + sum(
                CARRIED_WEIGHT * agreement_at(grey, camera, look, one.xy_mm, z_mm)
                for look in looks[1:]
            )
        ),
    )


def _coarse_search(
    grey: Grey, pixel: Array, slope: Array, patch: Patch, reach_mm: float, gain: float
) -> Array:
    """How far off (2,), in whole steps of the grid, most of the look agrees."""
    wanted, step, reach = (
        gain * patch.values,
        patch.step_mm * slope,
        int(np.ceil(reach_mm / patch.step_mm / 2)),
    )
    half = HALF_GRID // 2 + reach
    row, column = _match_template(
        sample_brightness(grey, grid_to_pixels(pixel, 2 * step, half), half), wanted[::2, ::2]
    )
    off = 2 * np.array([column - reach, reach - row])
    near = sample_brightness(
        grey, grid_to_pixels(pixel + step @ off, step, HALF_GRID + 1), HALF_GRID + 1
    )
    misfit = np.minimum(
        np.abs(wanted.take(DISC_POINTS) - near.take(NEIGHBOUR_POINTS)), MISFIT_LIMIT
    )
    return np.asarray(patch.step_mm * (off + NEIGHBOUR_OFFSETS[np.argmin(misfit.sum(1))]))


def _match_template(window: Grey, wanted: NDArray[np.float32]) -> tuple[int, int]:
    """The row and the column on which a look's corner lies best in a window (S, S).

    In whole levels: it is memory that takes the time, and they need a quarter of it.
    """
    most = len(window) - len(wanted) + 1
    laid = np.ndarray(
        (most, most, *wanted.shape), np.uint8, window, strides=2 * window.strides
    ).reshape(-1, wanted.size)
    look = np.rint(wanted).clip(0, 255).astype(np.uint8).reshape(1, -1)
    off = np.minimum(cv2.absdiff(laid, look.repeat(len(laid), 0)), np.uint8(MISFIT_LIMIT))
    row, column = divmod(int(np.argmin(off @ COARSE_WEIGHTS)), most)
    return row, column


def align_patch(
    grey: Grey, camera: Camera, patch: Patch, start_mm: Array, z_mm: float, gain: float = 1.0
) -> Match:
    """The look to a fraction of a grid step, from a start within about a step."""
    wide_mm, wanted = (
        2 * patch.step_mm,
        patch.values.take(DISC_POINTS),
    )  # places are fitted in two steps of the grid
    pixel, slope = linearize_projection(camera, start_mm, z_mm)
    at, slope = grid_to_pixels(pixel, patch.step_mm * slope, HALF_GRID + 1), wide_mm * slope
    terms = np.stack([wanted, wanted, -wanted, -np.ones_like(wanted), wanted])
    off, corner, hold = (
        terms[4],
        at[:, 2].copy(),
        np.diag(DAMPING * np.array([wide_mm**2] * 2 + [1, 1])),
    )
    start = now = np.array([0.0, 0.0, gain, 0.0])
    for tried in range(1, MAX_ITERATIONS + 1):
        at[:, 2] = corner + slope @ now[:2]
        near = sample_brightness(grey, at, HALF_GRID + 1).take(GRADIENT_STENCIL).astype(np.float32)
        np.subtract(near[1:3], near[3:], out=terms[:2])
        np.subtract(float(now[2]) * wanted + float(now[3]), near[0], out=off)
        known = terms[:4] / (off * off + ROBUST_SCALE_LEVELS**2) ** 2 @ terms.T
        down = known[:, 4] + PRIOR_WEIGHTS * (start - now)
        step = cv2.solve(known[:, :4] + hold, down[:, None])[1][:, 0]  # sooner solved than by NumPy
        now = now + step.clip(-MAX_UPDATE, MAX_UPDATE)
        if np.abs(step[:2]).max() < CONVERGENCE_STEP / 2 or (
            tried == EARLY_STOP_ITERATION and _small_residual_share(off) < EARLY_STOP_SHARE
        ):
            break
    return Match(
        start_mm + wide_mm * now[:2], _small_residual_share(off), float(now[2].clip(*GAIN_BOUNDS))
    )
