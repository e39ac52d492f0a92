"""Several photos through one lens."""

from dataclasses import replace

import numpy as np
import pytest

from evaluate.drawn.markers import EIGHT, FOUR, as_stated, camera_over, known_board, seen_markers
from overruler.board import Board
from overruler.errors import BadInput, CannotMeasure
from overruler.frame import Frame
from overruler.referee import Referee
from overruler.vision.camera import shared_lens
from overruler.vision.camera.calibrate import calibrate, calibrate_from_markers
from overruler.vision.camera.lens_prior import lens_prior
from overruler.vision.camera.shared_lens import (
    LensInformation,
    calibrate_many,
    calibrate_many_from_markers,
    fuse_lens_information,
    information_added_by,
)
from tests.vision.sight import (
    Sight,
    blank,
    corners_of,
    counted,
    distances,
    random_camera,
)
from tests.vision.table import shoot

BOARD = known_board(FOUR)
TILTS = (6.0, 24.0, 34.0)


def test_photos_of_one_table_share_their_lens_and_stay_honest() -> None:
    """Three photos through one lens, four markers each: surer than alone, as sure as they say."""
    random, results, shares = np.random.default_rng(3), [], []
    for seed in range(5):
        lens = random_camera(random)
        cameras = [camera_over(tilt, turn_deg=30 * k, height_mm=lens.matrix[0, 0] * 0.85).with_lens(
            lens.matrix, lens.distortion) for k, tilt in enumerate(TILTS)]  # fmt: skip
        seen = [
            as_stated(c, corners_of(BOARD), np.random.default_rng([seed, k]))
            for k, c in enumerate(cameras)
        ]
        frames = [blank() for _ in cameras]
        many = calibrate_many_from_markers(frames, BOARD, seen)
        prior = lens_prior(frames[0], None)
        alone = [
            calibrate_from_markers(f, BOARD, s, (), prior)[0]
            for f, s in zip(frames, seen, strict=True)
        ]
        results += [distances(one, camera) for one, camera in zip(many, cameras, strict=True)]
        shares += [np.median(distances(m, c)[1] / distances(a, c)[1]) for m, a, c in zip(
            many, alone, cameras, strict=True)]  # fmt: skip
    mean_square, within = counted(results)
    assert 0.3 < mean_square < 1.5
    assert within > 0.9
    assert np.median(shares) < 0.8


ODD_LENSES = {
    "cropped": np.array([[1250.0, 0, 1040], [0, 1250.0, 720], [0, 0, 1]]),
    "stretched": np.array([[1250.0, 0, 803], [0, 1250.0 * 4 / 3, 597], [0, 0, 1]]),
}


@pytest.mark.parametrize("kind", ODD_LENSES)
def test_cropped_and_stretched_photos_are_each_measured_by_themselves(kind: str) -> None:
    """One of them leaves its lens so open that what it says of it, fused with others', would be off by many σ."""
    cameras = [camera_over(tilt).with_lens(ODD_LENSES[kind], np.zeros(5)) for tilt in TILTS[1:]]
    corners, prior = corners_of(known_board(EIGHT)), lens_prior(blank(), None)
    seen = [as_stated(c, corners, np.random.default_rng(k)) for k, c in enumerate(cameras)]
    many = calibrate_many_from_markers([blank() for _ in cameras], known_board(EIGHT), seen)
    for found, markers in zip(many, seen, strict=True):
        alone = calibrate_from_markers(blank(), known_board(EIGHT), markers, (), prior)[0]
        assert found.camera.matrix == pytest.approx(alone.camera.matrix, rel=1e-4)
        assert kind in {problem.flag for problem in found.problems}


def test_a_cropped_photo_tells_whole_ones_nothing_of_its_middle() -> None:
    middles = ((0.0, 0.0), (0.0, 0.0), (240.0, 120.0))
    cameras = [
        camera_over(tilt, turn_deg=40 * k, center_px=middle)
        for k, (tilt, middle) in enumerate(zip((20.0, 28.0, 34.0), middles, strict=True))
    ]
    seen = [
        as_stated(c, corners_of(BOARD), np.random.default_rng(k)) for k, c in enumerate(cameras)
    ]
    many = calibrate_many_from_markers([blank() for _ in cameras], BOARD, seen)
    for camera, found in zip(cameras, many, strict=True):
        off = (found.camera.matrix - camera.matrix)[:2, 2]
        assert np.abs(off / np.sqrt(np.diag(found.covariance)[2:4])).max() < 3


def test_what_a_photo_says_makes_its_answer_of_its_prior(
    see: type[Sight], monkeypatch: pytest.MonkeyPatch
) -> None:
    see(camera_over(25), corners_of(BOARD))
    monkeypatch.setattr(shared_lens, "between_photo_covariance", lambda found: np.zeros((9, 9)))
    prior = lens_prior(blank(), None)
    found = calibrate(blank(), BOARD)
    again = fuse_lens_information(prior, [information_added_by(found, prior)])
    sigma = np.sqrt(np.diag(found.covariance)[:9])
    mean = np.concatenate(
        [found.camera.matrix[[0, 1, 0, 1], [0, 1, 2, 2]], found.camera.distortion]
    )
    assert again.mean == pytest.approx(mean, abs=float(1e-3 * sigma.max()))
    assert (again.mean - mean) / sigma == pytest.approx(np.zeros(9), abs=0.02)
    assert np.sqrt(np.diag(again.covariance)) / sigma == pytest.approx(np.ones(9), rel=0.01)


def test_one_photo_says_nothing_to_itself() -> None:
    camera = camera_over(25)
    seen = as_stated(camera, corners_of(BOARD), np.random.default_rng(0))
    alone = calibrate_from_markers(blank(), BOARD, seen, (), lens_prior(blank(), None))[0]
    (found,) = calibrate_many_from_markers([blank()], BOARD, [seen])
    assert found.covariance == pytest.approx(alone.covariance)
    assert found.camera.matrix == pytest.approx(alone.camera.matrix)


def test_a_lens_that_wanders_is_told_less(
    see: type[Sight], monkeypatch: pytest.MonkeyPatch
) -> None:
    see(camera_over(25), corners_of(BOARD))
    prior, found = lens_prior(blank(), None), calibrate(blank(), BOARD)
    doubts = []
    for times in (0.0, 1.0, 100.0):
        steady = shared_lens.between_photo_covariance(found)
        with monkeypatch.context() as patch:
            patch.setattr(
                shared_lens, "between_photo_covariance", lambda found, s=steady * times: s
            )
            doubts.append(
                fuse_lens_information(prior, [information_added_by(found, prior)]).covariance[0, 0]
            )
    assert doubts[0] < doubts[1] < doubts[2] < prior.covariance[0, 0]


def test_nothing_said_changes_nothing() -> None:
    prior = lens_prior(blank(), None)
    same = fuse_lens_information(prior, [LensInformation(np.zeros((9, 9)), np.zeros(9))])
    assert same.mean == pytest.approx(prior.mean)
    assert same.covariance == pytest.approx(prior.covariance)


def test_photos_of_different_sizes_are_refused() -> None:
    other = Frame(np.zeros((1080, 1920, 3), np.uint8), "other")
    with pytest.raises(BadInput, match="2 sizes"):
        calibrate_many([blank(), other], BOARD)


def test_many_finds_the_markers_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    cameras = [camera_over(tilt) for tilt in TILTS[:2]]
    found = {
        f"{k}": seen_markers(c, corners_of(BOARD), np.random.default_rng(k))
        for k, c in enumerate(cameras)
    }
    monkeypatch.setattr(shared_lens, "find_markers", lambda frame, board: tuple(found[frame.name]))
    frames = [replace(blank(), name=f"{k}") for k in range(2)]
    assert [one.markers for one in calibrate_many(frames, BOARD)] == [(0, 1, 2, 3)] * 2


def test_a_photo_that_cannot_be_measured_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    camera = camera_over(20)
    found = seen_markers(camera, corners_of(BOARD), np.random.default_rng(0))
    monkeypatch.setattr(
        shared_lens,
        "find_markers",
        lambda frame, board: tuple(found[: 1 if frame.name == "b" else 4]),
    )
    frames = [replace(blank(), name=name) for name in "ab"]
    with pytest.raises(CannotMeasure, match=r"^b: only one marker"):
        calibrate_many(frames, BOARD)


def test_what_lies_elsewhere_is_left_out_of_every_photo(monkeypatch: pytest.MonkeyPatch) -> None:
    free = Board.free(60.0, "DICT_4X4_50")
    found = seen_markers(camera_over(20), corners_of(BOARD), np.random.default_rng(0))
    monkeypatch.setattr(shared_lens, "find_markers", lambda frame, board: tuple(found))
    assert [one.markers for one in calibrate_many([blank(), blank()], free, elsewhere=(2,))] == [
        (0, 1, 3)
    ] * 2


def test_the_referee_sees_a_photo_by_the_lens_of_those_beside_it() -> None:
    """From straight above the focal length hides; one look from the side tells it, and the whole photo is measured."""
    above, beside = (camera_over(tilt, turn_deg=8.0 * tilt / 10) for tilt in (3.0, 35.0))
    frames = [shoot(camera, corners_of(BOARD)) for camera in (above, beside)]
    alone, together_ = (
        Referee(BOARD, bases=[], beside=others).look(frames[0]).calibration
        for others in ((), frames[1:])
    )
    sigma = [float(found.covariance[0, 0] ** 0.5) for found in (alone, together_)]
    assert sigma[1] < 0.5 * sigma[0]
    assert abs(together_.camera.matrix[0, 0] - above.matrix[0, 0]) < 4 * sigma[1]
    with pytest.raises(BadInput, match="give no points"):
        Referee(None, points=[(0.0, 0.0, 0.0, 0.0)], beside=frames[1:]).look(frames[0])
