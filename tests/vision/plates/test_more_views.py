"""The closer look at a guess: nearer to the truth than the guess, and the same whatever way it is turned."""

import cv2
import numpy as np
import pytest

from evaluate.drawn.markers import camera_over
from overruler.vision.learned.shape_net import RELIEF_SCALE, ShapeCandidate
from overruler.vision.plates.more_views import (
    SIDE_PX,
    picture_to_board,
    refine_guess,
    sample_picture,
)
from tests.vision.plate_table import SMALL_PX, Ship, small_camera, table_with


def guess_of(ship: Ship, dx: float, dy: float) -> ShapeCandidate:
    at = np.array([ship.x_mm + dx, ship.y_mm + dy])
    return ShapeCandidate(at, ship.side_mm, ship.side_mm, 0.0, 0.5, 0.6)


@pytest.mark.parametrize(
    "ship", [Ship(200, 180, 33.0), Ship(190, 170, 70.0, 60.0), Ship(205, 185, 5.0, 80.0)]
)
def test_a_closer_look_corrects_a_guess(ship: Ship) -> None:
    camera = small_camera(20.0)
    looks = refine_guess(
        table_with(camera, [ship], SMALL_PX).pixels, camera, guess_of(ship, 4.0, -4.0)
    )
    assert looks is not None
    guess = looks.guess
    assert np.hypot(*(guess.xy_mm - [ship.x_mm, ship.y_mm])) < 3.5
    assert abs(np.log(np.sqrt(guess.length_mm * guess.width_mm) / ship.side_mm)) < 0.2
    assert abs((np.degrees(guess.turn_rad) - ship.heading_deg + 45) % 90 - 45) < 7
    assert (
        guess.heading_confidence > 0.6
    )  # the looks, each turned its own way, agree on the heading
    assert guess.score > 0.3


def test_an_empty_mat_speaks_for_no_plate() -> None:
    camera = small_camera(20.0)
    looks = refine_guess(
        table_with(camera, [], SMALL_PX).pixels, camera, guess_of(Ship(200, 180, 0.0), 0, 0)
    )
    assert looks is not None
    assert looks.guess.score < 0.1


@pytest.mark.parametrize("turn_rad", [0.0, 1.0, 4.0])
def test_turned_pictures_show_the_same_place_and_lean(turn_rad: float) -> None:
    camera, ship = small_camera(25.0), Ship(200, 180, 33.0)
    frame = picture_to_board(np.array([200.0, 180]), turn_rad, 1.5)
    picture = sample_picture(table_with(camera, [ship], SMALL_PX).pixels, camera, frame, 1.5)
    assert picture is not None
    middle = SIDE_PX // 2
    top = camera.project(np.array([200.0, 180, 10.0]))
    away = camera.unproject(top, 0.0) - [200, 180]  # 10 mm up
    leaning = frame[:, :2] @ picture[3:, middle, middle] * RELIEF_SCALE / 1.5
    np.testing.assert_allclose(leaning, away / 10, atol=0.02)


@pytest.mark.parametrize("z_mm", [0.0, 3.0])
def test_a_picture_shows_the_plane_that_it_is_asked_for(z_mm: float) -> None:
    """A dot at a height lies in the middle of the picture of that height's plane, and beside it in another one."""
    camera, at = small_camera(35.0), np.array([200.0, 180.0])
    frame = table_with(camera, [], SMALL_PX)
    u, v = camera.project(np.append(at, z_mm))
    cv2.circle(frame.pixels, (round(u), round(v)), 4, (255, 255, 255), -1, cv2.LINE_AA)
    here, there = (
        sample_picture(frame.pixels, camera, picture_to_board(at, 0.4, 0.5, 64), 0.5, 64, z)
        for z in (z_mm, 3.0 - z_mm)
    )
    assert here is not None
    assert there is not None
    middles = [np.array(np.nonzero(one[1] > one[1].max() - 0.5)).mean(1) for one in (here, there)]
    assert np.abs(middles[0] - 31.5).max() < 1.0
    assert np.abs(middles[1] - 31.5).max() > 2.0  # 3 mm at 35° are 2.1 mm aside


def test_a_place_out_of_sight_is_no_place() -> None:
    camera = camera_over(
        60.0, size_px=SMALL_PX, height_mm=800.0, focal_px=1400.0, aim_mm=(200.0, 180.0)
    )
    frame = table_with(small_camera(0.0), [], SMALL_PX)
    behind = Ship(200.0, -1e5, 0.0)
    assert refine_guess(frame.pixels, camera, guess_of(behind, 0, 0)) is None
