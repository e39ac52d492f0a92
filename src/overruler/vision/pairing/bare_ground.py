"""Whether a photo shows bare ground where another one shows a base.

Around the base both photos must show the same ground, mark by mark. A tree in front of the base may
have the ground's colour, but not its marks. In the base's own place the photo must show that ground.
"""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from overruler.bases import Base
from overruler.geometry.pose import Array
from overruler.vision.contours.radial_edges import LabPatch
from overruler.vision.imaging.line_profiles import Floats
from overruler.vision.pairing.sighting import SeenPhoto

RING_RADII = (1.25, 2.3)
"""Ring round a base, in radii, that shows the ground it stands on."""
DISC_RADII = 0.9
"""Radius of the disc that shows the ground where no base stands, in radii."""
GRID_STEPS = 41
"""Samples along and across the square about a base."""
MIN_BLUR_MM = 1.5
"""Least 1 σ of the Gaussian that takes noise off the ground, in mm; else a pixel of either photo."""
MIN_RING_SHARE = 0.5
"""Least share of the ring that both photos show."""
MAX_COLOUR_STEP_LAB = 10.0
"""Largest difference in L*a*b* of the ground in two photos, each against its board's usual colour. On
seven rendered tables 95 of 100 bare places had less than 6.6, trees up to 20."""
MAX_APART_LAB = 3.0
"""Largest median difference of the same marks in two photos, beside that. Bare places had 1.2 to 2.1
in the middle, trees 3.6 to 14."""
PLAIN_APART_LAB = 1.5
"""Below this difference the ground may be plain: it needs no marks."""
MIN_CORRELATION = 0.6
"""Least correlation of the ground's lightness in two photos. 95 of 100 bare places had 0.8 or more,
trees up to 0.56."""
SAME_MARK_LAB = 4.0
"""Marks that differ by less show the ground: a figure hides some of it."""
MIN_COMMON_SHARE = 0.3
"""Least share of the ring that counts as ground, its most alike marks."""
MAX_CHROMA_STEP = (4.0, 2.0)
"""Largest difference in chroma of a pixel from the ground, in L*a*b*, and more by the ground's own σ."""
MAX_LIGHTNESS_STEP = (5.0, 2.5)
"""The same of lightness."""
MIN_BARE_SHARE = 0.7
"""Least share of a disc's pixels that look like the ground around, where it is bare."""
BOARD_STEPS = 24
"""Samples along and across the board for its usual colour."""

MAD_TO_SIGMA = 1.4826
"""Factor from a median absolute deviation to a 1 σ."""


@dataclass(frozen=True, slots=True, eq=False)
class _Square:
    """A square of ground about a base, as a photo shows it."""

    lab: Floats
    """(N, N, 3), less the board's usual colour."""
    inside: NDArray[np.bool_]
    """(N, N): what the photo shows of it."""
    mm_per_px: float
    mm_per_step: float
    """Spacing of the samples."""


def is_bare(photo: SeenPhoto, base: Base, xyz_mm: Array, beside: SeenPhoto) -> bool:
    """Whether a photo shows at a base's place the ground that `beside` shows around the base."""
    radius_mm = base.length_mm / 2
    reach = np.linspace(-RING_RADII[1], RING_RADII[1], GRID_STEPS)
    grid = np.stack(np.meshgrid(reach, reach), -1)
    one, other = (_cut_out(each, grid * radius_mm, xyz_mm) for each in (photo, beside))
    if one is None or other is None:
        return False
    radii = np.linalg.norm(grid, axis=-1)
    ring = radii > RING_RADII[0]
    both = ring & one.inside & other.inside
    if both.sum() < MIN_RING_SHARE * ring.sum():
        return False
    blur_steps = max(MIN_BLUR_MM, one.mm_per_px, other.mm_per_px) / one.mm_per_step
    here, there = (cv2.GaussianBlur(each.lab, (0, 0), blur_steps) for each in (one, other))
    apart = _apart(here[both], there[both])
    if apart is None:
        return False
    common = apart < max(SAME_MARK_LAB, float(np.quantile(apart, MIN_COMMON_SHARE)))
    return _looks_like(here[radii < DISC_RADII], here[both][common])


def _cut_out(photo: SeenPhoto, steps_mm: Array, xyz_mm: Array) -> _Square | None:
    """The square about a place; None where the photo does not show the place."""
    if not photo.shows(xyz_mm):
        return None
    camera, reach_mm = photo.calibration.camera, float(np.abs(steps_mm).max())
    patch = LabPatch.crop_around(photo.frame.pixels, camera, xyz_mm[:2], reach_mm, float(xyz_mm[2]))
    if patch is None:
        return None
    lab, inside = patch.sample_board(xyz_mm[:2] + steps_mm)
    step_mm = 2 * reach_mm / (GRID_STEPS - 1)
    return _Square(lab - _usual_colour(photo), inside, patch.mm_per_px, step_mm)


def _apart(here: Array, there: Array) -> Array | None:
    """How far (N,) marks of the ground differ between two photos; None where they differ in all."""
    step = here - there
    usual = np.median(step, 0)
    apart = np.asarray(np.linalg.norm(step - usual, axis=1))
    middle = float(np.median(apart))
    if np.linalg.norm(usual) > MAX_COLOUR_STEP_LAB or middle > MAX_APART_LAB:
        return None
    if middle > PLAIN_APART_LAB and _correlation(here[:, 0], there[:, 0]) < MIN_CORRELATION:
        return None
    return apart


def _correlation(one: Array, other: Array) -> float:
    one, other = one - one.mean(), other - other.mean()
    lengths = float(np.linalg.norm(one)) * float(np.linalg.norm(other))
    return float(one @ other) / max(lengths, 1e-9)


def _looks_like(disc: Array, ground: Array) -> bool:
    """Whether most pixels (N, 3) have the colours of the ground (M, 3)."""
    usual = np.median(ground, 0)
    sigma = MAD_TO_SIGMA * np.median(np.abs(ground - usual), 0)
    step = np.abs(disc - usual)
    most_chroma = MAX_CHROMA_STEP[0] + MAX_CHROMA_STEP[1] * np.hypot(*sigma[1:])
    most_lightness = MAX_LIGHTNESS_STEP[0] + MAX_LIGHTNESS_STEP[1] * sigma[0]
    alike = (np.hypot(*step[:, 1:].T) < most_chroma) & (step[:, 0] < most_lightness)
    return bool(alike.mean() >= MIN_BARE_SHARE)


def _usual_colour(photo: SeenPhoto) -> Floats:
    """The median colour (3,) of the board, which takes the photo's exposure and white balance off."""
    width, height = photo.calibration.board_mm
    x, y = np.meshgrid(np.linspace(0, width, BOARD_STEPS), np.linspace(0, height, BOARD_STEPS))
    pixels = photo.calibration.camera.project(np.stack([x, y, np.zeros_like(x)], -1).reshape(-1, 3))
    inside = np.isfinite(pixels).all(1)
    columns, rows = np.rint(pixels[inside]).astype(int).T
    seen = (columns >= 0) & (rows >= 0)
    seen &= (columns < photo.frame.size_px[0]) & (rows < photo.frame.size_px[1])
    colours = photo.frame.pixels[rows[seen], columns[seen]].astype(np.float32) / 255
    if not len(colours):
        return np.zeros(3, np.float32)
    lab = cv2.cvtColor(colours[None], cv2.COLOR_BGR2Lab)[0]
    return np.asarray(np.median(lab, 0), np.float32)
