"""The round trip: a table is rendered, looked at, and what comes out is what went in, within what it says of itself."""

from concurrent.futures import Future
from itertools import combinations
from threading import Timer
from unittest.mock import Mock

import numpy as np
import pytest

from overruler.bases import HEXAGON_WIDTHS_MM, ROUND_DIAMETERS_MM, Base
from overruler.board import Board
from overruler.errors import CannotMeasure
from overruler.frame import Frame
from overruler.geometry.pose import Array
from overruler.referee import Referee
from overruler.report import Report
from overruler.rules import ask
from overruler.vision.detection.detect import rectify_board
from overruler.vision.detection.lazy_polygons import LazyPolygons
from overruler.vision.rounds.ring_filter import find_candidates
from synthetic.flat_table import Plinth
from tests.tables import BOARD_MM, camera_over, eight_markers, exact, photo

DARK, GREY, BROWN = (0.03, 0.03, 0.04), (0.2, 0.2, 0.2), (0.05, 0.09, 0.16)
PLINTHS = [
    Plinth(150, 130, 27.0, rim=DARK),
    Plinth(177.0, 130, 27.0, rim=DARK),
    Plinth(300, 140, 27.0, rim=BROWN),
    Plinth(500, 150, 50.0, rim=DARK),
    Plinth(220, 300, 50.0, rim=GREY),
    Plinth(420, 330, 100.0, rim=DARK),
    Plinth(580, 330, 27.0, rim=DARK),
]
BOARD = Board("test", 45.0, "DICT_4X4_50", *BOARD_MM, eight_markers())


@pytest.fixture(scope="module", params=[8.0, 28.0], ids=["from above", "tilted"])
def report(request: pytest.FixtureRequest) -> Report:
    frame = photo(camera_over(request.param), PLINTHS, eight_markers())
    return Referee(BOARD, game="legion").look(frame)


def test_a_ruler_found_late_still_hides_what_lies_under_it() -> None:
    """Places are looked for while rulers still are; nothing is called a candidate before they are known."""
    camera = camera_over()
    view = rectify_board(photo(camera, PLINTHS[:1]), exact(camera))
    cover = np.array([[120, 100], [180, 100], [180, 160], [120, 160.0]])
    found: Future[list[Array]] = Future()
    timer = Timer(0.3, found.set_result, [[cover]])
    timer.start()
    late = find_candidates(view, [13.5], LazyPolygons(found.result))
    timer.join()
    soon = find_candidates(view, [13.5], [cover])
    assert np.array_equal(late.xy_mm, soon.xy_mm)
    near = [
        np.hypot(*(one.xy_mm - [150, 130]).T).min() < 3
        for one in (late, find_candidates(view, [13.5]))
    ]
    assert near == [False, True]


def test_what_is_awaited_is_a_sequence_like_any() -> None:
    polygons = [np.eye(3)[:, :2], np.ones((4, 2))]
    awaited = LazyPolygons(lambda: polygons)
    assert len(awaited) == 2
    assert all(one is other for one, other in zip([*awaited], polygons, strict=True))
    assert awaited[-1] is polygons[-1]
    assert list(awaited[:1]) == polygons[:1]


def matched(report: Report) -> list[tuple[Plinth, str]]:
    places = np.array([[piece.x_mm, piece.y_mm] for piece in report.scene.pieces])
    pairs = []
    for plinth in PLINTHS:
        away = np.hypot(*(places - [plinth.x_mm, plinth.y_mm]).T)
        if away.min() < 3:
            pairs.append((plinth, report.scene.pieces[int(away.argmin())].id))
    return pairs


def test_every_base_is_found_and_nothing_else(report: Report) -> None:
    assert len(matched(report)) == len(PLINTHS)
    assert len(report.scene.pieces) == len(PLINTHS)


def test_sizes_are_right(report: Report) -> None:
    sizes = {piece.id: piece.base.width_mm for piece in report.scene.pieces}
    assert [sizes[name] for _, name in matched(report)] == [
        plinth.diameter_mm for plinth in PLINTHS
    ]


def test_distances_agree_with_the_truth_within_their_stated_doubt(report: Report) -> None:
    z = []
    for (one, a), (two, b) in combinations(matched(report), 2):
        apart = (
            float(np.hypot(one.x_mm - two.x_mm, one.y_mm - two.y_mm))
            - (one.diameter_mm + two.diameter_mm) / 2
        )
        answer = ask(report.scene, {"question": "distance", "from": a, "to": b}).to_json()
        assert answer["distance_mm"] == pytest.approx(apart, abs=1.0)
        z.append((answer["distance_mm"] - apart) / answer["sigma_mm"])
    assert np.mean(np.abs(z) < 1.96) > 0.85
    assert np.max(np.abs(z)) < 4


def test_the_scene_keeps_what_the_picture_shows(report: Report) -> None:
    assert report.calibration.markers == tuple(range(8))
    for piece, detection in zip(report.scene.pieces, report.detections, strict=True):
        ring = np.array(piece.extra["image"]["outline_px"])
        assert np.allclose(ring.mean(0), piece.extra["image"]["center_px"], atol=3)
        assert piece.base == detection.base


def test_a_film_goes_through_the_same_door() -> None:
    frame = photo(camera_over(8.0), PLINTHS[:1], eight_markers())
    reports = list(Referee(BOARD, game="legion").watch([frame, frame]))
    assert [len(report.scene.pieces) for report in reports] == [1, 1]
    assert reports[0].scene.to_json() == reports[1].scene.to_json()


def test_no_markers_is_a_clear_refusal() -> None:
    with pytest.raises(CannotMeasure, match="marker"):
        Referee(BOARD).look(Frame(np.full((900, 1200, 3), 120, np.uint8), "blank"))


def test_markers_that_lie_anywhere_are_no_bases_and_their_places_are_known() -> None:
    frame = photo(camera_over(20.0), PLINTHS[3:6], eight_markers())
    report = Referee(Board.free(45.0), bases=[Base.circle(d) for d in (27, 50, 100)]).look(frame)
    squares = report.calibration.squares_mm
    assert len(squares) == 8
    sides = [np.linalg.norm(square - np.roll(square, 1, axis=0), axis=1) for square in squares]
    assert np.allclose(sides, 45.0, atol=0.5)
    places = np.array([[piece.x_mm, piece.y_mm] for piece in report.scene.pieces])
    assert len(places) == 3
    for square in squares:
        assert np.hypot(*(places - square.mean(0)).T).min() > 30


@pytest.mark.parametrize(
    ("bases", "widths_mm", "diameters_mm"),
    [
        (None, HEXAGON_WIDTHS_MM, ROUND_DIAMETERS_MM),
        (
            [Base.hexagon(30.0), Base.circle(40.0)],
            (30,),
            (Base.hexagon(30.0).as_round.width_mm, 40),
        ),
    ],
    ids=["the catalogue", "named"],
)
def test_several_photos_look_for_hexagons_and_what_stands_for_them(
    bases: list[Base] | None,
    widths_mm: tuple[float, ...],
    diameters_mm: tuple[float, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    look = Mock(side_effect=CannotMeasure("nothing is seen"))
    monkeypatch.setattr("overruler.vision.fusion.look_at_all.look_at_all", look)
    with pytest.raises(CannotMeasure):
        Referee(BOARD, bases=bases).look([photo(camera_over(), [])])
    known = look.call_args.args[2]
    assert known.hexagons.widths_mm == widths_mm
    assert 2 * known.radii_mm == pytest.approx(diameters_mm)
