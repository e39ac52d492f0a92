"""The look at a plate's whole face: it knows plates, their size and where they lie, whatever way they are turned."""

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluate.drawn.markers import camera_over
from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.plates.face_net import (
    FACE_LOGIT_WEIGHT,
    SIDE_PX,
    FaceLikelihood,
    face_input,
    face_logit,
    probe_face_shifts,
    rotate_quarter,
)
from overruler.vision.plates.more_views import picture_to_board, sample_picture
from overruler.vision.plates.sides import PLATE_HEIGHT_MM
from tests.vision.plate_table import SMALL_PX, Ship, small_camera, table_with

SHIPS = [Ship(200, 180, 33.0), Ship(190, 170, 70.0, 60.0), Ship(205, 185, 5.0, 80.0)]


def odds(frame: Frame, camera: Camera, ship: Ship) -> float:
    """That such a plate lies there."""
    turn = float(np.radians(ship.heading_deg))
    said = face_logit(frame.pixels, camera, np.array([ship.x_mm, ship.y_mm]), turn, ship.side_mm)
    assert said is not None
    return said


@pytest.mark.parametrize("tilt_deg", [0.0, 40.0])
@pytest.mark.parametrize("ship", SHIPS)
def test_a_plate_is_known_and_every_other_size_is_much_less_likely(
    ship: Ship, tilt_deg: float
) -> None:
    camera = small_camera(tilt_deg)
    frame = table_with(camera, [ship], SMALL_PX)
    others = [
        Ship(ship.x_mm, ship.y_mm, ship.heading_deg, side)
        for side in (40.0, 60.0, 80.0)
        if side != ship.side_mm
    ]
    true = odds(frame, camera, ship)
    assert true > 3
    assert max(odds(frame, camera, other) for other in others) < true - 4


@pytest.mark.parametrize("ship", SHIPS)
def test_half_a_side_away_is_no_plate(ship: Ship) -> None:
    camera = small_camera(20.0)
    frame = table_with(camera, [ship], SMALL_PX)
    assert (
        odds(
            frame,
            camera,
            Ship(ship.x_mm + ship.side_mm / 2, ship.y_mm, ship.heading_deg, ship.side_mm),
        )
        < 0
    )


@pytest.mark.parametrize("side_mm", [40.0, 60.0, 80.0])
def test_an_empty_mat_is_no_plate(side_mm: float) -> None:
    camera = small_camera(20.0)
    assert odds(table_with(camera, [], SMALL_PX), camera, Ship(200, 180, 0.0, side_mm)) < 0


@pytest.mark.parametrize("turn_rad", [0.0, 0.7])
def test_a_turned_picture_is_the_picture_of_the_turned_square(turn_rad: float) -> None:
    camera, at = small_camera(30.0), np.array([200.0, 180.0])
    frame = table_with(camera, [Ship(205, 176, 50.0)], SMALL_PX)
    one, next_one = (
        sample_picture(
            frame.pixels,
            camera,
            picture_to_board(at, turn, 1.0, SIDE_PX),
            1.0,
            SIDE_PX,
            PLATE_HEIGHT_MM,
        )
        for turn in (turn_rad, turn_rad + np.pi / 2)
    )
    assert one is not None
    assert next_one is not None
    np.testing.assert_allclose(rotate_quarter(one)[3:], next_one[3:], atol=1e-4)
    np.testing.assert_allclose(
        rotate_quarter(one)[:3], next_one[:3], atol=0.15
    )  # the grid in between is linear
    assert np.abs(one - next_one).max() > 1


def test_a_quarter_turn_is_the_same_plate() -> None:
    """The very same four pictures are looked at, in another order."""
    camera, ship = small_camera(20.0), SHIPS[0]
    frame = table_with(camera, [ship], SMALL_PX)
    turned = Ship(ship.x_mm, ship.y_mm, ship.heading_deg + 90, ship.side_mm)
    assert odds(frame, camera, turned) == pytest.approx(odds(frame, camera, ship), abs=0.05)


def test_a_plate_that_is_half_hidden_is_less_sure() -> None:
    camera, ship = small_camera(20.0), SHIPS[0]
    frame = table_with(camera, [ship], SMALL_PX)
    whole = odds(frame, camera, ship)
    hull = camera.project(
        ship.place(np.array([[0.1, 1.4], [0.1, -1.4], [1.4, -1.4], [1.4, 1.4]]), PLATE_HEIGHT_MM)
    )
    cv2.fillPoly(frame.pixels, [np.round(hull).astype(np.int32)], (90, 140, 90))
    assert odds(frame, camera, ship) < whole


def test_the_network_is_told_the_side() -> None:
    picture = np.zeros((5, SIDE_PX, SIDE_PX), np.float32)
    assert face_input(picture, 50.0)[5].max() == 0
    np.testing.assert_allclose(face_input(picture, 80.0)[5], np.log(1.6), rtol=1e-6)


def test_a_place_out_of_sight_has_no_odds() -> None:
    camera = camera_over(
        60.0, size_px=SMALL_PX, height_mm=800.0, focal_px=1400.0, aim_mm=(200.0, 180.0)
    )
    frame = table_with(small_camera(0.0), [], SMALL_PX)
    assert face_logit(frame.pixels, camera, np.array([200.0, -1e5]), 0.0, 40.0) is None


@given(
    st.floats(0, 6.3), st.floats(-1, 1), st.floats(-1, 1), st.floats(0.05, 2), st.floats(0.05, 2)
)
def test_a_leaning_is_likeliest_where_the_face_is(
    turn: float, along: float, across: float, sharp: float, sharper: float
) -> None:
    """Odds that fall off as a parabola about some place within the slides: there and nowhere else is it likeliest."""
    axes, at = (
        np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]]),
        np.array([50.0, -20.0]),
    )
    peak, slide = 4 * np.array([along, across]), 4.0

    def odds(shift: Array) -> Array:
        return np.asarray(-np.array([sharp, sharper]) * (shift - peak) ** 2)

    slid = (
        np.stack([odds(np.full(2, -slide)), odds(np.full(2, slide))], -1)
        - odds(np.zeros(2))[:, None]
    )
    said = FaceLikelihood(at, turn, slide, slid)
    places = at + (peak + np.array([[0, 0], [0.5, 0], [-0.5, 0], [0, 0.5], [0, -0.5]])) @ axes
    there, *beside = said.log_likelihood_at(places)
    assert all(there >= one - 1e-9 for one in beside)  # rounding at the end of the slides
    assert said.log_likelihood_at(at + peak @ axes) - said.log_likelihood_at(at) == pytest.approx(
        -FACE_LOGIT_WEIGHT * odds(np.zeros(2)).sum(), abs=1e-6
    )


def test_beyond_the_slides_a_leaning_says_no_more() -> None:
    said = FaceLikelihood(np.zeros(2), 0.0, 4.0, np.array([[-3.0, 1.0], [-2.0, -2.0]]))
    at = said.log_likelihood_at(np.array([[4.0, 0], [40.0, 0], [-4.0, 0], [-9.0, 0]]))
    np.testing.assert_allclose(at, FACE_LOGIT_WEIGHT * np.array([1.0, 1.0, -3.0, -3.0]))


def test_a_square_laid_beside_a_plate_leans_towards_it() -> None:
    camera, ship = small_camera(20.0), SHIPS[0]
    frame = table_with(camera, [ship], SMALL_PX)
    turn, off = float(np.radians(ship.heading_deg)), np.array([2.5, -1.5])
    at = np.array([ship.x_mm, ship.y_mm]) + off
    here = odds(frame, camera, Ship(at[0], at[1], ship.heading_deg, ship.side_mm))
    said = probe_face_shifts(frame.pixels, camera, at, turn, ship.side_mm, here)
    assert said is not None
    home, further = said.log_likelihood_at(np.array([at - off, at + off]))
    assert home > 1
    assert home > further + 4
