"""A large base whose own shade draws the fit of its rim along is measured by its lit side."""

from dataclasses import replace

import cv2
import numpy as np
import pytest

from overruler.bases import Base
from overruler.calibration import Calibration, Light
from overruler.detections import Detection
from overruler.frame import Frame
from overruler.vision.contours.cone_fit import fit_base, fit_bases
from overruler.vision.contours.rim_fit import OUTLINE_MODELS, BaseHypothesis
from overruler.vision.contours.shading import direction_to_lamp, shade_covariance_mm2
from overruler.vision.refinement.lit_side import remeasure_by_lit_side
from synthetic.flat_table import Plinth
from tests.tables import camera_over, exact, photo

CAMERA = camera_over(14.0)
AT, SIZE_MM = np.array([330.0, 260.0]), 80.0
LAMP, SHADE_MM = AT + 1500 * np.array([0.6, -0.8]), 1.2


@pytest.fixture(scope="module")
def frame() -> Frame:
    """A base whose shade, on the mat beside it, is as dark as its rim."""
    clean = photo(CAMERA, [Plinth(330.0, 260.0, SIZE_MM, rim=(0.05,) * 3)])
    turn = np.linspace(0, 2 * np.pi, 181)
    ring = np.column_stack([np.cos(turn), np.sin(turn)]) * SIZE_MM / 2
    shade = [
        np.column_stack([AT + off + ring, np.zeros(181)])
        for off in (np.zeros(2), SHADE_MM * (AT - LAMP) / 1500)
    ]
    beyond, under = (
        cv2.fillPoly(np.zeros(clean.pixels.shape[:2], np.uint8), [_px(one)], 255)
        for one in shade[::-1]
    )
    pixels = clean.pixels.copy()
    pixels[(beyond > 0) & (under == 0)] //= 3
    return replace(clean, pixels=pixels)


def _px(places_mm: np.ndarray) -> np.ndarray:
    return np.round(CAMERA.project(places_mm)).astype(np.int32)


def lit(strength: float = 1.0) -> Calibration:
    return replace(exact(CAMERA), light=Light(LAMP, strength))


def drawn_along(frame: Frame) -> Detection:
    """What the whole rim says to one who comes from where the shade ends."""
    fit = fit_base(frame.pixels, CAMERA, AT + SHADE_MM * (AT - LAMP) / 1500, 0.6, SIZE_MM / 2, 0.0)
    assert fit is not None
    return Detection(
        Base.circle(SIZE_MM), fit.xy_mm, 0.0, 0.0, fit.covariance_mm2, fit.d_xy_d_camera, 1.0, 1.0
    )


def off(one: Detection) -> float:
    return float(np.hypot(*(one.xy_mm - AT)))


def test_the_lit_side_says_where_it_stands(frame: Frame) -> None:
    before = drawn_along(frame)
    after = remeasure_by_lit_side(frame, lit(), before)
    assert off(before) > 0.8
    assert off(after) < 0.4
    assert after.measured_on_lit_side
    assert not shade_covariance_mm2(lit(), after).any()
    assert after.center_px == pytest.approx(CAMERA.project(np.array([*after.xy_mm, 0.0])))


def test_it_is_surer_along_the_shade_and_no_less_sure_across(frame: Frame) -> None:
    before = drawn_along(frame)
    after = remeasure_by_lit_side(frame, lit(), before)
    along = direction_to_lamp(Light(LAMP, 1.0), before)
    across = np.array([-along[1], along[0]])
    shaded = before.covariance_mm2 + shade_covariance_mm2(lit(), before)
    assert along @ after.covariance_mm2 @ along < 0.5 * along @ shaded @ along
    assert across @ after.covariance_mm2 @ across <= 1.01 * across @ shaded @ across


def test_what_no_fit_knows_stays_in_doubt(frame: Frame) -> None:
    before = drawn_along(frame)
    beyond = np.array([[2.0, 0.3], [0.3, 1.5]])
    unsure = replace(before, covariance_mm2=before.covariance_mm2 + beyond, unmodelled_mm2=beyond)
    plain, after = (remeasure_by_lit_side(frame, lit(), one) for one in (before, unsure))
    assert after.xy_mm == pytest.approx(plain.xy_mm)
    assert after.covariance_mm2 == pytest.approx(plain.covariance_mm2 + beyond)


def test_only_the_side_that_faces_is_looked_at(frame: Frame) -> None:
    along = (LAMP - AT) / 1500
    whole, half = fit_bases(
        frame.pixels,
        CAMERA,
        [
            BaseHypothesis(AT - SHADE_MM * along, 0.6, SIZE_MM / 2, 0.0, OUTLINE_MODELS, facing)
            for facing in (None, along)
        ],
    )
    assert whole is not None
    assert half is not None
    assert abs((half.xy_mm - AT) @ along) < 0.3 < abs((whole.xy_mm - AT) @ along)
    assert len(half.seen) == pytest.approx(len(whole.seen) / 2, abs=2)


@pytest.mark.parametrize(
    "why", ["mild light", "small base", "coarse pixels", "no light known", "a plate"]
)
def test_everything_else_stays_as_it_was(frame: Frame, why: str) -> None:
    one, calibration = drawn_along(frame), lit(0.3 if why == "mild light" else 1.0)
    if why == "small base":
        one = replace(one, base=Base.circle(25.0))
    elif why == "a plate":
        one = replace(one, base=Base("rectangle", SIZE_MM, SIZE_MM))
    elif why == "coarse pixels":
        calibration = replace(
            calibration, camera=camera_over(14.0, height_mm=800.0, focal_px=700.0)
        )
    elif why == "no light known":
        calibration = exact(CAMERA)
    assert remeasure_by_lit_side(frame, calibration, one) is one


def test_right_below_the_lamp_there_is_no_direction() -> None:
    one = Detection(Base.circle(50), AT, 0, 0, np.eye(2), np.zeros((2, 15)), 1, 1)
    assert direction_to_lamp(Light(AT, 1.0), one) == pytest.approx([0, 0])
    assert np.hypot(*direction_to_lamp(Light(AT + 3, 1.0), one)) == pytest.approx(1)
