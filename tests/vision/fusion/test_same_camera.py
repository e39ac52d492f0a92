"""Photos by one camera tell each other of its lens; others do not."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from evaluate.drawn.markers import EIGHT, as_stated, camera_over, known_board
from overruler.geometry.camera import Camera
from overruler.vision.camera.calibrate import calibrate_from_markers
from overruler.vision.camera.lens_prior import LensPrior, lens_prior
from overruler.vision.fusion.same_camera import tell_lenses
from overruler.vision.markers.marker import Marker
from tests.vision.sight import blank, corners_of

BOARD = known_board(EIGHT)
FEW = (0, 4, 7)


@pytest.fixture
def tell() -> "Tell":
    return Tell()


class Tell:
    """Asks for the lenses of photos by cameras that show some markers."""

    def __init__(self) -> None:
        self.seen: list[list[Marker]] = []

    def __call__(
        self,
        cameras: Sequence[Camera],
        shown: Sequence[Sequence[int]],
        names: Sequence[str | None],
    ) -> list[LensPrior | None]:
        corners = corners_of(BOARD)
        self.seen = [
            as_stated(camera, {n: corners[n] for n in some}, np.random.default_rng(k))
            for k, (camera, some) in enumerate(zip(cameras, shown, strict=True))
        ]
        frames = [replace(blank(), name=f"{k}", camera=name) for k, name in enumerate(names)]
        return tell_lenses(frames, BOARD, self.seen)


def test_a_photo_with_few_markers_knows_its_lens_by_the_others(tell: Tell) -> None:
    cameras = [camera_over(24), camera_over(30, turn_deg=120), camera_over(20, turn_deg=240)]
    told = tell(cameras, [FEW, tuple(EIGHT), tuple(EIGHT)], ["one"] * 3)
    assert all(prior is not None and prior.common is not None for prior in told)
    own = lens_prior(blank(), None)
    errors, sigmas = [], []
    for prior in (own, told[0]):
        assert prior is not None
        found = calibrate_from_markers(blank(), BOARD, tell.seen[0], (), prior)[0]
        errors.append(abs(float(found.camera.matrix[0, 0] - cameras[0].matrix[0, 0])))
        sigmas.append(float(np.sqrt(found.covariance[0, 0])))
    assert sigmas[1] < 0.6 * sigmas[0]
    assert errors[1] < 3 * sigmas[1]
    assert found.common_lens is told[0].common if told[0] is not None else False


@pytest.mark.parametrize("name", ["one", None])
def test_a_photo_with_another_zoom_is_told_nothing_and_tells_nothing(
    name: str | None, tell: Tell
) -> None:
    zoomed = camera_over(30, turn_deg=120, focal_px=1500.0)
    cameras = [camera_over(24), zoomed, camera_over(20, turn_deg=240)]
    told = tell(cameras, [tuple(EIGHT)] * 3, [name] * 3)
    assert [prior is not None for prior in told] == [True, False, True]
    assert tell(cameras[:2], [tuple(EIGHT)] * 2, [name] * 2) == [None, None]


def test_photos_whose_metadata_name_two_cameras_tell_each_other_nothing(tell: Tell) -> None:
    cameras = [camera_over(24), camera_over(30, turn_deg=120)]
    assert tell(cameras, [tuple(EIGHT)] * 2, ["one", "other"]) == [None, None]


def test_without_metadata_markers_that_agree_tell_that_it_is_one_lens(tell: Tell) -> None:
    cameras = [camera_over(24), camera_over(30, turn_deg=120)]
    assert None not in tell(cameras, [tuple(EIGHT)] * 2, [None, None])
