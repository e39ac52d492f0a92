"""The rulers of a table by all its photos, and what one photo takes for bases on another one's ruler.

Seen from far or aslant a ruler is a row of dark squares. What one photo measures as a ruler has none.
"""

from collections.abc import Sequence
from dataclasses import replace

from overruler.detections import DetectedRuler, Detection
from overruler.geometry.pose import Array
from overruler.vision.contours.outlines import depth_inside_mm
from overruler.vision.pairing.sighting import SeenPhoto
from overruler.vision.rulers.find import is_part_of, ruler_footprints

MAX_DOUBTFUL_SCORE = 0.9
"""Score up to which a base counts for less than another photo's ruler. A surer one may stand where the ruler
lay before. Of eight squares of sticks that were taken for bases none had more than 0.71."""
MAX_RISE_MM = 10.0
"""What lies higher is on no ruler."""


def distinct_rulers(photos: Sequence[SeenPhoto]) -> tuple[DetectedRuler, ...]:
    """The rulers of all photos, each by the photo that shows most of it, then by the one that measures it best.

    A photo that shows a part may read a shorter ruler there, or one that lies a segment farther on. What is unsure
    counts only where no photo is sure.
    """
    kept: list[DetectedRuler] = []
    every = [ruler for photo in photos for ruler in photo.rulers]
    for ruler in sorted(every, key=_rank):
        if not any(is_part_of(ruler.path_mm, one) for one in kept):
            kept.append(ruler)
    return tuple(kept)


def _rank(ruler: DetectedRuler) -> tuple[bool, float, float]:
    return not ruler.is_sure, -ruler.nominal_length_mm, ruler.sigma_mm


def without_parts_of_rulers(photos: Sequence[SeenPhoto]) -> list[SeenPhoto]:
    """The photos without what they doubtfully take for bases on a ruler that any of them shows."""
    segments = ruler_footprints(distinct_rulers(photos))
    if not segments:
        return list(photos)
    return [_without_parts(photo, segments) for photo in photos]


def _without_parts(photo: SeenPhoto, segments: Sequence[Array]) -> SeenPhoto:
    kept = tuple(one for one in photo.detections if not _is_part(photo, one, segments))
    return photo if len(kept) == len(photo.detections) else replace(photo, detections=kept)


def _is_part(photo: SeenPhoto, one: Detection, segments: Sequence[Array]) -> bool:
    """Whether a doubtful base of a photo has its middle on one of the segments (4, 2) of rulers."""
    if one.score > MAX_DOUBTFUL_SCORE or one.z_mm > MAX_RISE_MM:
        return False
    place_mm = photo.place_of(one, one.z_mm)
    return any(depth_inside_mm(segment, place_mm) >= 0 for segment in segments)
