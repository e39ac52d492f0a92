"""Photos that do not belong together: another table, or the same picture or view twice."""

from collections.abc import Sequence
from dataclasses import replace

import cv2
import numpy as np

from overruler.calibration import Problem
from overruler.errors import CannotMeasure
from overruler.frame import Frame
from overruler.geometry.pose import Array
from overruler.vision.fusion.fuse import FusedTable
from overruler.vision.pairing.sighting import SeenPhoto, Sighting

THUMBNAIL_PX = (96, 72)
"""Width and height to which pictures are reduced to be compared."""
SAME_LEVELS = 3.0
"""Mean difference of two thumbnails of one picture, in grey levels of 255: compression makes 1."""
MIN_SHARED_BASES = 4
"""Least number of bases that other photos show in a photo, for a verdict on it."""
MIN_PHOTOS_TO_LEAVE_ONE_OUT = 3
"""Least number of photos of which one may be left out: of two that disagree nobody knows which is wrong."""
ODD_CHI2 = 8.0
"""Median squared distance, in σ, of an odd photo's bases from where the others see them; 1.4 is
expected."""
ODD_RATIO = 2.0
"""Least ratio of the odd photo's median χ² to the next largest."""
MIN_SHARED_BASES_OF_HANGING = 2
"""`MIN_SHARED_BASES` of a photo that hangs on others by the ground: a close-up shows few bases, and two
tables may have one mat."""
OTHER_TABLE_SHARE = 0.25
"""A photo that shows less than this share of the bases that others show in it is of another table."""


SAME_VIEW_SHARE = 0.02
"""Least distance of two cameras for two views, as a share of their height; nearer ones share their errors."""


DISPLACED_MM = (1.5, 30.0)
"""Least and largest distance of a base in one photo from where the others see it, that the photo's
camera explains, not the base."""
DISPLACED_SCORE = 0.9
"""Least score of such a base."""
MIN_DISPLACED = 3
"""Least number of displaced bases of a photo whose camera is wrong; it also shares fewer bases than that."""


def is_same_view(one: SeenPhoto, other: SeenPhoto) -> bool:
    """Whether two photos are from one place, or one is cut, turned or brightened from the other."""
    eyes = [photo.calibration.camera.center_mm for photo in (one, other)]
    apart_mm = float(np.linalg.norm(eyes[0] - eyes[1]))
    return apart_mm < SAME_VIEW_SHARE * float(max(eyes[0][2], eyes[1][2]))


def is_same_picture(one: Frame, other: Frame) -> bool:
    """Whether two photos are one picture, perhaps compressed or scaled anew."""
    if one.pixels is other.pixels:
        return True
    if abs(np.log(one.size_px[0] / one.size_px[1] * other.size_px[1] / other.size_px[0])) > 0.02:
        return False
    apart = np.abs(_thumbnail(one) - _thumbnail(other))
    return float(apart.mean()) < SAME_LEVELS


def _thumbnail(frame: Frame) -> Array:
    small = cv2.resize(frame.pixels, THUMBNAIL_PX, interpolation=cv2.INTER_AREA)
    return np.asarray(cv2.cvtColor(small, cv2.COLOR_BGR2GRAY), float)


def check_same_table(fused: FusedTable, photos: Sequence[SeenPhoto]) -> None:
    """Raise `CannotMeasure` for a photo of another table, or one of two whose cameras disagree."""
    first = next((photo for photo in photos if not photo.leans), photos[0])
    for photo in photos:
        if photo is first:
            continue
        expected, shared = _count_shared(fused, photo)
        if _count_displaced(fused, photo) >= max(MIN_DISPLACED, shared + 1):
            raise CannotMeasure(
                f"{photo.frame.name} shows the bases in other places than the other photos: "
                "was a marker moved between them, or is a lens file another camera's?"
            )
        if _shows_too_few(expected, shared, MIN_SHARED_BASES):
            raise CannotMeasure(
                f"{photo.frame.name} shows another table than the other photos: of the "
                f"{expected} bases that they show in its picture it shows {shared}; "
                "leave it away, or measure it by itself"
            )


def find_contradicting_photo(fused: FusedTable, photos: Sequence[SeenPhoto]) -> SeenPhoto | None:
    """The photo that the others, which agree, contradict; None if there is none.

    Three photos that tell their own cameras can be held against each other. A photo that hangs on
    them errs as they do: it is held against them, and not they against it.
    """
    standing = [photo for photo in photos if not photo.leans]
    hanging = [photo for photo in photos if photo.leans]
    if len(standing) >= MIN_PHOTOS_TO_LEAVE_ONE_OUT:
        odd = _most_displaced(fused, standing) or _farthest_off(fused, standing)
        if odd is not None:
            return odd
    if not hanging:
        return None
    odd = _most_displaced(fused, hanging) or _of_another_table(fused, hanging)
    return odd or _farthest_off(fused, photos, hanging)


def leave_out(photos: Sequence[SeenPhoto], odd: SeenPhoto) -> tuple[list[SeenPhoto], list[Problem]]:
    """The photos without an odd one and without those that hang on it, and what is said of them."""
    text = f"{odd.frame.name} is left out: it contradicts the other photos, which agree"
    problems = [Problem("photo_left_out", text)]
    rest = []
    for photo in photos:
        if photo is odd:
            continue
        if any(lean.frame is odd.frame for lean in photo.leans):
            text = f"{photo.frame.name} is left out: its camera is told by {odd.frame.name}"
            problems.append(Problem("photo_left_out", text))
            continue
        rest.append(photo)
    return [replace(photo, index=k) for k, photo in enumerate(rest)], problems


def _most_displaced(fused: FusedTable, photos: Sequence[SeenPhoto]) -> SeenPhoto | None:
    """The photo that shows most bases elsewhere; None where it shows more of them in place."""
    displaced = {photo.index: _count_displaced(fused, photo) for photo in photos}
    most = max(photos, key=lambda photo: displaced[photo.index])
    _, shared = _count_shared(fused, most)
    return most if displaced[most.index] >= max(MIN_DISPLACED, shared + 1) else None


def _of_another_table(fused: FusedTable, hanging: Sequence[SeenPhoto]) -> SeenPhoto | None:
    """The first hanging photo that lacks the bases that the others show in it."""
    for photo in hanging:
        if _shows_too_few(*_count_shared(fused, photo), MIN_SHARED_BASES_OF_HANGING):
            return photo
    return None


def _shows_too_few(expected: int, shared: int, least: int) -> bool:
    """Whether a photo shows too few of the bases expected in it, of which `least` allow a verdict."""
    return expected >= least and shared < OTHER_TABLE_SHARE * expected


def _farthest_off(
    fused: FusedTable, photos: Sequence[SeenPhoto], asked: Sequence[SeenPhoto] | None = None
) -> SeenPhoto | None:
    """The photo whose bases lie far from where the others see them, if it is alone in that.

    Only the photos that are `asked` may be it. Of two photos both are as far off.
    """
    medians = {photo.index: fused.median_chi2.get(photo.index, 0.0) for photo in photos}
    worst = max(photos if asked is None else asked, key=lambda photo: medians[photo.index])
    others = [medians[photo.index] for photo in photos if photo is not worst]
    is_alone = len(photos) == 2 or medians[worst.index] > ODD_RATIO * max(others)
    return worst if is_alone and medians[worst.index] > ODD_CHI2 else None


def disagree(fused: FusedTable) -> bool:
    """Whether the photos contradict each other by more than their doubt."""
    return fused.excess > 1


def _count_displaced(fused: FusedTable, photo: SeenPhoto) -> int:
    """How many bases a photo shows near where others see one of their size, but not there."""
    used = {id(one.detection) for base in fused.bases for one in base.sightings}
    own = [
        Sighting(photo, one)
        for one in photo.detections
        if id(one) not in used and one.score >= DISPLACED_SCORE
    ]
    count = 0
    for k, base in enumerate(fused.bases):
        if photo.index in {one.photo.index for one in base.sightings}:
            continue
        place, z_mm = fused.fit.xy_mm[k], float(fused.fit.z_mm[k])
        alike = [one for one in own if one.detection.base == base.base]
        apart = [float(np.hypot(*(one.place_at(z_mm) - place))) for one in alike]
        count += DISPLACED_MM[0] < min(apart, default=np.inf) < DISPLACED_MM[1]
    return count


def _count_shared(fused: FusedTable, photo: SeenPhoto) -> tuple[int, int]:
    """How many bases of the other photos lie in a photo's picture, and how many it shows too."""
    expected = shared = 0
    for k, base in enumerate(fused.bases):
        seen_in = {one.photo.index for one in base.sightings}
        place = np.array([*fused.fit.xy_mm[k], fused.fit.z_mm[k]])
        if not seen_in - {photo.index} or not photo.shows(place):
            continue
        expected += 1
        shared += photo.index in seen_in
    return expected, shared
