"""Bases of several photos meet on the board and at height; sampled tables with known truth."""

from dataclasses import replace

import numpy as np
import pytest

from evaluate.drawn.views import BOARD_MM, Truth, camera_from, see, without
from overruler.bases import Base
from overruler.vision.pairing.association import associate
from overruler.vision.pairing.hypotheses import Hypothesis, size_log_ratio
from overruler.vision.pairing.sighting import Sighting

SIDES_DEG = (0.0, 120.0, 240.0)
UNIT: list[Truth] = [(300 + 32 * k, 250 + 31 * (k % 3), 0.0, 27.0) for k in range(6)]
ON_HILL: list[Truth] = [(600.0, 330.0, 55.0, 27.0), (640.0, 350.0, 55.0, 27.0)]

pytestmark = pytest.mark.usefixtures("fits_as_stated")


@pytest.mark.parametrize("seed", range(4))
def test_every_base_of_a_crowded_table_is_found_once_at_its_height(seed: int) -> None:
    random = np.random.default_rng(seed)
    bases = [*UNIT, *ON_HILL]
    photos = [see(k, camera_from(side), bases, random) for k, side in enumerate(SIDES_DEG)]
    found = associate(photos, BOARD_MM)
    assert len(found) == len(bases)
    for x, y, z, _ in bases:
        (one,) = [h for h in found if np.hypot(*(h.best.mean[:2] - [x, y])) < 3]
        assert len(one.sightings) == 3
        assert one.is_raised == (z > 0)
        assert abs(one.best.mean[2] - z) < 3


def test_a_base_hidden_in_one_photo_is_known_from_the_others() -> None:
    photos = [see(k, camera_from(side), UNIT) for k, side in enumerate(SIDES_DEG)]
    found = associate([without(photos[0], 2), *photos[1:]], BOARD_MM)
    assert sorted(len(one.sightings) for one in found) == [2, 3, 3, 3, 3, 3]


@pytest.mark.parametrize("height_mm", [95.0, 150.0])
def test_a_base_on_a_high_roof_is_one_in_three_photos(height_mm: float) -> None:
    crowd = [(60.0 + 100 * (k % 8), 40.0 + 80 * (k // 8), 0.0, 27.0) for k in range(24)]
    bases = [(450.0, 420.0, height_mm, 25.0), *crowd]
    photos = [see(k, camera_from(side), bases) for k, side in enumerate(SIDES_DEG)]
    for first in range(3):
        roof, *others = photos[first].detections
        misread = replace(roof, base=Base.circle(28.5))
        seen = [*photos]
        seen[first] = replace(photos[first], detections=(misread, *others))
        raised = [one for one in associate(seen, BOARD_MM) if one.is_raised]
        assert [len(one.sightings) for one in raised] == [3]
        assert abs(raised[0].best.mean[2] - height_mm) < 3


@pytest.mark.parametrize("meeting_mm", [0.0, 40.0])
def test_two_photos_that_meet_by_chance_do_not_part_bases_on_a_roof(meeting_mm: float) -> None:
    """The first photo's ray to one base and the second's to the other meet on the board, or over it."""
    crowd = [(60.0 + 100 * (k % 8), 40.0 + 80 * (k // 8), 0.0, 27.0) for k in range(24)]
    cameras = [camera_from(side) for side in SIDES_DEG]
    meeting, roof_mm = np.array([450.0, 420.0, meeting_mm]), 93.0
    roof = []
    for camera in cameras[:2]:
        ray = camera.center_mm - meeting
        x_mm, y_mm, _ = meeting + ray * (roof_mm - meeting_mm) / ray[2]
        roof.append((float(x_mm), float(y_mm), roof_mm, 27.0))
    photos = [see(k, camera, [*roof, *crowd]) for k, camera in enumerate(cameras)]
    raised = [one for one in associate(photos, BOARD_MM) if one.is_raised]
    assert [len(one.sightings) for one in raised] == [3, 3]
    found = sorted(one.best.mean.tolist() for one in raised)
    assert found == [pytest.approx(base[:3], abs=3) for base in sorted(roof)]


@pytest.mark.parametrize("height_mm", [20.0, 60.0])
def test_a_base_that_moved_along_the_view_is_not_taken_for_a_raised_one(height_mm: float) -> None:
    """The first photo and the last, after the move, agree at a height; the second denies it."""
    point = np.array([450.0, 300.0, height_mm])
    cameras = [camera_from(side) for side in SIDES_DEG]
    old, new = (cameras[k].unproject(cameras[k].project(point)) for k in (0, 2))
    crowd = [(60.0 + 100 * (k % 8), 40.0 + 160 * (k // 8), 0.0, 27.0) for k in range(16)]
    shown = [[(*old, 0.0, 27.0), *crowd], [(*old, 0.0, 27.0)], [(*new, 0.0, 27.0), *crowd]]
    photos = [
        see(k, camera, bases) for k, (camera, bases) in enumerate(zip(cameras, shown, strict=True))
    ]
    found = [one for one in associate(photos, BOARD_MM) if one.is_seen_by(photos[1])]
    (one,) = found
    assert [sighting.photo.index for sighting in one.sightings] == [0, 1]
    assert not one.is_raised


@pytest.mark.parametrize(("count", "joined"), [(1, 0), (2, 2), (3, 3)])
def test_two_photos_join_bases_on_a_roof_that_neither_found_where_several_meet_at_one_height(
    count: int, joined: int
) -> None:
    """One pair may meet so high by chance; its sizes were read differently, too."""
    crowd = [(60.0 + 100 * (k % 8), 40.0 + 80 * (k // 8), 0.0, 27.0) for k in range(24)]
    roof: list[Truth] = [(430.0 + 40 * k, 420.0, 120.0, 25.0) for k in range(count)]
    first, second = (see(k, camera_from(120.0 * k), [*roof, *crowd]) for k in range(2))
    misread = [replace(one, base=Base.circle(28.5)) for one in first.detections[:count]]
    first = replace(first, detections=(*misread, *first.detections[count:]))
    raised = [one for one in associate([first, second], BOARD_MM) if one.is_raised]
    assert [len(one.sightings) for one in raised] == [2] * joined
    assert all(abs(one.best.mean[2] - 120) < 4 for one in raised)


def test_two_sides_measure_a_height_and_say_how_well() -> None:
    errors, sigmas = [], []
    for seed in range(30):
        random = np.random.default_rng(seed)
        first, second = (
            Sighting(photo, photo.detections[0])
            for photo in (see(k, camera_from(120.0 * k), ON_HILL, random) for k in (0, 1))
        )
        mode = Hypothesis.of(first).joined_by(second).modes[1]
        errors.append(mode.mean[2] - 55)
        sigmas.append(mode.covariance[2, 2] ** 0.5)
    assert np.sqrt(np.mean(np.square(errors))) < 1.5
    assert 0.5 < np.std(np.array(errors) / sigmas) < 1.3


def test_fits_that_went_astray_put_no_base_below_the_board() -> None:
    photos = [see(k, camera_from(120.0 * k), [(300.0, 300.0, -6.0, 27.0)]) for k in (0, 1)]
    (one,) = associate(photos, BOARD_MM)
    assert one.modes[1].log_weight > one.modes[0].log_weight
    assert not one.is_raised


@pytest.mark.parametrize(
    ("one", "other", "is_near"),
    [
        (Base.circle(25), Base.circle(28.5), True),
        (Base.circle(25), Base.circle(32), False),
        (Base.oval(35, 60), Base.oval(42, 75), True),
        (Base.oval(42, 75), Base.oval(52, 90), True),
        (Base.oval(35, 60), Base.oval(52, 90), False),
        (Base.oval(35, 60), Base.circle(50), False),
    ],
)
def test_one_base_may_be_read_as_the_next_size_in_another_photo(
    one: Base, other: Base, is_near: bool
) -> None:
    assert (size_log_ratio(one, other) > -3) == is_near
    assert size_log_ratio(one, other) == pytest.approx(size_log_ratio(other, one))
