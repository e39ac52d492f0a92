"""A piece by all cameras."""

from dataclasses import dataclass, field, replace

import numpy as np

from overruler.geometry.batched.vectors import distance
from overruler.geometry.pose import Array
from overruler.vision.fusion.fuse import FusedBase
from overruler.vision.fusion.noise import PlacedBase
from overruler.vision.pairing.sighting import Sighting
from overruler.vision.several_cameras.watched_camera import WatchedCamera

PHOTOS_OF_CAMERA = 1000
"""Added to a photo's index each time its camera is measured anew."""
MIN_SEPARATION_SHARE = 0.6
"""Least distance of two standing pieces, in the sum of their radii."""


def camera_of(sighting: Sighting) -> int:
    """The number of the camera of a sighting."""
    return sighting.photo.index % PHOTOS_OF_CAMERA


@dataclass(slots=True, eq=False)
class JointPiece:
    """A piece with the sightings of all cameras, and the names by which they follow it.

    A sighting's photo has its camera's number; more where the camera was measured anew since.
    """

    id: str
    fused: FusedBase
    placed: PlacedBase
    """Its sightings: a photo's index modulo `PHOTOS_OF_CAMERA` is its camera's number."""
    own_ids: dict[int, str] = field(default_factory=dict)
    """The names by which cameras follow it, by the cameras' numbers."""
    xy_mm: Array = field(default_factory=lambda: np.zeros(2))
    """(2,): where all cameras together see it, or last saw it."""
    sigma_mm: float = 0.0
    """1 σ of either coordinate."""
    is_placed_anew: bool = True
    """Whether its sightings have changed since its place was fitted."""
    away_s: float | None = None
    """Since when it does not stand where it stood; None while it does."""
    arrived_s: float = -np.inf
    """When it was put on the table; -inf if it was there from the first."""

    @property
    def seen_by(self) -> frozenset[int]:
        """Numbers of the cameras with a sighting of it."""
        return frozenset(camera_of(one) for one in self.placed.sightings)

    def does_overlap(self, other: "JointPiece") -> bool:
        reach_mm = (self.fused.base.width_mm + other.fused.base.width_mm) / 2
        return distance(self.xy_mm, other.xy_mm) < MIN_SEPARATION_SHARE * reach_mm

    def sighting_by(self, camera: int) -> Sighting | None:
        return next((one for one in self.placed.sightings if one.photo.index == camera), None)

    def is_followed_by(self, camera: WatchedCamera) -> bool:
        return camera.track(self.own_ids.get(camera.index)) is not None

    def settle(self, fused: FusedBase, placed: PlacedBase) -> None:
        """Take what the photos say of it now; its base stays what it was."""
        before = {id(one.detection) for one in self.placed.sightings}
        now = {id(one.detection) for one in placed.sightings}
        self.away_s = None
        if before != now:
            base = self.fused.base
            self.fused = replace(fused, base=base, other_bases=self.fused.other_bases)
            self.placed = placed
            self.is_placed_anew = True
