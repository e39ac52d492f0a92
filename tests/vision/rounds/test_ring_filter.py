"""Candidates: no base is lost, whatever its size, its colours or its place; nothing is looked for where markers lie."""

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from overruler.bases import ROUND_DIAMETERS_MM
from overruler.vision.detection.detect import rectify_board
from overruler.vision.rounds import ring_filter as module
from overruler.vision.rounds.ring_filter import (
    MAX_CANDIDATES,
    MAX_PER_RING,
    Candidates,
    _suppress_overlaps,
    double_angle_gradients,
    find_candidates,
    normalize_gradients,
)
from synthetic.flat_table import Plinth
from tests.tables import BOARD_MM, camera_over, exact, photo

LIGHT, SAND, DARK = (0.7, 0.75, 0.7), (0.17, 0.33, 0.44), (0.04, 0.04, 0.05)
TABLE = [
    Plinth(90, 80, 25.0, rim=DARK),
    Plinth(200, 90, 27.0, rim=LIGHT),
    Plinth(330, 110, 32.0, rim=SAND),
    Plinth(480, 90, 40.0, rim=DARK, top=SAND),
    Plinth(620, 120, 50.0, rim=LIGHT),
    Plinth(120, 250, 60.0, rim=DARK),
    Plinth(330, 300, 100.0, rim=DARK),
    Plinth(560, 330, 130.0, rim=LIGHT),
    Plinth(120, 420, 28.5, rim=DARK),
    Plinth(148.6, 421, 28.5, rim=DARK),
]


def found(plinth: Plinth, candidates: Candidates) -> bool:
    away = np.hypot(*(candidates.xy_mm - [plinth.x_mm, plinth.y_mm]).T)
    ratio = np.abs(np.log(candidates.radius_mm / (plinth.diameter_mm / 2)))
    return bool(np.any((away < 0.35 * plinth.diameter_mm / 2) & (ratio < 0.25)))


@pytest.mark.parametrize("tilt_deg", [1.0, 20.0, 35.0])
def test_every_base_is_a_candidate(tilt_deg: float) -> None:
    camera = camera_over(tilt_deg)
    view = rectify_board(photo(camera, TABLE), exact(camera))
    candidates = find_candidates(view, [diameter / 2 for diameter in ROUND_DIAMETERS_MM])
    assert [plinth for plinth in TABLE if not found(plinth, candidates)] == []
    assert np.all(np.diff(candidates.response) <= 0)


def test_each_size_is_near_the_ring_that_it_shares() -> None:
    radii = np.array(ROUND_DIAMETERS_MM) / 2
    rings = np.concatenate(list(module._rings_by_level(radii.tolist(), 1.0).values()))
    nearest = np.abs(np.log(rings[:, None] / radii)).min(0)
    assert nearest.max() < 0.075
    assert len(rings) < 0.6 * len(radii)


def test_without_rings_only_the_places_known_otherwise_are_left() -> None:
    camera = camera_over(20.0)
    view = rectify_board(photo(camera, TABLE), exact(camera))
    known, radii = (
        np.array([[90.0, 80.0, 12.5, 0.8], [333.0, 300.0, 47.0, 0.3]]),
        [d / 2 for d in ROUND_DIAMETERS_MM],
    )
    only = find_candidates(view, radii, known=known, rings=False)
    assert np.column_stack([only.xy_mm, only.radius_mm, only.response]) == pytest.approx(
        known + np.array([0, 0, 0, 1])
    )
    assert len(find_candidates(view, radii, known=known).response) > len(TABLE)


def test_an_empty_mat_has_hardly_any() -> None:
    camera = camera_over()
    view = rectify_board(photo(camera, []), exact(camera))
    inside = find_candidates(view, [12.5, 16.0]).xy_mm
    assert np.sum(np.all((inside > 40) & (inside < np.array(BOARD_MM) - 40), axis=1)) == 0


def test_nothing_is_found_where_it_is_hidden() -> None:
    camera = camera_over()
    view = rectify_board(photo(camera, TABLE[:1]), exact(camera))
    cover = np.array([[60, 50], [120, 50], [120, 110], [60, 110.0]])
    assert found(TABLE[0], find_candidates(view, [12.5]))
    assert not found(TABLE[0], find_candidates(view, [12.5], [cover]))


def test_the_view_from_above_maps_both_ways() -> None:
    camera = camera_over()
    view = rectify_board(photo(camera, TABLE), exact(camera))
    points = np.array([[0, 0], [310.0, 222.2], BOARD_MM])
    assert np.allclose(view.to_mm(view.to_px(points)), points)
    column, row = view.to_px([90, 80]).round().astype(int)
    assert (
        view.pixels[row, column].max() < view.pixels[row, column - 40].max()
    )  # the dark base is where it stands


def test_an_orientation_is_the_doubled_angle_of_the_gradient() -> None:
    """Against the formula written out: the same, to the float's precision and the sampling of the median."""
    pixels = noise_px(90, 120)
    mask = np.zeros((90, 120), np.float32)
    mask[9:-9, 12:-12] = 1
    cosine, sine = normalize_gradients(double_angle_gradients(pixels), mask)
    lab = cv2.GaussianBlur(
        cv2.cvtColor(pixels.astype(np.float32) / 255, cv2.COLOR_BGR2Lab), (0, 0), 1.0
    )
    gx, gy = cv2.Sobel(lab, cv2.CV_32F, 1, 0), cv2.Sobel(lab, cv2.CV_32F, 0, 1)
    length = np.hypot(cosine, sine)[mask > 0]
    twice = np.arctan2(2 * (gx * gy).sum(2), (gx**2 - gy**2).sum(2))[mask > 0]
    told = np.arctan2(sine, cosine)[mask > 0]
    plain = length > 0.05
    assert plain.mean() > 0.5
    assert np.allclose(np.exp(1j * told[plain]), np.exp(1j * twice[plain]), atol=1e-3)
    assert length.max() <= 1
    assert not cosine[mask == 0].any()


def test_a_mesh_of_one_size_leaves_room_for_the_others() -> None:
    """A thousand strong answers to one ring on a lattice, and a few weak ones to others between them."""
    lattice = np.stack(np.meshgrid(np.arange(40) * 26.0, np.arange(25) * 26.0), -1).reshape(-1, 2)
    mesh = np.column_stack([lattice, np.full(1000, 13.0), np.linspace(0.6, 0.5, 1000)])
    bases = np.array(
        [[200.0, 150.0, 31.0, 0.3], [600.0, 300.0, 36.0, 0.2], [313.0, 313.0, 15.0, 0.1]]
    )
    kept = _suppress_overlaps(np.vstack([mesh, bases]), MAX_CANDIDATES)
    assert {tuple(row) for row in bases} <= {tuple(row) for row in kept}
    assert np.array_equal(kept[: -len(bases)], mesh[:MAX_PER_RING])
    assert len(kept) <= MAX_CANDIDATES


def test_bands_leave_no_seams(monkeypatch: pytest.MonkeyPatch) -> None:
    pixels, mask = noise_px(300, 80), np.ones((300, 80), np.float32)
    monkeypatch.setattr(module, "BAND_ROWS", 1000)
    whole = normalize_gradients(double_angle_gradients(pixels), mask)
    monkeypatch.setattr(module, "BAND_ROWS", 64)
    np.testing.assert_allclose(
        normalize_gradients(double_angle_gradients(pixels), mask), whole, atol=1e-6
    )


def noise_px(rows: int, columns: int) -> NDArray[np.uint8]:
    noise = np.random.default_rng(4).integers(0, 255, (rows, columns, 3)).astype(np.uint8)
    return np.asarray(cv2.GaussianBlur(noise, (0, 0), 2.0), np.uint8)
