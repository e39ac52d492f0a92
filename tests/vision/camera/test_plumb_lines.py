"""What the straight edges of the mat say about the lens."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import cv2
import numpy as np

from evaluate.drawn.markers import BOARD_MM, FOUR, camera_over, known_board
from overruler.calibration import Calibration, TableBow
from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.lens import Lens
from overruler.vision.camera.calibrate import calibrate
from overruler.vision.camera.plumb_lines import (
    STRAIGHTNESS_SIGMA_SHARE,
    _measure_edge,
    board_sides,
    sides_between_clicks,
    straighten_mat_edges,
)
from tests.vision.sight import SIZE, Sight, blank, corners_of, counted, distances, random_camera

BOARD = known_board(FOUR)
FINER = 4
STRAIGHT = (0.0, 0.0, 0.0, 0.0)
FLAT = TableBow(np.full(2, BOARD_MM / 2), np.full(2, BOARD_MM / 2), np.zeros(2))


def mat(
    camera: Camera,
    bent_mm: Sequence[float] = STRAIGHT,
    seed: int = 0,
    moved_mm: float = 0.0,
    turned_deg: float = 0.0,
    ragged_mm: float = 0.0,
    bow: TableBow = FLAT,
) -> Frame:
    """A patterned mat on a brighter table, each edge's middle standing outwards by so much; it may lie elsewhere."""
    s = np.linspace(-1, 1, 60)[:-1]
    out = (
        BOARD_MM / 2
        + np.array(bent_mm)[:, None] * (1 - s**2)
        + ragged_mm * (np.arange(59) // 2 % 2)
    )
    along = np.broadcast_to(s * BOARD_MM / 2, out.shape)
    edges = [(along[0], -out[0]), (out[1], along[1]), (-along[2], out[2]), (-out[3], -along[3])]
    c, d = np.cos(np.radians(turned_deg)), np.sin(np.radians(turned_deg))
    ring = (
        np.concatenate([np.stack(edge, -1) for edge in edges]) @ np.array([[c, d], [-d, c]])
        + BOARD_MM / 2
        + moved_mm
    )
    light = np.full((SIZE[1] * FINER, SIZE[0] * FINER), 150, np.uint8)
    px = camera.project(np.column_stack([ring, bow.z_mm(ring)]))
    cv2.fillPoly(light, [np.round((px + 0.5) * FINER * 16 - 8).astype(np.int32)], 90, shift=4)
    for square in corners_of(BOARD).values():  # their cards reach to 7 mm from the edge
        px = camera.project(square.mean(0) + 1.75 * (square - square.mean(0)))
        cv2.fillPoly(light, [np.round((px + 0.5) * FINER * 16 - 8).astype(np.int32)], 220, shift=4)
    random = np.random.default_rng(seed)
    patches = cv2.resize(random.normal(0, 12, (40, 50)), SIZE, interpolation=cv2.INTER_CUBIC)
    grey = (
        cv2.resize(light, SIZE, interpolation=cv2.INTER_AREA)
        + patches
        + random.normal(0, 4, patches.shape)
    )
    grey = cv2.GaussianBlur(np.clip(grey, 0, 255).astype(np.uint8), (0, 0), 0.7)
    return Frame(np.repeat(grey[:, :, None], 3, 2), "mat")


def both(
    camera: Camera, frame: Frame, see: type[Sight], seed: int = 0
) -> tuple[Calibration, Calibration]:
    """By the markers alone, and with the edges of the mat in this picture."""
    see(camera, corners_of(BOARD), seed)
    return calibrate(blank(), BOARD), calibrate(frame, BOARD)


def rms(results: Sequence[tuple[Calibration, Camera]], of: int = 0) -> float:
    """Root mean square of the errors of distances, or of their stated σ."""
    return float(np.sqrt(np.mean([distances(found, camera)[of] ** 2 for found, camera in results])))


def many(
    see: type[Sight], bent_mm: float = 0.0, moved_mm: float = 0.0
) -> Iterator[list[tuple[Calibration, Camera]]]:
    """By the markers alone, and with a mat of which one edge is bent, for cameras as the prior has them."""
    cameras = [random_camera(np.random.default_rng(100 + seed)) for seed in range(8)]
    bent = [np.roll([bent_mm, 0, 0, 0], seed).tolist() for seed in range(8)]
    pairs = [both(one, mat(one, bent[k], k, moved_mm), see, k) for k, one in enumerate(cameras)]
    yield from (list(zip(found, cameras, strict=True)) for found in zip(*pairs, strict=True))


def test_the_mat_tells_how_far_the_lens_bends(see: type[Sight]) -> None:
    alone, told = many(see)
    assert rms(told) < 0.85 * rms(alone)
    assert rms(told, of=1) < 0.9 * rms(alone, of=1)


def known(camera: Camera, see: type[Sight]) -> Calibration:
    """A calibration that has found the very camera."""
    see(camera, corners_of(BOARD))
    return replace(calibrate(blank(), BOARD), camera=camera)


def test_edges_are_measured_to_a_quarter_of_a_millimetre(see: type[Sight]) -> None:
    camera, bent = camera_over(15, height_mm=1250), (1.5, -2.0, 0.0, 2.5)
    found = known(camera, see)
    for frame in (
        mat(camera, bent),
        mat(camera, bent, 1, moved_mm=-6.0),
        mat(camera, bent, 2, turned_deg=0.5),
    ):
        edges = [_measure_edge(frame, found, *side) for side in board_sides(found.board_mm)]
        assert [edge is not None for edge in edges] == [True] * 4
        sizes = np.array([edge.bend_mm for edge in edges if edge])
        assert np.abs(sizes[:, 0] - bent).max() < 0.25
        assert np.abs(sizes[:, 1]).max() < 0.4
        least = np.array([edge.covariance_mm2[0, 0] for edge in edges if edge])
        assert (least > (STRAIGHTNESS_SIGMA_SHARE * BOARD_MM) ** 2).all()


def test_a_bowed_table_bends_no_edge(see: type[Sight]) -> None:
    """A camera and a bow that are known exactly leave the edges of a straight mat straight, however high they lie."""
    camera, bends = camera_over(35, height_mm=1250), []
    for height_mm in (0.0, 3.0, -3.0):
        bow = replace(FLAT, height_mm=np.full(2, height_mm))
        found = replace(known(camera, see), bow=bow)
        edges = [
            _measure_edge(mat(camera, bow=bow), found, *side)
            for side in board_sides(found.board_mm)
        ]
        bends.append([edge.bend_mm[0] for edge in edges if edge])
    assert np.shape(bends) == (3, 4)
    assert np.abs(np.subtract(bends[1:], bends[0])).max() < 0.4  # 3.6 mm uncorrected


def test_mats_curl_and_that_looks_bent_where_it_is_seen_aslant(see: type[Sight]) -> None:
    sigma = []
    for tilt_deg in (0.0, 30.0):
        camera = camera_over(tilt_deg, height_mm=1400)
        found = known(camera, see)
        far = _measure_edge(mat(camera), found, *board_sides(found.board_mm)[2])
        assert far is not None
        sigma.append(float(np.sqrt(far.covariance_mm2[0, 0])))
    assert sigma[1] > 1.2 * sigma[0]


def test_what_is_ragged_is_no_edge(see: type[Sight]) -> None:
    camera = camera_over(15, height_mm=1250)
    found = known(camera, see)
    assert [
        _measure_edge(mat(camera, ragged_mm=6.0), found, *side)
        for side in board_sides(found.board_mm)
    ] == [None] * 4


def test_where_the_mat_lies_does_not_count(see: type[Sight]) -> None:
    alone, told = many(see, moved_mm=7.0)
    assert rms(told) < 0.9 * rms(alone)


def test_an_edge_that_the_others_contradict_is_left_out(see: type[Sight]) -> None:
    alone, told = many(see, bent_mm=5.0)
    assert rms(told) < 0.9 * rms(alone)


def test_a_picture_without_edges_says_nothing(see: type[Sight]) -> None:
    camera = camera_over(15)
    see(camera, corners_of(BOARD))
    found = calibrate(blank(), BOARD)
    grain = np.random.default_rng(3).integers(60, 200, (SIZE[1], SIZE[0], 3)).astype(np.uint8)
    assert (
        straighten_mat_edges(Frame(grain, "grain"), found, board_sides(found.board_mm)).calibration
        is found
    )
    beyond = replace(found, board_mm=(9e3, 9e3))
    assert (
        straighten_mat_edges(mat(camera), beyond, board_sides(beyond.board_mm)).calibration
        is beyond
    )


def test_a_lens_that_was_measured_needs_no_mat(see: type[Sight]) -> None:
    camera = camera_over(15)
    lens = Lens(SIZE, camera.matrix, camera.distortion, np.eye(9) * 1e-12)
    see(camera, corners_of(BOARD))
    by_markers, with_mat = (
        calibrate(frame, BOARD, lens=lens).covariance for frame in (blank(), mat(camera))
    )
    assert np.array_equal(by_markers, with_mat)


def test_the_mat_s_edges_tell_clicked_points_the_lens() -> None:
    """A strong barrel that four clicks cannot see."""
    corners = np.array([(0, 0), (1, 0), (1, 1), (0, 1)]) * BOARD_MM
    for k1 in (-0.25, -0.1):
        camera = camera_over(15, height_mm=1300, distortion=(k1, 0, 0, 0, 0))
        at = camera.project(np.column_stack([corners, np.zeros(4)]))
        clicks = [(*px.tolist(), *mm.tolist()) for px, mm in zip(at, corners, strict=True)]
        alone, told = (calibrate(frame, None, clicks) for frame in (blank(), mat(camera)))
        assert rms([(told, camera)]) < 0.3 * rms([(alone, camera)])
        assert rms([(told, camera)], of=1) < 0.6 * rms([(alone, camera)], of=1)
        errors, sigma = distances(told, camera)
        assert np.abs(errors / sigma).max() < 3


def test_a_sheet_of_paper_curls_too_much_to_tell_the_lens() -> None:
    assert sides_between_clicks(np.array([(0.0, 0), (210, 0), (210, 297), (0, 297)])) == []
    assert (
        len(sides_between_clicks(np.array([(0.0, 0), (900, 0), (900, 900), (0, 900), (400, 300)])))
        == 4
    )


def test_errors_are_as_large_as_stated_where_mats_are_as_bent_as_stated(see: type[Sight]) -> None:
    def one(seed: int) -> tuple[Array, Array]:
        random = np.random.default_rng(seed)
        camera = random_camera(random)
        bent = STRAIGHTNESS_SIGMA_SHARE * BOARD_MM * random.normal(size=4)
        return distances(both(camera, mat(camera, bent.tolist(), seed), see, seed)[1], camera)

    spread, inside = counted(one(seed) for seed in range(12))
    assert 0.3 < spread < 1.7
    assert inside > 0.88
