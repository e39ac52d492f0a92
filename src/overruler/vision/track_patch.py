"""What a piece looks like from straight above, and where that look is found again, partly hidden or not.

The look is the brightness on a grid over the base's disc. Finding it is robust twice: a coarse search that counts each
grid point's misfit up to a limit, then least squares whose weights forget the points that a hand covers. The light may
have changed: gain and offset are fitted along (Baker and Matthews, "Lucas-Kanade 20 years on", 2004).
"""

from collections.abc import Sequence
from dataclasses import dataclass

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
GAINS = 0.65, 1.5
"""The shade of a hand, and a lamp."""


@dataclass(frozen=True, slots=True, eq=False)
class Patch:
    """A base's look."""

    step_mm: float
    values: NDArray[np.float32]
    """(2 HALF + 1, 2 HALF + 1): brightness, rows from far to near."""
    inside: NDArray[np.bool_]
    """The same: whether the point lies on the base."""


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
    steps = np.arange(-half, half + 1) * step_mm
    return np.stack(np.meshgrid(steps, -steps), -1)


def sampled(grey: Grey, camera: Camera, xy_mm: Array, z_mm: float, step_mm: float, half: int) -> NDArray[np.float32]:
    """The brightness on a grid round a place of the board; the camera is linear over so little."""
    pixel, slope, _ = camera.jacobians(np.array([*xy_mm, z_mm]))
    at = (pixel + grid(half, step_mm) @ slope[:, :2].T).astype(np.float32)
    return np.asarray(cv2.remap(grey, at[..., 0], at[..., 1], cv2.INTER_LINEAR), np.float32)


def patch_of(grey: Grey, camera: Camera, xy_mm: Array, z_mm: float, radius_mm: float) -> Patch:
    """The look of a base that stands in full view."""
    step_mm = radius_mm / HALF
    inside = np.hypot(*np.moveaxis(grid(HALF, step_mm), -1, 0)) <= radius_mm * 1.02
    return Patch(step_mm, sampled(grey, camera, xy_mm, z_mm, step_mm, HALF), inside)


def agreeing(grey: Grey, camera: Camera, patch: Patch, xy_mm: Array, z_mm: float) -> float:
    """Share of a look that agrees at a place as it is."""
    seen = sampled(grey, camera, xy_mm, z_mm, patch.step_mm, HALF)
    return float(np.mean(np.abs(seen - patch.values)[patch.inside] < AGREE))


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
    coarse = _misfit(windows[::2, ::2, ::2, ::2], wanted[::2, ::2], patch.inside[::2, ::2])
    row, column = np.unravel_index(np.argmin(coarse), coarse.shape)
    rows, columns = (slice(max(0, 2 * int(at) - 1), 2 * int(at) + 2) for at in (row, column))
    fine = _misfit(windows[rows, columns], wanted, patch.inside)
    dy, dx = np.unravel_index(np.argmin(fine), fine.shape)
    shift = np.array([columns.start + dx - reach, reach - rows.start - dy])
    return np.asarray(start_mm + patch.step_mm * shift)


def _misfit(windows: NDArray[np.float32], wanted: NDArray[np.float32], inside: NDArray[np.bool_]) -> Array:
    off = np.abs(windows[..., inside] - wanted[inside])
    return np.asarray(np.minimum(off, LIMIT).mean(-1))


def aligned(grey: Grey, camera: Camera, patch: Patch, start_mm: Array, z_mm: float, gain: float = 1.0) -> Match:
    """The look to a fraction of a grid step, from a start within about a step."""
    inside, wanted = patch.inside, patch.values[patch.inside]
    pixel, slope, _ = camera.jacobians(np.array([*start_mm, z_mm]))
    offsets = grid(HALF + 1, patch.step_mm)
    shift: Array = np.zeros(2)
    tone = np.array([gain, 0.0])
    off = np.zeros_like(wanted)
    for _ in range(ROUNDS):
        at = (pixel + (offsets + shift) @ slope[:, :2].T).astype(np.float32)
        seen = np.asarray(cv2.remap(grey, at[..., 0], at[..., 1], cv2.INTER_LINEAR), np.float32)
        d_x = (seen[1:-1, 2:] - seen[1:-1, :-2])[inside] / (2 * patch.step_mm)
        d_y = (seen[:-2, 1:-1] - seen[2:, 1:-1])[inside] / (2 * patch.step_mm)
        off = tone[0] * wanted + tone[1] - seen[1:-1, 1:-1][inside]
        weight = 1 / (1 + (off / TRUST) ** 2) ** 2
        design = np.stack([d_x, d_y, -wanted, -np.ones_like(wanted)], -1)
        pull = HELD * np.array([0, 0, gain - tone[0], -tone[1]])
        step = np.linalg.solve(design.T @ (design * weight[:, None]) + np.diag(HELD), design.T @ (weight * off) + pull)
        shift = shift + np.clip(step[:2], -patch.step_mm, patch.step_mm)
        tone = tone + step[2:]
        if np.abs(step[:2]).max() < SETTLED * patch.step_mm:
            break
    return Match(np.asarray(start_mm + shift), float(np.mean(np.abs(off) < AGREE)), float(np.clip(tone[0], *GAINS)))
