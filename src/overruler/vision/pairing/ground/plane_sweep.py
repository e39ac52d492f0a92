"""The height of a base that one photo alone finds, by a plane sweep.

Source: R. T. Collins, A space-sweep approach to true multi-image matching, CVPR 1996.

The base and the ground around it are nearly a plane. At its true height, and nowhere else, the other
photos show the same picture of that plane where the photo shows the base.
"""

from collections.abc import Sequence

import numpy as np

from overruler.geometry.pose import Array
from overruler.vision.pairing.crossing import MAX_HEIGHT_MM
from overruler.vision.pairing.ground.ground_squares import (
    GroundSquare,
    correlate,
    cut_out_square,
    smooth_squares,
    square_grid,
)
from overruler.vision.pairing.hypotheses import Hypothesis
from overruler.vision.pairing.levels import Level, level_under
from overruler.vision.pairing.sighting import SeenPhoto, Sighting

MIN_SCORE = 0.6
"""Least score of a base whose height is asked for."""
HEIGHT_SIGMA_MM = 4.0
"""1 σ of the height that is told: the base's own top, some 4 mm higher, is compared as well."""
REACH_RADII = 1.5
"""Half a side of the square that is compared, in half lengths of the base."""
STEPS_MM = (8.0, 2.0)
"""Spacing of the heights that are tried, and of those about the likeliest one."""
BLUR_STEPS = 0.5
"""Least blur of what is compared, in such spacings: a step shifts one photo against another by about its
own length."""
LEAST_HEIGHT_MM = 16.0
"""Least height that is tried: a lower one does not stand out from the board."""
MIN_PHOTOS = 2
"""Least number of other photos that show the place: by chance one may look alike at a height."""
MIN_SHOWN_SHARE = 0.6
"""Least share of the square that both photos show."""
MIN_CORRELATION = 0.6
"""Least correlation of lightness at the height, in the mean over the other photos."""
MIN_GAIN = 0.3
"""Least difference from the correlation on the board. On three rendered tables 37 findings of one photo were
asked: five on tops have 0.77 more and correlations of 0.79 to 0.90, a sixth 0.31; none on the board is raised so.
On two further ones two parts of figures had 0.76, over no top."""


def raise_lone(
    found: Sequence[Hypothesis], photos: Sequence[SeenPhoto], levels: Sequence[Level]
) -> list[Hypothesis]:
    """The bases, where those that one photo alone finds stand at the height that the others tell.

    A photo must show one of the `levels` there: parts of figures have heights, too.
    """
    return [_raised(one, photos, levels) if _is_lone(one) else one for one in found]


def _is_lone(one: Hypothesis) -> bool:
    return len(one.sightings) == 1 and one.sightings[0].detection.score >= MIN_SCORE


def _raised(one: Hypothesis, photos: Sequence[SeenPhoto], levels: Sequence[Level]) -> Hypothesis:
    z_mm = sweep_height(one.sightings[0], photos)
    if z_mm is None:
        return one
    swept = one.swept_to(z_mm, HEIGHT_SIGMA_MM)
    return one if level_under(swept, levels) is None else swept


def sweep_height(sighting: Sighting, photos: Sequence[SeenPhoto]) -> float | None:
    """The height in mm at which the other photos show what one photo shows about its base.

    None for a base on the board, and where the photos tell no height.
    """
    others = [photo for photo in photos if photo is not sighting.photo]
    coarse, fine = STEPS_MM
    (on_board,) = _alike_at(sighting, others, np.zeros(1), coarse)
    least = max(MIN_CORRELATION, on_board + MIN_GAIN)
    if not np.isfinite(on_board) or least > 1:
        return None
    heights = np.arange(LEAST_HEIGHT_MM, MAX_HEIGHT_MM, coarse)
    alike = _alike_at(sighting, others, heights, coarse)
    if alike.max() < least:
        return None
    near = heights[alike.argmax()] + np.arange(-coarse, coarse + fine, fine)
    return float(near[_alike_at(sighting, others, near, fine).argmax()])


def _alike_at(
    sighting: Sighting, others: Sequence[SeenPhoto], heights_mm: Array, step_mm: float
) -> Array:
    """How alike the photos show the base's surroundings at heights (N,), in the mean; -inf where too few do."""
    rows = np.array([_correlations(sighting, others, z, step_mm) for z in heights_mm.tolist()])
    shown = np.isfinite(rows).sum(1)
    mean = np.nansum(rows, 1) / shown.clip(1)
    return np.asarray(np.where(shown >= MIN_PHOTOS, mean, -np.inf))


def _correlations(
    sighting: Sighting, others: Sequence[SeenPhoto], z_mm: float, step_mm: float
) -> list[float]:
    """How alike each of the other photos shows the square about a base at a height; NaN where it does not."""
    xyz_mm = np.array([*sighting.place_at(z_mm), z_mm])
    steps_mm = square_grid(REACH_RADII) * sighting.detection.base.length_mm / 2
    own = cut_out_square(sighting.photo, steps_mm, xyz_mm)
    blur_mm = BLUR_STEPS * step_mm
    return [_correlation(own, cut_out_square(each, steps_mm, xyz_mm), blur_mm) for each in others]


def _correlation(own: GroundSquare | None, other: GroundSquare | None, blur_mm: float) -> float:
    if own is None or other is None:
        return np.nan
    both = own.inside & other.inside
    if both.mean() < MIN_SHOWN_SHARE:
        return np.nan
    here, there = smooth_squares(own, other, blur_mm)
    return correlate(*(np.asarray(each[both][:, 0], float) for each in (here, there)))
