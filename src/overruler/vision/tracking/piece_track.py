"""A piece as it is followed from shot to shot: its look, where it rests, and where it is on its way."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from overruler.detections import Detection
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.track import TrackedPosition
from overruler.vision.tracking.appearance import (
    CARRIED_WEIGHT,
    DISC_MASK,
    HALF_GRID,
    Grey,
    Match,
    Patch,
    agreement_at,
    agreement_share,
    align_patch,
    cut_patch,
    find_patch,
    grid_to_pixels,
    sample_brightness,
)
from overruler.vision.tracking.change_detection import blocks_near

MIN_SEEN_SHARE = 0.38
"""Share of its look that must be seen of a piece to say where it is."""
MIN_REAPPEARED_SHARE = 0.5
"""Share of its look from which on a piece that was hidden is seen again where it stood: bare mat, or an arm, can be as
like it as `MIN_SEEN_SHARE`."""
MIN_IN_PLACE_SHARE = 0.6
"""Share of its look from which on a piece stands where it stood."""
MIN_AHEAD_SHARE = 0.8
"""Share of its look from which on a fast piece that goes on as it went is not looked for where it would be, turned."""
MIN_HAND_AGREEMENT = 0.7
"""Share of the look of a piece in a hand that is the same a shot later where they have gone together."""
MIN_CARRIED_SHARE = 0.1
"""Share of its look that is seen of a piece in such a hand."""
MIN_HOME_CHECK_SHARE = 0.25
"""A piece on its way of which less is seen just where it stood is not asked for there any closer."""
MOVED_SHARE_MARGIN = 0.1
"""By so much more must be seen of it elsewhere than where it stood, for it to have left."""
SEARCH_RADIUS_MM, SEARCH_GROWTH_MM_S = 10.0, 60.0
"""How far from where it is expected a piece is looked for, and so much farther for each second since it was last seen:
a hand speeds up by less in a tenth of a second."""
MAX_PREDICTION_S = 0.5
"""It is expected no farther on its way than it would come in so long."""
MAX_RESTING_TRAIL = 20
"""Places kept of a piece that stands where it stood."""
HAND_RADIUS_FACTOR = 1.3
"""Radii of a piece round which the hand that carries it shows."""
MIN_SHARE_RATIO = 0.8
"""Share of what was seen of it that must be seen in the next shot."""
MOVING_DISTANCE_MM = 2.0
"""So far from where it stood a piece is on its way."""
NEW_S, GONE_S = 3.0, 10.0
"""So long a piece that was put down is new; after so long, one that was taken up is gone."""
MAX_JUMP_MM = 60.0
"""No hand moves a piece farther between two shots."""


@dataclass(frozen=True, slots=True, eq=False)
class RestProjection:
    """Where a resting piece is in the picture, worked out once."""

    pixel: Array
    """(2,)."""
    slope: Array
    """(2, 2): pixels for a millimetre on the board."""
    px_per_mm: float
    grid_to_px: Array
    """(2, 3): how its look is `grid_to_pixels`."""
    block_cache: dict[tuple[tuple[int, int], float], tuple[slice, slice]] = field(
        default_factory=dict
    )
    """Blocks that were asked for, by the picture's size in blocks and the reach in mm."""

    @classmethod
    def of(cls, detection: Detection, patch: Patch, camera: Camera) -> "RestProjection":
        pixel, slope, _ = camera.project_with_jacobians(
            np.array([*detection.xy_mm, detection.z_mm])
        )
        slope = np.asarray(slope[:, :2])
        px_per_mm = float(np.sqrt(abs(np.linalg.det(slope))))
        return cls(pixel, slope, px_per_mm, grid_to_pixels(pixel, patch.step_mm * slope, HALF_GRID))

    def blocks(self, size: tuple[int, int], reach_mm: float) -> tuple[slice, slice]:
        """The blocks of the picture so near to it."""
        if (size, reach_mm) not in self.block_cache:
            self.block_cache[size, reach_mm] = blocks_near(
                size, self.pixel, reach_mm * self.px_per_mm
            )
        return self.block_cache[size, reach_mm]


@dataclass(slots=True)
class PieceTrack:
    """One piece."""

    id: str
    rest_detection: Detection
    """As measured where it last stood."""
    patch: Patch
    rest_projection: RestProjection
    place_mm: Array
    """(2,): where it was last seen."""
    arrived_s: float = -np.inf
    """When it first stood on the table, for one that was put there."""
    velocity_mm_s: Array = field(default_factory=lambda: np.zeros(2))
    """(2,): how fast it goes."""
    last_seen_s: float = 0.0
    """When it was last seen, if it is lost."""
    gain: float = 1.0
    carried_patch: Patch | None = None
    """Its look and that of what is round it, as last seen: a hand goes along."""
    seen_share: float = 1.0
    """Of its look, as last seen."""
    missed_shots: int = 0
    """Looks since it was last seen."""
    away_s: float | None = None
    """Since when it does not stand where it stood."""
    hand_places: int = 0
    """At so many places of the trail it was its hand that was seen."""
    trail: list[tuple[float, float, float]] = field(default_factory=list)
    """Where it was seen since something came near it: time, x, y."""

    @classmethod
    def of(cls, name: str, detection: Detection, grey: Grey, camera: Camera) -> "PieceTrack":
        xy = np.asarray(detection.xy_mm, float)
        patch = _patch_of_detection(detection, grey, camera)
        return cls(name, detection, patch, RestProjection.of(detection, patch, camera), xy.copy())

    @property
    def radius_mm(self) -> float:
        return max(self.rest_detection.base.width_mm, self.rest_detection.base.length_mm) / 2

    def follow(self, grey: Grey, camera: Camera, time_s: float, before_s: float) -> None:
        """Look for it where it stood, and near where it should be by now; `before_s` is the time of the last shot."""
        if not self.is_moving:
            self.trail = self.trail[-MAX_RESTING_TRAIL:] or [
                (before_s, *self.rest_detection.xy_mm.tolist())
            ]
        share = self.share_in_place(grey)
        self.last_seen_s = before_s if self.seen else self.last_seen_s
        match, needed = (
            Match(np.asarray(self.rest_detection.xy_mm, float), share, 1.0),
            MIN_SEEN_SHARE,
        )
        if share < MIN_IN_PLACE_SHARE and not (self.is_moving and share < MIN_HOME_CHECK_SHARE):
            match = self.match_at_rest(grey, camera)
        if match.share < MIN_IN_PLACE_SHARE or (
            self.is_moving and share < MIN_IN_PLACE_SHARE
        ):  # a hand, evenly lit, is like whatever is fitted
            match, needed = self._search_nearby(match, grey, camera, time_s)
        if match.share >= needed and np.hypot(*(match.xy_mm - self.place_mm)) < MAX_JUMP_MM:
            self.velocity_mm_s = (match.xy_mm - self.place_mm) / (time_s - self.last_seen_s)
            self.place_mm, self.gain, self.seen_share, self.missed_shots = (
                match.xy_mm,
                match.gain,
                match.share,
                0,
            )
            self.trail.append((time_s, float(match.xy_mm[0]), float(match.xy_mm[1])))
            self.hand_places += needed == MIN_CARRIED_SHARE and match.share < MIN_REAPPEARED_SHARE
            self.carried_patch = self._patch_with_hand(grey, camera)
        else:
            self.missed_shots += 1
            if (
                not self.is_moving
                and self._hand_agreement(grey, camera, self.place_mm) < MIN_HAND_AGREEMENT
            ):
                self.carried_patch = self._patch_with_hand(
                    grey, camera
                )  # a hand has come to it, or goes

    def _search_nearby(
        self, home: Match, grey: Grey, camera: Camera, time_s: float
    ) -> tuple[Match, float]:
        """The better of home and elsewhere, and how much of it must be seen there to be believed.

        A hand that takes a piece hides as much of it on the way as it did before: one that stood in full view and is
        now seen in part, and elsewhere, is a hand that looks a little like it. A hand that goes as one with what is
        left to be seen of a piece carries it, however little that is.
        """
        unseen_s = min(time_s - self.last_seen_s, MAX_PREDICTION_S)
        reach, expected = _search_radius_mm(unseen_s), self.place_mm + self.velocity_mm_s * unseen_s
        looks = [self.patch, *([self.carried_patch] if self.carried_patch is not None else [])]
        match = find_patch(
            grey, camera, looks, expected, self.rest_detection.z_mm, reach, self.gain
        )
        if self.is_moving:
            return self._search_ahead(match, looks, grey, camera, unseen_s)
        if self._hand_agreement(grey, camera, match.xy_mm) >= max(
            MIN_HAND_AGREEMENT, self._hand_agreement(grey, camera, home.xy_mm) + MOVED_SHARE_MARGIN
        ):
            return match, MIN_CARRIED_SHARE
        if home.share >= max(MIN_SEEN_SHARE, match.share - MOVED_SHARE_MARGIN):
            return home, MIN_REAPPEARED_SHARE if self.missed_shots else MIN_SEEN_SHARE
        return match, MIN_IN_PLACE_SHARE if self.missed_shots else max(
            MIN_SEEN_SHARE, MIN_SHARE_RATIO * self.seen_share
        )

    def _search_ahead(
        self, ahead: Match, looks: Sequence[Patch], grey: Grey, camera: Camera, unseen_s: float
    ) -> tuple[Match, float]:
        """Of a piece on its way: what is seen where it would have gone, or where it would be, had it turned."""
        gone_mm = float(np.hypot(*self.velocity_mm_s)) * unseen_s
        if ahead.share >= (
            MIN_SEEN_SHARE if 2 * gone_mm < _search_radius_mm(unseen_s) else MIN_AHEAD_SHARE
        ):  # there too it was sought
            return ahead, MIN_SEEN_SHARE
        turned = min(SEARCH_RADIUS_MM + gone_mm, MAX_JUMP_MM)
        back = find_patch(
            grey, camera, looks, self.place_mm, self.rest_detection.z_mm, turned, self.gain
        )
        tries = [(one, self._hand_agreement(grey, camera, one.xy_mm)) for one in (ahead, back)]
        if seen := [(one, along) for one, along in tries if one.share >= MIN_SEEN_SHARE]:
            return max(seen, key=lambda pair: pair[0].share + CARRIED_WEIGHT * pair[1])[
                0
            ], MIN_SEEN_SHARE
        kept, left = (along for _, along in tries)
        if back.share < MIN_REAPPEARED_SHARE and kept >= MIN_HAND_AGREEMENT:
            return ahead, MIN_CARRIED_SHARE
        return back, MIN_CARRIED_SHARE if left >= MIN_HAND_AGREEMENT else MIN_SEEN_SHARE

    def _patch_with_hand(self, grey: Grey, camera: Camera) -> Patch:
        return cut_patch(
            grey,
            camera,
            self.place_mm,
            self.rest_detection.z_mm,
            HAND_RADIUS_FACTOR * self.radius_mm,
        )

    def _hand_agreement(self, grey: Grey, camera: Camera, xy_mm: Array) -> float:
        """How much of the look of it, and of the hand that carries it or lies over it, is as it was a shot ago."""
        return (
            agreement_at(grey, camera, self.carried_patch, xy_mm, self.rest_detection.z_mm)
            if self.carried_patch is not None
            else 0.0
        )

    @property
    def seen(self) -> bool:
        """Whether it was seen the last time that it was looked for."""
        return self.missed_shots == 0

    @property
    def is_moving(self) -> bool:
        """Whether it was last seen away from where it stood."""
        return bool(self.trail) and bool(
            np.hypot(*(self.place_mm - self.rest_detection.xy_mm)) > MOVING_DISTANCE_MM
        )

    def share_in_place(self, grey: Grey) -> float:
        """Share of its look that is seen just where it stood: the cheap question that is mostly enough."""
        return agreement_share(
            self.patch, sample_brightness(grey, self.rest_projection.grid_to_px, HALF_GRID)
        )

    def blocks(
        self, size: tuple[int, int], more_mm: float, home: bool = False
    ) -> tuple[slice, slice]:
        """The blocks of the picture round where it is, or stood, and some way round it."""
        reach_mm = self.radius_mm + more_mm
        if home or not self.trail:
            return self.rest_projection.blocks(size, reach_mm)
        at = self.rest_projection.pixel + self.rest_projection.slope @ (
            self.place_mm - self.rest_detection.xy_mm
        )
        return blocks_near(size, at, reach_mm * self.rest_projection.px_per_mm)

    def match_at_rest(self, grey: Grey, camera: Camera) -> Match:
        """What there is of it where it stood."""
        return align_patch(
            grey,
            camera,
            self.patch,
            np.asarray(self.rest_detection.xy_mm, float),
            self.rest_detection.z_mm,
        )

    def similarity_to(self, detection: Detection, grey: Grey, camera: Camera) -> float:
        """How much what was found looks like it, 0 to 1, a turn in the hand or other light set aside."""
        match = align_patch(
            grey, camera, self.patch, np.asarray(detection.xy_mm, float), detection.z_mm
        )
        return max(
            match.share, _ring_similarity(self.patch, _patch_of_detection(detection, grey, camera))
        )

    def return_to_rest(self, grey: Grey, camera: Camera, light: bool) -> None:
        """It stands where it stood; its look is taken again where the light has changed."""
        self.place_mm = np.asarray(self.rest_detection.xy_mm, float).copy()
        self._reset_motion()
        if light:
            self.patch = _patch_of_detection(self.rest_detection, grey, camera)

    def settle_at(self, detection: Detection, grey: Grey, camera: Camera) -> None:
        """It stands somewhere else from now on."""
        self.rest_detection = detection
        self.place_mm = np.asarray(detection.xy_mm, float).copy()
        self.patch = _patch_of_detection(detection, grey, camera)
        self.rest_projection = RestProjection.of(detection, self.patch, camera)
        self._reset_motion()

    def _reset_motion(self) -> None:
        self.velocity_mm_s, self.gain, self.seen_share, self.missed_shots, self.away_s = (
            np.zeros(2),
            1.0,
            1.0,
            0,
            None,
        )
        self.carried_patch, self.hand_places = None, 0
        self.trail.clear()

    def state(self, time_s: float) -> str:
        """One of `track.STATES`."""
        if self.away_s is not None and not self.seen:
            return "gone" if time_s - self.away_s > GONE_S else "lifted"
        if not self.seen:
            return "occluded"
        if self.is_moving:
            return "moving"
        return "new" if time_s - self.arrived_s < NEW_S else "static"

    def to_spot(self, time_s: float, sigma_mm: float) -> TrackedPosition:
        x, y = self.place_mm.tolist()
        return TrackedPosition(
            self.id, self.rest_detection.base, x, y, sigma_mm, self.state(time_s), self.seen
        )


def _search_radius_mm(unseen_s: float) -> float:
    return SEARCH_RADIUS_MM + SEARCH_GROWTH_MM_S * unseen_s


def _patch_of_detection(detection: Detection, grey: Grey, camera: Camera) -> Patch:
    radius = max(detection.base.width_mm, detection.base.length_mm) / 2
    return cut_patch(grey, camera, np.asarray(detection.xy_mm, float), detection.z_mm, radius)


def _ring_similarity(one: Patch, other: Patch) -> float:
    """How much two looks have their brightness in common, ring by ring, whichever way round they are turned."""
    half = one.values.shape[0] // 2
    y, x = np.mgrid[-half : half + 1, -half : half + 1]
    ring = np.minimum((np.hypot(x, y) * 6 / (half + 1)).astype(int), 5)
    off = [
        abs(
            float(np.median(one.values[(ring == k) & DISC_MASK]))
            - float(np.median(other.values[(ring == k) & DISC_MASK]))
        )
        for k in range(6)
    ]
    return float(np.exp(-np.mean(off) / 20))
