"""A base by some of the photos, before it is decided whether it is a piece."""

from dataclasses import dataclass

from overruler.bases import Base
from overruler.geometry.pose import Array
from overruler.vision.pairing.ranks.rank_evidence import RankEvidence
from overruler.vision.pairing.sighting import Sighting


@dataclass(frozen=True, slots=True, eq=False)
class Finding:
    """A base by some of the photos."""

    base: Base
    xyz_mm: Array
    """(3,)."""
    sightings: tuple[Sighting, ...]
    sigma_mm: float = 1.0
    """1 σ of its place."""
    ranks: RankEvidence | None = None
    """What all photos say of a base in rank and file."""

    @property
    def surest(self) -> Sighting:
        """The sighting with the highest score."""
        return max(self.sightings, key=lambda one: one.detection.score)

    @property
    def photos(self) -> set[int]:
        return {one.photo.index for one in self.sightings}
