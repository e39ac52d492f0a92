"""Calibration: from pictures, and what it says about photos that something is wrong with."""

import numpy as np
import pytest

from evaluate.drawn.markers import EIGHT, FOUR, camera_over, known_board, marker_mm
from overruler.board import Board
from overruler.errors import BadInput, CannotMeasure
from overruler.geometry.camera import Camera
from overruler.lens import Lens
from overruler.vision.camera.calibrate import calibrate
from tests.vision.sight import (
    ANYWHERE,
    BOARD,
    FREE,
    SIZE,
    Sight,
    blank,
    corners_of,
    counted,
    distances,
    flags,
)
from tests.vision.table import Look, overexposed, shoot

# --- from pictures ---


def test_a_photo_with_eight_markers_measures_to_a_twentieth_of_a_millimetre() -> None:
    camera = camera_over(20)
    found = calibrate(shoot(camera, corners_of(BOARD)), BOARD)
    errors, sigma = distances(found, camera)
    assert np.abs(errors).max() < 0.08
    assert np.abs(errors / sigma).max() < 3
    assert found.markers == tuple(range(8))
    assert found.board_mm == (900.0, 900.0)
    assert found.problems == ()
    assert found.left_out_mm is not None
    assert found.left_out_mm < 0.3
    assert found.rms_px < 0.1
    assert found.camera.matrix[0, 0] == pytest.approx(
        camera.matrix[0, 0], abs=3 * found.covariance[0, 0] ** 0.5
    )


def test_the_shift_of_edges_does_not_become_scale() -> None:
    camera = camera_over(20)
    found = calibrate(shoot(camera, ANYWHERE, look=Look(gamma=2.2)), FREE)
    errors, sigma = distances(found, camera)
    assert found.edge_shift_px > 0.08
    assert np.abs(errors).max() < 0.4
    assert np.abs(errors / sigma).max() < 3


@pytest.mark.parametrize(
    ("focal_px", "blur_px", "gains"), [(1250, 1.2, (1.2, 5)), (600, 1.2, (1.2, 5))]
)
def test_white_that_spreads_more_here_than_there_does_not_become_scale(
    focal_px: float, blur_px: float, gains: tuple[float, float]
) -> None:
    """A lamp at one side: each marker's edges shift by themselves, 0.7 to 1.5 px."""
    camera = camera_over(20, focal_px=focal_px)
    frame = shoot(camera, corners_of(BOARD), look=Look(blur_px=blur_px, noise=0.0))
    found = calibrate(overexposed(frame, gains), BOARD)
    errors, sigma = distances(found, camera)
    assert found.markers == tuple(range(8))
    assert np.abs(errors / sigma).max() < 3
    assert found.contrast is not None
    strain, doubt = found.contrast.strain[:2], np.sqrt(np.diag(found.contrast.covariance))[:2]
    assert np.abs(strain).max() < 0.004
    assert np.abs(strain / doubt).max() < 2.5


def test_a_marker_too_hidden_to_be_read_still_counts() -> None:
    camera, corners = camera_over(12), corners_of(known_board(FOUR))
    right = float(corners[2][1, 0])
    frame = shoot(
        camera, corners, cover=lambda at: (np.abs(at[..., 0] - right) < 14) & (at[..., 1] > 600)
    )
    found = calibrate(frame, known_board(FOUR))
    assert found.markers == (0, 1, 2, 3)
    errors, sigma = distances(found, camera)
    assert np.abs(errors / sigma).max() < 3


def test_a_marker_cut_off_by_the_picture_still_counts() -> None:
    camera = camera_over(12)
    edge = camera.unproject(np.array([[SIZE[0] - 1.0, SIZE[1] / 2]]))[0]
    board = known_board(
        FOUR | {7: (float(edge[0]) - 10, float(edge[1]))}
    )  # 40 of its 60 mm are in sight
    found = calibrate(shoot(camera, corners_of(board)), board)
    assert found.markers == (0, 1, 2, 3, 7)
    errors, sigma = distances(found, camera)
    assert np.abs(errors / sigma).max() < 3


def test_a_marker_wholly_hidden_is_named() -> None:
    corners = corners_of(known_board(FOUR))
    frame = shoot(camera_over(12), {n: corners[n] for n in (0, 1, 3)})
    found = calibrate(frame, known_board(FOUR))
    assert found.markers == (0, 1, 3)
    assert flags(found) >= {"few_markers", "markers_hidden"}
    assert any("marker 2" in problem.text for problem in found.problems)


def test_a_blurred_photo_is_flagged() -> None:
    found = calibrate(shoot(camera_over(12), corners_of(BOARD), look=Look(blur_px=4.0)), BOARD)
    assert "blurred" in flags(found)


# --- what is wrong with a photo ---


def test_a_moved_marker_is_left_out_and_named(see: type[Sight]) -> None:
    camera = camera_over(15)
    moved = corners_of(BOARD) | {5: marker_mm(812, 470)}
    see(camera, moved)
    found = calibrate(blank(), BOARD)
    assert found.markers == (0, 1, 2, 3, 4, 6, 7)
    assert flags(found) == {"marker_left_out"}
    assert "marker 5" in found.problems[0].text
    errors, sigma = distances(found, camera)
    assert np.abs(errors / sigma).max() < 4


def test_markers_that_do_not_fit_the_board_are_refused(see: type[Sight]) -> None:
    camera = camera_over(15)
    swapped = {1: 0, 0: 1, 2: 3, 3: 2, 4: 6, 6: 4, 5: 5, 7: 7}
    see(camera, {swapped[n]: c for n, c in corners_of(BOARD).items()})
    with pytest.raises(CannotMeasure, match="do not fit") as caught:
        calibrate(blank(), BOARD)
    assert caught.value.exit_code == 3


@pytest.mark.parametrize(
    ("tilt", "flag"), [(3.0, "overhead_without_lens"), (20.0, None), (60.0, "low_view")]
)
def test_the_view_is_flagged_where_it_makes_measures_worse(
    see: type[Sight], tilt: float, flag: str | None
) -> None:
    camera = camera_over(tilt, height_mm=1500 if tilt > 50 else 1100)
    see(camera, corners_of(BOARD))
    found = calibrate(blank(), BOARD)
    assert found.camera.tilt_deg == pytest.approx(tilt, abs=2)
    assert flags(found) - {"markers_close_together"} == ({flag} if flag else set())


def test_a_lens_of_another_camera_is_flagged(see: type[Sight]) -> None:
    camera = camera_over(25)
    see(camera, corners_of(BOARD))
    other = Lens(SIZE, camera.matrix * [[1.2, 1, 1], [1, 1.2, 1], [1, 1, 1]], camera.distortion, np.diag(
        [1.0, 1, 4, 4, 1e-6, 1e-6, 1e-8, 1e-8, 1e-8]))  # fmt: skip
    assert "lens_disagrees" in flags(calibrate(blank(), BOARD, lens=other))


def off_axis(seed: int) -> Camera:
    """A camera whose picture somebody cut and left in a camera's shape."""
    random = np.random.default_rng(seed)
    aside = random.uniform(0.04, 0.15) * SIZE[0] * np.array([np.cos(seed), np.sin(seed)])
    focal_px = float(random.uniform(1350, 1700))
    return camera_over(
        random.uniform(10, 35), focal_px=focal_px, height_mm=focal_px * random.uniform(0.8, 1.0),
        center_px=(aside[0], aside[1]), turn_deg=random.uniform(-20, 20),
    )  # fmt: skip


@pytest.mark.parametrize(
    "layout", [BOARD, known_board(FOUR), known_board({0: FOUR[0], 2: FOUR[2]}), FREE]
)
def test_a_picture_that_was_cut_in_a_camera_s_shape_is_no_surer_than_it_is_true(
    see: type[Sight], layout: Board
) -> None:
    told = []
    for seed in range(16):
        camera = off_axis(seed)
        see(camera, ANYWHERE if layout is FREE else corners_of(layout), seed)
        told.append(distances(calibrate(blank(), layout), camera))
    _, share = counted(told)
    assert share > 0.9


@pytest.mark.parametrize("layout", [BOARD, known_board({0: FOUR[0], 2: FOUR[2]})])
def test_a_lens_file_of_the_whole_picture_is_not_trusted_for_a_cut_one(
    see: type[Sight], layout: Board
) -> None:
    told = []
    for seed in range(12):
        camera = off_axis(seed)
        see(camera, corners_of(layout), seed)
        whole = np.array([[1300.0, 0, 799.5], [0, 1300, 599.5], [0, 0, 1]])
        lens = Lens(
            SIZE, whole, camera.distortion, np.diag([1.0, 1, 4, 4, 1e-6, 1e-6, 1e-8, 1e-8, 1e-8])
        )
        found = calibrate(blank(), layout, lens=lens)
        assert "lens_disagrees" in flags(found)
        told.append(distances(found, camera))
    assert counted(told)[1] > 0.93


def test_markers_close_together_are_flagged(see: type[Sight]) -> None:
    places = {n: (150.0 + x / 6, 150.0 + y / 6) for n, (x, y) in FOUR.items()}
    board = known_board(places)
    see(camera_over(15), corners_of(board))
    assert "markers_close_together" in flags(calibrate(blank(), board))


REFUSED = [
    (None, [], CannotMeasure, "0 points given, four are needed"),
    (
        None,
        [(10, 10, 0, 0), (900, 10, 900, 0), (900, 900, 900, 900)],
        CannotMeasure,
        "3 points given",
    ),
    (
        None,
        [(10, 10, 0, 0), (300, 10, 300, 0), (600, 10, 600, 0), (900, 10, 900, 0)],
        CannotMeasure,
        "one line",
    ),
    (
        None,
        [(10, 10, 0, 0), (900, 10, 900, 0), (900, 900, 900, 900), (10, 1200, 0, 900)],
        BadInput,
        "outside the photo",
    ),
    (
        None,
        [(10, 10, 0, 0), (900, 10, 900, 0), (900, 900, 900, 900), (10, 900, 0, float("nan"))],
        BadInput,
        "not a place",
    ),
    (
        None,
        [(300, 900, 0, 0), (900, 900, 900, 900), (900, 300, 900, 0), (300, 300, 0, 900)],
        CannotMeasure,
        "order",
    ),
    (
        FREE,
        [(300, 900, 0, 0), (900, 900, 900, 0), (900, 300, 900, 900), (300, 300, 0, 900)],
        BadInput,
        "board file",
    ),
    (BOARD, [], CannotMeasure, "no marker"),
    (FREE, [], CannotMeasure, "no marker"),
]


@pytest.mark.parametrize(("board", "points", "error", "words"), REFUSED)
def test_too_little_is_refused_in_one_line(
    board: Board | None,
    points: list[tuple[float, float, float, float]],
    error: type[Exception],
    words: str,
) -> None:
    with pytest.raises(error, match=words) as caught:
        calibrate(blank(), board, points)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("board", [known_board({0: EIGHT[0]}), FREE])
def test_one_marker_is_too_few(see: type[Sight], board: Board) -> None:
    see(camera_over(10), {0: corners_of(BOARD)[0]})
    with pytest.raises(CannotMeasure, match="only one marker"):
        calibrate(blank(), board)


def test_a_lens_file_for_another_picture_size_is_refused() -> None:
    lens = Lens((1920, 1080), np.diag([1000.0, 1000.0, 1.0]), np.zeros(5), np.eye(9))
    with pytest.raises(BadInput, match="1920 × 1080"):
        calibrate(blank(), BOARD, lens=lens)


@pytest.mark.parametrize(("tilt", "focal", "height", "turn", "k1", "k2"), [
    (29.5894, 552.8334, 746.5855, 116.0546, -0.1341, -0.042), (25.5235, 626.0517, 677.5544, 96.3548, -0.053, -0.08),
])  # fmt: skip
def test_an_ultra_wide_camera_is_found_though_no_metadata_tells(
    see: type[Sight], tilt: float, focal: float, height: float, turn: float, k1: float, k2: float
) -> None:
    """Less than half the focal length that is expected: the first start ends in the wrong valley, another does not."""
    camera = camera_over(
        tilt, focal_px=focal, height_mm=height, turn_deg=turn, distortion=(k1, k2, 0, 0, 0)
    )
    see(camera, corners_of(BOARD), 16)
    found = calibrate(blank(), BOARD)
    assert found.camera.matrix[0, 0] == pytest.approx(focal, rel=0.03)
    assert found.markers == tuple(range(8))


@pytest.mark.parametrize("focal_px", [2300.0, 3400.0, 5300.0])
def test_heights_are_true_by_another_lens_or_zoom_though_no_metadata_tells(
    see: type[Sight], focal_px: float
) -> None:
    told = []
    for seed in range(4):
        height_mm = focal_px * (0.8 + 0.1 * seed)
        camera = camera_over(
            18 + 6 * seed, focal_px=focal_px, height_mm=height_mm, turn_deg=40 * seed
        )
        see(camera, corners_of(BOARD), seed, told=True)
        told.append(distances(calibrate(blank(), BOARD), camera, z_mm=40.0))
    assert counted(told)[1] > 0.9
