"""The height of a base that one photo finds, by what the others show about it."""

from dataclasses import replace

import numpy as np
import pytest

from evaluate.drawn.views import BOARD_MM, camera_from, without
from overruler.detections import RaisedArea
from overruler.vision.fusion import gather_findings
from overruler.vision.pairing.association import associate
from overruler.vision.pairing.ground.plane_sweep import raise_lone, sweep_height
from overruler.vision.pairing.levels import Level
from overruler.vision.pairing.sighting import SeenPhoto, Sighting
from synthetic.flat_table import Plinth
from tests.vision.pairing.moves.test_moved import HERE, photo_of
from tests.vision.pairing.test_bare_ground import spots

SIDES_DEG = (0.0, 120.0, 240.0)
ROOF_MM = (26.0, 90.0)
"""The marks about the base lie so far from its middle."""


def seen_at(z_mm: float, index: int, is_found: bool) -> SeenPhoto:
    """A photo of a base and the marks about it, all at a height over plain ground."""
    base = Plinth(*HERE, 32.0, z_mm, 1.0, rim=(0.02,) * 3, top=(0.9,) * 3)
    marks = [replace(spot, z_mm=z_mm) for spot in spots(1, *ROOF_MM)]
    photo = photo_of(index, camera_from(SIDES_DEG[index]), *marks, base)
    return photo if is_found else without(photo, 0)


def roof(photo: SeenPhoto, z_mm: float, aside_mm: float = 0.0) -> Level:
    """A roof about the place, or aside of it, as a photo guesses it."""
    outline = np.array([[-60.0, -60], [60, -60], [60, 60], [-60, 60]]) + HERE + [aside_mm, 0.0]
    return Level(((photo, RaisedArea("h1", outline, z_mm, 12.0)),), z_mm, 12.0, 0.4)


@pytest.mark.parametrize("z_mm", [27.0, 60.0, 118.0])
def test_a_base_that_one_photo_finds_on_a_roof_stands_at_its_height(z_mm: float) -> None:
    photos = [seen_at(z_mm, k, k == 0) for k in range(3)]
    (one,) = raise_lone(associate(photos, BOARD_MM), photos, [roof(photos[0], z_mm)])
    assert one.is_raised
    assert one.best.mean == pytest.approx([*HERE, z_mm], abs=4)
    assert one.best.covariance[2, 2] ** 0.5 < 5


def test_a_base_on_the_board_is_left_there() -> None:
    photos = [seen_at(0.0, k, k == 0) for k in range(3)]
    assert sweep_height(Sighting(photos[0], photos[0].detections[0]), photos) is None
    (one,) = raise_lone(associate(photos, BOARD_MM), photos, [roof(photos[0], 30.0)])
    assert not one.is_raised


def test_a_part_of_a_figure_stands_on_no_roof() -> None:
    photos = [seen_at(60.0, k, k == 0) for k in range(3)]
    beside = roof(photos[0], 60.0, 200.0)
    for levels in ([], [beside]):
        (one,) = raise_lone(associate(photos, BOARD_MM), photos, levels)
        assert not one.is_raised


def test_two_photos_tell_no_height_so() -> None:
    photos = [seen_at(60.0, k, k == 0) for k in range(2)]
    assert sweep_height(Sighting(photos[0], photos[0].detections[0]), photos) is None


def test_photos_that_find_nothing_tell_where_a_base_stands() -> None:
    photos = [seen_at(60.0, k, k == 0) for k in range(3)]
    ((_, area),) = roof(photos[0], 60.0).areas
    guess = replace(area, footprint_mm=area.footprint_mm + 3.0, top_z_mm=48.0, sigma_mm=9.0)
    photos[0] = replace(photos[0], areas=(guess,))
    findings, (level,) = gather_findings.gather_findings(photos, np.array([16.0]))
    (one,) = findings
    assert one.is_raised
    assert one.xyz_mm == pytest.approx([*HERE, 60.0], abs=4)
    assert level.is_measured
