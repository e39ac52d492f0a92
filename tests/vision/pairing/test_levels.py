"""A flat top that photos guess, and bases measure: what stands on it is as unsure as its height."""

from dataclasses import replace

import numpy as np
import pytest

from evaluate.drawn.views import BOARD_MM, camera_from, see
from overruler.detections import RaisedArea
from overruler.geometry.relief import reproject_to_height
from overruler.vision.pairing.association import associate
from overruler.vision.pairing.decided import Decided
from overruler.vision.pairing.levels import (
    FREE_SIGMA_MM,
    Level,
    join_levels,
    measure_levels,
    without_floating,
)
from overruler.vision.pairing.sighting import SeenPhoto

PLACE, TOP_MM = (450.0, 330.0), 40.0
SQUARE = np.array([[-60.0, -60], [60, -60], [60, 60], [-60, 60]])

pytestmark = pytest.mark.usefixtures("fits_as_stated")


def table(count: int) -> list[SeenPhoto]:
    return [see(k, camera_from(120.0 * k), [(*PLACE, TOP_MM, 27.0)]) for k in range(count)]


def top(photo: SeenPhoto, guess_mm: float, sigma_mm: float) -> Level:
    """A top that a photo guesses at a height."""
    area = RaisedArea("h1", SQUARE + PLACE, guess_mm, sigma_mm)
    return Level(((photo, area),), guess_mm, sigma_mm, 1.0)


def test_what_one_photo_saw_on_a_top_is_looked_for_as_far_as_its_height_is_unsure() -> None:
    (photo,) = table(1)
    (one,) = associate([photo], BOARD_MM)
    sure, unsure = (Decided.of(one, [top(photo, TOP_MM, sigma)]) for sigma in (0.5, 3.0))
    assert sure.level == unsure.level == 0
    assert unsure.sigma_mm > 1.5 * sure.sigma_mm
    assert unsure.z_sigma_mm == 3.0


def test_parallax_measures_a_top_and_counts_once() -> None:
    """The fit of all places measures the height by the same photos again: its prior is wide."""
    photos = table(3)
    (level,) = measure_levels([top(photos[0], 31.0, 8.0)], associate(photos, BOARD_MM))
    assert level.z_mm == pytest.approx(TOP_MM, abs=1.5)
    assert level.z_sigma_mm < 3
    assert level.prior_sigma_mm == FREE_SIGMA_MM
    assert join_levels(photos) == []


@pytest.mark.parametrize("guess_mm", [32.0, 90.0, 150.0])
def test_a_base_near_the_edge_tells_how_high_its_roof_is(guess_mm: float) -> None:
    """Guessed too low, the roof seems to lie farther from the camera: the base is held against it as high as it is."""
    base = PLACE[0] + 45.0, PLACE[1] + 45.0
    photos = [see(k, camera_from(120.0 * k), [(*base, 90.0, 27.0)]) for k in range(3)]
    guessed = reproject_to_height(camera_from(0.0), SQUARE + PLACE, 90.0, guess_mm)
    area = RaisedArea("h1", guessed, guess_mm, 16.0)
    roof = Level(((photos[0], area),), guess_mm, 16.0, 0.6)
    (level,) = measure_levels([roof], associate(photos, BOARD_MM))
    assert level.z_mm == pytest.approx(90.0, abs=2)
    assert level.outline_at(level.z_mm) == pytest.approx(SQUARE + PLACE, abs=3)
    beside = [see(k, camera_from(120.0 * k), [(620.0, 330.0, 90.0, 27.0)]) for k in range(3)]
    assert measure_levels([roof], associate(beside, BOARD_MM)) == [roof]


@pytest.mark.parametrize(("score", "count"), [(0.3, 2), (0.7, 1)])
def test_what_floats_over_no_top_needs_two_photos_that_find_it_likely(
    score: float, count: int
) -> None:
    first, second = table(2)
    weak = replace(second, detections=(replace(second.detections[0], score=score),))
    (pair,) = associate([first, weak], BOARD_MM)
    assert pair.is_raised
    assert len(without_floating([pair], [])) == count
    assert without_floating([pair], [top(first, TOP_MM, 3.0)]) == [pair]
