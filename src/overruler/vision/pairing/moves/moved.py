"""What moved between the photos: a base that one photo shows elsewhere than the others.

A photo that does not see a base where others do may have it hidden. A base moved where the photo shows
bare ground in its place, shows a base of its size elsewhere, and another shows bare ground there.
Figures hide places; so one photo's word for each place is enough. Where the two places overlap, the
crescents count that they do not share.

Where all photos are sure of a base, and one shows it on ground that another shows bare, it came from near
by: even if figures lean over its old place, and a plate, which is told by its print, even if the photo
hides that place. Where the two places overlap and the photo is sure of the base, a part of the crescent
suffices: two bases cannot overlap. Two plates that overlap need no ground.

One photo may misread the size of the base that moved, or take it for a misplaced one: all that it found
and that is no other base counts, measured again with the size that the others know.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from overruler.bases import Base
from overruler.geometry.pose import Array
from overruler.vision.pairing.finding import Finding
from overruler.vision.pairing.ground.bare_ground import MIN_BARE_SHARE, bare_share
from overruler.vision.pairing.hypotheses import largest_sigma_mm
from overruler.vision.pairing.moves.figures import hidden_discs
from overruler.vision.pairing.moves.settled import is_settled, scatter_of
from overruler.vision.pairing.moves.strays import Stray, as_shown, find_strays
from overruler.vision.pairing.second_look import Expected, look_again
from overruler.vision.pairing.sighting import SeenPhoto, Sighting, are_one_spot

MIN_MOVED_SCORE = 0.98
"""Least score of a base far from its old place, or where its old place is hidden; and at its place in
a single other photo."""
MIN_PLATE_SCORE = 0.9
"""The same of a plate near its old place that is hidden, where other photos show bare ground."""
MIN_NEAR_SCORE = 0.6
"""Least score of a base near its old place, where both places are bare."""
MIN_OLD_SCORE = 0.95
"""Least score of a base at its old place in each photo, where the photo that shows it elsewhere covers it."""
MIN_SURE_PHOTOS = 2
"""Least number of such photos."""
MIN_PART_SHARE = 0.4
"""Least share of an old place that shows its ground, where figures may lean over it. Bases that were
there, hidden in part, had up to 0.36 on ten rendered tables."""
MIN_STEP_SIGMAS = 6.0
"""Least distance of a move, in σ of the places."""
MIN_STEP_MM = 3.0
"""The same in mm."""
MIN_HERE_SCORE = 0.9
"""Least score, in one photo, of a base at its old place: weak findings come and go with the light."""
MAX_MOVE_MM = 400.0
"""Largest move that is recognized as one."""
MAX_NEAR_MOVE_MM = 100.0
"""The same where the photo is not sure of the base, or its old place is hidden there."""
SAME_SHAPE_RATIO = 1.3
"""Largest ratio of two sizes that may be one misread size in one photo: it takes 32 mm for 25."""
MISREAD_SIGMA_MM = 2.0
"""1 σ of a place that was measured with another size."""


@dataclass(frozen=True, slots=True, eq=False)
class Move:
    """A base that stands elsewhere in one photo."""

    stays: int
    """Number of the finding by the photos that agree."""
    strays: int | None
    """Number of the finding by the photo that differs; None where that is no finding of its own."""
    sighting: Sighting
    """What that photo shows."""


def find_moves(findings: Sequence[Finding], photos: Sequence[SeenPhoto]) -> list[Move]:
    """Pair what single photos show with findings that just these photos lack, the nearest first."""
    discs_mm = np.array([[*one.xyz_mm[:2], one.base.length_mm / 2] for one in findings])
    pairs: list[tuple[float, int, Stray, Sighting]] = []
    shown = [as_shown(one) for one in findings]
    for photo in photos:
        strays = find_strays(findings, photo)
        settled = is_settled(findings, photo, len(photos))
        scatter = scatter_of(findings, photo)
        for stays, here in enumerate(shown):
            if not _may_lack(here, photo):
                continue
            change = _Change(here, photo, photos, discs_mm, settled, scatter)
            for stray in strays:
                seen = None if change.is_covered(stray) else change.find_at(stray)
                if seen is not None:
                    pairs.append((change.apart_mm(seen), stays, stray, seen))
    moves: list[Move] = []
    taken: set[int] = set()
    for _, stays, stray, seen in sorted(pairs, key=lambda pair: pair[0]):
        if stays not in taken and id(stray) not in taken:
            taken |= {stays, id(stray)}
            moves.append(Move(stays, stray.number, seen))
    return moves


def _may_lack(here: Finding, photo: SeenPhoto) -> bool:
    """Whether a photo may show elsewhere what others, or the first of two that sees it well, show here."""
    if not here.photos or photo.index in here.photos or not photo.shows(here.xyz_mm):
        return False
    if here.surest.detection.score < MIN_HERE_SCORE:
        return False
    is_first = min(here.photos) < photo.index
    is_sure = here.sightings[0].detection.score >= MIN_MOVED_SCORE
    return len(here.photos) > 1 or (is_first and is_sure)


@dataclass(frozen=True, slots=True, eq=False)
class _Change:
    """A base that one photo may show elsewhere."""

    here: Finding
    photo: SeenPhoto
    photos: Sequence[SeenPhoto]
    """All photos."""
    discs_mm: Array
    """(N, 3): centres and radii of all findings."""
    is_settled: bool
    """Whether the photo shows most bases in their places."""
    scatter: float
    """How much farther off its places are than their σ says; 1 of a usual photo."""

    @property
    def agreeing(self) -> list[SeenPhoto]:
        """The photos that show the base in its place."""
        return [photo for photo in self.photos if photo.index in self.here.photos]

    def apart_mm(self, seen: Sighting) -> float:
        """The distance of what the photo shows from the base's place."""
        return float(np.hypot(*(self._place_of(seen)[:2] - self.here.xyz_mm[:2])))

    def is_covered(self, stray: Stray) -> bool:
        """Whether the photo shows another base than a stray one in the old place, or a little aside."""
        z_mm, width_mm = float(self.here.xyz_mm[2]), self.here.base.width_mm
        for one in self.photo.detections:
            spot = self.photo.place_of(one, z_mm), one.base.width_mm
            is_there = are_one_spot(*spot, self.here.xyz_mm[:2], width_mm)
            if is_there and one.score >= MIN_NEAR_SCORE:
                seen = stray.sighting
                if not are_one_spot(*spot, seen.place_at(z_mm), seen.detection.base.width_mm):
                    return True
        return False

    def find_at(self, stray: Stray) -> Sighting | None:
        """The base where the photo shows it, at a stray finding; None where it is not that base."""
        seen = stray.sighting
        if self.apart_mm(seen) > MAX_MOVE_MM or not self._may_be_same(stray):
            return None
        is_misread = _is_misread(seen.detection.base, self.here.base)
        if not is_misread and not self._may_be_move(seen):
            return None  # the ground takes longer to compare
        share = self._bare_share_here(seen)
        if not self._may_have_left(share):
            return None
        if is_misread:
            again = self._measure_again(seen)
            if again is None or not self._may_be_move(again):
                return None
            seen = again
        return seen if self._is_move(seen, share) else None

    def _may_have_left(self, bare_share: float) -> bool:
        """Whether its place may be empty, if a share of it is bare.

        A plate is told by its print, even if its place is hidden. In rank and file many bases are alike.
        """
        if self.here.ranks is not None:
            return bare_share >= MIN_BARE_SHARE
        return bare_share >= MIN_PART_SHARE or self.here.base.shape == "rectangle"

    def _may_be_same(self, stray: Stray) -> bool:
        base = self.here.base
        if self.here.ranks is not None and stray.number is None:
            return False  # a part of bases in contact, or two of them
        return stray.base == base or _is_misread(stray.sighting.detection.base, base)

    def _measure_again(self, seen: Sighting) -> Sighting | None:
        """What the photo shows there, measured with the size that the other photos know.

        Either size may look more like a base.
        """
        place, heading_deg = self._place_of(seen), seen.detection.heading_deg
        expected = Expected(0, self.here.base, place, MISREAD_SIGMA_MM, heading_deg)
        again = look_again(self.photo, [expected]).get(0)
        if again is None:
            return None
        score = max(again.detection.score, seen.detection.score)
        return again.with_detection(replace(again.detection, score=score))

    def _is_move(self, seen: Sighting, bare_share: float) -> bool:
        """Whether what may be its move is one; its old place is bare in the photo by a share."""
        is_sure, has_left = seen.detection.score >= MIN_MOVED_SCORE, bare_share >= MIN_BARE_SHARE
        if self._is_far(seen) and not has_left:
            return False
        if is_sure and self._is_replaced(seen, bare_share):
            return True
        if not has_left:
            return self._did_appear(seen)
        return any(self._is_there_bare(seen, photo) for photo in self.agreeing)

    def _may_be_move(self, seen: Sighting) -> bool:
        """Whether the photo is sure enough of the base where it shows it, by how far off that is."""
        is_near = self.scatter == 1 and not self._is_far(seen)
        least = MIN_NEAR_SCORE if is_near else MIN_MOVED_SCORE
        return seen.detection.score >= least and self._is_surely_apart(seen)

    def _is_far(self, seen: Sighting) -> bool:
        return self.apart_mm(seen) > MAX_NEAR_MOVE_MM

    def _is_replaced(self, seen: Sighting, bare_share: float) -> bool:
        """Whether what the photo shows overlaps the old place: two bases cannot, so it is the same one."""
        if not self.is_settled or self.apart_mm(seen) >= self.here.base.width_mm:
            return False
        return bare_share >= MIN_PART_SHARE or (seen.is_rectangle and self._are_others_sure())

    def _is_surely_apart(self, seen: Sighting) -> bool:
        """Whether the two places differ by more than errors of fits."""
        own_mm = largest_sigma_mm(seen.loose_covariance_at(float(self.here.xyz_mm[2])))
        sigma_mm = float(np.hypot(self.here.sigma_mm, own_mm))
        return self.apart_mm(seen) > max(MIN_STEP_MM, MIN_STEP_SIGMAS * self.scatter * sigma_mm)

    def _did_appear(self, seen: Sighting) -> bool:
        """Whether all other photos are sure of the base in its place, and one shows bare ground there."""
        others = [photo for photo in self.photos if photo is not self.photo]
        if seen.detection.score < (MIN_PLATE_SCORE if seen.is_rectangle else MIN_MOVED_SCORE):
            return False
        is_clear = self.apart_mm(seen) > self.here.base.width_mm
        is_likely = is_clear and self._are_others_sure()
        return is_likely and any(self._is_there_bare(seen, photo) for photo in others)

    def _are_others_sure(self) -> bool:
        """Whether all other photos, at least two, are sure of the base in its place."""
        if len(self.here.photos) < max(len(self.photos) - 1, MIN_SURE_PHOTOS):
            return False
        return min(one.detection.score for one in self.here.sightings) >= MIN_OLD_SCORE

    def _bare_share_here(self, seen: Sighting) -> float:
        """The share of the base's place where the photo shows its ground; 0 where it hides that."""
        place, there_mm = self.here.xyz_mm, self._place_of(seen)[:2]
        return max(
            (self._bare_share(self.photo, place, one, there_mm, seen) for one in self.agreeing),
            default=0.0,
        )

    def _is_there_bare(self, seen: Sighting, photo: SeenPhoto) -> bool:
        """Whether another photo shows bare ground where this one shows the base."""
        place, here_mm = self._place_of(seen), self.here.xyz_mm[:2]
        return any(
            self._bare_share(photo, place, one, here_mm, seen) >= MIN_BARE_SHARE
            for one in self.photos
            if one is not photo
        )

    def _bare_share(
        self, photo: SeenPhoto, place: Array, beside: SeenPhoto, elsewhere_mm: Array, seen: Sighting
    ) -> float:
        """The share of a place where a photo shows the ground that `beside` shows around it; 0 where it hides that.

        Figures may hide that ground. Where too little is known to lie beside them, bases alone count.
        """
        hidden = [hidden_discs(each, self._standing(seen, each)) for each in (photo, beside)]
        for others in (np.concatenate(hidden), self._others(seen)):
            share = bare_share(photo, self.here.base, place, beside, elsewhere_mm, others)
            if share is not None:
                return share
        return 0.0

    def _standing(self, seen: Sighting, photo: SeenPhoto) -> Array:
        """(N, 3): centres and radii of all that stands near the two places, as one photo shows it."""
        place = self._place_of(seen) if photo is self.photo else self.here.xyz_mm
        own = [*place[:2], self.here.base.length_mm / 2]
        return np.vstack([self._others(seen), own])

    def _place_of(self, seen: Sighting) -> Array:
        """(3,): where the photo shows the base, at its height."""
        z_mm = float(self.here.xyz_mm[2])
        return np.array([*seen.place_at(z_mm), z_mm])

    def _others(self, seen: Sighting) -> Array:
        """(N, 3): centres and radii of what stands beside both places."""
        apart = np.ones(len(self.discs_mm), np.bool_)
        for place in (self.here.xyz_mm, self._place_of(seen)):
            apart &= np.hypot(*(self.discs_mm[:, :2] - place[:2]).T) > self.discs_mm[:, 2]
        return self.discs_mm[apart]


def _is_misread(own: Base, base: Base) -> bool:
    """Whether a base may have been taken for one of its shape and of another size."""
    ratio = max(own.length_mm / base.length_mm, base.length_mm / own.length_mm)
    return own.shape == base.shape and own != base and ratio < SAME_SHAPE_RATIO
