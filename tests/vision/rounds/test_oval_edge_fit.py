"""Ovals: where their silhouettes lie, and that the fit comes home to them."""

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluate.drawn.markers import camera_over
from overruler.bases import Base
from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.contours.outlines import base_outline, project_silhouette
from overruler.vision.contours.silhouette import PROFILES, Profile, project_rims
from overruler.vision.rounds.oval_edge_fit import OvalFit, PosePrior, fit_oval

SIZE_PX = (560, 460)
FINE = 4
BASES = [Base.oval(35, 60), Base.oval(70, 105), Base.oval(50, 50), Base.oval(25, 75)]
NAMES = [base.name for base in BASES]
OVALS = BASES[:2]
SIGMA = np.array([1.8, 1.8, 0.12])
places = st.floats(150, 350)
turns = st.floats(0, np.pi)


def over(tilt_deg: float) -> Camera:
    return camera_over(
        tilt_deg, size_px=SIZE_PX, height_mm=700.0, focal_px=1300.0, aim_mm=(230.0, 280.0)
    )


def contour(
    base: Base, xy_mm: Array, turn_rad: float, tilt_deg: float = 30.0, upper: bool = False
) -> Array:
    return project_silhouette(
        over(tilt_deg), base, xy_mm, turn_rad, 0.0, PROFILES[0], upper, 1.0
    ).at_mm


def reach(ring: Array) -> Array:
    """How far a convex ring (N, 2) reaches in 64 directions."""
    angles = np.linspace(0, 2 * np.pi, 64, endpoint=False)
    return np.asarray((ring @ np.stack([np.cos(angles), np.sin(angles)])).max(0))


# --- silhouettes ---


@given(places, places, st.floats(0, 38), st.sampled_from(PROFILES))
@settings(max_examples=30)
def test_an_oval_as_wide_as_long_is_a_round_base(
    x: float, y: float, tilt_deg: float, profile: Profile
) -> None:
    camera, xy = over(tilt_deg), np.array([x, y])
    found = project_silhouette(camera, Base.oval(50, 50), xy, 0.7, 0.0, profile, False, 1.0)
    off = found.at_mm - xy
    away = np.linalg.norm(off, axis=1)
    directions = off / away[:, None]
    rims = project_rims(camera, xy, 25.0, 0.0, profile, directions)
    np.testing.assert_allclose(away, rims.outline_mm, atol=0.02)
    assert np.sum(found.normals * rims.outline_normals, axis=1).min() > 0.998


@given(places, places, turns, st.sampled_from(BASES), st.floats(0, 38))
@settings(max_examples=30)
def test_half_a_turn_changes_nothing(
    x: float, y: float, turn: float, base: Base, tilt_deg: float
) -> None:
    xy = np.array([x, y])
    one, other = (reach(contour(base, xy, t, tilt_deg)) for t in (turn, turn + np.pi))
    np.testing.assert_allclose(
        one, other, atol=0.25
    )  # places along it differ by up to half a millimetre


@given(places, places, turns, st.floats(20, 100), st.floats(20, 100))
@settings(max_examples=30)
def test_a_quarter_turn_swaps_length_and_width(
    x: float, y: float, turn: float, a: float, b: float
) -> None:
    xy = np.array([x, y])
    one, other = (
        reach(contour(Base.oval(a, b), xy, turn)),
        reach(contour(Base.oval(b, a), xy, turn + np.pi / 2)),
    )
    np.testing.assert_allclose(one, other, atol=0.4)


@given(places, places, turns, st.sampled_from(BASES), st.floats(0, 38))
@settings(max_examples=30)
def test_no_part_of_the_base_is_seen_outside_its_contour(
    x: float, y: float, turn: float, base: Base, tilt_deg: float
) -> None:
    camera, xy, profile = over(tilt_deg), np.array([x, y]), PROFILES[0]
    found = project_silhouette(camera, base, xy, turn, 0.0, profile, False, 1.0)
    spin = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
    for share in (0.0, 0.4, 1.0):
        ring = base_outline(base, share * profile.taper_mm) @ spin + xy
        points = np.column_stack([ring, np.full(len(ring), share * profile.height_mm)])
        flat = camera.unproject(camera.project(points))
        out = np.sum((flat[:, None] - found.at_mm) * found.normals, axis=-1)
        assert out.max() < 0.03


@pytest.mark.parametrize("base", BASES, ids=NAMES)
def test_normals_are_square_to_the_contour(base: Base) -> None:
    found = project_silhouette(
        over(30.0), base, np.array([200.0, 300.0]), 0.4, 0.0, PROFILES[0], False, 0.5
    )
    np.testing.assert_allclose(np.linalg.norm(found.normals, axis=1), 1, atol=1e-9)
    assert np.sum((found.at_mm - [200, 300]) * found.normals, axis=1).min() > 0


# --- fits ---


def photo(
    camera: Camera, base: Base, xy_mm: Array, turn_rad: float, profile: Profile, noise: float = 2.0
) -> Frame:
    """A dark base with a sand top on a grey mat."""
    picture = np.full((SIZE_PX[1] * FINE, SIZE_PX[0] * FINE, 3), 125, np.uint8)
    spin = np.array([[np.cos(turn_rad), np.sin(turn_rad)], [-np.sin(turn_rad), np.cos(turn_rad)]])
    lower, upper = (base_outline(base, inset) @ spin + xy_mm for inset in (0.0, profile.taper_mm))
    edges = [
        np.column_stack([ring, np.full(len(ring), z)])
        for ring, z in ((lower, 0.0), (upper, profile.height_mm))
    ]
    hull = cv2.convexHull(camera.project(np.vstack(edges)).astype(np.float32))[:, 0]
    for ring, colour in (
        (np.asarray(hull, float), (30, 30, 34)),
        (camera.project(edges[1]), (90, 140, 180)),
    ):
        at = np.round(((ring + 0.5) * FINE - 0.5) * 16).astype(np.int32)
        cv2.fillPoly(picture, [at], colour, cv2.LINE_AA, 4)
    small = cv2.resize(picture, SIZE_PX, interpolation=cv2.INTER_AREA).astype(float)
    small = cv2.GaussianBlur(small, (0, 0), 0.7) + np.random.default_rng(0).normal(
        0, noise, small.shape
    )
    return Frame(np.clip(small, 0, 255).astype(np.uint8), "drawn")


def fitted(
    base: Base, tilt_deg: float, profile: Profile, off: tuple[float, float, float]
) -> OvalFit:
    camera, xy, turn = over(tilt_deg), np.array([230.0, 280.0]), 0.5
    frame = photo(camera, base, xy, turn, profile)
    start = PosePrior(np.array([*xy, turn]) + off, SIGMA)
    fit = fit_oval(frame.pixels, camera, start, base, 0.0)
    assert fit is not None
    return fit


@pytest.mark.parametrize("tilt_deg", [0.0, 35.0])
@pytest.mark.parametrize("profile", PROFILES, ids=[p.name for p in PROFILES])
@pytest.mark.parametrize("base", OVALS, ids=NAMES[:2])
def test_the_fit_comes_home_from_rough_starts(
    base: Base, profile: Profile, tilt_deg: float
) -> None:
    fit = fitted(base, tilt_deg, profile, (1.6, -1.2, 0.07))
    off = fit.xy_mm - [230, 280]
    assert np.hypot(*off) < 0.25  # half a pixel
    assert abs(np.degrees(fit.turn_rad - 0.5)) < 0.5
    assert off @ np.linalg.solve(fit.covariance_mm2, off) < 9.2  # 99 % of two coordinates
    assert np.sqrt(np.trace(fit.covariance_mm2)) < 0.8
    assert fit.merit > 0.7


def test_the_surer_the_start_the_less_the_fit_moves_from_it() -> None:
    """Both are weighed by their doubt: what is known to a hundredth of a millimetre stays, what is guessed does not."""
    camera, xy, off = over(20.0), np.array([230.0, 280.0]), np.array([0.5, 0.0, 0.0])
    frame, start = photo(camera, BASES[0], xy, 0.5, PROFILES[0]), np.array([*xy, 0.5]) + off
    moved = []
    for sure in (SIGMA, SIGMA / 10, SIGMA / 200):
        fit = fit_oval(frame.pixels, camera, PosePrior(start, sure), BASES[0], 0.0)
        assert fit is not None
        assert np.all(np.diag(fit.covariance) < sure**2)
        moved.append(np.hypot(*(fit.xy_mm - start[:2])))
    assert moved[0] > moved[1] > moved[2]
    assert moved[0] > 0.3
    assert moved[2] < 0.05


@pytest.mark.parametrize("wrong", [Base.oval(42, 75), Base.circle(50), Base.oval(70, 105)])
def test_another_base_explains_less(wrong: Base) -> None:
    camera, xy = over(25.0), np.array([230.0, 280.0])
    frame = photo(camera, BASES[0], xy, 0.5, PROFILES[0])
    right, other = (
        fit_oval(frame.pixels, camera, PosePrior(np.array([*(xy + 0.5), 0.5]), SIGMA), base, 0.0)
        for base in (BASES[0], wrong)
    )
    assert right is not None
    assert other is None or other.merit < right.merit - 0.25


def test_nothing_is_seen_of_a_base_outside_the_photo() -> None:
    camera = over(10.0)
    frame = photo(camera, BASES[0], np.array([230.0, 280.0]), 0.5, PROFILES[0])
    assert (
        fit_oval(
            frame.pixels, camera, PosePrior(np.array([5000.0, 0.0, 0.0]), SIGMA), BASES[0], 0.0
        )
        is None
    )


def test_slopes_by_the_camera_agree_with_moving_it() -> None:
    camera, fit = over(25.0), fitted(BASES[1], 25.0, PROFILES[1], (0.5, 0.5, 0.0))
    step = np.zeros(15)
    step[12:14] = (
        2.0,
        -1.5,
    )  # the camera aside: what the photo shows stays, so the board's places move with it
    moved = camera.moved(step).unproject(camera.project(np.array([*fit.xy_mm, 0.0]))) - fit.xy_mm
    np.testing.assert_allclose(fit.d_xy_d_camera @ step, moved, atol=0.05)
