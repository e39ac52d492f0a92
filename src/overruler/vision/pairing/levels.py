"""Flat tops that several photos see: hills and roofs, joined over the photos, with their height.

Each photo knows a top's outline along its own rays and guesses its height. Bases on it that two
photos see measure the height by parallax, far better than any look does.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from overruler.detections import RaisedArea
from overruler.geometry.pose import Array
from overruler.geometry.relief import reproject_to_height
from overruler.vision.contours.outlines import depth_inside_mm
from overruler.vision.pairing.hypotheses import HEIGHT_SIGMA_FACTOR, Hypothesis
from overruler.vision.pairing.sighting import SeenPhoto

LEVEL_SIGMA_MM = 0.4
"""1 σ of a base's height about the flat top that it stands on."""
FREE_SIGMA_MM = 40.0
"""1 σ of the prior of a raised base's height where no ground is known."""
SAME_LEVEL_MM = 3.0
"""Bases whose heights differ by less are looked for on one plane."""
MAX_TOP_DIFFERENCE_MM = 6.0
"""Bases of one top differ by less in height."""
EDGE_MM = 12.0
"""A base this far outside a top's outline may stand on it: outlines are rough."""
MIN_FLOATING_SCORE = 0.5
"""Least score, in two photos, of a base at a height where no photo shows a top."""
MIN_PARALLAX_SIGMA_MM = 6.0
"""A height is measured by parallax where its 1 σ is below this."""


@dataclass(frozen=True, slots=True, eq=False)
class Level:
    """A flat top, as several photos see it."""

    areas: tuple[tuple[SeenPhoto, RaisedArea], ...]
    """The photos' own findings of it."""
    z_mm: float
    z_sigma_mm: float
    probability: float
    is_measured: bool = False
    """Whether bases on it measured its height by parallax."""

    @property
    def prior_sigma_mm(self) -> float:
        """1 σ of its height before any parallax: the fit of all places measures that again."""
        return FREE_SIGMA_MM if self.is_measured else self.z_sigma_mm

    def outline_at(self, z_mm: float) -> Array:
        """Its outline (K, 2) at a height, by the photo that is surest of it."""
        photo, area = max(self.areas, key=lambda pair: pair[1].probability)
        camera = photo.calibration.camera
        return reproject_to_height(camera, area.footprint_mm, area.top_z_mm, z_mm)

    def inside_mm(self, xy_mm: Array, z_mm: float | None = None) -> float:
        """How far a place (2,) lies inside its outline at a height, its own by default; negative outside."""
        height_mm = self.z_mm if z_mm is None else z_mm
        return depth_inside_mm(self.outline_at(height_mm), xy_mm)


def join_levels(photos: Sequence[SeenPhoto]) -> list[Level]:
    """The tops of all photos; findings that overlap are one."""
    levels: list[Level] = []
    for photo in photos:
        for area in photo.areas:
            same = next((k for k, one in enumerate(levels) if _is_same(one, photo, area)), None)
            if same is None:
                levels.append(_level_of(((photo, area),)))
            else:
                levels[same] = _level_of((*levels[same].areas, (photo, area)))
    return levels


def _level_of(areas: tuple[tuple[SeenPhoto, RaisedArea], ...]) -> Level:
    """A top at the inverse-variance mean of the photos' heights."""
    sigmas = np.array([max(area.sigma_mm, 0.5) for _, area in areas])
    heights = np.array([area.top_z_mm for _, area in areas])
    weights = sigmas**-2
    mean = float(weights @ heights / weights.sum())
    spread = float(np.sqrt(weights @ (heights - mean) ** 2 / weights.sum()))
    sigma = float(np.hypot(sigmas.min(), spread))
    chances = np.array([area.probability for _, area in areas])
    return Level(areas, mean, sigma, float(1 - np.prod(1 - chances)))


def _is_same(level: Level, photo: SeenPhoto, area: RaisedArea) -> bool:
    """Whether a photo's area is one that others have found: one's middle lies inside the other."""
    z_mm = (level.z_mm + area.top_z_mm) / 2
    camera = photo.calibration.camera
    mine = reproject_to_height(camera, area.footprint_mm, area.top_z_mm, z_mm)
    theirs = level.outline_at(z_mm)
    depths_mm = depth_inside_mm(mine, theirs.mean(0)), depth_inside_mm(theirs, mine.mean(0))
    return max(depths_mm) > 0


def level_under(hypothesis: Hypothesis, levels: Sequence[Level]) -> int | None:
    """The top that a raised base stands on; None for the board or a height of its own."""
    best, best_inside = None, -EDGE_MM
    for k, level in enumerate(levels):
        if not _may_stand_on(hypothesis, level):
            continue
        inside = _inside_mm(hypothesis, level)
        if inside > best_inside:
            best, best_inside = k, inside
    return best


def without_floating(bases: Iterable[Hypothesis], levels: Sequence[Level]) -> list[Hypothesis]:
    """The bases; what floats over no top and fewer than two photos find likely is taken apart.

    Of many weak findings some meet in the air by chance. Each may be a base on the board.
    """
    kept: list[Hypothesis] = []
    for base in bases:
        scores = sorted(one.detection.score for one in base.sightings)
        is_weak = len(scores) > 1 and scores[-2] < MIN_FLOATING_SCORE
        if is_weak and base.is_raised and level_under(base, levels) is None:
            kept += [Hypothesis.of(one) for one in base.sightings]
        else:
            kept.append(base)
    return kept


def _may_stand_on(hypothesis: Hypothesis, level: Level) -> bool:
    """Whether a raised base has the height of a top; a photo's look may tell that quite wrongly."""
    mode = hypothesis.modes[1]
    sigma = float(np.sqrt(mode.covariance[2, 2]))
    factor = 1.0 if level.is_measured else HEIGHT_SIGMA_FACTOR
    apart = abs(float(mode.mean[2]) - level.z_mm)
    return apart < MAX_TOP_DIFFERENCE_MM + 3 * float(np.hypot(sigma, factor * level.z_sigma_mm))


def _inside_mm(hypothesis: Hypothesis, level: Level) -> float:
    """How far a raised base lies inside a top's outline: at its own height where that is measured."""
    mode = hypothesis.modes[1]
    if mode.covariance[2, 2] < MIN_PARALLAX_SIGMA_MM**2:
        return level.inside_mm(mode.mean[:2], float(mode.mean[2]))
    return level.inside_mm(hypothesis.sightings[0].place_at(level.z_mm))


def measure_levels(levels: Sequence[Level], bases: Sequence[Hypothesis]) -> list[Level]:
    """The tops at the heights that bases on them have by parallax."""
    return [_measure_level(level, bases) for level in levels]


def _measure_level(level: Level, bases: Sequence[Hypothesis]) -> Level:
    heights, sigmas, flat = [], [], 0
    for base in bases:
        if not base.has_parallax:
            continue
        if base.is_raised and level_under(base, [level]) == 0:
            heights.append(float(base.modes[1].mean[2]))
            sigmas.append(float(np.sqrt(base.modes[1].covariance[2, 2])))
        elif not base.is_raised and level.inside_mm(base.best.mean[:2]) > EDGE_MM:
            flat += 1
    if not heights:
        return replace(level, probability=0.0) if flat else level
    weights = np.array(sigmas) ** -2
    mean = float(weights @ heights / weights.sum())
    sigma = float(np.hypot(weights.sum() ** -0.5, LEVEL_SIGMA_MM))
    return replace(level, z_mm=mean, z_sigma_mm=sigma, probability=1.0, is_measured=True)
