"""The lamp is found by the shadows of all pieces, and a base in its own shade is unsure along it alone."""

from dataclasses import replace

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overruler.bases import Base
from overruler.calibration import Light
from overruler.detections import Detection
from overruler.geometry.pose import Array
from overruler.vision.assembly.to_scene import rare_covariance
from overruler.vision.contours.shading import (
    MIN_PIECES,
    check_low_light,
    estimate_light,
    shade_covariance_mm2,
)
from overruler.vision.imaging.orthophoto import Orthophoto
from tests.tables import BOARD_MM, camera_over, exact

CAMERA = camera_over(25.0)
PLACES = np.array([(x, y) for x in (120.0, 270.0, 410.0, 570.0) for y in (90.0, 250.0, 400.0)])
MIDDLE = np.array(BOARD_MM) / 2
BESIDE, FAR, OFF = (
    MIDDLE + np.array(step) for step in ((900.0, 0.0), (0.0, 1500.0), (40.0, -30.0))
)


def piece(xy_mm: Array, size_mm: float = 27.0, shape: str = "circle") -> Detection:
    base = Base.circle(size_mm) if shape == "circle" else Base(shape, size_mm, size_mm)
    return Detection(
        base, np.asarray(xy_mm, float), 0.0, 0.0, np.eye(2) * 0.01, np.zeros((2, 15)), 1.0, 1.0
    )


def table(lamp_mm: Array, long_mm: float, dark: float, seed: int = 1) -> Orthophoto:
    """A mottled table from above at a millimetre a pixel: pieces with shadows of one length, and stains anywhere."""
    random = np.random.default_rng(seed)
    width, height = (int(size) for size in BOARD_MM)
    view = Orthophoto(
        np.zeros((height, width, 3), np.uint8),
        np.ones((height, width), bool),
        0.0,
        float(height),
        1.0,
    )
    shade = np.zeros((height, width), np.float32)
    for at in PLACES:
        way = (at - lamp_mm) / np.hypot(*(at - lamp_mm))
        foot, end = (
            tuple(np.round(view.to_px(place)).astype(int).tolist())
            for place in (at, at + way * long_mm)
        )
        cv2.line(shade, foot, end, dark, 9)
    for x, y in random.uniform((20, 20), (width - 20, height - 20), (12, 2)).astype(int).tolist():
        cv2.circle(shade, (x, y), 14, 0.4, -1)
    mottled = 150 + cv2.GaussianBlur(
        random.normal(0, 60, (height, width)).astype(np.float32), (0, 0), 3
    )
    grey = np.clip(mottled * (1 - cv2.GaussianBlur(shade, (0, 0), 2)), 0, 255)
    for at in PLACES:
        cv2.circle(grey, tuple(np.round(view.to_px(at)).astype(int).tolist()), 13, 60.0, -1)
    return replace(view, pixels=np.repeat(grey[..., None], 3, -1).astype(np.uint8))


@settings(max_examples=12)
@given(st.floats(0, 360), st.floats(900, 2200), st.integers(0, 99))
def test_the_lamp_is_found_whatever_else_is_dark(
    turn_deg: float, away_mm: float, seed: int
) -> None:
    way = np.array([np.cos(np.radians(turn_deg)), np.sin(np.radians(turn_deg))])
    lamp = MIDDLE + away_mm * way
    light = estimate_light(table(lamp, 45.0, 0.7, seed), CAMERA, BOARD_MM, list(map(piece, PLACES)))
    assert light is not None
    assert light.strength > 0.9
    found = (light.lamp_mm - MIDDLE) / np.hypot(*(light.lamp_mm - MIDDLE))
    assert found @ way > np.cos(np.radians(12))


@pytest.mark.parametrize("seed", range(4))
def test_light_from_everywhere_misleads_nobody(seed: int) -> None:
    light = estimate_light(
        table(BESIDE, 0.0, 0.0, seed), CAMERA, BOARD_MM, list(map(piece, PLACES))
    )
    assert light is not None
    assert light.strength < 0.4


def test_few_pieces_and_plates_tell_nothing() -> None:
    view = table(BESIDE, 45.0, 0.7)
    assert (
        estimate_light(view, CAMERA, BOARD_MM, [piece(at) for at in PLACES[: MIN_PIECES - 1]])
        is None
    )
    assert (
        estimate_light(view, CAMERA, BOARD_MM, [piece(at, 40.0, "rectangle") for at in PLACES])
        is None
    )


@given(st.floats(0, 360), st.sampled_from([25.0, 50.0, 120.0]), st.floats(0.05, 1))
def test_the_doubt_lies_along_the_shade_alone(
    turn_deg: float, size_mm: float, strength: float
) -> None:
    way = np.array([np.cos(np.radians(turn_deg)), np.sin(np.radians(turn_deg))])
    one = piece(OFF, size_mm)
    lit = replace(exact(CAMERA), light=Light(one.xy_mm + 1500 * way, strength))
    doubt, across = shade_covariance_mm2(lit, one), np.array([-way[1], way[0]])
    assert across @ doubt @ across == pytest.approx(0, abs=1e-9)
    assert way @ doubt @ way > 0
    full = replace(lit, light=Light(one.xy_mm + 1500 * way, 1.0))
    assert doubt == pytest.approx(strength**2 * shade_covariance_mm2(full, one), rel=1e-6)
    larger = shade_covariance_mm2(lit, replace(one, base=Base.circle(2 * size_mm)))
    assert way @ larger @ way > way @ doubt @ way


def test_shade_towards_the_camera_misleads_most() -> None:
    one, eye = piece(MIDDLE), CAMERA.center_mm[:2]
    away = (one.xy_mm - eye) / np.hypot(*(one.xy_mm - eye))
    behind, before = (
        shade_covariance_mm2(
            replace(exact(CAMERA), light=Light(one.xy_mm + side * 1500 * away, 1.0)), one
        )
        for side in (1, -1)
    )
    assert np.trace(behind) > 1.5 * np.trace(before)


def test_it_is_in_the_scene_s_doubt_and_said() -> None:
    pieces = list(map(piece, PLACES))
    dark = exact(CAMERA)
    lit = replace(dark, light=Light(FAR, 1.0))
    more = rare_covariance(lit, pieces) - rare_covariance(dark, pieces)
    expected = np.zeros_like(more)
    for k, one in enumerate(pieces):
        expected[2 * k : 2 * k + 2, 2 * k : 2 * k + 2] = shade_covariance_mm2(lit, one)
    assert more == pytest.approx(expected, abs=1e-9)
    assert not check_low_light(dark, pieces)
    assert not check_low_light(lit, [])
    (problem,) = check_low_light(lit, pieces)
    reach = 1.96 * np.median([np.sqrt(np.trace(shade_covariance_mm2(lit, one))) for one in pieces])
    assert problem.flag == "low_light"
    assert f"unsure by ± {reach:.1f} mm (95 %)" in problem.text
    assert not check_low_light(replace(lit, light=Light(FAR, 0.1)), pieces)
