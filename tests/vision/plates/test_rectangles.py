"""Rectangles on drawn tables: found, measured, told apart where they touch, and looked for only where asked."""

import pickle

import numpy as np
import pytest

from overruler.bases import Base
from overruler.detections import Detection
from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.imaging.orthophoto import rectify_photo
from overruler.vision.learned.inference import OVERVIEW_MM_PER_PX
from overruler.vision.learned.shape_net import find_rectangle_candidates
from overruler.vision.plates.rectangle_fit import BasePose, fit_pose
from overruler.vision.plates.rectangles import (
    _poses_within,
    find_rectangles,
    place_hypotheses,
)
from tests.vision.rounds.test_find_ovals import BOX_MM, over, table

SIZES = [Base.rectangle(*sides) for sides in ((20, 20), (25, 25), (50, 50), (25, 50), (40, 60))]
PLACES = [
    (Base.rectangle(25, 25), 110.0, 110.0, 0.3),
    (Base.rectangle(20, 20), 200.0, 270.0, 1.1),
    (Base.rectangle(25, 50), 300.0, 120.0, 2.0),
]


def found_on(frame: Frame, camera: Camera, hidden: tuple[Array, ...] = ()) -> list[Detection]:
    return find_rectangles(
        frame,
        camera,
        rectify_photo(frame.pixels, camera, BOX_MM, OVERVIEW_MM_PER_PX),
        SIZES,
        hidden,
    )


@pytest.mark.parametrize("tilt_deg", [5.0, 12.0])
def test_every_rectangle_is_found_once_where_it_lies(tilt_deg: float) -> None:
    camera = over(tilt_deg)
    found = found_on(table(camera, PLACES), camera)
    assert len(found) == len(PLACES)
    for base, x, y, turn in PLACES:
        one = min(found, key=lambda one: float(np.hypot(*(one.xy_mm - [x, y]))))
        off = one.xy_mm - [x, y]
        modulo = 90 if base.length_mm == base.width_mm else 180
        assert one.base == base
        assert one.heading_modulo_deg == modulo
        assert off @ np.linalg.solve(one.covariance_mm2, off) < 9.2  # 99 % of two coordinates
        assert abs((one.heading_deg - np.degrees(turn) + modulo / 2) % modulo - modulo / 2) < 1.5


@pytest.mark.parametrize(
    ("small", "tiles"),
    [
        (Base.rectangle(25, 25), {(10.0, 7.5), (10.0, 32.5), (35.0, 7.5), (35.0, 32.5)}),
        (Base.rectangle(25, 50), {(22.5, 7.5), (22.5, 32.5), (10.0, 20.0), (35.0, 20.0)}),
        (Base.rectangle(40, 40), set()),
        (Base.rectangle(50, 50), set()),
        (Base.rectangle(25, 60), set()),
    ],
)
def test_side_by_side_within_a_large_base_others_may_lie(
    small: Base, tiles: set[tuple[float, float]]
) -> None:
    places = list(
        _poses_within(BasePose(Base.rectangle(50, 50), np.array([22.5, 20.0]), 0.0), small)
    )
    assert {tuple(place.xy_mm.round(6).tolist()) for place in places} == tiles


def test_where_a_large_base_is_likely_its_halves_are_laid_too() -> None:
    camera, base = over(10.0), PLACES[2][0]
    frame = table(camera, PLACES[2:])
    guesses = find_rectangle_candidates(
        rectify_photo(frame.pixels, camera, BOX_MM, OVERVIEW_MM_PER_PX), camera
    )
    (_, x, y, turn) = PLACES[2]
    nearest = min(guesses, key=lambda one: float(np.hypot(*(one.xy_mm - [x, y]))))
    laid = place_hypotheses(frame, camera, [base, Base.rectangle(25, 25)], [nearest])
    ahead = np.array([np.cos(turn), np.sin(turn)]) * base.length_mm / 4
    for half in (np.array([x, y]) + sign * ahead for sign in (-1, 1)):
        assert min(np.hypot(*(one.xy_mm - half)) for one in laid if one.base != base) < 2


def test_squares_in_contact_whose_seams_show_are_no_larger_one() -> None:
    camera, square, turn = over(15.0), Base.rectangle(25, 25), 0.4
    spin = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    corners = np.array([[x, y] for x in (-12.5, 12.5) for y in (-12.5, 12.5)]) @ spin.T + [200, 190]
    found = found_on(table(camera, [(square, *corner, turn) for corner in corners]), camera)
    assert {one.base for one in found} == {square}
    for one in found:
        assert min(np.hypot(*(one.xy_mm - corner)) for corner in corners) < 2.5


def test_ovals_round_bases_and_bare_mats_are_no_rectangles() -> None:
    camera = over(25.0)
    others = [
        (Base.oval(*size), x, y, 0.5)
        for size, x, y in (((50, 50), 110.0, 110.0), ((35, 60), 290.0, 220.0))
    ]
    assert found_on(table(camera, others), camera) == []
    assert found_on(table(camera, []), camera) == []


def test_nothing_is_found_where_a_card_hides_it() -> None:
    camera = over(10.0)
    card = np.array([[60.0, 60], [160, 60], [160, 160], [60, 160]])
    assert {one.base for one in found_on(table(camera, PLACES), camera, (card,))} == {
        base for base, *_ in PLACES[1:]
    }


def test_a_hypothesis_keeps_no_picture() -> None:
    camera = over(5.0)
    base, x, y, turn = PLACES[0]
    pose = BasePose(base, np.array([x, y]), turn)
    one = fit_pose(table(camera, PLACES), camera, pose, lambda xy_mm, posterior: 1.0)
    assert one is not None
    assert len(pickle.dumps(one)) < 4000  # a whole table has hundreds
