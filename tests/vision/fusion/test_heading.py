"""A plate's heading by several photos: the front by most votes, the axis by those that agree."""

from dataclasses import replace

import pytest

from evaluate.drawn.views import camera_from, see
from overruler.bases import Base
from overruler.vision.fusion.heading import fuse_headings
from overruler.vision.pairing.sighting import Sighting

PLATE = (400.0, 300.0, 0.0, 40.0)


def seen(*headings: tuple[float, float]) -> list[Sighting]:
    """A plate seen from as many sides, each with a heading and the period of its ambiguity."""
    sightings = []
    for k, (heading, modulo) in enumerate(headings):
        photo = see(k, camera_from(120.0 * k), [PLATE])
        plate = replace(
            photo.detections[0],
            base=Base.parse("40x40"),
            heading_deg=heading,
            heading_modulo_deg=modulo,
        )
        sightings.append(Sighting(photo, plate))
    return sightings


@pytest.mark.parametrize(
    ("headings", "expected", "modulo"),
    [
        ([(30.0, 360.0), (31.0, 360.0), (32.0, 360.0)], 31.0, 360.0),
        ([(359.5, 360.0), (0.5, 360.0)], 0.0, 360.0),
        ([(120.4, 90.0), (210.2, 360.0), (30.0, 90.0)], 210.2, 360.0),  # one sees the front
        ([(30.0, 360.0), (30.0, 360.0), (120.0, 360.0)], 30.0, 360.0),  # two against one
        ([(30.0, 360.0), (30.4, 360.0), (34.0, 360.0)], 30.2, 360.0),  # one fit went astray
    ],
)
def test_headings_join(headings: list[tuple[float, float]], expected: float, modulo: float) -> None:
    fused = fuse_headings(seen(*headings))
    assert (fused.heading_deg - expected + 180) % 360 - 180 == pytest.approx(0, abs=0.15)
    assert fused.heading_modulo_deg == modulo


def test_other_headings_turn_with_the_axis() -> None:
    """A plate's other fronts stay at its sides, whatever the mean of the photos."""
    one, *rest = seen((1.5, 360.0), (359.5, 360.0), (359.0, 360.0))
    surest = replace(one.detection, visible=0.9, other_headings=((91.5, 0.2), (271.5, 0.1)))
    fused = fuse_headings([one.with_detection(surest), *rest])
    assert fused.heading_deg != pytest.approx(1.5, abs=0.5)
    turned, likely = zip(*fused.other_headings, strict=True)
    assert [(other - fused.heading_deg) % 360 for other in turned] == pytest.approx([90, 270])
    assert likely == (0.2, 0.1)


def test_two_photos_that_see_other_fronts_leave_it_open() -> None:
    fused = fuse_headings(seen((30.0, 360.0), (120.0, 360.0)))
    assert fused.heading_modulo_deg == 90.0
    assert fused.heading_deg % 90 == pytest.approx(30.0)


@pytest.mark.parametrize(
    ("headings", "expected"),
    [
        ((10.0, 11.0, 12.0), 11.0),
        ((59.5, 0.5), 0.0),  # sides look the same after a sixth of a turn
        ((20.0, 20.4, 24.0), 20.2),  # one fit went astray
    ],
)
def test_headings_of_hexagons_join_but_for_sixths_of_a_turn(
    headings: tuple[float, ...], expected: float
) -> None:
    fused = fuse_headings(
        [
            one.with_detection(replace(one.detection, base=Base.hexagon(30.0)))
            for one in seen(*((heading, 60.0) for heading in headings))
        ]
    )
    assert (fused.heading_deg - expected + 30) % 60 - 30 == pytest.approx(0, abs=0.15)
    assert fused.heading_modulo_deg == 60
