"""Markers as the board file has them: sure or not of their places, printed to size or not."""

from dataclasses import replace

import numpy as np
import pytest

from evaluate.drawn.markers import EIGHT, FOUR, camera_over, known_board, marker_mm, seen_markers
from overruler.board import Board
from overruler.calibration import SPEC_SHARE
from overruler.geometry.pose import Array
from overruler.vision.camera import initial_pose
from overruler.vision.camera.calibrate import calibrate, calibrate_from_markers
from overruler.vision.camera.initial_pose import alternative_cameras
from overruler.vision.camera.lens_prior import lens_prior
from overruler.vision.camera.marker_layout import (
    CARD_THICKNESS_SIGMA_MM,
    MARKER_HEIGHT_SIGMA_MM,
    UNMEASURED_PRINT_SIGMA,
    add_height_uncertainty,
    laid_marker_observation,
    marker_place_covariance,
    printed_corners_mm,
    printed_marker_observation,
)
from overruler.vision.markers.edge_noise import PLACE_SPEC_SHARE
from overruler.vision.markers.marker import Marker
from tests.vision.sight import (
    ANYWHERE,
    BOARD,
    FREE,
    Sight,
    blank,
    corners_of,
    counted,
    distances,
    random_camera,
)

CAMERA = camera_over(25)
SIGMA = np.array([0.8, 0.3, 2e-3])


def unsure(sigma: Array = SIGMA, scale: float | None = None) -> Board:
    """Eight markers, each as unsure of its x, y and turn."""
    return replace(BOARD, covariance=np.diag(np.tile(sigma**2, 8)), scale_share=scale)


def seen(number: int) -> Marker:
    return seen_markers(CAMERA, {number: corners_of(BOARD)[number]}, np.random.default_rng(0))[0]


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_an_edge_moves_as_its_marker_does(axis: int) -> None:
    group, plain = (
        laid_marker_observation(seen(5), unsure()),
        laid_marker_observation(seen(5), BOARD),
    )
    columns = group.place_factors_px[:, plain.place_factors_px.shape[1] :]
    step = np.zeros(3)
    step[axis] = SIGMA[axis]
    middle = corners_of(BOARD)[5].mean(0)
    arm = group.xyz_mm - middle
    moved = group.xyz_mm + np.column_stack(
        [step[0] - step[2] * arm[:, 1], step[1] + step[2] * arm[:, 0], 0 * arm[:, 0]]
    )
    wanted = ((CAMERA.project(moved) - CAMERA.project(group.xyz_mm)) * group.normal_px).sum(1)
    column = columns[:, np.argmax(np.abs(wanted @ columns))]
    assert np.abs(column) == pytest.approx(np.abs(wanted), abs=0.06 * np.abs(wanted).max())


@pytest.mark.parametrize(("scale", "told"), [(None, SPEC_SHARE * 5e-4), (3e-4, 3e-4)])
def test_a_scale_that_was_measured_is_as_sure_as_it_was_measured(
    see: type[Sight], scale: float | None, told: float
) -> None:
    see(CAMERA, corners_of(BOARD))
    found = calibrate(blank(), replace(BOARD, scale_share=scale))
    nearer = CARD_THICKNESS_SIGMA_MM / found.camera.center_mm[2]
    assert found.budget.scale_share == pytest.approx(np.hypot(scale or 5e-4, nearer))
    assert found.as_specified.budget.scale_share == pytest.approx(
        np.hypot(told, SPEC_SHARE * nearer)
    )


def test_places_by_an_unmeasured_print_have_its_budget_and_the_photos_own_doubt(
    see: type[Sight],
) -> None:
    see(CAMERA, corners_of(BOARD))
    scale = float(np.hypot(UNMEASURED_PRINT_SIGMA, 4e-4))
    found = calibrate(blank(), replace(BOARD, scale_share=scale, scale_by_print=True))
    nearer = CARD_THICKNESS_SIGMA_MM / found.camera.center_mm[2]
    assert found.budget.scale_share == pytest.approx(np.linalg.norm([1e-3, 4e-4, nearer]))
    told = np.linalg.norm([SPEC_SHARE * 1e-3, 4e-4, SPEC_SHARE * nearer])
    assert found.as_specified.budget.scale_share == pytest.approx(told)


def test_on_a_table_as_told_a_card_lies_lower() -> None:
    group = add_height_uncertainty([laid_marker_observation(seen(5), unsure())], CAMERA)[0]
    place, told = group.place_factors_px, group.specified_place_factors_px
    assert told[:, :2] == pytest.approx(PLACE_SPEC_SHARE * place[:, :2])
    assert told[:, 2:-1] == pytest.approx(place[:, 2:-1])  # the file's own doubt is told
    assert told[:, -1] == pytest.approx(SPEC_SHARE * place[:, -1])
    assert np.abs(place[:, -1]).max() > 0


def test_the_scale_of_all_is_not_counted_twice() -> None:
    middles = np.concatenate([[*corners_of(BOARD)[n].mean(0)[:2], 0.0] for n in sorted(EIGHT)])
    own = np.tile(SIGMA**2, 8)
    board = replace(
        unsure(), covariance=np.diag(own) + 2e-3**2 * np.outer(middles, middles), scale_share=2e-3
    )
    assert marker_place_covariance(board, 5) == pytest.approx(np.diag(SIGMA**2), abs=1e-9)


def test_a_measured_scale_is_the_budget_s_and_the_cards_height_comes_to_it(
    see: type[Sight],
) -> None:
    """A card 0.2 mm thick, seen from a metre, looks two parts in ten thousand larger."""
    see(CAMERA, corners_of(BOARD))
    share, found = 2.5e-4, calibrate(blank(), replace(BOARD, scale_share=2.5e-4))
    nearer = CARD_THICKNESS_SIGMA_MM / found.camera.center_mm[2]
    assert found.budget.scale_share == pytest.approx((share**2 + nearer**2) ** 0.5)
    assert calibrate(blank(), BOARD).budget.scale_share > 1.5 * share


@pytest.mark.parametrize("board", [BOARD, FREE], ids=["laid", "anywhere"])
@pytest.mark.parametrize("mm", [5.0, -3.0])
def test_markers_told_to_lie_over_the_mat_or_below_it_do(
    see: type[Sight], board: Board, mm: float
) -> None:
    """Cards of 5 mm untold, seen from a metre, make every distance half a percent too short."""
    laid = corners_of(BOARD) if board.layout_known else ANYWHERE
    up = np.array([0, 0, mm])
    flat, told, untold = [], [], []
    for seed in range(12):
        camera = random_camera(np.random.default_rng(seed), tilt_deg=30.0)
        see(camera, laid, seed)
        flat.append(distances(calibrate(blank(), board), camera))
        see(camera, {n: at + up for n, at in laid.items()}, seed)
        told.append(distances(calibrate(blank(), board.raised_by(mm)), camera))
        untold.append(distances(calibrate(blank(), board), camera))
    assert counted(told)[0] == pytest.approx(counted(flat)[0], rel=0.3)
    assert counted(untold)[0] > 5 * counted(flat)[0]


def test_an_unsure_layout_widens_the_doubt_honestly(see: type[Sight]) -> None:
    """Four markers laid as badly as the file admits: the doubt follows."""
    random, results, plain = np.random.default_rng(4), [], []
    board = known_board(FOUR)
    told = replace(board, covariance=np.diag(np.tile(np.array([0.5, 0.5, 1e-3]) ** 2, 4)))
    for seed in range(20):
        camera = random_camera(random)
        laid = {n: marker_mm(x + random.normal(0, 0.5), y + random.normal(0, 0.5), heading_deg=random.normal(0, 0.057))
                for n, (x, y) in FOUR.items()}  # fmt: skip
        see(camera, laid, seed)
        results.append(distances(calibrate(blank(), told), camera))
        plain.append(distances(calibrate(blank(), board), camera))
    mean_square, within = counted(results)
    assert 0.4 < mean_square < 1.6
    assert within > 0.88
    assert counted(plain)[0] > 1.5 * mean_square


def test_height_moves_an_edge_outwards_where_it_is_seen_at_a_slant() -> None:
    group = laid_marker_observation(seen(0), BOARD)
    raised = add_height_uncertainty([group], CAMERA)[0].place_factors_px[:, -1]
    up = CAMERA.project(group.xyz_mm + np.array([0, 0, MARKER_HEIGHT_SIGMA_MM])) - CAMERA.project(
        group.xyz_mm
    )
    assert raised == pytest.approx((up * group.normal_px).sum(1), rel=1e-3, abs=1e-6)


def test_a_marker_printed_wider_than_high_is_taken_so(see: type[Sight]) -> None:
    board = replace(FREE, sides_mm=(60.6, 59.4), marker_mm=60.0)
    assert printed_corners_mm(board)[:, :2] == pytest.approx(
        np.array([(0, 0), (60.6, 0), (60.6, -59.4), (0, -59.4)])
    )
    group = printed_marker_observation(seen(3), board)
    assert np.ptp(group.xyz_mm[:, 0]) / np.ptp(group.xyz_mm[:, 1]) == pytest.approx(
        60.6 / 59.4, rel=0.02
    )
    wide = {
        n: marker_mm(x, y) * [1, 1, 1] + (marker_mm(0, 0) * [0.01, -0.01, 0])
        for n, (x, y) in EIGHT.items()
    }
    see(CAMERA, wide)
    errors, sigma = distances(calibrate(blank(), board), CAMERA)
    assert np.abs(errors / np.hypot(sigma, 0.3)).max() < 4
    see(CAMERA, wide)
    assert np.abs(distances(calibrate(blank(), FREE), CAMERA)[0]).max() > 1.3 * np.abs(errors).max()


@pytest.mark.parametrize("tilt_deg", [15, 20])
def test_three_markers_laid_about_there_find_the_right_one_of_a_plane_s_two_poses(
    tilt_deg: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With places as unsure as these the other pose, from which the fit starts, fits nearly as well."""
    camera = camera_over(tilt_deg, height_mm=2600.0, focal_px=1530.0)
    places = {0: (520.0, 300.0), 1: (380.0, 150.0), 2: (400.0, 520.0)}
    laid = {number: marker_mm(*place) for number, place in places.items()}
    board = replace(known_board(places), covariance=np.diag(np.tile([9.0, 9.0, 16e-6], 3)))
    wrong = alternative_cameras(camera, np.array([450.0, 350.0, 0.0]))[3].T_camera_board
    monkeypatch.setattr(initial_pose, "pose_from_points", lambda *told: wrong)
    found, _ = calibrate_from_markers(
        blank(),
        board,
        seen_markers(camera, laid, np.random.default_rng(0)),
        (),
        lens_prior(blank(), None),
    )
    normals = [one.T_camera_board.rotation[:, 2] for one in (found.camera, camera)]
    assert np.degrees(np.arccos(normals[0] @ normals[1])) < 1
