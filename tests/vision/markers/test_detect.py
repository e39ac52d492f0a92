"""Markers drawn exactly: their ids, and their corners to a hundredth of a pixel."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from evaluate.drawn.markers import EIGHT, FOUR, camera_over, known_board, marker_mm
from overruler.board import Board
from overruler.errors import BadInput
from overruler.frame import Frame
from overruler.geometry.pose import Array
from overruler.vision.markers.detect import _reject_odd_sizes, find_markers, fit_expected_marker
from overruler.vision.markers.marker import Marker
from tests.vision.table import Look, overexposed, shoot

BOARD = known_board(EIGHT)
assert BOARD.corners_mm is not None
PLACES = BOARD.corners_mm
SIZE = (1600, 1200)


@cache
def views(gamma: float, blur_px: float, noise: float = 1.0) -> tuple[tuple[Marker, Array], ...]:
    """Markers as found and their true corners, over views from straight above to 35° and turned every way."""
    found = []
    for tilt, turn, height in ((0, 1, 1000), (12, 3, 1150), (30, 31, 1250)):
        camera = camera_over(
            tilt, turn_deg=turn, height_mm=height, distortion=(-0.12, 0.02, 0, 0, 0)
        )
        frame = shoot(
            camera, PLACES, look=Look(blur_px=blur_px, gamma=gamma, noise=noise, seed=turn)
        )
        found += [
            (marker, camera.project(PLACES[marker.id])) for marker in find_markers(frame, BOARD)
        ]
    return tuple(found)


def outward(seen: Array, truth: Array) -> float:
    """Mean distance of corners (4, 2) away from the marker's middle, px."""
    away = truth - truth.mean(0)
    return float(
        ((seen - truth) * away / np.linalg.norm(away, axis=1, keepdims=True)).sum(1).mean()
    )


@pytest.mark.parametrize("blur_px", [0.7, 1.2])
def test_corners_are_unbiased_and_sharp(blur_px: float) -> None:
    pairs = [pair for pair in views(1.0, blur_px) if pair[0].side_px >= 40]
    assert len(pairs) >= 18
    errors = np.array([marker.corners_px - truth for marker, truth in pairs])
    assert abs(np.mean([outward(marker.corners_px, truth) for marker, truth in pairs])) < 0.01
    assert np.abs(errors.mean((0, 1))).max() < 0.01
    assert np.sqrt((errors**2).mean()) < 0.04


def test_a_tone_curve_moves_edges_and_not_the_corners() -> None:
    """Edges brightened by a gamma curve eat into the dark; the marker's own cells tell by how much."""
    pairs = [pair for pair in views(2.2, 0.7) if pair[0].side_px >= 40]
    assert np.mean([marker.square.shift_px for marker, _ in pairs]) > 0.08
    assert abs(np.mean([outward(marker.corners_px, truth) for marker, truth in pairs])) < 0.015
    assert np.sqrt(np.mean([(marker.corners_px - truth) ** 2 for marker, truth in pairs])) < 0.06


@pytest.mark.parametrize(("noise", "least", "most"), [(8.0, 0.6, 1.6), (1.0, 0.0, 1.0)])
def test_the_stated_doubt_of_corners_is_theirs(noise: float, least: float, most: float) -> None:
    """In noise it is what the errors are; in a clean picture it stays above them, for what real cameras add."""
    whitened = []
    for marker, truth in views(1.0, 0.7, noise):
        root = np.linalg.cholesky(marker.square.covariance_px2)
        whitened.append(np.linalg.solve(root, (marker.corners_px - truth).ravel()))
    assert least < np.mean(np.square(whitened)) < most


def test_blur_is_measured() -> None:
    for blur_px in (0.7, 1.2):
        assert np.median([marker.blur_px for marker, _ in views(1.0, blur_px)]) == pytest.approx(
            blur_px, abs=0.15
        )


@pytest.mark.parametrize(("blur_px", "gain", "least"), [(1.0, 3.0, 8), (1.2, 4.0, 6)])
def test_small_markers_are_read_where_white_spreads_over_black(
    blur_px: float, gain: float, least: int
) -> None:
    """Cells of 5 px of which it takes one on each side: OpenCV alone reads two of them, or none."""
    camera = camera_over(20, focal_px=500)
    frame = overexposed(shoot(camera, PLACES, look=Look(blur_px=blur_px, noise=0.0)), (gain, gain))
    for board in (BOARD, replace(BOARD, dictionary="auto")):
        markers = find_markers(frame, board)
        assert len(markers) >= least
        for marker in markers:
            truth = camera.project(PLACES[marker.id])
            assert marker.square.shift_px > 0.8
            assert abs(outward(marker.corners_px, truth)) < 0.3
            assert np.hypot(*(marker.center_px - camera.project(PLACES[marker.id].mean(0)))) < 0.2


def test_markers_are_read_in_the_dark() -> None:
    """White of 18 grey levels of 255, in noise: OpenCV alone reads none."""
    camera = camera_over(10)
    dark = overexposed(shoot(camera, PLACES, look=Look(noise=0.0)), (0.08, 0.08))
    noise = np.random.default_rng(3).normal(0, 1, dark.pixels.shape[:2])[:, :, None]
    frame = replace(dark, pixels=np.clip(dark.pixels + noise, 0, 255).round().astype(np.uint8))
    markers = find_markers(frame, BOARD)
    assert [marker.id for marker in markers] == sorted(EIGHT)
    for marker in markers:
        assert np.abs(marker.corners_px - camera.project(PLACES[marker.id])).max() < 0.6


def test_edges_are_searched_for_where_they_were_shifted_to() -> None:
    """White that spreads by more than 2 px: from the fitted square itself they would be out of reach."""
    camera = camera_over(20)
    frame = overexposed(shoot(camera, PLACES, look=Look(blur_px=1.5, noise=0.0)), (8, 8))
    shown = [n for n, corners in PLACES.items() if _is_shown(camera.project(corners))]
    markers = find_markers(frame, BOARD)
    assert [marker.id for marker in markers] == shown
    for marker in markers:
        assert abs(outward(marker.corners_px, camera.project(PLACES[marker.id]))) < 0.1


def _is_shown(corners_px: Array) -> bool:
    return bool(((corners_px > 20) & (corners_px < np.array(SIZE) - 20)).all())


def test_every_marker_is_found_once_in_order_with_its_own_id() -> None:
    camera = camera_over(10)
    markers = find_markers(shoot(camera, PLACES), BOARD)
    assert [marker.id for marker in markers] == sorted(EIGHT)
    for marker in markers:
        assert np.abs(marker.corners_px - camera.project(PLACES[marker.id])).max() < 0.3
        assert np.abs(marker.center_px - camera.project(PLACES[marker.id].mean(0))).max() < 0.1
        assert marker.score > 0.95
        assert marker.cell_px == pytest.approx(marker.side_px / 6)


def test_ids_that_the_board_does_not_have_are_left_alone() -> None:
    few = known_board({number: EIGHT[number] for number in (0, 5)})
    assert [marker.id for marker in find_markers(shoot(camera_over(10), PLACES), few)] == [0, 5]


@pytest.mark.parametrize(
    "dictionary", ["DICT_4X4_50", "DICT_5X5_100", "DICT_6X6_250", "DICT_APRILTAG_36h11"]
)
def test_the_dictionary_is_found(dictionary: str) -> None:
    frame = shoot(camera_over(10), PLACES, dictionary=dictionary)
    markers = find_markers(frame, Board.free(60))
    assert [marker.id for marker in markers] == sorted(EIGHT)
    assert {marker.dictionary.rsplit("_", 1)[0] for marker in markers} == {
        dictionary.rsplit("_", 1)[0]
    }


def test_names_of_dictionaries_may_be_written_in_any_case_and_must_exist() -> None:
    frame = shoot(camera_over(10), PLACES)
    assert len(find_markers(frame, Board.free(60, "dict_4x4_50"))) == 8
    with pytest.raises(BadInput, match="unknown 'DICT_4X4_51'"):
        Board.free(60, "DICT_4X4_51")


def cut_off(share: float) -> tuple[Frame, Array]:
    """A photo whose left border takes a share of marker 7, and that marker's true corners."""
    camera = camera_over(30, turn_deg=-12)
    frame, corners = shoot(camera, PLACES), camera.project(PLACES[7])
    cut = int(corners[:, 0].min() + share * np.ptp(corners[:, 0]))
    return Frame(np.ascontiguousarray(frame.pixels[:, cut:]), "cut"), corners - [cut, 0]


@pytest.mark.parametrize("share", [-0.05, 0.0, 0.05])
def test_a_marker_whose_card_or_edge_is_cut_off_by_the_picture_is_read(share: float) -> None:
    frame, truth = cut_off(share)
    found = {marker.id: marker for marker in find_markers(frame, BOARD)}
    assert np.abs(found[7].corners_px - truth).max() < 0.05


@pytest.mark.parametrize("share", [0.2, 0.3, 0.5])
def test_a_marker_of_which_half_is_outside_the_picture_is_measured_by_the_rest(
    share: float,
) -> None:
    frame, truth = cut_off(share)
    assert 7 not in {marker.id for marker in find_markers(frame, BOARD)}
    found = fit_expected_marker(frame, "DICT_4X4_50", 7, truth + np.array([2.0, -1.5]))
    assert found is not None
    sigma = np.sqrt(np.diag(found.square.covariance_px2)).reshape(4, 2)
    inside = truth[:, 0] > 3
    assert 1 <= inside.sum() <= 3
    assert np.abs(found.corners_px - truth)[inside].max() < 0.1
    assert (np.abs(found.corners_px - truth) < 5 * np.maximum(sigma, 0.02)).all()
    assert sigma[~inside].max() > 2 * sigma[inside].min()
    assert (found.square.edges.xy_px[:, 0] > 2).all()


def test_a_marker_almost_outside_the_picture_is_left_alone() -> None:
    frame, truth = cut_off(0.8)
    assert fit_expected_marker(frame, "DICT_4X4_50", 7, truth) is None
    assert fit_expected_marker(frame, "DICT_4X4_50", 7, np.full((4, 2), np.nan)) is None


def test_a_marker_with_a_corner_under_a_hand_gives_its_other_corners() -> None:
    camera, corners = camera_over(12), PLACES[5]
    hidden = corners[1, :2]
    frame = shoot(
        camera, {5: corners}, cover=lambda at: np.hypot(*np.moveaxis(at - hidden, -1, 0)) < 24
    )
    truth = camera.project(corners)
    found = fit_expected_marker(frame, "DICT_4X4_50", 5, truth + np.array([2.0, -1.5]))
    assert found is not None
    assert np.abs(found.corners_px - truth)[[0, 2, 3]].max() < 0.1
    assert np.abs(found.corners_px - truth).max() < 0.2
    assert not (np.hypot(*(found.square.edges.xy_px - truth[1]).T) < 10).any()


def test_a_mirrored_print_is_no_marker() -> None:
    frame = shoot(camera_over(10), PLACES)
    mirrored = Frame(np.ascontiguousarray(frame.pixels[:, ::-1]), "mirrored")
    assert find_markers(mirrored, BOARD) == ()
    truth = camera_over(10).project(PLACES[5]) * [-1, 1] + [SIZE[0] - 1, 0]
    assert fit_expected_marker(mirrored, "DICT_4X4_50", 5, truth) is None


def test_a_marker_of_an_absurd_size_is_none() -> None:
    """A code seen in gravel, a tenth as large as the markers."""
    true = find_markers(shoot(camera_over(10), PLACES), BOARD)[:5]
    tiny = replace(
        true[0], id=9, square=replace(true[0].square, corners_px=true[0].corners_px * 0.05)
    )
    assert _reject_odd_sizes((*true, tiny)) == true
    assert _reject_odd_sizes((true[0], tiny)) == (true[0], tiny)


def test_a_partly_hidden_marker_is_measured_by_what_it_shows() -> None:
    camera, corners = camera_over(12), PLACES[5]
    right, middle = float(corners[1, 0]), float(corners[:, 1].mean())
    # a slanting edge, so that it crosses the marker's own edges within the reach of the search
    frame = shoot(
        camera, {5: corners}, cover=lambda at: at[..., 0] > right - 14 + 0.3 * (at[..., 1] - middle)
    )
    assert find_markers(frame, BOARD) == ()
    truth = camera.project(corners)
    found = fit_expected_marker(frame, "DICT_4X4_50", 5, truth + np.array([2.0, -1.5]))
    assert found is not None
    assert np.abs(found.corners_px[[0, 3]] - truth[[0, 3]]).max() < 0.05
    assert np.abs(found.corners_px - truth).max() < 0.15


def test_where_there_is_no_marker_none_is_found() -> None:
    camera = camera_over(12)
    frame = shoot(camera, {5: PLACES[5]})
    assert fit_expected_marker(frame, "DICT_4X4_50", 6, camera.project(PLACES[6])) is None
    assert fit_expected_marker(frame, "DICT_4X4_50", 6, camera.project(PLACES[5])) is None
    assert (
        fit_expected_marker(frame, "DICT_4X4_50", 5, camera.project(PLACES[5]) - [5000, 0]) is None
    )
    noise = np.random.default_rng(3).integers(0, 255, (600, 800, 3), np.uint8)
    assert find_markers(Frame(noise, "noise"), Board.free(60)) == ()
    assert find_markers(Frame(np.zeros((600, 800, 3), np.uint8), "dark"), BOARD) == ()


def test_another_marker_at_the_place_is_not_taken_for_the_one_looked_for() -> None:
    camera = camera_over(12)
    frame = shoot(camera, {5: PLACES[5]})
    truth = camera.project(PLACES[5])
    taken = [
        n for n in range(50) if fit_expected_marker(frame, "DICT_4X4_50", n, truth + 1) is not None
    ]
    assert taken == [5]


def test_the_better_of_two_markers_with_one_id_is_taken() -> None:
    """A second print of marker 1, half under a hand, does not stand in for the first."""
    camera = camera_over(5)
    frame = shoot(camera, {1: PLACES[1], 0: PLACES[0]})
    blurred = shoot(camera, {1: marker_mm(450, 450)}, look=Look(blur_px=3.0))
    inset = (slice(450, 750), slice(600, 1000))
    pixels = frame.pixels.copy()
    pixels[inset] = blurred.pixels[inset]
    found = {marker.id: marker for marker in find_markers(Frame(pixels, "two"), BOARD)}
    assert np.abs(found[1].corners_px - camera.project(PLACES[1])).max() < 1


def test_large_pictures_are_read_small_and_measured_large() -> None:
    camera = camera_over(15, size_px=(4032, 3024), focal_px=3050)
    frame = shoot(camera, {n: PLACES[n] for n in FOUR}, size_px=(4032, 3024))
    markers = find_markers(frame, known_board(FOUR))
    assert [marker.id for marker in markers] == [0, 1, 2, 3]
    errors = np.array([marker.corners_px - camera.project(PLACES[marker.id]) for marker in markers])
    assert np.sqrt((errors**2).mean()) < 0.04
