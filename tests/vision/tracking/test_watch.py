"""Watching: a piece that a hand carries has moved, the others have not, and a hand is no piece."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import Protocol

import cv2
import numpy as np
import pytest

from overruler.bases import Base
from overruler.detections import Detection
from overruler.errors import CannotMeasure
from overruler.frame import Frame, Shot
from overruler.geometry.pose import Array
from overruler.house_rules import HouseRules
from overruler.referee import Referee
from overruler.report import Report
from overruler.track import Tick
from overruler.vision import assembly, rulers, tracking
from overruler.vision.assembly.to_scene import build_scene
from overruler.vision.tracking.watch import Watch
from synthetic.flat_table import Plinth, render_table
from tests.tables import BOARD_MM, SIZE_PX, camera_over, exact

CAMERA = camera_over(10.0)
HOMES = {"p01": (150.0, 250.0, 27.0), "p02": (300.0, 140.0, 50.0), "p03": (420.0, 380.0, 27.0)}
TO = np.array([470.0, 200.0])
START_S, END_S, HAND_S = 1.5, 2.8, (1.0, 3.3)


class Oracle:
    """Knows where the bases are: what is tested is the watching, not the finding."""

    def __init__(self) -> None:
        self.places = {name: np.array(home[:2]) for name, home in HOMES.items()}
        self.asked = 0
        self.blind = False

    def look(self, frame: Frame) -> Report:
        found = tuple(map(self.detection, self.places))
        calibration = exact(CAMERA)
        return Report(frame, calibration, found, build_scene(calibration, found))

    def redetect_bases(
        self, frame: Frame, report: Report, bases: Sequence[Base] | None, within_mm: Array | None
    ) -> tuple[Detection, ...]:
        self.asked += 1
        if self.blind:
            return ()
        low, high = within_mm if within_mm is not None else (-np.inf, np.inf)
        inside = [
            name for name, at in self.places.items() if (at > low).all() and (at < high).all()
        ]
        found = (self.detection(name) for name in inside)
        return tuple(one for one in found if bases is None or one.base in bases)

    def remeasure_base(self, frame: Frame, report: Report, one: Detection) -> None:
        """Nothing more to be said."""

    def detection(self, name: str) -> Detection:
        at = self.places[name]
        pixel = CAMERA.project(np.array([*at, 0.0]))
        base, doubt = Base.circle(HOMES[name][2]), np.eye(2) * 0.01
        return Detection(
            base, at, 0.0, 0.0, doubt, np.zeros((2, 15)), 1.0, 1.0, pixel, np.tile(pixel, (8, 1))
        )


def carried(time_s: float) -> Array:
    """Where the second piece is."""
    q = float(np.clip((time_s - START_S) / (END_S - START_S), 0, 1))
    start = np.array(HOMES["p02"][:2])
    return np.asarray(start + (3 * q * q - 2 * q**3) * (TO - start))


@cache
def film(moved: bool, hand: bool) -> tuple[Shot, ...]:
    """Drawn once: drawing is what takes long."""
    return tuple(shots(moved, hand))


def shots(moved: bool, hand: bool, until_s: float = 4.8) -> Iterator[Shot]:
    """Ten a second: the table, a hand over it for a while, the second piece carried by it or not."""
    drawn: dict[tuple[float, ...], np.ndarray[tuple[int, ...], np.dtype[np.uint8]]] = {}
    for step in range(round(until_s * 10)):
        time_s = step / 10
        at = carried(time_s) if moved else np.array(HOMES["p02"][:2])
        key = tuple(at.round(3))
        if key not in drawn:
            places = {
                name: at if name == "p02" else np.array(home[:2]) for name, home in HOMES.items()
            }
            plinths = [
                Plinth(float(p[0]), float(p[1]), HOMES[name][2], rim=(0.02,) * 3)
                for name, p in places.items()
            ]
            drawn[key] = render_table(CAMERA, SIZE_PX, BOARD_MM, plinths, noise=1.0, blur_px=0.7)
        pixels = drawn[key].copy()
        if hand and HAND_S[0] <= time_s < HAND_S[1]:
            away = 400 * max(START_S - time_s, time_s - END_S, 0) / 0.5
            x, y = CAMERA.project(np.array([at[0] + 6.0, at[1] + away, 30.0]))
            arm = np.array(
                [(x, y), (x + 55, y - 60), (x + 75, y - 900), (x - 35, y - 900), (x - 15, y - 60)]
            )
            cv2.fillPoly(pixels, [np.rint(arm).astype(np.int32)], (120, 150, 200))
        yield Shot.of(Frame(pixels, "film", time_s=time_s))


def watched(moved: bool, hand: bool, blind: bool = False) -> tuple[list[Tick], Oracle]:
    oracle = Oracle()
    oracle.blind = blind
    watch, ticks = Watch(oracle), []
    for shot in film(moved, hand):
        if moved and shot.time_s >= START_S:
            oracle.places["p02"] = carried(shot.time_s)
        ticks.append(watch.look(shot))
    last = watch.close()
    return ticks + ([last] if last is not None else []), oracle


@pytest.fixture(scope="module")
def ticks() -> list[Tick]:
    return watched(moved=True, hand=True)[0]


def test_the_piece_that_was_carried_has_moved_and_no_other(ticks: list[Tick]) -> None:
    (move,) = (move for tick in ticks for move in tick.moves)
    assert move.piece == "p02"
    assert move.from_mm == pytest.approx(HOMES["p02"][:2])
    assert move.to_mm == pytest.approx(TO)
    assert move.start_s == pytest.approx(START_S, abs=0.25)
    assert move.end_s == pytest.approx(END_S, abs=0.25)
    assert move.path_mm == pytest.approx(move.distance_mm, abs=0.7)


def test_a_piece_that_is_recognised_as_a_base_no_more_is_known_by_its_own_look() -> None:
    ticks, oracle = watched(moved=True, hand=True, blind=True)
    (move,) = (move for tick in ticks for move in tick.moves)
    assert oracle.asked
    assert move.piece == "p02"
    assert move.to_mm == pytest.approx(TO, abs=0.5)
    assert move.sigma_mm < 1.0


def test_it_is_seen_on_its_way(ticks: list[Tick]) -> None:
    moving = [spot for tick in ticks for spot in tick.spots if spot.state == "moving"]
    assert {spot.id for spot in moving} == {"p02"}
    near = [tick for tick in ticks if 1.95 < tick.time_s < 2.35]
    assert len(near) == 4
    for tick in near:
        (spot,) = (spot for spot in tick.spots if spot.id == "p02")
        assert np.hypot(*(np.array([spot.x_mm, spot.y_mm]) - carried(tick.time_s))) < 3


def test_rests_are_told_before_and_after_and_never_while_the_hand_is_there(
    ticks: list[Tick],
) -> None:
    rests = [(tick.time_s, tick.rest) for tick in ticks if tick.rest is not None]
    assert len(rests) == 2
    assert rests[0][0] < HAND_S[0]
    assert rests[1][0] > HAND_S[1]
    places = {piece.id: (piece.x_mm, piece.y_mm) for piece in rests[1][1].scene.pieces}
    assert places["p02"] == pytest.approx(tuple(TO))
    assert len(places) == 3


def test_a_hand_that_moves_nothing_is_nothing() -> None:
    ticks, _ = watched(moved=False, hand=True)
    assert not [move for tick in ticks for move in tick.moves]
    assert {spot.id for tick in ticks for spot in tick.spots} == set(HOMES)
    assert len([tick for tick in ticks if tick.rest is not None]) == 1
    assert {spot.state for spot in ticks[-1].spots} == {"static"}


def test_a_table_at_rest_is_measured_once() -> None:
    ticks, oracle = watched(moved=False, hand=False)
    assert oracle.asked == 0
    assert len([tick for tick in ticks if tick.rest is not None]) == 1


class Overlooks(Oracle):
    """Has never noticed the second piece."""

    def __init__(self) -> None:
        super().__init__()
        del self.places["p02"]


def overlooked(pictures: Iterable[Shot]) -> list[Tick]:
    watch = Watch(Overlooks(), kinds=[Base.circle(diameter) for diameter in (27.0, 40.0, 50.0)])
    ticks = [watch.look(shot) for shot in pictures]
    last = watch.close()
    return ticks + ([last] if last is not None else [])


def test_a_piece_that_was_never_found_is_found_by_its_move() -> None:
    ticks = overlooked(film(moved=True, hand=True))
    (move,) = (move for tick in ticks for move in tick.moves)
    assert move.piece == "p03", "p01 and p02 are the two that were found"
    assert move.from_mm == pytest.approx(HOMES["p02"][:2], abs=0.5)
    assert move.to_mm == pytest.approx(TO, abs=0.5)
    assert move.start_s == pytest.approx(START_S, abs=0.5)
    assert move.end_s == pytest.approx(END_S, abs=0.5)
    (spot,) = (spot for spot in ticks[-1].spots if spot.id == move.piece)
    assert spot.base == Base.circle(50.0)


def test_a_piece_that_comes_or_goes_has_not_moved() -> None:
    begun, ended = (film(moved=True, hand=True)[k].frame().pixels for k in (0, -1))
    u, v = CAMERA.project(np.array([*HOMES["p02"][:2], 0.0])).astype(int)
    taken = begun.copy()
    taken[v - 60 : v + 60, u - 60 : u + 60] = ended[v - 60 : v + 60, u - 60 : u + 60]
    for first, second in ((begun, taken), (taken, ended)):
        pictures = [
            Shot.of(Frame(first if k < 15 else second, "film", time_s=k / 10)) for k in range(35)
        ]
        assert not [move for tick in overlooked(pictures) for move in tick.moves]


class Distracted(Oracle):
    """Has not noticed the second piece at first sight; would the next time."""

    def look(self, frame: Frame) -> Report:
        place = self.places.pop("p02")
        report = super().look(frame)
        self.places["p02"] = place
        return report


@pytest.mark.parametrize("patient", [True, False])
def test_what_was_overlooked_is_found_by_patient_eyes_where_it_stands(patient: bool) -> None:
    watch, pixels = (
        Watch(Distracted(), patient=patient),
        film(moved=False, hand=False)[0].frame().pixels,
    )
    ticks = [watch.look(Shot.of(Frame(pixels, "film", time_s=k / 2))) for k in range(160)]
    assert not [move for tick in ticks for move in tick.moves]
    assert [len(tick.rest.scene.pieces) for tick in ticks if tick.rest is not None] == (
        [2, 3] if patient else [2]
    )
    first = next(tick.time_s for tick in ticks if len(tick.spots) == 3) if patient else 61.0
    assert first == pytest.approx(61, abs=1)


def cropped(shot: Shot, rows: int, later_s: float) -> Shot:
    """A shot without its lowest rows, some time later."""
    pixels = np.ascontiguousarray(shot.frame().pixels[: SIZE_PX[1] - rows])
    return Shot.of(Frame(pixels, "film", time_s=shot.time_s + later_s))


def notes_of(watch: Watch, shots: Iterable[Shot]) -> list[str]:
    return [note for shot in shots for note in watch.look(shot).notes]


def test_each_restart_gives_its_own_reason() -> None:
    still = film(moved=False, hand=False)[:10]
    watch = Watch(Oracle())
    assert notes_of(watch, still) == []
    watch.remeasure_table("the camera was moved")
    moved = [cropped(shot, 0, 1.0) for shot in still]
    assert notes_of(watch, moved) == ["the camera was moved: the table is measured anew"]
    resized = [cropped(shot, 64, 2.0) for shot in still]
    assert notes_of(watch, resized) == [
        "the picture's size has changed: the table is measured anew"
    ]
    restored = [cropped(shot, 0, 3.0) for shot in still]
    assert notes_of(watch, restored) == [
        "the picture's size has changed: the table is measured anew"
    ]


@pytest.mark.parametrize("room", [rulers, assembly, tracking])
def test_no_object_takes_an_attribute_that_its_class_does_not_name(room: ModuleType) -> None:
    """An attribute that is misspelt where it is set then fails at once."""
    modules = [import_module(f"{room.__name__}.{one.name}") for one in iter_modules(room.__path__)]
    classes = [
        one
        for module in modules
        for one in vars(module).values()
        if isinstance(one, type)
        and one.__module__ == module.__name__
        and not issubclass(one, Protocol)
    ]
    assert len(classes) > 1
    assert [one.__qualname__ for one in classes if one.__dictoffset__] == []


def test_what_refuses_a_table_tells_lengths_in_its_unit(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> Report:
        raise CannotMeasure(
            "the picture is no photo", in_mm="; it would show 25400 mm of the table"
        )

    monkeypatch.setattr(Referee, "_look_at", refuse)
    referee = Referee(None, house=HouseRules(unit="in"))
    told = "the picture is no photo; it would show 1000.00 in of the table"
    for watch in (referee.watching(), referee.watching_several(["left", "right"])):
        notes: tuple[str, ...] = ()
        for shot in film(moved=False, hand=False)[:8]:
            if isinstance(watch, Watch):
                notes += watch.look(shot).notes
            else:
                notes += watch.look([(0, shot), (1, shot)]).notes
        assert any(told in note for note in notes)
        with pytest.raises(CannotMeasure, match=told):
            watch.close()
