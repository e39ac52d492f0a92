"""Range rulers are found on a drawn table, read to a thousandth, and nothing else is taken for one."""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from evaluate.drawn.markers import camera_over
from overruler.calibration import Calibration, Covariances
from overruler.detections import DetectedRuler
from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.assembly.one_photo import ORTHOPHOTO_PIXEL_MM
from overruler.vision.detection.detect import rectify_board
from overruler.vision.rulers.find import KNOWN_RULERS, find_rulers, ruler_footprints, ruler_problems
from overruler.vision.rulers.fit import _align_to_edges
from overruler.vision.rulers.long_edges import _robust_polyline
from overruler.vision.rulers.strip import RulerKind

BOARD_MM = (900.0, 900.0)
SIZE_PX = (1600, 1200)
OVERSAMPLE = 3
LEGION, SHORT, XWING, STICK = KNOWN_RULERS
MAT, BAR, INK = 110, 45, 215


def path_of(
    kind: RulerKind, start: tuple[float, float], heading_deg: float, bends_deg: Sequence[float] = ()
) -> Array:
    """The joints with both ends (n + 1, 2); each piece is turned against the one before."""
    turned = np.radians(
        heading_deg + np.cumsum([0.0, *bends_deg, *[0.0] * kind.segments])[: kind.segments]
    )
    steps = kind.segment_mm * np.stack([np.cos(turned), np.sin(turned)], -1)
    return np.asarray(np.array(start) + np.concatenate([[[0, 0]], np.cumsum(steps, 0)]))


def draw(
    canvas: NDArray[np.uint8], camera: Camera, corners_mm: Array, z_mm: float, grey: int
) -> None:
    dense = np.concatenate(
        [np.linspace(a, b, 30) for a, b in zip(corners_mm, np.roll(corners_mm, -1, 0), strict=True)]
    )
    px = camera.project(np.column_stack([dense, np.full(len(dense), z_mm)]))
    at = ((px + 0.5) * OVERSAMPLE - 0.5) * 16
    cv2.fillPoly(canvas, [np.rint(at).astype(np.int32)], grey, shift=4)


def bar(a: Array, b: Array, width_mm: float) -> Array:
    along = (b - a) / np.linalg.norm(b - a)
    side = np.array([-along[1], along[0]]) * width_mm / 2
    return np.array([a - side, b - side, b + side, a + side])


def table(
    camera: Camera,
    kind: RulerKind | None,
    path: Array | None,
    below: Sequence[tuple[Array, int]] = (),
    above: Sequence[tuple[Array, int]] = (),
) -> Frame:
    """A picture of a mat with a ruler on it; polygons (K, 2) in mm, each of one grey, lie below and above that."""
    canvas = np.full((SIZE_PX[1] * OVERSAMPLE, SIZE_PX[0] * OVERSAMPLE), MAT, np.uint8)
    for polygon, grey in below:
        draw(canvas, camera, polygon, 0.0, grey)
    if kind is not None and path is not None:
        for a, b in pairwise(path):
            draw(canvas, camera, bar(a, b, kind.width_mm), kind.z_mm, BAR)
        for before, joint in pairwise(path):
            along = (joint - before) / np.linalg.norm(joint - before)
            draw(
                canvas,
                camera,
                bar(joint - 1.8 * along, joint - 0.6 * along, 0.8 * kind.width_mm),
                kind.z_mm,
                INK,
            )
    for polygon, grey in above:
        draw(canvas, camera, polygon, 5.0, grey)
    small = cv2.resize(canvas, SIZE_PX, interpolation=cv2.INTER_AREA).astype(float)
    noisy = cv2.GaussianBlur(small, (0, 0), 0.6) + np.random.default_rng(4).normal(
        0, 2.0, small.shape
    )
    return Frame(
        np.repeat(np.clip(np.rint(noisy), 0, 255).astype(np.uint8)[..., None], 3, 2), "drawn"
    )


def known(camera: Camera) -> Calibration:
    return Calibration(camera, Covariances.same(np.zeros((15, 15))), SIZE_PX, 0.1, (), BOARD_MM)


def found(frame: Frame, camera: Camera) -> list[DetectedRuler]:
    calibration = known(camera)
    return list(
        find_rulers(frame, calibration, rectify_board(frame, calibration, ORTHOPHOTO_PIXEL_MM))
    )


CASES = [
    pytest.param(LEGION, (80, 260), 28.0, [0.6] * 4, 12.0, id="legion, hardly bent"),
    pytest.param(
        LEGION, (60, 300), 30.0, [5.8, -11.0, 2.0, -9.0], 12.0, id="legion, bent this way and that"
    ),
    pytest.param(LEGION, (80, 180), 5.0, [9.0] * 4, 15.0, id="legion, bent into an arc"),
    pytest.param(SHORT, (300, 600), -20.0, [0.6], 25.0, id="two segments, tilted"),
    pytest.param(SHORT, (300, 600), -20.0, [-10.0], 10.0, id="two segments, bent"),
    pytest.param(XWING, (300, 300), 118.0, [], 0.0, id="xwing, from above"),
    pytest.param(XWING, (300, 600), -35.0, [], 32.0, id="xwing, tilted"),
    pytest.param(STICK, (250, 400), 5.0, [], 20.0, id="stick"),
]


@pytest.mark.parametrize(("kind", "start", "heading_deg", "bends_deg", "tilt_deg"), CASES)
def test_a_ruler_is_read_as_it_lies(
    kind: RulerKind,
    start: tuple[float, float],
    heading_deg: float,
    bends_deg: list[float],
    tilt_deg: float,
) -> None:
    camera, path = camera_over(tilt_deg), path_of(kind, start, heading_deg, bends_deg)
    calibration = known(camera)
    frame = table(camera, kind, path)
    (ruler,) = find_rulers(
        frame, calibration, rectify_board(frame, calibration, ORTHOPHOTO_PIXEL_MM)
    )
    assert ruler.kind == kind.name
    assert ruler.segment_mm == pytest.approx(
        kind.segment_mm, rel=1e-3 if kind.segments > 2 else 2e-3
    )
    assert abs(ruler.segment_mm - kind.segment_mm) < 3.5 * ruler.sigma_mm
    off = min(np.abs(ruler.path_mm - one).max() for one in (path, path[::-1]))
    assert off < 1.5
    assert not ruler_problems([ruler])


@pytest.mark.parametrize(
    ("kind", "start", "clean_px", "spread_px"),
    [(LEGION, (60, 300), 0.101, 0.287), (STICK, (250, 400), 0.023, 0.064)],
)
def test_a_reading_is_as_unsure_as_readings_of_photos_were(
    kind: RulerKind, start: tuple[float, float], clean_px: float, spread_px: float
) -> None:
    """A segment's error in px on photos, those in usual light and those where white spreads by 0.75 px."""
    camera = camera_over(0.0)
    path = path_of(kind, start, 0.0, [0.0] * (kind.segments - 1) if kind.jointed else [])
    frame, mm_per_px = table(camera, kind, path), float(camera.mm_per_px([400.0, 300.0, 3.0]))
    for white_px, measured_px in ((0.0, clean_px), (0.75, spread_px)):
        calibration = replace(known(camera), edge_shift_px=white_px)
        view = rectify_board(frame, calibration, ORTHOPHOTO_PIXEL_MM)
        (ruler,) = find_rulers(frame, calibration, view)
        assert ruler.sigma_mm / mm_per_px == pytest.approx(measured_px, rel=0.5)


def planks(width_mm: float) -> list[tuple[Array, int]]:
    """Grooves across the whole board."""
    groove = np.array([[0, 0], [900, 0], [900, 1.5], [0, 1.5]])
    return [(groove + np.array([0, y]), 70) for y in np.arange(5.0, 900.0, width_mm)]


@pytest.mark.parametrize("kind", [SHORT, XWING, STICK])
def test_a_ruler_is_found_on_planks_as_wide_as_it(kind: RulerKind) -> None:
    """The mat has many lines of its own a ruler's width apart, in one direction."""
    camera, path = camera_over(10.0), path_of(kind, (300, 300), 40.0)
    (ruler,) = found(table(camera, kind, path, below=planks(kind.width_mm)), camera)
    assert ruler.kind == kind.name
    assert ruler.segment_mm == pytest.approx(kind.segment_mm, rel=2e-3)


def test_a_table_without_a_ruler_has_none() -> None:
    camera = camera_over(15.0)
    assert found(table(camera, None, None), camera) == []


def test_a_bare_bar_is_no_ruler() -> None:
    camera, path = camera_over(15.0), path_of(XWING, (300, 300), 40.0)
    plain = replace(XWING, segments=1, segment_mm=XWING.length_mm)
    frame = table(camera, plain, path[[0, -1]])
    assert found(frame, camera) == []


def test_markers_printed_too_large_are_given_away() -> None:
    """Where the markers say 2 % less than is true, the ruler seems 2 % too short, and that is said."""
    camera, path = camera_over(10.0), path_of(XWING, (300, 300), 40.0)
    shrunk = path.mean(0) + 0.98 * (path - path.mean(0))
    calibration = known(camera)
    frame = table(camera, XWING, shrunk)
    (ruler,) = find_rulers(
        frame, calibration, rectify_board(frame, calibration, ORTHOPHOTO_PIXEL_MM)
    )
    assert ruler.segment_mm == pytest.approx(98.0, abs=0.4)
    (problem,) = ruler_problems([ruler])
    assert problem.flag == "ruler_disagrees"
    in_any_unit = r"the ruler reads [12]\.\d\d ± 0\.\d\d % too short \(95 %\): check the markers"
    assert re.match(in_any_unit, problem.text)


def test_a_strip_of_two_pieces_that_contradicts_the_markers_is_none() -> None:
    """Two ends and one line are too few to say so against the markers: a wall is as likely."""
    camera, path = camera_over(25.0), path_of(SHORT, (300, 600), -20.0, [0.6])
    stretched = path.mean(0) + 1.022 * (path - path.mean(0))
    assert len(found(table(camera, SHORT, path), camera)) == 1
    assert found(table(camera, SHORT, stretched), camera) == []


def test_what_contradicts_the_markers_shows_its_edges() -> None:
    """Where pieces of card lie over it here and there it is no witness against the markers any more."""
    camera, path = camera_over(10.0), path_of(XWING, (300, 300), 40.0)
    shrunk = path.mean(0) + 0.98 * (path - path.mean(0))
    along = (shrunk[-1] - shrunk[0]) / np.linalg.norm(shrunk[-1] - shrunk[0])
    places = shrunk[0] + np.outer([40, 140, 240], along)
    cards = [(bar(at - 20 * along, at + 20 * along, XWING.width_mm + 6), MAT) for at in places]
    assert len(found(table(camera, XWING, path, above=cards), camera)) == 1
    assert len(found(table(camera, XWING, shrunk), camera)) == 1
    assert found(table(camera, XWING, shrunk, above=cards), camera) == []


def test_a_line_is_laid_along_most_of_what_is_seen_not_between() -> None:
    """Two fifths of the middles lie on another line: least squares would begin between the two."""
    along, knots = np.arange(0.0, 450.0, 2.0), np.array([0.0, 150.0, 300.0, 450.0])
    corners = np.array([-2.0, 1.0, 0.0, 2.0])
    true = np.interp(along, knots, corners)
    seen = np.where(np.arange(len(along)) % 5 < 2, 3.3 - 0.8 * true, true)
    assert _robust_polyline(along, seen, knots) == pytest.approx(corners, abs=0.5)


def test_an_end_that_is_not_seen_makes_a_short_ruler_unsure() -> None:
    """A card over its first millimetres: two ends and one line do not agree, and that is in the doubt."""
    camera, path = camera_over(10.0), path_of(SHORT, (300, 600), -20.0)
    along = (path[-1] - path[0]) / SHORT.length_mm
    (plain,) = found(table(camera, SHORT, path), camera)
    card = (bar(path[0] - 2 * along, path[0] + 4 * along, 40.0), MAT)
    (cut,) = found(table(camera, SHORT, path, above=[card]), camera)
    assert cut.segment_mm < plain.segment_mm - 1
    assert cut.sigma_mm > 1.2 * plain.sigma_mm


def test_two_segments_whose_edges_go_on_are_not_five() -> None:
    camera, path = camera_over(10.0), path_of(SHORT, (300, 400), 20.0)
    along = (path[-1] - path[0]) / SHORT.length_mm
    ends = [(path[-1], path[-1] + 250 * along), (path[0] - 250 * along, path[0])]
    (ruler,) = found(
        table(camera, SHORT, path, below=[(bar(*end, SHORT.width_mm), MAT - 12) for end in ends]),
        camera,
    )
    assert ruler.kind == SHORT.name


def test_no_base_is_looked_for_on_a_ruler() -> None:
    camera, path = camera_over(10.0), path_of(XWING, (300, 300), 40.0)
    calibration = known(camera)
    frame = table(camera, XWING, path)
    polygons = ruler_footprints(
        find_rulers(frame, calibration, rectify_board(frame, calibration, ORTHOPHOTO_PIXEL_MM))
    )
    assert len(polygons) == XWING.segments
    middle = path.mean(0).astype(np.float32)
    assert any(
        cv2.pointPolygonTest(polygon.astype(np.float32), middle.tolist(), False) >= 0
        for polygon in polygons
    )


def test_ground_that_the_lens_does_not_show_holds_no_ruler() -> None:
    frame = Frame(np.full((SIZE_PX[1], SIZE_PX[0], 3), MAT, np.uint8), "drawn")
    unseen = np.full((LEGION.segments + 1, 2), np.nan)
    assert _align_to_edges(frame, camera_over(20.0), LEGION, unseen) is None
