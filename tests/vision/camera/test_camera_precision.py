"""Stated doubts of distances, counted against cameras that are known."""

from collections.abc import Iterator
from dataclasses import replace
from typing import cast

import numpy as np
import pytest

from evaluate.drawn.markers import BOARD_MM, FOUR, MARKER_MM, camera_over, known_board, seen_markers
from overruler.board import Board
from overruler.calibration import SPEC_SHARE, Covariances, TableBow
from overruler.lens import Lens
from overruler.vision.camera import calibrate as module
from overruler.vision.camera.bundle_adjustment import BOW_SIGMA_SHARE, BundleAdjustment
from overruler.vision.camera.calibrate import calibrate
from overruler.vision.camera.cross_validation import leave_one_out_error_mm
from overruler.vision.camera.state import Solution, State
from overruler.vision.camera.table_bow import correct_for_bow_mm
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
    lifted,
    random_camera,
)

LAYOUTS = {
    "four known": (known_board(FOUR), corners_of(known_board(FOUR))),
    "eight known": (BOARD, corners_of(BOARD)),
    "eight anywhere": (FREE, ANYWHERE),
}


@pytest.mark.parametrize("told", [False, True])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_stated_doubts_of_distances_are_what_errors_are(
    see: type[Sight], layout: str, told: bool
) -> None:
    """Over cameras and bowed tables drawn from the prior and noise as stated: 95 % within 1.96 σ, of all lengths.

    So are those of a table laid as the board file says, by what is said of such a table.
    """
    board, markers = LAYOUTS[layout]
    random, results, half = np.random.default_rng(7), [], np.full(2, BOARD_MM / 2)
    bow_mm = BOW_SIGMA_SHARE * BOARD_MM * (SPEC_SHARE if told else 1.0)
    for seed in range(40):
        camera, bow = random_camera(random), TableBow(half, half, bow_mm * random.normal(size=2))
        see(camera, {n: lifted(at, bow) for n, at in markers.items()}, seed, told=told)
        found = calibrate(blank(), board)
        results.append(distances(found.as_specified if told else found, camera, bow))
    mean_square, within = counted(results)
    assert 0.7 < mean_square < 1.4
    assert 0.90 < within < 0.995


@pytest.mark.parametrize("layout", LAYOUTS)
def test_no_table_is_surer_as_it_is_than_as_told(see: type[Sight], layout: str) -> None:
    """In every direction of what is unknown; and where markers lie anywhere there is little that could be told."""
    board, markers = LAYOUTS[layout]
    see(camera_over(25), markers, told=True)
    found = calibrate(blank(), board)
    root = np.linalg.inv(np.linalg.cholesky(found.joint_covariance))
    shares = np.linalg.eigvalsh(root @ found.as_specified.joint_covariance @ root.T)
    assert shares.max() < 1.1
    assert shares.min() > 0
    assert (np.sort(shares)[3] > 0.8) == (layout == "eight anywhere")


def test_the_doubt_of_a_lens_file_is_carried(see: type[Sight]) -> None:
    """With a lens that is only roughly what the file says, as the file itself admits."""
    random, results = np.random.default_rng(8), []
    sigma = np.array([12.0, 12.0, 3.0, 3.0, 0.01, 0.01, 2e-4, 2e-4, 1e-3])
    for seed in range(40):
        camera = random_camera(random)
        true = np.concatenate([camera.matrix[[0, 1, 0, 1], [0, 1, 2, 2]], camera.distortion])
        fx, fy, cx, cy, *distortion = true + sigma * random.normal(size=9)
        matrix = np.array([[fx, 0, cx], [0, fy, cy], [0, 0, 1]])
        see(camera, corners_of(known_board(FOUR)), seed)
        lens = Lens(SIZE, matrix, np.array(distortion), np.diag(sigma**2))
        results.append(distances(calibrate(blank(), known_board(FOUR), lens=lens), camera))
    mean_square, within = counted(results)
    assert 0.6 < mean_square < 1.5
    assert 0.90 < within < 0.995


def test_badly_laid_markers_widen_the_doubt(see: type[Sight]) -> None:
    """Eight markers each off by six times what is expected: the residuals tell, and the doubt follows."""
    random, results, plain = np.random.default_rng(9), [], []
    for seed in range(12):
        camera = random_camera(random)
        see(camera, corners_of(BOARD), seed, spoil=6.0)
        results.append(distances(calibrate(blank(), BOARD), camera))
        see(camera, corners_of(BOARD), seed)
        plain.append(distances(calibrate(blank(), BOARD), camera)[1])
    assert counted(results)[0] < 2.2
    assert np.median([sigma for _, sigma in results]) > 2.5 * np.median(plain)


def test_a_lens_file_sharpens_what_four_markers_leave_open(see: type[Sight]) -> None:
    camera, board = camera_over(6), known_board(FOUR)
    see(camera, corners_of(board))
    lens = Lens(
        SIZE,
        camera.matrix,
        camera.distortion,
        np.diag([1.0, 1, 1, 1, 1e-6, 1e-6, 1e-9, 1e-9, 1e-8]),
    )
    found = [calibrate(blank(), board, lens=one) for one in (lens, None)]
    # a lens says nothing of the table's bow, which four markers in its corners leave as open as it was
    with_lens, without = (
        distances(replace(one, bow=None, covariances=Covariances.same(one.covariance)), camera)[1]
        for one in found
    )
    assert np.median(with_lens) < 0.4 * np.median(without)


def test_leaving_a_marker_out_says_what_solving_without_it_does(see: type[Sight]) -> None:
    camera = camera_over(25)
    see(camera, corners_of(BOARD), spoil=3.0)
    whole = calibrate(blank(), BOARD)
    errors = []
    for number, corners in corners_of(BOARD).items():
        others = {n: c for n, c in corners_of(BOARD).items() if n != number}
        found = seen_markers(camera, corners_of(BOARD), np.random.default_rng(0), 3.0)
        Sight.monkeypatch.setattr(
            module,
            "find_markers",
            lambda frame, board, f=found: tuple(m for m in f if m.id in board.corners_mm),
        )
        part = calibrate(blank(), Board("part", MARKER_MM, "DICT_4X4_50", 900, 900, others))
        seen = next(marker for marker in found if marker.id == number).corners_px
        errors.append(np.linalg.norm(part.camera.unproject(seen) - corners[:, :2], axis=1).mean())
    assert whole.left_out_mm == pytest.approx(np.mean(errors), rel=0.35)


def test_a_lens_that_sees_no_table_without_a_marker_leaves_it_unsaid() -> None:
    class Blind:
        """The others alone give a lens that folds back before the marker."""

        def states_without(self, state: State) -> Iterator[State]:
            camera = state.camera
            yield State(camera.with_lens(camera.matrix, [-3.0, 0, 0, 0, 0]), 0.0)

    camera = camera_over(15)
    corners = list(corners_of(known_board(FOUR)).values())
    solution = Solution(State(camera, 0.0), np.eye(17), 0.1, 1.0, 1.0, (1.0,) * 4, 0.0)
    seen = [camera.project(at) for at in corners]
    assert leave_one_out_error_mm(cast(BundleAdjustment, Blind()), solution, seen, corners) is None


# --- markers that lie anywhere ---


def test_the_frame_of_free_markers_is_the_lowest_one_s(see: type[Sight]) -> None:
    camera = camera_over(20)
    see(camera, ANYWHERE)
    found = calibrate(blank(), FREE)
    corners = {
        n: correct_for_bow_mm(found, found.camera.unproject(camera.project(c)))
        for n, c in ANYWHERE.items()
    }
    everything = np.concatenate(list(corners.values()))
    assert everything.min(0) == pytest.approx([0, 0], abs=0.3)
    assert everything.max(0) == pytest.approx(found.board_mm, abs=0.3)
    upper = corners[0][1] - corners[0][0]
    assert np.degrees(np.arctan2(upper[1], upper[0])) == pytest.approx(0, abs=0.2)
    assert found.camera.center_mm[2] > 0
    assert found.left_out_mm is not None
    assert found.left_out_mm < 0.3


def test_which_marker_is_the_lowest_changes_no_distance_and_no_doubt(see: type[Sight]) -> None:
    camera, number = camera_over(20), {0: 20, 1: 3, 2: 11, 3: 8, 4: 5, 5: 30, 6: 2, 7: 19}
    found = seen_markers(camera, ANYWHERE, np.random.default_rng(4))
    results = []
    for names in ({n: n for n in number}, number):
        renamed = tuple(sorted((type(m)(names[m.id], m.dictionary, m.score, m.blur_px, m.square) for m in found),
                               key=lambda m: m.id))  # fmt: skip
        Sight.monkeypatch = see.monkeypatch
        see.monkeypatch.setattr(module, "find_markers", lambda frame, board, r=renamed: r)
        results.append(distances(calibrate(blank(), FREE), camera))
    assert results[0][0] == pytest.approx(results[1][0], abs=2e-3)
    assert results[0][1] == pytest.approx(results[1][1], rel=2e-2)


@pytest.mark.parametrize("tilt", [0.0, 30.0, 55.0])
def test_free_markers_are_solved_from_any_side(see: type[Sight], tilt: float) -> None:
    camera = camera_over(tilt, turn_deg=130, height_mm=1300)
    see(camera, ANYWHERE)
    errors, sigma = distances(calibrate(blank(), FREE), camera)
    assert np.abs(errors / sigma).max() < 4
