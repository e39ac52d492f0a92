"""What one photo takes for bases on a ruler that another one measures."""

from dataclasses import replace

import numpy as np
import pytest

from evaluate.drawn.views import camera_from, see
from overruler.bases import Base
from overruler.detections import DetectedRuler
from overruler.vision.pairing.seen_rulers import distinct_rulers, without_parts_of_rulers
from overruler.vision.pairing.sighting import SeenPhoto

PLACES = [(300.0, 400.0, 0.0, 25.0), (300.0, 412.0, 0.0, 25.0), (500.0, 400.0, 0.0, 25.0)]
"""On the ruler that is 20 mm wide, beside it, and beyond its end."""


def stick(sigma_mm: float, y_mm: float = 400.0) -> DetectedRuler:
    path = np.column_stack([200.0 + 25.4 * np.arange(9), np.full(9, y_mm)])
    return DetectedRuler("inch_stick", 25.4, 25.4, sigma_mm, path, 20.0, 5.0)


def photo(index: int, score: float, *rulers: DetectedRuler) -> SeenPhoto:
    """A photo that takes something for a square base at each of the places."""
    seen = see(index, camera_from(120.0 * index), PLACES, score=score)
    squares = [replace(one, base=Base.rectangle(25, 25)) for one in seen.detections]
    return replace(seen, detections=tuple(squares), rulers=rulers)


def test_a_square_on_a_ruler_that_another_photo_measures_is_no_base() -> None:
    shows, takes = photo(0, 0.6, stick(0.1)), photo(1, 0.6)
    for left in without_parts_of_rulers([shows, takes]):
        assert [round(one.xy_mm[0]) for one in left.detections] == [300, 500]
        assert [round(one.xy_mm[1]) for one in left.detections] == [412, 400]


@pytest.mark.parametrize(("score", "height_mm"), [(0.97, 0.0), (0.6, 40.0)])
def test_what_a_photo_is_sure_of_or_what_stands_above_it_stays(
    score: float, height_mm: float
) -> None:
    """A ruler may be moved between photos, and a base may stand on a roof over it."""
    takes = photo(1, score)
    raised = [replace(one, z_mm=height_mm) for one in takes.detections]
    takes = replace(takes, detections=tuple(raised))
    assert without_parts_of_rulers([photo(0, 0.6, stick(0.1)), takes])[1].detections == tuple(
        raised
    )


def test_without_a_ruler_the_photos_stay_as_they_are() -> None:
    photos = [photo(0, 0.6), photo(1, 0.6)]
    assert without_parts_of_rulers(photos) == photos


def test_a_ruler_of_several_photos_counts_once_by_the_best_of_them() -> None:
    photos = [photo(0, 0.6, stick(0.3)), photo(1, 0.6, stick(0.1, 401.0), stick(0.2, 600.0))]
    assert [ruler.sigma_mm for ruler in distinct_rulers(photos)] == [0.1, 0.2]


@pytest.mark.parametrize(("segments", "slipped"), [(2, 0), (2, 3), (5, 1)])
def test_a_part_of_a_ruler_that_another_photo_shows_whole_is_no_ruler_of_its_own(
    segments: int, slipped: int
) -> None:
    """A hand hides an end: what is left looks like a shorter ruler, or like one a segment farther on."""

    def lying(segments: int, begin: int, kind: str, sigma_mm: float) -> DetectedRuler:
        along_mm = 200.0 + 152.4 * (begin + np.arange(segments + 1))
        path = np.column_stack([along_mm, np.full(segments + 1, 400.0)])
        return DetectedRuler(kind, 152.4, 152.4, sigma_mm, path, 25.0, 10.0)

    whole, part = lying(5, 0, "legion", 0.2), lying(segments, slipped, "legion_short", 0.3)
    beside = replace(whole, path_mm=whole.path_mm + np.array([0.0, 30.0]), sigma_mm=0.4)
    photos = [photo(0, 0.6, part), photo(1, 0.6, whole), photo(2, 0.6, beside)]
    assert distinct_rulers(photos) == (whole, beside)
    blurred = replace(whole, sigma_mm=1.85)
    assert distinct_rulers([photo(0, 0.6, part), photo(1, 0.6, blurred)]) == (part,)
