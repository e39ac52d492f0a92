"""Following a piece from shot to shot by its look, and by that of the hand that carries it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from overruler.detections import Detection
from overruler.geometry.batched.vectors import distance
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.tracking.appearance import (
    CARRIED_WEIGHT,
    DISC_MASK,
    HALF_GRID,
    Match,
    Patch,
    agreement_at,
    agreement_share,
    align_patch,
    cut_patch,
    find_patch,
    sample_brightness,
)
from overruler.vision.tracking.change_detection import GreyImage
from overruler.vision.tracking.piece_state import PieceState, RestProjection

MIN_SEEN_SHARE = 0.38
"""Least share of a piece's look that must be visible to locate it."""
MIN_REAPPEARED_SHARE = 0.5
"""Least share at which a piece that was hidden is seen again where it stood.

Bare mat, or an arm, can be as like it as `MIN_SEEN_SHARE`."""
MIN_IN_PLACE_SHARE = 0.6
"""Least share at which a piece certainly stands where it stood."""
MIN_AHEAD_SHARE = 0.8
"""Least share at which a fast piece went straight on, and is not sought after a turn."""
MIN_HAND_AGREEMENT = 0.7
"""Least share of the look of a piece and its hand that stays the same if both move together."""
MIN_CARRIED_SHARE = 0.1
"""Least share of a piece's own look that must be visible in such a hand."""
MIN_HOME_CHECK_SHARE = 0.25
"""Least share just where a moving piece stood at which its exact place there is fitted."""
MOVED_SHARE_MARGIN = 0.1
"""By how much more must be visible of a piece elsewhere than at home, for it to have left."""
SEARCH_RADIUS_MM = 10.0
"""Search range of a piece, in mm: a hand accelerates by less in a tenth of a second."""
SEARCH_GROWTH_MM_S = 60.0
"""Growth of that range for each second since the piece was last seen, in mm/s."""
MAX_PREDICTION_S = 0.5
"""Longest time over which a piece's motion is extrapolated, in s."""
MAX_RESTING_TRAIL = 20
"""Number of places kept of a piece that stands where it stood."""
HAND_RADIUS_FACTOR = 1.3
"""Radius of the look of a piece with its hand, in radii of the piece."""
MIN_SHARE_RATIO = 0.8
"""Least ratio of what is visible of a piece to what was visible in the last shot."""
MAX_JUMP_MM = 60.0
"""Longest way of a piece between two shots, in mm."""
RINGS = 6
"""Number of rings in which two looks are compared."""
RING_LEVELS = 20
"""Mean difference of the rings at which the similarity falls to 1/e, in grey levels."""


@dataclass(frozen=True, slots=True, eq=False)
class _Candidate:
    """A place where a piece may be."""

    match: Match
    needed_share: float
    """Least share of the piece that must be visible there for it to be believed."""
    by_hand: bool = False
    """Whether it is rather the hand that was found."""


@dataclass(slots=True, eq=False)
class PieceTrack(PieceState):
    """A piece that is followed from shot to shot."""

    @classmethod
    def of(cls, name: str, detection: Detection, grey: GreyImage, camera: Camera) -> "PieceTrack":
        """A piece that rests in full view."""
        xy = np.asarray(detection.xy_mm, float).copy()
        patch = _patch_of_detection(detection, grey, camera)
        return cls(name, detection, patch, RestProjection.of(detection, patch, camera), xy)

    # --- how it looks ---

    def share_in_place(self, grey: GreyImage) -> float:
        """Visible share of its look just where it stood: a cheap check that mostly suffices."""
        seen = sample_brightness(grey, self.rest_projection.grid_to_px, HALF_GRID)
        return agreement_share(self.patch, seen)

    def match_at_rest(self, grey: GreyImage, camera: Camera) -> Match:
        """Its look fitted near where it stood."""
        return align_patch(grey, camera, self.patch, self.home_mm, self.z_mm)

    def similarity_to(
        self, detection: Detection, grey: GreyImage, camera: Camera, light: float = 1.0
    ) -> float:
        """How much a detection looks like it, 0 to 1, whichever way it is turned.

        All is by the ratio `light` brighter now than when its look was taken."""
        xy = np.asarray(detection.xy_mm, float)
        patch = replace(self.patch, values=self.patch.values * np.float32(light))
        match = align_patch(grey, camera, patch, xy, detection.z_mm)
        other = _patch_of_detection(detection, grey, camera)
        return max(match.share, _ring_similarity(patch, other))

    def brightness_ratio(self, detection: Detection, grey: GreyImage, camera: Camera) -> float:
        """How much brighter a detection of it is than its look."""
        now = _patch_of_detection(detection, grey, camera).values[DISC_MASK].mean()
        return float(now / max(float(self.patch.values[DISC_MASK].mean()), 1.0))

    # --- following it ---

    def follow(self, grey: GreyImage, camera: Camera, time_s: float, before_s: float) -> None:
        """Search for it where it stood and should be by now; `before_s` is the last shot's time."""
        if not self.is_moving:
            start = (before_s, *self.rest_detection.xy_mm.tolist())
            self.trail = self.trail[-MAX_RESTING_TRAIL:] or [start]
        if self.seen:
            self.last_seen_s = before_s
        found = self._search(grey, camera, time_s)
        match = found.match
        step_mm = distance(match.xy_mm, self.place_mm)
        if match.share >= found.needed_share and step_mm < MAX_JUMP_MM:
            self._move_to(found, time_s)
            self.carried_patch = self._patch_with_hand(grey, camera)
            return
        self.missed_shots += 1
        if self.is_moving:
            return
        if self._hand_agreement(grey, camera, self.place_mm) < MIN_HAND_AGREEMENT:
            # a hand has come to it, or leaves it
            self.carried_patch = self._patch_with_hand(grey, camera)

    def _move_to(self, found: _Candidate, time_s: float) -> None:
        match = found.match
        self.velocity_mm_s = (match.xy_mm - self.place_mm) / (time_s - self.last_seen_s)
        self.place_mm = match.xy_mm
        self.gain = match.gain
        self.seen_share = match.share
        self.missed_shots = 0
        x, y = match.xy_mm.tolist()
        self.trail.append((time_s, x, y))
        self.hand_places += found.by_hand and match.share < MIN_REAPPEARED_SHARE

    def _search(self, grey: GreyImage, camera: Camera, time_s: float) -> _Candidate:
        share = self.share_in_place(grey)
        is_home = share >= MIN_IN_PLACE_SHARE
        home = Match(self.home_mm, share, 1.0)
        if not is_home and not (self.is_moving and share < MIN_HOME_CHECK_SHARE):
            home = self.match_at_rest(grey, camera)
        # an evenly lit hand resembles whatever is fitted: a moving piece is sought elsewhere, too
        if home.share < MIN_IN_PLACE_SHARE or (self.is_moving and not is_home):
            return self._search_nearby(home, grey, camera, time_s)
        return _Candidate(home, MIN_SEEN_SHARE)

    def _search_nearby(
        self, home: Match, grey: GreyImage, camera: Camera, time_s: float
    ) -> _Candidate:
        """The better of home and elsewhere.

        A hand that takes a piece hides as much of it on the way as before. So a piece that stood in
        full view and now is visible in part, and elsewhere, is a hand that looks a little like it.
        But a hand that moves together with what is visible of a piece carries it, however little
        that is.
        """
        unseen_s = min(time_s - self.last_seen_s, MAX_PREDICTION_S)
        expected = self.place_mm + self.velocity_mm_s * unseen_s
        match = self._find_near(grey, camera, expected, _search_radius_mm(unseen_s))
        if self.is_moving:
            return self._search_ahead(match, grey, camera, unseen_s)
        hand_there = self._hand_agreement(grey, camera, match.xy_mm)
        hand_home = self._hand_agreement(grey, camera, home.xy_mm)
        if hand_there >= max(MIN_HAND_AGREEMENT, hand_home + MOVED_SHARE_MARGIN):
            return _Candidate(match, MIN_CARRIED_SHARE, by_hand=True)
        if home.share >= max(MIN_SEEN_SHARE, match.share - MOVED_SHARE_MARGIN):
            return _Candidate(home, MIN_SEEN_SHARE if self.seen else MIN_REAPPEARED_SHARE)
        if not self.seen:
            return _Candidate(match, MIN_IN_PLACE_SHARE)
        return _Candidate(match, max(MIN_SEEN_SHARE, MIN_SHARE_RATIO * self.seen_share))

    def _search_ahead(
        self, ahead: Match, grey: GreyImage, camera: Camera, unseen_s: float
    ) -> _Candidate:
        """The better of straight on and, after a turn, nearer to where a moving piece was."""
        gone_mm = float(np.hypot(*self.velocity_mm_s)) * unseen_s
        covers_turns = 2 * gone_mm < _search_radius_mm(unseen_s)
        if ahead.share >= (MIN_SEEN_SHARE if covers_turns else MIN_AHEAD_SHARE):
            return _Candidate(ahead, MIN_SEEN_SHARE)
        reach = min(SEARCH_RADIUS_MM + gone_mm, MAX_JUMP_MM)
        turned = self._find_near(grey, camera, self.place_mm, reach)
        hand_ahead = self._hand_agreement(grey, camera, ahead.xy_mm)
        hand_turned = self._hand_agreement(grey, camera, turned.xy_mm)
        tries: Sequence[tuple[Match, float]] = ((ahead, hand_ahead), (turned, hand_turned))
        visible = [pair for pair in tries if pair[0].share >= MIN_SEEN_SHARE]
        if visible:
            best = max(visible, key=lambda pair: pair[0].share + CARRIED_WEIGHT * pair[1])
            return _Candidate(best[0], MIN_SEEN_SHARE)
        if turned.share < MIN_REAPPEARED_SHARE and hand_ahead >= MIN_HAND_AGREEMENT:
            return _Candidate(ahead, MIN_CARRIED_SHARE, by_hand=True)
        if hand_turned >= MIN_HAND_AGREEMENT:
            return _Candidate(turned, MIN_CARRIED_SHARE, by_hand=True)
        return _Candidate(turned, MIN_SEEN_SHARE)

    def _find_near(
        self, grey: GreyImage, camera: Camera, start_mm: Array, reach_mm: float
    ) -> Match:
        """Search for its look round a place, helped by the last look of its hand."""
        patches = [self.patch]
        if self.carried_patch is not None:
            patches.append(self.carried_patch)
        return find_patch(grey, camera, patches, start_mm, self.z_mm, reach_mm, self.gain)

    def _patch_with_hand(self, grey: GreyImage, camera: Camera) -> Patch:
        radius_mm = HAND_RADIUS_FACTOR * self.radius_mm
        return cut_patch(grey, camera, self.place_mm, self.z_mm, radius_mm)

    def _hand_agreement(self, grey: GreyImage, camera: Camera, xy_mm: Array) -> float:
        """How much it and the hand over it look as they did a shot ago, at a place."""
        if self.carried_patch is None:
            return 0.0
        return agreement_at(grey, camera, self.carried_patch, xy_mm, self.z_mm)

    # --- coming to rest ---

    def return_to_rest(self, grey: GreyImage, camera: Camera, light: bool) -> None:
        """It stands where it stood; `light` tells that the light, and so its look, has changed."""
        self.place_mm = self.home_mm.copy()
        self._reset_motion()
        if light:
            self.patch = _patch_of_detection(self.rest_detection, grey, camera)

    def settle_at(self, detection: Detection, grey: GreyImage, camera: Camera) -> None:
        """It stands somewhere else from now on."""
        known = self.rest_detection
        self.rest_detection = replace(
            detection,
            score=max(detection.score, known.score),
            is_confirmed=detection.is_confirmed or known.is_confirmed,
        )
        self.place_mm = self.home_mm.copy()
        self.patch = _patch_of_detection(detection, grey, camera)
        self.rest_projection = RestProjection.of(detection, self.patch, camera)
        self._reset_motion()

    def _reset_motion(self) -> None:
        self.velocity_mm_s = np.zeros(2)
        self.gain = 1.0
        self.seen_share = 1.0
        self.missed_shots = 0
        self.away_s = None
        self.carried_patch = None
        self.hand_places = 0
        self.trail.clear()


def _search_radius_mm(unseen_s: float) -> float:
    return SEARCH_RADIUS_MM + SEARCH_GROWTH_MM_S * unseen_s


def _patch_of_detection(detection: Detection, grey: GreyImage, camera: Camera) -> Patch:
    """The patch of a detection."""
    xy = np.asarray(detection.xy_mm, float)
    radius_mm = max(detection.base.width_mm, detection.base.length_mm) / 2
    return cut_patch(grey, camera, xy, detection.z_mm, radius_mm)


def _ring_similarity(one: Patch, other: Patch) -> float:
    """How alike two patches are, ring by ring, however they are turned: 0 to 1."""
    half = one.values.shape[0] // 2
    steps = np.arange(-half, half + 1)
    radius = np.hypot(*np.meshgrid(steps, steps))
    ring = np.minimum((radius * RINGS / (half + 1)).astype(int), RINGS - 1)
    differences = []
    for k in range(RINGS):
        here = (ring == k) & DISC_MASK
        level = float(np.median(one.values[here]))
        differences.append(abs(level - float(np.median(other.values[here]))))
    return float(np.exp(-np.mean(differences) / RING_LEVELS))
