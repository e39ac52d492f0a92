"""The doubt of distances over the board, and the worth of a marker that is not there yet."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluate.drawn.markers import EIGHT, FOUR, camera_over, known_board, marker_mm
from overruler.calibration import Calibration, Covariances
from overruler.geometry.pose import Array
from overruler.lens import Lens
from overruler.vision.camera.calibrate import calibrate
from overruler.vision.camera.measurement_update import predicted_covariance
from overruler.vision.camera.precision_map import (
    REFERENCE_LENGTH_MM,
    covariance_with_lens_file,
    covariance_with_marker,
    distance_sigmas_mm,
    possible_new_markers,
    precision_map,
)
from tests.vision.sight import ANYWHERE, BOARD, FREE, SIZE, Sight, blank, corners_of

CAMERA = camera_over(15)


@pytest.fixture
def four(see: type[Sight]) -> Calibration:
    see(CAMERA, corners_of(known_board(FOUR)))
    return calibrate(blank(), known_board(FOUR))


def test_the_doubt_of_distances_is_that_of_cameras_drawn_from_the_covariance(
    four: Calibration,
) -> None:
    random, middle = np.random.default_rng(0), np.array([300.0, 500.0])
    exact = replace(
        four,
        budget=replace(four.budget, scale_share=0.0),
        bow=None,
        covariances=Covariances.same(four.covariance),
    )
    turns = np.arange(4) * np.pi / 4
    ends = [
        middle + side * REFERENCE_LENGTH_MM / 2 * np.stack([np.cos(turns), np.sin(turns)], -1)
        for side in (-1, 1)
    ]
    pixels = [four.camera.project(np.column_stack([end, np.zeros(4)])) for end in ends]
    root = np.linalg.cholesky(
        four.covariance * (1 + 1e-9) + np.diag(np.diag(four.covariance)) * 1e-12
    )
    errors = []
    for _ in range(800):
        moved = four.camera.moved(
            0.2 * root @ random.normal(size=15)
        )  # small steps: the law is linear
        errors.append(
            np.linalg.norm(moved.unproject(pixels[1]) - moved.unproject(pixels[0]), axis=1)
            - REFERENCE_LENGTH_MM
        )
    sampled = np.sqrt(np.mean(np.square(errors))) / 0.2
    assert float(distance_sigmas_mm(exact, exact.joint_covariance, middle)) == pytest.approx(
        sampled, rel=0.1
    )


def test_a_map_is_that_of_a_table_as_told(four: Calibration) -> None:
    covariances = four.covariances
    surer = replace(
        four,
        covariances=replace(covariances, usual=covariances.usual / 4),
        budget=replace(four.budget, specified_scale_share=0.0),
    )
    plain = replace(four, budget=replace(four.budget, specified_scale_share=0.0))
    assert precision_map(surer).sigma_mm == pytest.approx(precision_map(plain).sigma_mm / 2)
    assert precision_map(four.as_specified).sigma_mm == pytest.approx(precision_map(four).sigma_mm)


def test_what_changes_the_doubt_changes_that_of_a_table_as_told_alike(four: Calibration) -> None:
    later = four.updated_by(np.zeros(17), lambda covariance: 4 * covariance)
    assert later.covariances.usual == pytest.approx(4 * four.covariances.usual)
    assert later.joint_covariance == pytest.approx(4 * four.joint_covariance)
    assert later.covariance == pytest.approx(4 * four.covariance)


def test_the_scale_of_the_print_is_part_of_the_doubt(four: Calibration) -> None:
    sure = replace(four, budget=replace(four.budget, scale_share=0.0))
    with_scale, without = (
        distance_sigmas_mm(one, np.zeros((17, 17)), np.array([450.0, 450.0]))
        for one in (four, sure)
    )
    assert float(with_scale) == pytest.approx(four.budget.scale_share * REFERENCE_LENGTH_MM)
    assert float(without) == 0.0


@pytest.mark.parametrize("where", [(840.0, 450.0), (450.0, 60.0)])
def test_a_marker_is_worth_what_it_turns_out_to_be_worth(
    see: type[Sight], where: tuple[float, float]
) -> None:
    """Promised without it, and measured once it is laid."""
    spots = np.array([(x, y) for x in (250.0, 450.0, 650.0) for y in (250.0, 450.0, 650.0)])
    before: list[Calibration] = []
    after: list[Calibration] = []
    for places in (FOUR, FOUR | {5: where}):
        board = known_board(places)
        see(CAMERA, corners_of(board))
        found = calibrate(blank(), board)
        (before if places is FOUR else after).append(found)
    promised = covariance_with_marker(
        before[0], before[0].joint_covariance, marker_mm(*where)[:, :2]
    )
    kept, gain = (
        distance_sigmas_mm(before[0], promised, spots),
        distance_sigmas_mm(before[0], before[0].joint_covariance, spots),
    )
    true = distance_sigmas_mm(after[0], after[0].joint_covariance, spots)
    assert np.median(true / kept) == pytest.approx(1, abs=0.3)
    assert kept.max() < 0.8 * gain.max()


def test_four_markers_are_told_where_a_fifth_would_help(four: Calibration) -> None:
    found = precision_map(four)
    texts = [advice.text for advice in found.advice]
    assert any(text.startswith("add a marker at the") for text in texts)
    assert any("lens file" in text for text in texts)
    assert all(advice.after_mm < 0.81 * advice.before_mm for advice in found.advice)
    assert [advice.after_mm for advice in found.advice] == sorted(
        advice.after_mm for advice in found.advice
    )
    assert found.advice[0].before_mm == pytest.approx(float((found.sigma_mm * found.visible).max()))


def test_a_lens_file_is_not_asked_for_where_there_is_one(four: Calibration) -> None:
    assert not any(
        "lens file" in advice.text for advice in precision_map(four, has_lens_file=True).advice
    )


def test_eight_markers_need_nothing_more(see: type[Sight]) -> None:
    see(CAMERA, corners_of(BOARD))
    assert precision_map(calibrate(blank(), BOARD)).advice == ()


def test_a_new_marker_lies_in_sight_and_off_the_others(four: Calibration) -> None:
    rooms = dict(possible_new_markers(four))
    assert sorted(rooms) == [
        "at the left edge",
        "at the lower edge",
        "at the right edge",
        "at the upper edge",
    ]
    assert rooms["at the left edge"][:, 0].max() < 450 < rooms["at the right edge"][:, 0].min()
    assert rooms["at the lower edge"][:, 1].max() < 450 < rooms["at the upper edge"][:, 1].min()
    for corners in rooms.values():
        seen = four.camera.project(np.column_stack([corners, np.zeros(4)]))
        assert np.all((seen >= 0) & (seen <= np.array(four.size_px) - 1))
        assert (
            min(np.linalg.norm(corners.mean(0) - square.mean(0)) for square in four.squares_mm)
            > 100
        )


def test_markers_squares_lie_where_the_camera_as_it_is_then_sees_them(four: Calibration) -> None:
    step = np.zeros(17)
    step[12] = 3.0
    later = four.updated_by(step, lambda covariance: covariance)
    for one, other in zip(four.squares_mm, later.squares_mm, strict=True):
        assert np.abs(one - other).max() > 2
    for calibration in (four, later):
        flat = np.concatenate(calibration.squares_mm)
        seen = calibration.camera.project(np.column_stack([flat, np.zeros(len(flat))]))
        assert seen == pytest.approx(np.concatenate(four.corners_px), abs=1e-6)


def test_a_marker_that_lies_anywhere_says_less(see: type[Sight]) -> None:
    see(CAMERA, {n: ANYWHERE[n] for n in FOUR})
    free = calibrate(blank(), FREE)
    corners, spot = marker_mm(*EIGHT[4])[:, :2], np.array([450.0, 450.0])
    anywhere = distance_sigmas_mm(
        free, covariance_with_marker(free, free.joint_covariance, corners), spot
    )
    laid = distance_sigmas_mm(
        free,
        covariance_with_marker(replace(free, layout_known=True), free.joint_covariance, corners),
        spot,
    )
    assert laid < anywhere <= distance_sigmas_mm(free, free.joint_covariance, spot) * (1 + 1e-9)


def test_a_lens_file_is_worth_what_it_turns_out_to_be_worth(
    see: type[Sight], four: Calibration
) -> None:
    spot = np.array([450.0, 450.0])
    lens = Lens(SIZE, CAMERA.matrix, CAMERA.distortion, np.diag(np.square(
        [1e-3 * 1250, 1e-3 * 1250, 2, 2, 2e-3, 2e-3, 2e-4, 2e-4, 1e-3])))  # fmt: skip
    see(CAMERA, corners_of(known_board(FOUR)))
    found = calibrate(blank(), known_board(FOUR), lens=lens)
    promised = distance_sigmas_mm(four, covariance_with_lens_file(four), spot)
    assert float(distance_sigmas_mm(found, found.joint_covariance, spot)) == pytest.approx(
        float(promised), rel=0.2
    )


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1), st.integers(1, 6))
def test_learning_adds_information(seed: int, measures: int) -> None:
    random = np.random.default_rng(seed)

    def positive(size: int) -> Array:
        root = random.normal(size=(size, size))
        return np.asarray(root @ root.T + 0.1 * np.eye(size))

    before, slope, noise = positive(5), random.normal(size=(measures, 5)), positive(measures)
    wanted = np.linalg.inv(np.linalg.inv(before) + slope.T @ np.linalg.solve(noise, slope))
    assert predicted_covariance(before, slope, noise) == pytest.approx(wanted, rel=1e-6, abs=1e-8)
