"""Whether a photo shows bare ground where another one shows a base.

Around the base both photos must show the same ground, mark by mark. A tree in front of the base may
have the ground's colour, but not its marks. In the base's own place the photo must show that ground.
"""

import numpy as np
from numpy.typing import NDArray

from overruler.bases import Base
from overruler.geometry.pose import Array
from overruler.vision.contours.outlines import is_in_outline
from overruler.vision.imaging.line_profiles import Floats
from overruler.vision.pairing.ground.ground_squares import (
    correlate,
    cut_out_square,
    smooth_squares,
    square_grid,
)
from overruler.vision.pairing.sighting import SeenPhoto

RING_RADII = (1.25, 2.3)
"""Ring round a base, in radii, that shows the ground it stands on."""
PLATE_RING_FACTOR = 1.15
"""Factor on the ring round a plate, whose corners reach out."""
ELSEWHERE_RADII = 1.1
"""Radius of what is left out where the same base stands elsewhere, in radii."""
MIN_INNER_SHARE = 0.05
"""Least share of the base's inner part beside that: a crescent that one place does not share with the other."""
INNER_SHARE = 0.9
"""Size of the inner part, which shows the ground where no base stands, by that of the base."""
BLUR_RADII = 0.15
"""Least blur of the ground, in radii: the noise of photos in low light is stronger than the marks of
dark ground. It takes the median difference of bare places round plates of 40 mm from 2.2-3.0 to
1.2-2.2."""
MIN_RING_SHARE = 0.4
"""Least share of the ring that both photos show and on which no other base stands."""
MAX_COLOUR_STEP_LAB = 10.0
"""Largest difference in L*a*b* of the ground in two photos, each against its board's usual colour. On
seven rendered tables 95 of 100 bare places had less than 6.6, trees up to 20."""
GROUND_SHARE = 0.6
"""Share of the ring, its most alike marks, that is taken for ground: figures hide the rest."""
MAX_APART_LAB = 2.1
"""Largest median difference of these marks in two photos, beside that. On 19 rendered tables bare
places had 0.9 to 2.0, hidden ones 2.3 to 10."""
MOST_APART_LAB = 5.0
"""The same where the marks are alike for sure: in low light, on rough ground and in a crowd bare places
had up to 3.5. Hidden ones from 3.5 on were less alike, by 0.88 at most."""
SURE_CORRELATION = 0.9
"""Least correlation of such marks."""
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
"""Least share of the inner part's pixels that look like the ground around, where it is bare."""
MAD_TO_SIGMA = 1.4826
"""Factor from a median absolute deviation to a 1 σ."""


def is_bare(
    photo: SeenPhoto,
    base: Base,
    xyz_mm: Array,
    beside: SeenPhoto,
    elsewhere_mm: Array | None = None,
    others_mm: Array | None = None,
    turn_rad: float = 0.0,
) -> bool:
    """Whether a photo shows at a base's place the ground that `beside` shows around the base."""
    share = bare_share(photo, base, xyz_mm, beside, elsewhere_mm, others_mm, turn_rad)
    return share is not None and share >= MIN_BARE_SHARE


def bare_share(
    photo: SeenPhoto,
    base: Base,
    xyz_mm: Array,
    beside: SeenPhoto,
    elsewhere_mm: Array | None = None,
    others_mm: Array | None = None,
    turn_rad: float = 0.0,
) -> float | None:
    """The share of a base's place where a photo shows the ground that `beside` shows around the base.

    None where the photo does not show that ground. The base's heading is `turn_rad`. The same base
    stands at `elsewhere_mm` (2,) in one of them: that place is left out. So are the discs of other bases
    (N, 3), by their centres and radii, from the ground around it.
    """
    radius_mm = base.length_mm / 2
    if base.shape == "rectangle":
        radius_mm *= PLATE_RING_FACTOR
    grid = square_grid(RING_RADII[1])
    one, other = (cut_out_square(each, grid * radius_mm, xyz_mm) for each in (photo, beside))
    if one is None or other is None:
        return None
    free = _is_free(grid * radius_mm + xyz_mm[:2], elsewhere_mm, radius_mm)
    ring = free & (np.linalg.norm(grid, axis=-1) > RING_RADII[0])
    inner = is_in_outline(base, grid * radius_mm / INNER_SHARE, turn_rad)
    disc = free & inner
    both = ring & one.inside & other.inside & _is_beside(grid * radius_mm + xyz_mm[:2], others_mm)
    is_seen = both.sum() >= MIN_RING_SHARE * ring.sum()
    if not is_seen or disc.sum() < MIN_INNER_SHARE * inner.sum():
        return None
    coarse = smooth_squares(one, other, BLUR_RADII * radius_mm)
    apart = _apart(*(square[both] for square in coarse))
    if apart is None:
        return None
    common = apart < max(SAME_MARK_LAB, float(np.quantile(apart, MIN_COMMON_SHARE)))
    here, _ = smooth_squares(one, other)  # what stands beside would blur into a crescent
    return _share_like(here[disc], here[both][common])


def is_bare_instead(
    photo: SeenPhoto, base: Base, xyz_mm: Array, beside: SeenPhoto, turn_rad: float = 0.0
) -> bool:
    """Whether a photo shows bare ground where `beside` shows a base with a heading of `turn_rad`.

    A base may have the ground's colours. Where both photos show them in its place, they must show the
    same marks there: else something stands there that looks different from either side.
    """
    if not is_bare(photo, base, xyz_mm, beside, turn_rad=turn_rad):
        return False
    back = bare_share(beside, base, xyz_mm, photo, turn_rad=turn_rad)
    if back is None or back < MIN_BARE_SHARE:
        return True
    inner = _inner_colours(base, xyz_mm, turn_rad, photo, beside)
    return inner is not None and _apart(*inner) is not None


def _inner_colours(
    base: Base, xyz_mm: Array, turn_rad: float, *photos: SeenPhoto
) -> list[Floats] | None:
    """The colours (N, 3) of a base's place in each of two photos, as coarse as the ground is compared."""
    reach_mm = base.length_mm / 2 * RING_RADII[1]
    grid_mm = square_grid(reach_mm)
    one, other = (cut_out_square(photo, grid_mm, xyz_mm) for photo in photos)
    if one is None or other is None:
        return None
    seen = is_in_outline(base, grid_mm / INNER_SHARE, turn_rad) & one.inside & other.inside
    coarse = smooth_squares(one, other, BLUR_RADII * base.length_mm / 2)
    return [square[seen] for square in coarse] if seen.any() else None


def _is_free(places_mm: Array, elsewhere_mm: Array | None, radius_mm: float) -> NDArray[np.bool_]:
    """Which places (..., 2) lie off the base where it stands elsewhere."""
    if elsewhere_mm is None:
        return np.ones(places_mm.shape[:-1], np.bool_)
    apart = np.linalg.norm(places_mm - elsewhere_mm, axis=-1)
    return np.asarray(apart > ELSEWHERE_RADII * radius_mm)


def _is_beside(places_mm: Array, others_mm: Array | None) -> NDArray[np.bool_]:
    """Which places (..., 2) lie off other bases (N, 3)."""
    is_beside = np.ones(places_mm.shape[:-1], np.bool_)
    for x, y, radius_mm in [] if others_mm is None else _near(others_mm, places_mm):
        is_beside &= np.linalg.norm(places_mm - [x, y], axis=-1) > radius_mm
    return is_beside


def _near(discs_mm: Array, places_mm: Array) -> Array:
    """Those of the discs (N, 3) that reach into the box about places (..., 2): a table has hundreds."""
    low, high = places_mm.min((0, 1)), places_mm.max((0, 1))
    middles, radii_mm = discs_mm[:, :2], discs_mm[:, 2:]
    reaches = (middles >= low - radii_mm) & (middles <= high + radii_mm)
    return np.asarray(discs_mm[reaches.all(1)])


def _apart(here: Floats, there: Floats) -> Array | None:
    """How far (N,) marks of the ground differ between two photos; None where they differ in all."""
    step = here - there
    usual = np.median(step, 0)
    apart = np.asarray(np.linalg.norm(step - usual, axis=1))
    ground = apart <= np.quantile(apart, GROUND_SHARE)
    middle = float(np.median(apart[ground]))
    correlation = correlate(here[ground, 0], there[ground, 0])
    most = MOST_APART_LAB if correlation > SURE_CORRELATION else MAX_APART_LAB
    if np.linalg.norm(usual) > MAX_COLOUR_STEP_LAB or middle > most:
        return None
    if middle > PLAIN_APART_LAB and correlation < MIN_CORRELATION:
        return None
    return apart


def _share_like(disc: Floats, ground: Floats) -> float:
    """The share of pixels (N, 3) that have the colours of the ground (M, 3)."""
    usual = np.median(ground, 0)
    sigma = MAD_TO_SIGMA * np.median(np.abs(ground - usual), 0)
    step = np.abs(disc - usual)
    most_chroma = MAX_CHROMA_STEP[0] + MAX_CHROMA_STEP[1] * np.hypot(*sigma[1:])
    most_lightness = MAX_LIGHTNESS_STEP[0] + MAX_LIGHTNESS_STEP[1] * sigma[0]
    alike = (np.hypot(*step[:, 1:].T) < most_chroma) & (step[:, 0] < most_lightness)
    return float(alike.mean())
