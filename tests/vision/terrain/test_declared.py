"""Raised ground that somebody told of: what stands on it is measured at its height, with the doubt of that."""

from dataclasses import replace

import numpy as np
import pytest

from evaluate.drawn.markers import marker_mm, seen_markers
from overruler.board import Board
from overruler.calibration import Calibration, Covariances, TableBow
from overruler.declared_terrain import DeclaredTerrain
from overruler.errors import BadInput, CannotMeasure
from overruler.frame import Frame
from overruler.geometry.pose import Array
from overruler.referee import Referee
from overruler.report import Report
from overruler.scene import Piece
from overruler.vision.camera.calibrate import calibrate
from overruler.vision.detection.raised_plane import RaisedPlane
from overruler.vision.terrain import by_markers
from overruler.vision.terrain.declared import locate_ground
from synthetic.flat_table import Plinth
from tests.tables import BOARD_MM, camera_over, eight_markers, exact, photo

TOP_MM = 40.0
RIM = (0.03, 0.03, 0.04)
FLAT = [
    Plinth(150, 130, 27.0, rim=RIM),
    Plinth(560, 330, 50.0, rim=RIM),
    Plinth(330, 185, 27.0, rim=RIM),
]
RAISED = [
    Plinth(300, 270, 27.0, z_mm=TOP_MM, rim=RIM),
    Plinth(372, 306, 50.0, z_mm=TOP_MM, rim=RIM),
]
OUTLINE = ((270.0, 215.0), (430.0, 215.0), (430.0, 340.0), (270.0, 340.0))
ON_TOP = {20: marker_mm(400.0, 245.0, 40.0, 30.0, TOP_MM)}
HILL = DeclaredTerrain("mesa", OUTLINE, False, TOP_MM, 1.0)
CAMERA = camera_over(25.0)
BOARD = Board("test", 45.0, "DICT_4X4_50", *BOARD_MM, eight_markers())


def referee(told: DeclaredTerrain) -> Referee:
    return Referee(BOARD, game="legion", terrain=[told])


@pytest.fixture(scope="module")
def frame() -> Frame:
    return photo(CAMERA, FLAT + RAISED, eight_markers() | ON_TOP)


@pytest.fixture(scope="module")
def told(frame: Frame) -> Report:
    return referee(replace(HILL, markers=(20,), marker_mm=40.0)).look(frame)


def nearest(report: Report, plinth: Plinth) -> Piece:
    return min(
        report.scene.pieces,
        key=lambda piece: np.hypot(piece.x_mm - plinth.x_mm, piece.y_mm - plinth.y_mm),
    )


def off(report: Report, plinth: Plinth) -> tuple[float, float]:
    """How far off a piece is in mm, and the square of that in units of its doubt."""
    piece = nearest(report, plinth)
    away = np.array([piece.x_mm - plinth.x_mm, piece.y_mm - plinth.y_mm])
    return float(np.hypot(*away)), float(
        away @ np.linalg.solve(np.array(piece.covariance_mm2), away)
    )


def test_pieces_on_a_hill_stand_at_its_height_and_others_on_the_mat(told: Report) -> None:
    assert len(told.scene.pieces) == 5
    for plinth in FLAT + RAISED:
        piece = nearest(told, plinth)
        away, surprise = off(told, plinth)
        assert piece.base.width_mm == plinth.diameter_mm
        assert piece.z_mm == pytest.approx(plinth.z_mm, abs=3)
        assert away < 1.5
        assert surprise < 9


def test_the_scene_holds_the_hill_and_who_stands_on_it(told: Report) -> None:
    (mesa,) = told.scene.terrain
    assert (mesa.id, mesa.footprint_mm) == ("mesa", OUTLINE)
    assert mesa.top_z_mm == pytest.approx(TOP_MM, abs=2)
    assert [piece.extra.get("on") for piece in told.scene.pieces if piece.z_mm] == ["mesa", "mesa"]
    outline = np.array(nearest(told, RAISED[0]).extra["image"]["outline_px"])
    middle = CAMERA.project(np.array([RAISED[0].x_mm, RAISED[0].y_mm, TOP_MM]))
    assert np.hypot(*(outline.mean(0) - middle)) < 2


def test_the_height_of_a_hill_is_a_doubt_that_its_pieces_share(told: Report) -> None:
    one, other, flat = (
        told.scene.pieces.index(nearest(told, plinth)) for plinth in (*RAISED, FLAT[0])
    )
    assert told.scene.covariance is not None
    shared, apart = (
        np.array(told.scene.covariance.cross_covariance(one, k)).trace() for k in (other, flat)
    )
    assert shared > 0.1
    assert abs(apart) < 0.2 * shared


AWAY = replace(HILL, outline_mm=tuple((x + 5000, y) for x, y in OUTLINE))
"""A hill outside the photo. None is drawn in it."""


def test_without_their_hill_the_same_pieces_are_far_off(frame: Frame) -> None:
    """That the tests above can fail: told that the table is flat, the program believes it."""
    report = replace(referee(AWAY), flat=True).look(frame)
    assert len(report.scene.pieces) == 5
    assert min(off(report, plinth)[0] for plinth in RAISED) > 8


def test_pieces_that_look_too_large_tell_of_a_hill_that_nobody_sees(frame: Frame) -> None:
    report = referee(AWAY).look(frame)
    assert len(report.scene.pieces) == 5
    for plinth in RAISED:
        away, surprise = off(report, plinth)
        assert nearest(report, plinth).z_mm == pytest.approx(TOP_MM, abs=10)
        assert away < 4
        assert surprise < 9


def test_the_marker_on_the_hill_is_none_of_the_board(frame: Frame, told: Report) -> None:
    assert told.calibration.markers == tuple(range(8))
    free = calibrate(frame, Board.free(45.0, "DICT_4X4_50"), elsewhere=(20, 3))
    assert free.markers == (0, 1, 2, 4, 5, 6, 7)
    assert calibrate(frame, BOARD.without_markers((3, 20))).markers == (0, 1, 2, 4, 5, 6, 7)


def about(corners: Array) -> tuple[tuple[float, float], ...]:
    """The outline in the frame of a marker that lies at `corners` (4, 3)."""
    right = (corners[1] - corners[0])[:2] / 40.0
    axes = np.array([right, [-right[1], right[0]]])
    return tuple(
        (float(x), float(y)) for x, y in (np.array(OUTLINE) - corners.mean(0)[:2]) @ axes.T
    )


def test_a_marker_on_it_says_where_a_hill_is_and_how_high(frame: Frame) -> None:
    calibration = calibrate(frame, BOARD, elsewhere=(20,))
    by_marker = DeclaredTerrain(
        "mesa", about(ON_TOP[20]), True, None, 1.0, markers=(20,), marker_mm=40.0
    )
    (area,) = locate_ground(frame, calibration, [by_marker], BOARD).areas
    assert abs(area.top_z_mm - TOP_MM) < 3 * area.sigma_mm
    assert 0.5 < area.sigma_mm < 6
    assert np.abs(area.footprint_mm - OUTLINE).max() < 3
    doubtful = calibration.map_covariances(lambda covariance: 100 * covariance)
    assert locate_ground(frame, doubtful, [by_marker], BOARD).areas[0].sigma_mm > 2 * area.sigma_mm
    known = replace(by_marker, top_z_mm=TOP_MM + 0.2, sigma_mm=0.5)
    (surer,) = locate_ground(frame, calibration, [known], BOARD).areas
    assert surer.sigma_mm <= 0.5
    assert abs(surer.top_z_mm - TOP_MM) < 0.5


def test_a_place_that_was_measured_tells_the_height_too(frame: Frame) -> None:
    calibration = calibrate(frame, BOARD, elsewhere=(20,))
    vague = DeclaredTerrain("mesa", OUTLINE, False, None, 1.0, markers=(20,), marker_mm=40.0)
    placed = replace(vague, markers_at_mm=((400.0, 245.0),), edge_mm=0.1)
    areas = [locate_ground(frame, calibration, [one], BOARD).areas[0] for one in (vague, placed)]
    assert areas[1].sigma_mm < areas[0].sigma_mm
    assert abs(areas[1].top_z_mm - TOP_MM) < 3 * areas[1].sigma_mm


@pytest.mark.parametrize(
    ("told", "error", "said"),
    [
        (
            DeclaredTerrain("mesa", OUTLINE, False, None, 1.0, markers=(33,)),
            CannotMeasure,
            "marker 33 on 'mesa' was not found",
        ),
        (
            DeclaredTerrain("mesa", OUTLINE, True, TOP_MM, 1.0, markers=(33,)),
            CannotMeasure,
            "marker 33 on 'mesa' was not found",
        ),
        (replace(HILL, top_z_mm=900.0), BadInput, "the top of 'mesa' would lie at 900 mm"),
        (replace(HILL, top_z_mm=None, markers=(20,), marker_mm=400.0), BadInput, "would lie at -"),
        (
            replace(HILL, top_z_mm=None, markers=(20,), marker_mm=4.0),
            BadInput,
            "check top_z_mm, and marker_mm",
        ),
        (replace(HILL, markers=(20,), marker_mm=44.0), BadInput, "contradicts its markers by"),
        (
            replace(HILL, top_z_mm=15.0, markers=(20,), marker_mm=40.0),
            BadInput,
            "contradicts its markers by",
        ),
    ],
)
def test_what_cannot_be_is_refused(
    told: DeclaredTerrain, error: type[Exception], said: str, frame: Frame
) -> None:
    with pytest.raises(error, match=said):
        locate_ground(frame, exact(CAMERA), [told], BOARD)


def test_points_do_not_say_how_large_a_marker_is(frame: Frame) -> None:
    with pytest.raises(BadInput, match="marker_mm is missing"):
        locate_ground(frame, exact(CAMERA), [replace(HILL, markers=(20,))], None)


def test_a_level_sees_what_the_board_sees() -> None:
    """The same pixels, and the same doubt of them by the camera's."""
    random = np.random.default_rng(4)
    root = random.normal(size=(15, 15)) * np.array([1.0] * 4 + [1e-3] * 5 + [1e-3] * 3 + [0.1] * 3)
    calibration = replace(exact(CAMERA), covariances=Covariances.same(root.T @ root))
    origin = np.array([120.0, 80.0, 33.0])
    level = RaisedPlane.of(calibration, origin, (100.0, 90.0))
    points = np.array([[10.0, 20.0, 0.0], [90.0, 5.0, 3.0]])
    assert np.allclose(level.calibration.camera.project(points), CAMERA.project(points + origin))
    here, there = (
        CAMERA.project_with_jacobians(points + origin)[2],
        level.calibration.camera.project_with_jacobians(points)[2],
    )
    assert np.allclose(there @ level.camera_jacobian, here)
    one = np.einsum("nip,pq,njq->nij", here, calibration.covariance, here)
    assert np.allclose(
        np.einsum("nip,pq,njq->nij", there, level.calibration.covariance, there), one
    )


def test_the_slopes_of_a_marker_on_a_hill_are_what_small_steps_say() -> None:
    (marker,) = seen_markers(CAMERA, ON_TOP, np.random.default_rng(1))
    state = np.array([37.0, 2e-3, 401.0, 243.0, 0.5])
    bow = TableBow(np.array([450.0, 450.0]), np.array([450.0, 450.0]), np.array([1.5, -0.7]))
    found, shares = replace(exact(CAMERA), bow=bow), np.array([0.9, 0.6])

    def seen(found: Calibration, state: Array) -> Array:
        return by_markers._corner_residuals(found, marker, 40.0, state, 0, shares)[0]

    misfit, slope, by_table = by_markers._corner_residuals(found, marker, 40.0, state, 0, shares)
    for k in range(5):
        step = np.eye(5)[k] * 1e-4
        ahead, behind = (seen(found, state + s * step) for s in (1, -1))
        assert np.allclose((behind - ahead) / 2e-4, slope[:, k], rtol=1e-3, atol=1e-3)
    for k in (0, 4, 10, 14):
        step = np.eye(15)[k] * 1e-5
        ahead, behind = (
            seen(replace(found, camera=CAMERA.moved(s * step)), state) for s in (1, -1)
        )
        assert np.allclose((ahead - behind) / 2e-5, by_table[:, k], rtol=1e-3, atol=1e-2)
    for k in (0, 1):
        step = np.eye(2)[k] * 1e-3
        bows = (replace(bow, height_mm=bow.height_mm + s * step) for s in (1, -1))
        higher, lower = (seen(replace(found, bow=one), state) for one in bows)
        assert np.allclose((higher - lower) / 2e-3, by_table[:, 15 + k], rtol=1e-3, atol=1e-3)
    assert misfit.shape == (8,)


def test_a_hill_stands_on_the_table_as_it_is_bowed() -> None:
    """On a table 3 mm higher there, its markers are seen 3 mm higher: the hill itself is as high as it was."""
    (marker,) = seen_markers(
        CAMERA, {20: ON_TOP[20] + np.array([0, 0, 3.0])}, np.random.default_rng(1), 0.0, 0.0
    )
    middle = ON_TOP[20].mean(0)[:2]
    bowed = replace(
        exact(CAMERA), bow=TableBow(middle, np.array([450.0, 450.0]), np.array([1.0, 2.0]))
    )
    told = DeclaredTerrain("mesa", OUTLINE, False, None, 1.0, markers=(20,), marker_mm=40.0)
    on_flat, on_bowed = (
        by_markers.measure_top(found, told, [marker], 40.0) for found in (exact(CAMERA), bowed)
    )
    assert on_bowed.z_mm == pytest.approx(TOP_MM, abs=0.05)
    assert on_flat.z_mm == pytest.approx(TOP_MM + 3, abs=0.05)
    unsure = replace(bowed, covariances=Covariances.same(np.diag([1e-18] * 15 + [4.0, 9.0])))
    doubt_mm = by_markers.measure_top(unsure, told, [marker], 40.0).sigma_mm
    assert doubt_mm**2 == pytest.approx(on_bowed.sigma_mm**2 + 13, rel=0.02)


def test_a_level_has_the_table_s_bow() -> None:
    bow = TableBow(np.array([450.0, 450.0]), np.array([450.0, 450.0]), np.array([0.4, -0.3]), 0.2)
    joint = np.diag(np.arange(1.0, 18.0))
    joint[3, 16] = joint[16, 3] = 0.5
    origin, places = np.array([120.0, 80.0, 33.0]), np.array([[10.0, 20.0], [70.0, 40.0]])
    known = replace(exact(CAMERA), bow=bow, covariances=Covariances(joint / 9, joint, joint))
    level = RaisedPlane.of(known, origin, (100.0, 90.0)).calibration
    assert level.covariances.usual == pytest.approx(level.joint_covariance / 9)
    assert level.bow is not None
    assert np.allclose(level.bow.z_mm(places), bow.z_mm(places + origin[:2]))
    assert level.joint_covariance[16, 16] == joint[16, 16]
    assert level.joint_covariance[3, 16] == 0.5
    assert np.allclose(level.joint_covariance[:15, :15], level.covariance)
