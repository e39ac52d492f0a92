"""Which findings of several photos stand where two claim one place."""

from dataclasses import replace

import numpy as np
import pytest

from evaluate.drawn.views import CAMERA_SIGMA, Truth, camera_from, see
from overruler.bases import Base
from overruler.calibration import CAMERA_SIZE, Covariances, Problem
from overruler.vision.fusion.fuse import fuse_photos
from overruler.vision.pairing import evidence, sight
from overruler.vision.pairing.sighting import SeenPhoto

RADII_MM = np.array([25, 27, 32, 40, 50]) / 2
OTHERS: list[Truth] = [(180.0 + 80 * k, 150.0 + 70 * (k % 4), 0.0, 27.0) for k in range(7)]
PLACE = (450.0, 550.0)
OVAL, END = Base.oval(35, 60), Base.circle(25)

pytestmark = pytest.mark.usefixtures("fits_as_stated")


def photo_of(index: int, shown: list[tuple[Base, float, float]]) -> SeenPhoto:
    """A photo that shows bases, so far along from a place and with such scores, beside the others."""
    places = [(PLACE[0] + along_mm, PLACE[1], 0.0, base.width_mm) for base, along_mm, _ in shown]
    random = np.random.default_rng(index)
    photo = see(index, camera_from(90.0 * index), [*OTHERS, *places], random)
    found = photo.detections[len(OTHERS) :]
    more = [
        replace(one, base=base, score=score, heading_deg=0.0)
        for one, (base, _, score) in zip(found, shown, strict=True)
    ]
    return replace(photo, detections=(*photo.detections[: len(OTHERS)], *more))


def told(photos: list[SeenPhoto]) -> list[Base]:
    bases = [one.base for one in fuse_photos(photos, RADII_MM).bases]
    return sorted((base for base in bases if base.width_mm != 27), key=lambda base: base.length_mm)


@pytest.fixture(autouse=True)
def _nothing_is_bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """The frames are of one colour."""
    for module in (evidence, sight):
        monkeypatch.setattr(module, "is_bare_instead", lambda *_: False)


def test_an_oval_stands_though_its_end_looks_like_a_surer_round_base() -> None:
    ovals = [photo_of(k, [(OVAL, 0.0, 0.75)]) for k in range(2)]
    ends = [photo_of(k, [(END, 17.0, 0.99)]) for k in range(2, 4)]
    assert told([*ovals, *ends]) == [OVAL]


def test_a_round_base_beside_an_oval_stands_with_it() -> None:
    both = [(OVAL, 0.0, 0.9), (END, 44.0, 0.99)]
    assert told([photo_of(k, both) for k in range(3)]) == [END, OVAL]


def test_a_photo_that_says_itself_that_it_is_off_is_joined_as_far_as_it_may_be_off() -> None:
    """A cropped photo's camera errs by its rare covariance: its bases are those of the others."""
    photos = [see(k, camera_from(120.0 * k), OTHERS, np.random.default_rng(k)) for k in range(3)]
    photos[1] = off_by(photos[1], 10.0)
    fused = fuse_photos(photos, RADII_MM)
    assert [len(base.sightings) for base in fused.bases] == len(OTHERS) * [3]
    assert not fused.moved


def off_by(photo: SeenPhoto, step_mm: float) -> SeenPhoto:
    """A photo whose camera is off along x, as its rare covariance says."""
    step, sigma = np.zeros(CAMERA_SIZE), CAMERA_SIGMA.copy()
    step[12], sigma[12] = step_mm, step_mm
    calibration = photo.calibration
    camera = calibration.camera.moved(step)
    rare = Covariances.same(np.diag(sigma**2)).rare
    flagged = replace(
        calibration,
        camera=camera,
        covariances=Covariances(calibration.covariances.usual, rare, rare),
        problems=(Problem("cropped", "cropped"),),
    )
    moved = []
    for one in photo.detections:
        place = np.array([*camera.unproject(one.center_px), 0.0])
        by_camera = camera.board_point_jacobian(place)
        moved.append(replace(one, xy_mm=place[:2], d_xy_d_camera=by_camera))
    return replace(photo, calibration=flagged, detections=tuple(moved))
