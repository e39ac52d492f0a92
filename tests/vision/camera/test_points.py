"""Clicked points in place of markers, or beside them."""

from collections.abc import Sequence

import numpy as np
import pytest

from evaluate.drawn.markers import EIGHT, FOUR, camera_over, known_board
from overruler.errors import CannotMeasure
from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.lens import Lens
from overruler.vision.camera.calibrate import calibrate
from tests.vision.sight import (
    SIZE,
    Sight,
    blank,
    corners_of,
    counted,
    distances,
    flags,
    random_camera,
)

CLICKED = [(0.0, 0.0), (900.0, 0.0), (900.0, 900.0), (0.0, 900.0), (450.0, 0.0), (450.0, 900.0)]


def clicks(
    camera: Camera, places: Sequence[tuple[float, float]], seed: int = 0
) -> list[tuple[float, float, float, float]]:
    """Points as a person clicks them."""
    at = camera.project(np.column_stack([places, np.zeros(len(places))]))
    at += np.random.default_rng(seed).normal(0, 1, at.shape)
    return [(float(u), float(v), x, y) for (u, v), (x, y) in zip(at, places, strict=True)]


@pytest.mark.parametrize("count", [4, 6])
def test_four_points_measure_a_board(count: int) -> None:
    camera = camera_over(15, distortion=(0.01, 0, 0, 0, 0), height_mm=1200)
    found = calibrate(blank(), None, clicks(camera, CLICKED[:count]))
    errors, sigma = distances(found, camera)
    assert np.abs(errors / sigma).max() < 3.5
    assert np.abs(errors).max() < 6
    assert found.markers == ()
    assert found.board_mm == (900.0, 900.0)
    assert "points_alone" in flags(found)


@pytest.mark.parametrize("lens_known", [False, True])
def test_the_doubt_of_points_is_counted_too(lens_known: bool) -> None:
    """Lenses as phones have them, clicks a pixel off and places on the board half a millimetre off."""
    random, results = np.random.default_rng(11), []
    for seed in range(40):
        camera = random_camera(random)
        camera = camera.with_lens(camera.matrix, camera.distortion * [0.3, 0.3, 1, 1, 0.4])
        named = list(FOUR.values())
        true = [(x + random.normal(0, 0.6), y + random.normal(0, 0.6)) for x, y in named]
        seen = clicks(camera, true, seed)
        points = [(u, v, *name) for (u, v, _, _), name in zip(seen, named, strict=True)]
        lens = (
            Lens(SIZE, camera.matrix, camera.distortion, np.eye(9) * 1e-12) if lens_known else None
        )
        found = calibrate(blank(float(camera.matrix[0, 0])), None, points, lens)
        results.append(distances(found, camera))
    mean_square, within = counted(results)
    assert 0.5 < mean_square < 1.5
    assert 0.90 < within < 0.999


@pytest.mark.parametrize("across_mm", [0.0, 30.0])
def test_the_corners_of_a_ruler_are_too_near_to_one_line(across_mm: float) -> None:
    camera = camera_over(15, height_mm=1200)
    strip = [(200.0, 300.0), (700.0, 300.0), (700.0, 300 + across_mm), (200.0, 300 + across_mm)]
    with pytest.raises(CannotMeasure, match="on one line or nearly so"):
        calibrate(blank(), None, clicks(camera, strip))


def test_a_curled_sheet_does_not_bend_the_lens() -> None:
    """The corners of a real A4 sheet whose edges curl: a lens could be bent to fit them, and would spoil the middle."""
    frame = Frame(np.zeros((2016, 1508, 3), np.uint8), "sheet")
    sheet = [
        (129.8, 109.2, 0.0, 297.0),
        (1434.1, 83.6, 210.0, 297.0),
        (1442.5, 1990.3, 210.0, 0.0),
        (94.0, 1965.9, 0.0, 0.0),
    ]
    found = calibrate(frame, None, sheet)
    assert abs(found.camera.distortion[0]) < 0.03
    corner, middle = found.camera.unproject([(129.8, 109.2), (770.0, 1040.0)])
    assert np.linalg.norm(middle - corner) == pytest.approx(np.hypot(105, 148.5), abs=4)


def test_points_and_markers_work_together(see: type[Sight]) -> None:
    camera, board = camera_over(15), known_board({n: EIGHT[n] for n in (0, 1)})
    see(camera, corners_of(board))
    alone = distances(calibrate(blank(), board), camera)[1]
    errors, sigma = distances(calibrate(blank(), board, clicks(camera, CLICKED[2:6])), camera)
    assert np.median(sigma) < 0.8 * np.median(alone)
    assert np.abs(errors / sigma).max() < 3.5


def by_barrel(k1: float, frame: Frame, lens: Lens | None = None) -> tuple[Array, Array]:
    """Errors of distances in photos by such a lens, and their largest stated σ."""
    found = []
    for seed in range(8):
        barrel = (k1, -0.25 * k1, 0.0, 0.0, 0.04 * k1)
        camera = camera_over(4.0 * seed, distortion=barrel, height_mm=1350, turn_deg=seed)
        seen = calibrate(frame, None, clicks(camera, CLICKED[:4], seed), lens)
        found.append(distances(seen, camera))
    errors, sigma = np.concatenate(found, axis=1)
    return errors, sigma


def test_a_certain_call_survives_that_a_wide_lens_took_a_photo_with_points() -> None:
    """Four points show no distortion, and the middle of the board is millimetres off."""
    errors, sigma = by_barrel(-0.1, blank())
    assert np.sqrt(np.mean(errors**2)) > 2
    assert np.abs(errors / sigma).max() < 3


def test_what_names_the_lens_leaves_no_such_doubt() -> None:
    camera = camera_over(0.0)
    known = Lens(SIZE, camera.matrix, camera.distortion, np.diag([1.0] * 4 + [1e-6] * 5))
    usual, of_a_phone, by_a_file = (
        np.median(by_barrel(-0.02, *given)[1])
        for given in ((blank(), None), (blank(1250.0), None), (blank(), known))
    )
    assert of_a_phone < 0.6 * usual
    assert by_a_file < of_a_phone
