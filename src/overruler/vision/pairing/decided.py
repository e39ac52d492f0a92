"""A finding whose ground is decided: the board, a flat top, or a height of its own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from overruler.bases import Base
from overruler.geometry.pose import Array
from overruler.vision.pairing.finding import Finding
from overruler.vision.pairing.hypotheses import Hypothesis, largest_sigma_mm
from overruler.vision.pairing.levels import FREE_SIGMA_MM, SAME_LEVEL_MM, Level, level_under
from overruler.vision.pairing.ranks.rank_evidence import RankEvidence
from overruler.vision.pairing.sighting import SeenPhoto, Sighting

MIN_LEVEL_PROBABILITY = 0.5
"""Least probability of a top on which bases may stand."""

MAX_SIGMA_MM = 3.0
"""Largest 1 σ of the place of a raised base: farther off it is another."""


@dataclass(frozen=True, slots=True, eq=False)
class Decided:
    """A hypothesis whose ground is decided."""

    sightings: tuple[Sighting, ...]
    base: Base
    xyz_mm: Array
    """(3,)."""
    sigma_mm: float
    z_sigma_mm: float
    """0 for the board."""
    level: int | None
    is_raised: bool
    sizes: Mapping[Base, float] = field(default_factory=dict)
    """The sizes that it may have, with their probabilities, the likeliest first."""
    ranks: RankEvidence | None = None
    """What all photos say of a base in rank and file."""
    doubt_mm2: Array = field(default_factory=lambda: np.zeros((2, 2)))
    """(2, 2): covariance of its place by what no photo shows: it may have another size or shape."""
    told_heading_deg: float | None = None
    """The heading of a base that no photo found by itself."""

    @classmethod
    def of(cls, one: Hypothesis, levels: Sequence[Level]) -> "Decided":
        """Decide between board and height, and on which top it stands."""
        real = [k for k, level in enumerate(levels) if level.probability > MIN_LEVEL_PROBABILITY]
        on = level_under(one, [levels[k] for k in real])
        level = None if on is None else real[on]
        alone = len(one.sightings) == 1
        is_raised = one.is_raised
        if alone and level is not None:
            inside = levels[level].inside_mm(one.sightings[0].place_at(levels[level].z_mm))
            is_raised = is_raised or inside > 0
        if not is_raised:
            mode = one.modes[0]
            sigma = largest_sigma_mm(mode.covariance[:2, :2])
            xyz = np.array([*mode.mean[:2], 0.0])
            return cls(one.sightings, one.base, xyz, sigma, 0.0, None, False)
        mode = one.modes[1]
        z, z_sigma = float(mode.mean[2]), FREE_SIGMA_MM
        if alone and level is None:
            z_sigma = float(np.sqrt(mode.covariance[2, 2]))
        if level is not None:
            z, z_sigma = levels[level].z_mm, levels[level].prior_sigma_mm
        xy, covariance = mode.mean[:2], mode.covariance[:2, :2]
        if alone:
            (seen,) = one.sightings
            by_height = seen.relief_at(z) * (z_sigma if level is None else levels[level].z_sigma_mm)
            xy = seen.place_at(z)
            covariance = seen.loose_covariance_at(z) + np.outer(by_height, by_height)
        sigma = min(largest_sigma_mm(covariance), MAX_SIGMA_MM)
        return cls(one.sightings, one.base, np.array([*xy, z]), sigma, z_sigma, level, True)

    @property
    def xy_mm(self) -> Array:
        """(2,)."""
        return self.xyz_mm[:2]

    @property
    def heading_deg(self) -> float:
        """The heading by its surest sighting."""
        if self.told_heading_deg is not None:
            return self.told_heading_deg
        return max(self.sightings, key=lambda one: one.detection.score).detection.heading_deg

    @property
    def turn_rad(self) -> float:
        """The same in radians."""
        return float(np.radians(self.heading_deg))

    def as_finding(self) -> Finding:
        """Convert to a `Finding`, the input of move detection and of rejection."""
        return Finding(self.base, self.xyz_mm, self.sightings, self.sigma_mm, self.ranks)

    def with_sizes(self, sizes: Mapping[Base, float]) -> "Decided":
        """The same with the probabilities of its sizes, the likeliest first."""
        return replace(self, base=next(iter(sizes)), sizes=sizes)

    def with_sightings(self, sightings: Sequence[Sighting]) -> "Decided":
        return replace(self, sightings=tuple(sightings))

    def is_measured_by(self, sighting: Sighting) -> bool:
        """Whether a sighting was measured at its height, with its size."""
        is_level = abs(sighting.detection.z_mm - self.xyz_mm[2]) < SAME_LEVEL_MM
        return bool(is_level and sighting.detection.base == self.base)

    def without_photo(self, photo: SeenPhoto) -> "Decided":
        """The same without what a photo shows in its place."""
        return self.with_sightings([one for one in self.sightings if one.photo is not photo])
