"""A base that one photo shows elsewhere has moved, if both places are bare where they should be."""

from dataclasses import replace

import numpy as np
import pytest

from evaluate.drawn.views import BOARD_MM, blank_frame, camera_from, see
from overruler.bases import Base
from overruler.geometry.camera import Camera
from overruler.vision.pairing.bare_ground import _apart, is_bare
from overruler.vision.pairing.moved import Finding, find_moves
from overruler.vision.pairing.sighting import SeenPhoto, Sighting
from synthetic.flat_table import Plinth, render_table

SMALL_PX = (600, 450)
HERE, THERE, TREE = (350.0, 300.0), (430.0, 340.0), (352.0, 298.0)
BASE = Base.circle(32)


def photo_of(index: int, camera: Camera, *plinths: Plinth) -> SeenPhoto:
    """A drawn photo of bases at some places, of which just those of the size are found."""
    matrix = camera.matrix.copy()
    matrix[:2] /= 2
    camera = camera.with_lens(matrix, camera.distortion)
    pixels = render_table(camera, SMALL_PX, BOARD_MM, list(plinths), noise=2.0, seed=index)
    frame = replace(blank_frame(f"photo{index}.jpg"), pixels=pixels)
    places = [(p.x_mm, p.y_mm, 0.0, 32.0) for p in plinths if p.diameter_mm == 32]
    return see(index, camera, places, frame=frame)


@pytest.fixture(scope="module")
def photos() -> list[SeenPhoto]:
    """Two photos of a base, one of the same base elsewhere, and one in which a tree hides it."""
    here, there = Plinth(*HERE, 32.0), Plinth(*THERE, 32.0)
    tree = Plinth(*TREE, 60.0, top=(0.02, 0.12, 0.03), rim=(0.02, 0.1, 0.03))
    return [
        photo_of(0, camera_from(0), here),
        photo_of(1, camera_from(120), here),
        photo_of(2, camera_from(240), there),
        photo_of(3, camera_from(60), tree, there),
    ]


def bush(seed: int = 1) -> list[Plinth]:
    """Leaves of about the mat's own colour over a place and the ground around it."""
    random, leaves = np.random.default_rng(seed), []
    for _ in range(120):
        x, y = random.normal(HERE, 20)
        blue, green, red = (0.15, 0.3, 0.4) * random.uniform(0.8, 1.1, 3)
        leaf = Plinth(x, y, 9.0, 3.0, 1.0, 0.2, (blue, green, red), (blue, green, red))
        leaves.append(leaf)
    return leaves


def finding(place: tuple[float, float], *photos: SeenPhoto) -> Finding:
    sightings = tuple(Sighting(photo, photo.detections[0]) for photo in photos)
    return Finding(BASE, np.array([*place, 0.0]), sightings, 0.2)


def test_ground_is_bare_where_nothing_stands(photos: list[SeenPhoto]) -> None:
    here, there = np.array([*HERE, 0.0]), np.array([*THERE, 0.0])
    assert is_bare(photos[2], BASE, here, photos[0])
    assert is_bare(photos[0], BASE, there, photos[2])
    assert not is_bare(photos[0], BASE, here, photos[1])
    assert not is_bare(photos[3], BASE, here, photos[0])


def test_a_moved_base_is_paired_with_its_place(photos: list[SeenPhoto]) -> None:
    stays, strays = finding(HERE, photos[0], photos[1]), finding(THERE, photos[2])
    (move,) = find_moves([stays, strays], photos[:3])
    assert (move.stays, move.strays) == (0, 1)


def test_a_hidden_base_has_not_moved(photos: list[SeenPhoto]) -> None:
    stays, strays = finding(HERE, photos[0], photos[1]), finding(THERE, photos[3])
    assert find_moves([stays, strays], [photos[0], photos[1], photos[3]]) == []


def test_a_plate_came_from_a_hidden_place_near_by(photos: list[SeenPhoto]) -> None:
    plate = Base.rectangle(32, 32)
    here, there = finding(HERE, photos[0], photos[1]), finding(THERE, photos[3])
    stays, strays = (replace(one, base=plate) for one in (here, there))
    seen = [photos[0], photos[1], photos[3]]
    assert [(one.stays, one.strays) for one in find_moves([stays, strays], seen)] == [(0, 1)]
    alone = replace(stays, sightings=stays.sightings[:1])
    assert find_moves([alone, strays], seen) == []
    both = [
        photo_of(k, camera_from(120 * k), Plinth(*HERE, 32.0), Plinth(*THERE, 32.0)) for k in (0, 1)
    ]
    stays = replace(finding(HERE, *both), base=plate)
    assert find_moves([stays, strays], [*both, photos[3]]) == []


def test_a_base_behind_leaves_of_the_grounds_colour_has_not_moved(photos: list[SeenPhoto]) -> None:
    hidden = photo_of(4, camera_from(60), *bush(), Plinth(*THERE, 32.0))
    here = np.array([*HERE, 0.0])
    assert is_bare(photos[2], BASE, here, photos[0])
    assert not is_bare(hidden, BASE, here, photos[0])
    assert find_moves([finding(HERE, photos[0]), finding(THERE, hidden)], [photos[0], hidden]) == []


def test_of_two_photos_the_first_one_counts(photos: list[SeenPhoto]) -> None:
    pair = [photos[0], photos[2]]
    (move,) = find_moves([finding(THERE, photos[2]), finding(HERE, photos[0])], pair)
    assert (move.stays, move.strays) == (1, 0)


def test_a_base_of_another_size_has_not_moved(photos: list[SeenPhoto]) -> None:
    other = replace(finding(THERE, photos[2]), base=Base.circle(50))
    assert find_moves([finding(HERE, photos[0], photos[1]), other], photos[:3]) == []


def test_a_large_base_that_moved_less_than_its_width_is_told_by_the_crescents() -> None:
    base, near = Base.circle(100), (HERE[0] + 30, HERE[1] + 10)
    shots = [
        photo_of(k, camera_from(side), Plinth(*place, 100.0))
        for k, (side, place) in enumerate([(0, HERE), (120, HERE), (240, near)])
    ]
    seen = [see(k, shot.calibration.camera, [(*HERE, 0.0, 100.0)]) for k, shot in enumerate(shots)]

    def of(place: tuple[float, float], *numbers: int) -> Finding:
        sightings = tuple(Sighting(shots[k], seen[k].detections[0]) for k in numbers)
        return Finding(base, np.array([*place, 0.0]), sightings, 0.3)

    (move,) = find_moves([of(HERE, 0, 1), of(near, 2)], shots)
    assert (move.stays, move.strays) == (0, 1)
    still = [*shots[:2], photo_of(2, camera_from(240), Plinth(*HERE, 100.0))]
    assert find_moves([of(HERE, 0, 1), of(near, 2)], still) == []


@pytest.mark.parametrize(("contrast", "is_same"), [(12.0, True), (1.5, False)])
def test_rough_ground_is_known_by_its_marks_where_noise_is_strong(
    contrast: float, is_same: bool
) -> None:
    """In low light a photo's noise is as strong as that of leaves; marks of the ground are stronger."""
    random = np.random.default_rng(1)
    ground = random.normal(0, contrast, (800, 1)) * [1.0, 0.2, 0.2]
    here, there = (ground + random.normal(0, 1.6, (800, 3)) for _ in range(2))
    assert (_apart(here, there) is not None) == is_same
