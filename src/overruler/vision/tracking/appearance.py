"""What a piece looks like from straight above, and where that is found, even if partly hidden.

A piece's patch is the brightness on a grid over its base's disc. The search is robust twice. A
coarse search limits the misfit of each grid point. Then least squares are reweighted so that points
under a hand count little. Gain and offset are fitted as well, for the light may have changed (Baker
and Matthews, "Lucas-Kanade 20 years on", 2004).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.tracking.change_detection import GreyImage

HALF_GRID = 14
"""Grid steps in a radius."""
MISFIT_LIMIT = 24.0
"""Largest misfit of a point in the coarse search, in grey levels: beyond, it is hidden."""
AGREEMENT_LEVELS = 14.0
"""Largest misfit of a point that is visible, in grey levels."""
MAX_ITERATIONS = 8
"""Largest number of steps of the fit."""
CONVERGENCE_STEP = 0.03
"""A step shorter than this ends the fit, in grid steps."""
CARRIED_WEIGHT = 0.5
"""Weight of the agreement with the last shot's patch, against that with the patch at rest."""
EARLY_STOP_ITERATION = 3
"""Step of the fit after which a hopeless one is given up."""
EARLY_STOP_SHARE = 0.1
"""Share of the patch that must agree by then."""
ROBUST_SCALE_LEVELS = 9.0
"""Scale of the robust weights, in grey levels (Geman and McClure)."""
DAMPING = np.array([1e-3, 1e-3, 3e6, 3e2]) / ROBUST_SCALE_LEVELS**4
"""Damping of x, y, gain and offset: a hand in the picture tells nothing of them.

The weights of the points omit that power of `ROBUST_SCALE_LEVELS`, too."""
PRIOR_WEIGHTS = DAMPING * [0, 0, 1, 1]
"""How firmly x, y, gain and offset are drawn back to where they began."""
MAX_UPDATE = np.array([0.5, 0.5, np.inf, np.inf])
"""Largest step of x, y, gain and offset; x and y in two grid steps, as in the fit."""
GAIN_BOUNDS = (0.65, 1.5)
"""Bounds of the gain: the shade of a hand, and a lamp."""


@dataclass(frozen=True, slots=True, eq=False)
class Patch:
    """The look of a base."""

    step_mm: float
    """Spacing of the grid."""
    values: NDArray[np.float32]
    """(2 HALF + 1, 2 HALF + 1): brightness, rows from far to near."""


@dataclass(frozen=True, slots=True, eq=False)
class Match:
    """Where a patch was found."""

    xy_mm: Array
    """(2,)."""
    share: float
    """Share of the base that looks as it did, that is, is not hidden."""
    gain: float
    """Ratio of its brightness to that of the patch."""


def _disc_mask() -> NDArray[np.bool_]:
    steps = np.arange(-HALF_GRID, HALF_GRID + 1)
    return np.asarray(np.hypot(*np.meshgrid(steps, steps)) <= HALF_GRID * 1.02)


def _coarse_weights() -> NDArray[np.float32]:
    coarse = DISC_MASK[::2, ::2]
    return (coarse / np.count_nonzero(coarse)).astype(np.float32).ravel()


DISC_MASK = _disc_mask()
"""(2 HALF + 1, 2 HALF + 1): whether a grid point lies on the base."""
DISC_POINTS = np.flatnonzero(DISC_MASK)
"""(N,): flat indices of the grid points on the base."""
COARSE_WEIGHTS = _coarse_weights()
"""((HALF + 1)²,): weights of every other grid point each way, in a mean over the base."""
BORDERED_SIZE = 2 * HALF_GRID + 3
"""Side of a grid with a border of one point."""
BORDERED_DISC_POINTS = np.flatnonzero(np.pad(DISC_MASK, 1))
"""(N,): flat indices of the points on the base in such a grid."""
GRADIENT_OFFSETS = np.array([[0], [1], [-BORDERED_SIZE], [-1], [BORDERED_SIZE]])
"""(5, 1): from a point to itself and those right, above, left and below."""
GRADIENT_STENCIL = GRADIENT_OFFSETS + BORDERED_DISC_POINTS
"""(5, N): these for each point on the base."""
NEIGHBOUR_OFFSETS = np.array([(x, y) for y in (1, 0, -1) for x in (-1, 0, 1)])
"""(9, 2): steps to a point itself and its neighbours, rows from far to near."""
NEIGHBOUR_POINTS = NEIGHBOUR_OFFSETS @ [[1], [-BORDERED_SIZE]] + BORDERED_DISC_POINTS
"""(9, N): flat indices of the points on a base that is moved by these."""
GRID_AXIS_SIGNS = np.array([1.0, -1.0])
"""Signs of x and y along a grid's columns and rows: rows run from far to near."""
DIFFERENCE_STEPS_MM = np.array([[0, 0, 0], [0.5, 0, 0], [0, 0.5, 0], [-0.5, 0, 0], [0, -0.5, 0]])
"""(5, 3): to a place itself, and half a mm to either side of it along x and along y."""
WARP_FLAGS = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP


def linearize_projection(camera: Camera, xy_mm: Array, z_mm: float) -> tuple[Array, Array]:
    """The pixel (2,) of a place on the board, and its derivative (2, 2) by x and y."""
    places = np.array([*xy_mm, z_mm]) + DIFFERENCE_STEPS_MM
    at = cv2.projectPoints(places, *_opencv_camera(camera))[0][:, 0]
    slope = (at[1:3] - at[3:]).T
    return np.asarray(at[0], float), np.asarray(slope, float)


@lru_cache(maxsize=8)
def _opencv_camera(camera: Camera) -> tuple[Array, Array, Array, Array]:
    """A camera for OpenCV, which projects a few points in a fifth of NumPy's time."""
    pose = camera.T_camera_board
    rotation = np.asarray(cv2.Rodrigues(pose.rotation)[0], float)
    return rotation, pose.translation_mm, camera.matrix, camera.distortion


def grid_to_pixels(pixel: Array, slope: Array, half: int) -> Array:
    """The affine map (2, 3) from a grid's columns and rows to pixels.

    The grid's centre is at `pixel` (2,); a grid step is `slope` (2, 2).
    """
    at = np.empty((2, 3))
    at[:, :2] = slope * GRID_AXIS_SIGNS
    at[:, 2] = pixel - half * at[:, :2].sum(1)
    return at


def sample_brightness(grey: GreyImage, at: Array, half: int) -> GreyImage:
    """Sample a picture on a grid (2 half + 1, 2 half + 1) that `at` (2, 3) maps to pixels."""
    size = (2 * half + 1, 2 * half + 1)
    return np.asarray(cv2.warpAffine(grey, at, size, flags=WARP_FLAGS), np.uint8)


def sample_grid(
    grey: GreyImage, camera: Camera, xy_mm: Array, z_mm: float, step_mm: float
) -> GreyImage:
    """Sample a picture on a patch's grid round a place of the board."""
    pixel, slope = linearize_projection(camera, xy_mm, z_mm)
    at = grid_to_pixels(pixel, step_mm * slope, HALF_GRID)
    return sample_brightness(grey, at, HALF_GRID)


def cut_patch(
    grey: GreyImage, camera: Camera, xy_mm: Array, z_mm: float, radius_mm: float
) -> Patch:
    """The patch of a base that is in full view."""
    step_mm = radius_mm / HALF_GRID
    values = sample_grid(grey, camera, xy_mm, z_mm, step_mm).astype(np.float32)
    return Patch(step_mm, values)


def agreement_at(grey: GreyImage, camera: Camera, patch: Patch, xy_mm: Array, z_mm: float) -> float:
    """Share of a patch that agrees with the picture at a place."""
    return agreement_share(patch, sample_grid(grey, camera, xy_mm, z_mm, patch.step_mm))


def agreement_share(patch: Patch, seen: GreyImage) -> float:
    """Share of a patch that agrees with samples on the same grid."""
    return _small_residual_share(patch.values.take(DISC_POINTS) - seen.take(DISC_POINTS))


def _small_residual_share(residual: NDArray[np.float32]) -> float:
    return np.count_nonzero(np.abs(residual) < AGREEMENT_LEVELS) / residual.size


def find_patch(
    grey: GreyImage,
    camera: Camera,
    looks: Sequence[Patch],
    start_mm: Array,
    z_mm: float,
    reach_mm: float,
    gain: float,
) -> Match:
    """Find the first of the patches within about `reach_mm` of `start_mm` (2,) on either axis.

    The other patches add places to try, and help to choose between these: they show the piece in
    the hand that carries it, a shot ago.
    """
    patch, *others = looks
    pixel, slope = linearize_projection(camera, start_mm, z_mm)
    first = start_mm + _coarse_search(grey, pixel, slope, patch, reach_mm, gain)
    starts = [first]
    for other in others:
        start = start_mm + _coarse_search(grey, pixel, slope, other, reach_mm, 1.0)
        if np.hypot(*(start - first)) > patch.step_mm:  # else it is the same place
            starts.append(start)
    tries = [align_patch(grey, camera, patch, start, z_mm, gain) for start in starts]
    if len(tries) == 1:
        return tries[0]

    def merit(match: Match) -> float:
        agreements = [agreement_at(grey, camera, other, match.xy_mm, z_mm) for other in others]
        return match.share + sum(CARRIED_WEIGHT * agreement for agreement in agreements)

    return max(tries, key=merit)


def _coarse_search(
    grey: GreyImage, pixel: Array, slope: Array, patch: Patch, reach_mm: float, gain: float
) -> Array:
    """The offset (2,) in mm, of whole grid steps, at which most of a patch agrees."""
    wanted = gain * patch.values
    step = patch.step_mm * slope
    reach = int(np.ceil(reach_mm / patch.step_mm / 2))
    half = HALF_GRID // 2 + reach
    window = sample_brightness(grey, grid_to_pixels(pixel, 2 * step, half), half)
    row, column = _match_template(window, wanted[::2, ::2])
    offset = 2 * np.array([column - reach, reach - row])
    at = grid_to_pixels(pixel + step @ offset, step, HALF_GRID + 1)
    near = sample_brightness(grey, at, HALF_GRID + 1)
    misfit = np.abs(wanted.take(DISC_POINTS) - near.take(NEIGHBOUR_POINTS))
    best = np.argmin(np.minimum(misfit, MISFIT_LIMIT).sum(1))
    return np.asarray(patch.step_mm * (offset + NEIGHBOUR_OFFSETS[best]))


def _match_template(window: GreyImage, wanted: NDArray[np.float32]) -> tuple[int, int]:
    """The row and the column in a window (S, S) at which a patch's corner fits best.

    Memory takes the time, so it works in whole grey levels.
    """
    count = len(window) - len(wanted) + 1
    shape, strides = (count, count, *wanted.shape), 2 * window.strides
    shifted = np.ndarray(shape, np.uint8, window, strides=strides).reshape(-1, wanted.size)
    template = np.rint(wanted).clip(0, 255).astype(np.uint8).reshape(1, -1)
    difference = cv2.absdiff(shifted, template.repeat(len(shifted), 0))
    misfit = np.minimum(difference, np.uint8(MISFIT_LIMIT)) @ COARSE_WEIGHTS
    row, column = divmod(int(np.argmin(misfit)), count)
    return row, column


def align_patch(
    grey: GreyImage, camera: Camera, patch: Patch, start_mm: Array, z_mm: float, gain: float = 1.0
) -> Match:
    """Find a patch to a fraction of a grid step, from a start within about a step.

    The parameters are x and y, in two grid steps, gain and offset.
    """
    unit_mm = 2 * patch.step_mm
    wanted = patch.values.take(DISC_POINTS)
    pixel, slope = linearize_projection(camera, start_mm, z_mm)
    at = grid_to_pixels(pixel, patch.step_mm * slope, HALF_GRID + 1)
    corner, unit_px = at[:, 2].copy(), unit_mm * slope
    # rows: the derivatives by x, y, gain and offset, and the residual
    terms = np.stack([wanted, wanted, -wanted, -np.ones_like(wanted), wanted])
    residual = terms[4]
    damping = np.diag(DAMPING * np.array([unit_mm**2, unit_mm**2, 1, 1]))
    start = now = np.array([0.0, 0.0, gain, 0.0])
    for iteration in range(1, MAX_ITERATIONS + 1):
        at[:, 2] = corner + unit_px @ now[:2]
        near = sample_brightness(grey, at, HALF_GRID + 1).take(GRADIENT_STENCIL).astype(np.float32)
        np.subtract(near[1:3], near[3:], out=terms[:2])
        expected = float(now[2]) * wanted + float(now[3])
        np.subtract(expected, near[0], out=residual)
        weighted = terms[:4] / (residual * residual + ROBUST_SCALE_LEVELS**2) ** 2
        normal = weighted @ terms.T
        right = normal[:, 4] + PRIOR_WEIGHTS * (start - now)
        _, solution = cv2.solve(normal[:, :4] + damping, right[:, None])
        step = solution[:, 0]
        now = now + step.clip(-MAX_UPDATE, MAX_UPDATE)
        if np.abs(step[:2]).max() < CONVERGENCE_STEP / 2:
            break
        if iteration == EARLY_STOP_ITERATION and _small_residual_share(residual) < EARLY_STOP_SHARE:
            break
    xy_mm = start_mm + unit_mm * now[:2]
    return Match(xy_mm, _small_residual_share(residual), float(now[2].clip(*GAIN_BOUNDS)))
