"""Bases with round ends on drawn tables: found and measured, and told apart from round bases in a row."""

import cv2
import numpy as np
import pytest

from overruler.bases import Base
from overruler.detections import Detection
from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.detection.choice import suppress_overlaps
from overruler.vision.imaging.orthophoto import rectify_photo
from overruler.vision.learned.disc_net import Discs, find_discs
from overruler.vision.learned.inference import OVERVIEW_MM_PER_PX
from overruler.vision.learned.patches import photo_pyramid
from overruler.vision.rounds import stadium_trials
from overruler.vision.rounds.find_stadiums import find_stadiums, find_stadiums_at
from overruler.vision.rounds.stadium_trials import (
    NO_STADIUMS,
    oval_starts,
    paired_starts,
    trace_stadiums,
)
from tests.vision.rounds.test_find_ovals import BOX_MM, over, table

BIKE = Base.stadium(25, 70)
HALF_SIZE = np.array([35.0, 12.5])
PLACES = [(BIKE, 110.0, 110.0, 0.3), (BIKE, 300.0, 120.0, 2.0), (BIKE, 200.0, 270.0, 1.1)]
ROW = [(Base.circle(25), 200.0 + 22.5 * sign, 200.0, 0.0) for sign in (-1, 1)]
"""Two round bases as far apart as the ends of a bike's."""


def discs_of(frame: Frame, camera: Camera) -> Discs:
    return find_discs(rectify_photo(frame.pixels, camera, BOX_MM, OVERVIEW_MM_PER_PX), camera)


def found_on(frame: Frame, camera: Camera) -> list[Detection]:
    return find_stadiums(frame, camera, [BIKE, Base.stadium(30, 60)], discs_of(frame, camera))


def off_by(one: Detection, x: float, y: float) -> float:
    return float(np.hypot(*(one.xy_mm - [x, y])))


@pytest.mark.parametrize("tilt_deg", [4.0, 8.0])
def test_every_stadium_is_found_once_with_its_size(tilt_deg: float) -> None:
    camera = over(tilt_deg)
    found = found_on(table(camera, PLACES), camera)
    assert [one.base for one in found] == [BIKE] * len(PLACES)
    for _, x, y, turn in PLACES:
        one = min(found, key=lambda one: off_by(one, x, y))
        assert off_by(one, x, y) < 0.5
        assert abs((one.heading_deg - np.degrees(turn) + 90) % 180 - 90) < 2.0
        assert one.heading_modulo_deg == 180.0


def seen_from_afar(frame: Frame, camera: Camera, times: float) -> tuple[Frame, Camera]:
    """The same photo with pixels so many times as large."""
    pixels = cv2.resize(
        frame.pixels, None, fx=1 / times, fy=1 / times, interpolation=cv2.INTER_AREA
    )
    matrix = camera.matrix / times
    matrix[:2, 2] += 0.5 / times - 0.5  # pixels are counted by their middles
    matrix[2, 2] = 1.0
    return Frame(pixels.astype(np.uint8), "coarse"), camera.with_lens(matrix, camera.distortion)


@pytest.mark.parametrize("tilt_deg", [4.0, 8.0])
def test_a_photo_of_1080_lines_shows_stadiums_as_well(tilt_deg: float) -> None:
    """A pixel is 1.6 mm there: the ends' rims fit worse and contrast less than in finer photos."""
    camera = over(tilt_deg)
    found = found_on(*seen_from_afar(table(camera, PLACES), camera, 2.5))
    assert [one.base for one in found] == [BIKE] * len(PLACES)
    for _, x, y, _ in PLACES:
        assert min(off_by(one, x, y) for one in found) < 1.0
    assert found_on(*seen_from_afar(table(camera, ROW), camera, 2.5)) == []


def test_a_stadium_is_found_about_its_place_and_none_on_bare_ground() -> None:
    camera = over(8.0)
    _, x, y, turn = PLACES[0]
    places = np.array([[x + 1, y - 1, turn + 0.05], [300.0, 250.0, 0.0]])
    (found,) = find_stadiums_at(table(camera, PLACES), camera, BIKE, places, 0.5)
    assert found.base == BIKE
    assert off_by(found, x, y) < 0.5
    assert abs((found.heading_deg - np.degrees(turn) + 90) % 180 - 90) < 2.0


def contrast_of(bases: list[tuple[Base, float, float, float]], start: list[float]) -> float:
    camera = over(8.0)
    starts = np.array([[*start[:2], *HALF_SIZE, start[2]]])
    pyramid = photo_pyramid(table(camera, bases))
    return float(trace_stadiums(pyramid, camera, np.zeros(1, int), starts).contrast[0])


def test_round_bases_in_a_row_are_no_stadium(monkeypatch: pytest.MonkeyPatch) -> None:
    camera = over(8.0)
    assert found_on(table(camera, ROW), camera) == []
    monkeypatch.setattr(stadium_trials, "HOPEFUL_LOGIT", -np.inf)
    assert found_on(table(camera, ROW), camera) == []
    assert contrast_of(ROW, [200.0, 200.0, 0.0]) < 0.4
    assert contrast_of(PLACES, [110.0, 110.0, 0.3]) > 0.6


def test_where_nothing_looks_like_a_stadium_it_is_not_traced_on() -> None:
    camera = over(8.0)
    start = np.array([[200.0, 200.0, *HALF_SIZE, 0.0]])
    pyramid, size = photo_pyramid(table(camera, ROW)), np.zeros(1, int)
    assert trace_stadiums(pyramid, camera, size, start) is NO_STADIUMS
    on_both = np.array([[*PLACES[0][1:3], *HALF_SIZE, PLACES[0][3]], start[0]])
    pyramid = photo_pyramid(
        table(camera, PLACES + [(base, x, 350.0, 0.0) for base, x, _, _ in ROW])
    )
    on_both[1, 1] = 350.0
    assert len(trace_stadiums(pyramid, camera, np.zeros(2, int), on_both).size) == 2


def test_a_trace_that_starts_beside_the_base_moves_to_it() -> None:
    camera = over(8.0)
    pyramid = photo_pyramid(table(camera, PLACES))
    _, x, y, turn = PLACES[0]
    start = np.array([[x + 2.0, y - 1.5, *HALF_SIZE, turn + 0.06]])
    traced = trace_stadiums(pyramid, camera, np.zeros(1, int), start)
    assert traced.poses[0, :2] == pytest.approx([x, y], abs=0.4)
    assert traced.poses[0, 4] == pytest.approx(turn, abs=0.02)
    assert trace_stadiums(pyramid, camera, np.zeros(0, int), start[:0]) is NO_STADIUMS


def discs(rounds: list[list[float]], ovals: list[list[float]]) -> Discs:
    return Discs(np.array(rounds, float).reshape(-1, 4), np.array(ovals, float).reshape(-1, 6))


ENDS = [[0.0, 0.0, 13.0, 0.5], [0.0, 42.0, 16.0, 0.2]]
MIDDLE = [1.0, 30.0, 28.0, 16.0, np.pi / 2 + 0.1, 0.4]


@pytest.mark.parametrize(
    ("rounds", "ovals", "number"),
    [
        (ENDS, [MIDDLE], 1),
        (ENDS, [], 0),
        (ENDS[:1], [MIDDLE], 0),
        (ENDS, [[40.0, *MIDDLE[1:]]], 0),
        (ENDS, [[*MIDDLE[:4], 0.0, 0.4]], 0),
        ([[*ENDS[0][:3], 0.8], ENDS[1]], [MIDDLE], 1),
        ([[*ENDS[0][:3], 0.8], ENDS[1]], [[*MIDDLE[:5], 0.05]], 0),
        ([ENDS[0], [0.0, 60.0, 13.0, 0.5]], [MIDDLE], 0),
        ([ENDS[0], [0.0, 42.0, 25.0, 0.5]], [MIDDLE], 0),
    ],
    ids=[
        *("both", "no oval", "one end", "oval beside", "oval across"),
        *("an end likelier than the oval", "one far likelier", "too far", "too large"),
    ],
)
def test_ends_are_paired_where_an_oval_lies_along_them(
    rounds: list[list[float]], ovals: list[list[float]], number: int
) -> None:
    starts = paired_starts(discs(rounds, ovals), HALF_SIZE)
    assert len(starts) == number
    if number:
        assert starts[0, :4] == pytest.approx([0, 21, 35, 12.5])
        assert abs(starts[0, 4]) == pytest.approx(np.pi / 2)


def test_an_oval_may_be_the_middle_or_either_end() -> None:
    starts = oval_starts(discs([], [[10.0, 20.0, 28.0, 16.0, 0.0, 0.4]]), HALF_SIZE)
    assert starts[:, 0] == pytest.approx([10, 17, 3, 10, 10])
    assert starts[:, 1] == pytest.approx([20, 20, 20, 24, 16])


def detection(base: Base, xy_mm: Array, score: float) -> Detection:
    return Detection(base, xy_mm, 0.0, 0.0, np.eye(2) * 0.01, np.zeros((2, 15)), score, 1.0)


def test_no_round_base_stands_in_the_end_of_a_stadium() -> None:
    bike = detection(BIKE, np.array([200.0, 200.0]), 0.9)
    ends = [detection(base, np.array([x, y]), 0.99) for base, x, y, _ in ROW]
    beside = detection(Base.circle(25), np.array([200.0, 226.0]), 0.8)
    assert suppress_overlaps([bike, *ends, beside]) == (bike, beside)
