"""What is known of a tracked piece."""

from dataclasses import dataclass, field

import numpy as np

from overruler.detections import Detection
from overruler.geometry.batched.vectors import distance
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.track import TrackedPosition
from overruler.vision.tracking.appearance import HALF_GRID, Patch, grid_to_pixels
from overruler.vision.tracking.change_detection import BlockSlices, blocks_near

MOVING_DISTANCE_MM = 2.0
"""A piece farther than this from where it stood is moving, in mm."""
NEW_S = 3.0
"""How long a piece that was put down is new, in s."""
GONE_S = 10.0
"""A piece that was taken up longer ago than this is gone, in s."""


@dataclass(frozen=True, slots=True, eq=False)
class RestProjection:
    """Where a resting piece is in the picture, computed once."""

    pixel: Array
    """(2,)."""
    slope: Array
    """(2, 2): pixels to a millimetre on the board."""
    px_per_mm: float
    grid_to_px: Array
    """(2, 3): the map of its patch's grid to pixels."""
    block_cache: dict[float, BlockSlices] = field(default_factory=dict)
    """Blocks by the reach in mm."""

    @classmethod
    def of(cls, detection: Detection, patch: Patch, camera: Camera) -> "RestProjection":
        place = np.array([*detection.xy_mm, detection.z_mm])
        pixel, jacobian, _ = camera.project_with_jacobians(place)
        slope = np.asarray(jacobian[:, :2])
        px_per_mm = float(np.sqrt(abs(np.linalg.det(slope))))
        return cls(pixel, slope, px_per_mm, grid_to_pixels(pixel, patch.step_mm * slope, HALF_GRID))

    def blocks(self, reach_mm: float) -> BlockSlices:
        """The blocks within `reach_mm` of the piece's centre."""
        if reach_mm not in self.block_cache:
            self.block_cache[reach_mm] = blocks_near(self.pixel, reach_mm * self.px_per_mm)
        return self.block_cache[reach_mm]


@dataclass(slots=True, eq=False)
class PieceState:
    """A tracked piece: its look, where it rests, and where it is."""

    id: str
    rest_detection: Detection
    """As measured where it last stood."""
    patch: Patch
    """Its look there."""
    rest_projection: RestProjection
    place_mm: Array
    """(2,): where it was last seen."""
    arrived_s: float = -np.inf
    """When it was put on the table; -inf if it was there from the first."""
    velocity_mm_s: Array = field(default_factory=lambda: np.zeros(2))
    """(2,)."""
    last_seen_s: float = 0.0
    """When it was last seen before the current shot."""
    gain: float = 1.0
    """Ratio of its brightness, as last seen, to that of its patch."""
    carried_patch: Patch | None = None
    """The last look of it and its surroundings: a hand that carries it stays the same."""
    seen_share: float = 1.0
    """Visible share of its look, as last seen."""
    missed_shots: int = 0
    """Number of searches since it was last seen."""
    away_s: float | None = None
    """Since when it does not stand where it stood; None while it does."""
    hand_places: int = 0
    """Number of places of the trail at which its hand was found rather than itself."""
    trail: list[tuple[float, float, float]] = field(default_factory=list)
    """Where it was seen since something came near it: time, x, y."""

    @property
    def home_mm(self) -> Array:
        """(2,): where it stands or last stood."""
        return np.asarray(self.rest_detection.xy_mm, float)

    @property
    def z_mm(self) -> float:
        return self.rest_detection.z_mm

    @property
    def radius_mm(self) -> float:
        """Half the longer side of its base."""
        base = self.rest_detection.base
        return max(base.width_mm, base.length_mm) / 2

    @property
    def seen(self) -> bool:
        """Whether the last search found it."""
        return self.missed_shots == 0

    @property
    def is_moving(self) -> bool:
        """Whether it was last seen away from where it stood."""
        away_mm = distance(self.place_mm, self.rest_detection.xy_mm)
        return bool(self.trail) and away_mm > MOVING_DISTANCE_MM

    def blocks(self, more_mm: float, home: bool = False) -> BlockSlices:
        """The blocks within `more_mm` of where it is, or of where it stood."""
        reach_mm = self.radius_mm + more_mm
        rest = self.rest_projection
        if home or not self.trail:
            return rest.blocks(reach_mm)
        at = rest.pixel + rest.slope @ (self.place_mm - self.rest_detection.xy_mm)
        return blocks_near(at, reach_mm * rest.px_per_mm)

    def state(self, time_s: float) -> str:
        """As in `TrackedPosition.state`."""
        if self.away_s is not None and not self.seen:
            return "gone" if time_s - self.away_s > GONE_S else "lifted"
        if not self.seen:
            return "occluded"
        if self.is_moving:
            return "moving"
        return "new" if time_s - self.arrived_s < NEW_S else "static"

    def to_spot(self, time_s: float, sigma_mm: float) -> TrackedPosition:
        x, y = self.place_mm.tolist()
        base, state = self.rest_detection.base, self.state(time_s)
        return TrackedPosition(self.id, base, x, y, sigma_mm, state, self.seen)
