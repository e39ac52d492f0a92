"""What moved between the photos: a base that one photo shows elsewhere than the others.

A photo that does not see a base where others do may have it hidden. A base moved where the photo shows
bare ground in its place, shows a base of its size elsewhere, and another shows bare ground there.
Figures hide places; so one photo's word for each place is enough. Where the two places overlap, the
crescents count that they do not share. A plate is told by its print: where one photo shows it on
ground that another shows bare, it came from near by, even if the photo hides its old place.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from overruler.bases import Base
from overruler.geometry.pose import Array
from overruler.vision.pairing.bare_ground import is_bare
from overruler.vision.pairing.sighting import SeenPhoto, Sighting

MIN_MOVED_SCORE = 0.98
"""Least score of a base at the place to which it moved, and at its place in a single other photo."""
MIN_SURE_PHOTOS = 2
"""Least number of photos that are sure of a plate whose old place the other one hides."""
MIN_STEP_SIGMAS = 8.0
"""Least distance of a move, in σ of the places."""
MIN_STEP_MM = 3.0
"""The same in mm."""
MAX_MOVE_MM = 400.0
"""Largest move that is recognized as one."""
MAX_UNSEEN_MOVE_MM = 100.0
"""The same where the old place is hidden in the photo that shows the new one."""


@dataclass(frozen=True, slots=True, eq=False)
class Finding:
    """A base by some of the photos."""

    base: Base
    xyz_mm: Array
    """(3,)."""
    sightings: tuple[Sighting, ...]
    sigma_mm: float = 1.0
    """1 σ of its place."""

    @property
    def photos(self) -> set[int]:
        return {one.photo.index for one in self.sightings}


@dataclass(frozen=True, slots=True, eq=False)
class Move:
    """A base that stands elsewhere in one photo."""

    stays: int
    """Number of the finding by the photos that agree."""
    strays: int
    """Number of the finding by the photo that differs."""


def find_moves(findings: Sequence[Finding], photos: Sequence[SeenPhoto]) -> list[Move]:
    """Pair findings of single photos with findings that just these photos lack, the nearest first."""
    pairs = []
    for strays, there in enumerate(findings):
        if len(there.photos) > 1 or there.sightings[0].detection.score < MIN_MOVED_SCORE:
            continue
        for stays, here in enumerate(findings):
            if stays != strays and _may_have_moved(here, there, photos):
                pairs.append((float(np.hypot(*(here.xyz_mm - there.xyz_mm)[:2])), stays, strays))
    moves: list[Move] = []
    taken: set[int] = set()
    for _, stays, strays in sorted(pairs):
        if stays not in taken and strays not in taken:
            taken |= {stays, strays}
            moves.append(Move(stays, strays))
    return moves


def _may_have_moved(here: Finding, there: Finding, photos: Sequence[SeenPhoto]) -> bool:
    """Whether `there`, in one photo, may be the base that the others show at `here`."""
    if here.base != there.base or here.photos & there.photos:
        return False
    if len(here.photos) == 1 and not _is_first_of_two(here, there):
        return False
    apart_mm = float(np.hypot(*(here.xyz_mm - there.xyz_mm)[:2]))
    if apart_mm > MAX_MOVE_MM:
        return False
    if not is_surely_apart(here, there):
        return False
    (strayed,) = there.photos
    by_index = {photo.index: photo for photo in photos}
    agreeing = [by_index[k] for k in sorted(here.photos)]
    if not any(_is_bare_of(here, by_index[strayed], beside, there) for beside in agreeing):
        others = [photo for photo in photos if photo.index != strayed]
        return apart_mm < MAX_UNSEEN_MOVE_MM and _did_plate_appear(here, there, others)
    if apart_mm < here.base.width_mm:
        return True  # two bases cannot overlap, so it is the same one
    return any(_is_bare_of(there, photo, by_index[strayed], here) for photo in agreeing)


def _did_plate_appear(here: Finding, there: Finding, others: Sequence[SeenPhoto]) -> bool:
    """Whether all other photos, at least two, are sure of `here`, and one shows bare ground at `there`."""
    if there.base.shape != "rectangle" or len(here.photos) < max(len(others), MIN_SURE_PHOTOS):
        return False
    if min(one.detection.score for one in here.sightings) < MIN_MOVED_SCORE:
        return False
    beside = there.sightings[0].photo
    apart_mm = float(np.hypot(*(here.xyz_mm - there.xyz_mm)[:2]))
    is_clear = apart_mm > here.base.width_mm and beside.shows(here.xyz_mm)
    return is_clear and any(_is_bare_of(there, photo, beside, here) for photo in others)


def is_surely_apart(here: Finding, there: Finding) -> bool:
    """Whether two places differ by more than errors of fits."""
    apart_mm = float(np.hypot(*(here.xyz_mm - there.xyz_mm)[:2]))
    sigma_mm = float(np.hypot(here.sigma_mm, there.sigma_mm))
    return apart_mm > max(MIN_STEP_MM, MIN_STEP_SIGMAS * sigma_mm)


def _is_bare_of(one: Finding, photo: SeenPhoto, beside: SeenPhoto, elsewhere: Finding) -> bool:
    """Whether a photo shows bare ground where `beside` shows the base."""
    return is_bare(photo, one.base, one.xyz_mm, beside, elsewhere.xyz_mm[:2])


def _is_first_of_two(here: Finding, there: Finding) -> bool:
    """Whether two photos differ about a base, of which the first one counts, and sees it well."""
    is_first = min(here.photos) < min(there.photos)
    return is_first and here.sightings[0].detection.score >= MIN_MOVED_SCORE
