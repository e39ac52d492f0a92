"""Ovals on a stretched board: laws of the stretching, and of the ellipse through a rim."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overruler.geometry.pose import Array
from overruler.vision.learned import patches
from overruler.vision.learned.ellipse_net import (
    KNOWN_CIRCLE_PRIOR_SIGMA,
    average_augmented_scores,
    deviations_to_ovals,
    fit_ellipses,
    score_ovals,
    trace_ovals,
    trace_ovals_of_known_size,
)
from tests.vision.rounds.test_find_ovals import PLACES, over, table

ANGLE = st.floats(-np.pi, np.pi)
PLACE = st.tuples(st.floats(60, 360), st.floats(60, 320))
HALF = st.tuples(st.floats(20, 80), st.floats(0.4, 1.0)).map(
    lambda half: (half[0], half[0] * half[1])
)
UNIT = np.stack([np.cos(patches.ring_angles()), np.sin(patches.ring_angles())], -1)


def same_turn(one: Array, other: Array) -> Array:
    """How far headings lie apart, half a turn being none."""
    return np.abs((one - other + np.pi / 2) % np.pi - np.pi / 2)


@settings(max_examples=60)
@given(place=PLACE, half=HALF, turn=ANGLE, tilt=st.floats(0, 40))
def test_the_unit_circle_is_the_oval(
    place: tuple[float, float], half: tuple[float, float], turn: float, tilt: float
) -> None:
    oval = np.array([[*place, *half, turn]])
    rim = UNIT @ patches.patch_axes_mm(over(tilt), oval)[0]
    along, across = rim @ [np.cos(turn), np.sin(turn)], rim @ [-np.sin(turn), np.cos(turn)]
    assert (along / half[0]) ** 2 + (across / half[1]) ** 2 == pytest.approx(np.ones(len(rim)))


@settings(max_examples=60)
@given(place=PLACE, half=HALF, turn=ANGLE, tilt=st.floats(3, 40))
def test_what_has_height_leans_up_in_the_cutout(
    place: tuple[float, float], half: tuple[float, float], turn: float, tilt: float
) -> None:
    """And as far, in radii, as the side input says: the tangent times the height over the radius."""
    camera, oval = over(tilt), np.array([[*place, *half, turn]])
    lean = (oval[0, :2] - camera.center_mm[:2]) / camera.center_mm[2]
    right, up = np.linalg.solve(patches.patch_axes_mm(camera, oval)[0].T, lean)
    assert right == pytest.approx(0, abs=1e-9)
    assert up == pytest.approx(
        patches.auxiliary_input(camera, oval)[0, 0] / patches.equal_area_radius_mm(oval)[0],
        rel=1e-5,
        abs=1e-7,
    )


@settings(max_examples=30)
@given(place=PLACE, radius=st.floats(12, 80), turn=ANGLE, tilt=st.floats(0, 40))
def test_an_oval_that_is_round_is_cut_out_as_a_circle(
    place: tuple[float, float], radius: float, turn: float, tilt: float
) -> None:
    camera, circle, oval = (
        over(tilt),
        np.array([[*place, radius]]),
        np.array([[*place, radius, radius, turn]]),
    )
    np.testing.assert_allclose(
        patches.patch_maps(camera, oval), patches.patch_maps(camera, circle), atol=1e-3
    )
    np.testing.assert_allclose(
        patches.ring_maps(camera, oval), patches.ring_maps(camera, circle), atol=1e-3
    )
    np.testing.assert_allclose(
        patches.auxiliary_input(camera, oval), patches.auxiliary_input(camera, circle), atol=1e-6
    )


@settings(max_examples=30)
@given(place=PLACE, radius=st.floats(12, 80), tilt=st.floats(0, 40))
def test_an_unrolled_ring_shows_what_lies_round_the_rim(
    place: tuple[float, float], radius: float, tilt: float
) -> None:
    """Between the nodes that are projected it is off by a fiftieth of a row at most."""
    camera, circle = over(tilt), np.array([[*place, radius]])
    share = (np.arange(patches.RING_ROW_COUNT) + 0.5) / patches.RING_ROW_COUNT
    reach = patches.RING_INNER_RADII + share * (patches.RING_OUTER_RADII - patches.RING_INNER_RADII)
    ring = np.array(place) + reach[:, None, None] * (
        UNIT @ patches.patch_axes_mm(camera, circle)[0]
    )
    there = camera.project(np.concatenate([ring, np.zeros((*ring.shape[:2], 1))], -1))
    row_px = np.linalg.norm(np.diff(there, axis=0), axis=-1).min()
    np.testing.assert_allclose(patches.ring_maps(camera, circle)[0], there, atol=0.02 * row_px)


def reach_of(centre: Array, stretch: Array) -> Array:
    """How far out (48,) the ellipse lies that `stretch` (2, 2) makes of the unit circle, moved to `centre`."""
    inverse = np.linalg.inv(stretch)
    rays, back = UNIT @ inverse.T, inverse @ centre
    a, b, c = (rays**2).sum(1), rays @ back, back @ back - 1
    return np.asarray((b + np.sqrt(b * b - a * c)) / a)


SMALL = st.floats(-0.04, 0.04)


@settings(max_examples=60)
@given(x=SMALL, y=SMALL, size=SMALL, p=SMALL, q=SMALL, hidden=st.integers(0, 14))
def test_an_exact_rim_gives_its_ellipse(
    x: float, y: float, size: float, p: float, q: float, hidden: int
) -> None:
    """To first order; also where a part of the rim is hidden and answers nonsense without being sure of it."""
    reach = reach_of(np.array([x, y]), np.array([[1 + size + p, q], [q, 1 + size - p]]))
    sigma = np.full(len(reach), 0.004)
    reach[:hidden], sigma[:hidden] = 1.3, 0.5
    fitted = fit_ellipses(reach[None], sigma[None])
    assert fitted.deviation[0] == pytest.approx([x, y, size, p, q], abs=0.012)


@settings(max_examples=60)
@given(place=PLACE, half=HALF, turn=ANGLE, x=SMALL, y=SMALL, size=SMALL, p=SMALL, q=SMALL)
def test_a_deviation_becomes_the_oval_it_describes(
    place: tuple[float, float],
    half: tuple[float, float],
    turn: float,
    x: float,
    y: float,
    size: float,
    p: float,
    q: float,
) -> None:
    """Every point of the deviating rim lies on the oval that comes out."""
    camera, oval = over(20.0), np.array([[*place, *half, turn]])
    fitted = fit_ellipses(np.ones((1, 48)), np.full((1, 48), 0.01))
    fitted.deviation[0] = x, y, size, p, q
    found, sigma = deviations_to_ovals(camera, oval, fitted)
    rim = UNIT @ np.array([[1 + size + p, q], [q, 1 + size - p]]) + [x, y]
    off = rim @ patches.patch_axes_mm(camera, oval)[0] + oval[0, :2] - found[0, :2]
    c, s = np.cos(found[0, 4]), np.sin(found[0, 4])
    on = (off @ [c, s] / found[0, 2]) ** 2 + (off @ [-s, c] / found[0, 3]) ** 2
    assert on == pytest.approx(np.ones(len(on)))
    assert found[0, 2] >= found[0, 3]
    assert (sigma > 0).all()


@pytest.mark.parametrize("tilt_deg", [0.0, 25.0])
def test_the_networks_know_an_oval_and_follow_its_rim(tilt_deg: float) -> None:
    camera = over(tilt_deg)
    levels = patches.build_pyramid(table(camera, PLACES).pixels)
    true = np.array(
        [[x, y, base.length_mm / 2, base.width_mm / 2, turn] for base, x, y, turn in PLACES]
    )
    rough = true + np.array([[2, -2, 2, 1, 0.12], [-2, 1, -2, 1, -0.12], [3, 2, 3, -2, 0.1]])
    looked = score_ovals(levels, camera, rough)
    ovals, _ = trace_ovals(levels, camera, trace_ovals(levels, camera, looked.ovals)[0])
    assert average_augmented_scores(levels, camera, ovals).min() > 0.6
    assert np.abs(ovals - true)[:, :4].max() < 1.5
    assert same_turn(ovals[:, 4], true[:, 4]).max() < np.radians(3)


@pytest.mark.parametrize("tilt_deg", [0.0, 25.0])
def test_an_oval_of_known_size_is_followed_home_with_its_size(tilt_deg: float) -> None:
    camera = over(tilt_deg)
    levels = patches.build_pyramid(table(camera, PLACES).pixels)
    true = np.array(
        [[x, y, base.length_mm / 2, base.width_mm / 2, turn] for base, x, y, turn in PLACES]
    )
    rough = true + np.array([[3, -3, 0, 0, 0.1], [-3, 2, 0, 0, -0.1], [4, 3, 0, 0, 0.08]])
    found, sigma = trace_ovals_of_known_size(levels, camera, rough)
    np.testing.assert_array_equal(found[:, 2:4], true[:, 2:4])
    assert np.abs(found - true)[:, :2].max() < 0.8
    assert same_turn(found[:, 4], true[:, 4]).max() < np.radians(3)
    assert (sigma > 0).all()
    assert all(
        len(part) == 0
        for part in trace_ovals_of_known_size(
            levels, camera, np.empty((0, 5)), KNOWN_CIRCLE_PRIOR_SIGMA
        )
    )


def test_a_bare_mat_is_no_oval_and_nothing_gives_nothing() -> None:
    camera = over(15.0)
    levels = patches.build_pyramid(table(camera, []).pixels)
    assert (
        score_ovals(levels, camera, np.array([[200.0, 200.0, 40.0, 25.0, 0.5]])).score.max() < 0.05
    )
    assert len(trace_ovals(levels, camera, np.empty((0, 5)))[0]) == 0
