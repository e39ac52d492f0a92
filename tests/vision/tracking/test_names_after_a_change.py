"""Pieces of one size keep their names when the table is measured anew in another light."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pytest

from overruler.bases import Base
from overruler.detections import Detection
from overruler.frame import Frame, Shot
from overruler.report import Report
from overruler.track import Move
from overruler.vision.assembly.to_scene import build_scene
from overruler.vision.tracking.watch import Watch
from synthetic.flat_table import Plinth, render_table
from tests.tables import BOARD_MM, SIZE_PX, camera_over, exact

CAMERA = camera_over(10.0)
SIZE_MM = 32.0
Place = tuple[float, float]
HOMES: Mapping[str, Place] = {
    "bright": (200.0, 250.0),
    "dark": (240.0, 250.0),
    "middle": (500.0, 120.0),
    "grey": (560.0, 380.0),
    "green": (120.0, 420.0),
}
Tops = Mapping[str, tuple[float, float, float]]
TOPS: Tops = {
    "bright": (0.55,) * 3,
    "dark": (0.1,) * 3,
    "middle": (0.3,) * 3,
    "grey": (0.2,) * 3,
    "green": (0.1, 0.5, 0.1),
}
ALIKE = {**TOPS, "dark": TOPS["bright"]}
SWAPPED = {"bright": (360.0, 260.0), "dark": (355.0, 215.0)}
"""Nearer to where the other one stood than to where each itself did."""


@dataclass
class Oracle:
    """Finds every piece where it stands; in the order of the places, as the detection does."""

    places: Mapping[str, Place]

    def look(self, frame: Frame) -> Report:
        found = tuple(self.detection(at) for at in sorted(self.places.values()))
        calibration = exact(CAMERA)
        return Report(frame, calibration, found, build_scene(calibration, found))

    def detection(self, at: Place) -> Detection:
        pixel = CAMERA.project(np.array([*at, 0.0]))
        doubt, outline = np.eye(2) * 0.01, np.tile(pixel, (8, 1))
        lens = np.zeros((2, 15))
        place = np.array(at)
        return Detection(
            Base.circle(SIZE_MM), place, 0.0, 0.0, doubt, lens, 1.0, 1.0, pixel, outline
        )

    def redetect_bases(self, *_: object) -> tuple[Detection, ...]:
        return ()

    def remeasure_base(self, frame: Frame, report: Report, one: Detection) -> None:
        """Nothing more to be said."""


def shot(places: Mapping[str, Place], light: float, time_s: float, tops: Tops = TOPS) -> Shot:
    plinths = [Plinth(*at, SIZE_MM, rim=tops[name], top=tops[name]) for name, at in places.items()]
    pixels = render_table(CAMERA, SIZE_PX, BOARD_MM, plinths, noise=1.0)
    dimmed = np.asarray(pixels * light, np.uint8)
    return Shot.of(Frame(dimmed, "film", time_s=time_s))


def moves_after(
    places: Mapping[str, Place], light: float, tops: Tops = TOPS
) -> dict[str, tuple[Move, ...]]:
    """The moves that are told of each piece when it stands elsewhere after a change of light."""
    oracle = Oracle(HOMES)
    watch = Watch(oracle)
    before = shot(HOMES, 1.0, 0.0, tops)
    for time_s in (0.0, 0.2, 0.4, 0.6):
        watch.look(Shot(time_s, before.grey, before.colours, "film"))
    assert watch.table is not None
    at = {tuple(track.home_mm): track.id for track in watch.table.tracks}
    names = {at[home]: name for name, home in HOMES.items()}
    oracle.places = places
    watch.remeasure_table("the light has changed")
    after = shot(places, light, 1.0, tops)
    told: list[Move] = []
    for time_s in (1.0, 1.2, 1.4, 1.6):
        told += watch.look(Shot(time_s, after.grey, after.colours, "film")).moves
    return {
        name: tuple(move for move in told if names.get(move.piece) == name) for name in HOMES
    } | {"new": tuple(move for move in told if move.piece not in names)}


@pytest.mark.parametrize("light", [1.0, 0.6, 0.4, 1.4])
def test_pieces_that_stand_where_they_stood_have_not_moved(light: float) -> None:
    assert not any(moves_after(HOMES, light).values())


@pytest.mark.parametrize("light", [1.0, 0.6, 0.4])
def test_those_that_moved_are_known_by_their_looks_in_the_light_of_those_that_did_not(
    light: float,
) -> None:
    moved = moves_after({**HOMES, **SWAPPED}, light)
    for name, place in SWAPPED.items():
        (move,) = moved.pop(name)
        assert move.to_mm == pytest.approx(place)
        assert move.from_mm == pytest.approx(HOMES[name])
        assert move.path_sigma_mm > 0.2 * move.distance_mm > move.sigma_mm
        assert move.name_probability > 0.9
    assert not any(moved.values())


def test_those_that_look_alike_may_have_exchanged_their_names() -> None:
    """Each was put down nearer to where the other one stood, so the likelier names are the wrong ones."""
    moved = moves_after({**HOMES, **SWAPPED}, 1.0, ALIKE)
    (one,), (other,) = moved.pop("bright"), moved.pop("dark")
    assert one.to_mm == pytest.approx(SWAPPED["dark"])
    assert (one.perhaps, other.perhaps) == (other.piece, one.piece)
    assert 0.5 < one.name_probability == pytest.approx(other.name_probability)
    assert one.name_probability < 0.9
    assert not any(moved.values())
