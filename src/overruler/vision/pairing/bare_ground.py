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
PLATE_RING_FACTOR = 1.15
"""Factor on the ring round a plate, whose corners reach out."""
ELSEWHERE_RADII = 1.1
"""Radius of what is left out where the same base stands elsewhere, in radii."""
MIN_DISC_SHARE = 0.05
"""Least share of the disc beside that: a crescent that one place does not share with the other."""
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
GROUND_SHARE = 0.6
"""Share of the ring, its most alike marks, that is taken for ground: figures hide the rest."""
MAX_APART_LAB = 2.1
"""Largest median difference of these marks in two photos, beside that. On 19 rendered tables bare
places had 0.9 to 2.0, hidden ones 2.3 to 10."""
PLAIN_APART_LAB = 0.7
"""Below this difference the ground may be plain: it needs no marks."""
MIN_CORRELATION = 0.6
"""Least correlation of these marks' lightness in two photos. Bare places that are not plain had 0.61
or more, leaves of the ground's own colour up to 0.32."""
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


def is_bare(
    photo: SeenPhoto,
    base: Base,
    xyz_mm: Array,
    beside: SeenPhoto,
    elsewhere_mm: Array | None = None,
) -> bool:
    """Whether a photo shows at a base's place the ground that `beside` shows around the base.

    The same base stands at `elsewhere_mm` (2,) in one of them: that place is left out.
    """
    radius_mm = base.length_mm / 2
    if base.shape == "rectangle":
        radius_mm *= PLATE_RING_FACTOR
    reach = np.linspace(-RING_RADII[1], RING_RADII[1], GRID_STEPS)
    grid = np.stack(np.meshgrid(reach, reach), -1)
    one, other = (_cut_out(each, grid * radius_mm, xyz_mm) for each in (photo, beside))
    if one is None or other is None:
        return False
    radii = np.linalg.norm(grid, axis=-1)
    free = _is_free(grid * radius_mm + xyz_mm[:2], elsewhere_mm, radius_mm)
    ring, disc = free & (radii > RING_RADII[0]), free & (radii < DISC_RADII)
    both = ring & one.inside & other.inside
    is_seen = both.sum() >= MIN_RING_SHARE * ring.sum()
    if not is_seen or disc.sum() < MIN_DISC_SHARE * (radii < DISC_RADII).sum():
        return False
    blur_steps = max(MIN_BLUR_MM, one.mm_per_px, other.mm_per_px) / one.mm_per_step
    here, there = (cv2.GaussianBlur(each.lab, (0, 0), blur_steps) for each in (one, other))
    apart = _apart(here[both], there[both])
    if apart is None:
        return False
    common = apart < max(SAME_MARK_LAB, float(np.quantile(apart, MIN_COMMON_SHARE)))
    return _looks_like(here[disc], here[both][common])


def _is_free(places_mm: Array, elsewhere_mm: Array | None, radius_mm: float) -> NDArray[np.bool_]:
    """Which places (..., 2) lie off the base where it stands elsewhere."""
    if elsewhere_mm is None:
        return np.ones(places_mm.shape[:-1], np.bool_)
    apart = np.linalg.norm(places_mm - elsewhere_mm, axis=-1)
    return np.asarray(apart > ELSEWHERE_RADII * radius_mm)


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
    ground = apart <= np.quantile(apart, GROUND_SHARE)
    middle = float(np.median(apart[ground]))
    if np.linalg.norm(usual) > MAX_COLOUR_STEP_LAB or middle > MAX_APART_LAB:
        return None
    correlation = _correlation(here[ground, 0], there[ground, 0])
    if middle > PLAIN_APART_LAB and correlation < MIN_CORRELATION:
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
