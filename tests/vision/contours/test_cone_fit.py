"""A base is fitted where it stands: every size, both profiles, on any side of the picture, hidden in part."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shapely import MultiPoint, Point

from overruler.geometry.pose import Array
from overruler.vision.contours.cone_fit import fit_base, fit_bases
from overruler.vision.contours.radial_edges import (
    MAX_RAY_STEP_PX,
    MIN_EDGE_SLOPE,
    RAY_STEP_PX,
    LabPatch,
    find_radial_edges,
    ray_directions,
    ray_step_px,
)
from overruler.vision.contours.rim_fit import RIM_MODELS, BaseHypothesis
from overruler.vision.contours.silhouette import PROFILES, Profile, project_rims
from synthetic.flat_table import Plinth
from tests.tables import BOARD_MM, camera_over, photo

GRID = [(x, y) for x in (110.0, 350.0, 590.0) for y in (90.0, 250.0, 410.0)]


def turn(angles: Array) -> Array:
    return np.stack([np.cos(angles), np.sin(angles)], -1)


@pytest.mark.parametrize("tilt_deg", [0.5, 20.0, 38.0])
@pytest.mark.parametrize("taper_mm", [1.6, 0.0])
@pytest.mark.parametrize("diameter_mm", [25.0, 32.0, 60.0])
def test_places_are_found_to_a_small_part_of_a_pixel(
    tilt_deg: float, taper_mm: float, diameter_mm: float
) -> None:
    camera = camera_over(tilt_deg)
    frame = photo(
        camera,
        [Plinth(x, y, diameter_mm, 0.0, 3.9 if taper_mm else 3.6, taper_mm) for x, y in GRID],
    )
    rng = np.random.default_rng(5)
    errors = []
    for x, y in GRID:
        scale = float(camera.mm_per_px(np.array([x, y, 0.0])))
        start = np.array([x, y]) + rng.normal(0, 0.5, 2) * scale
        fit = fit_base(frame.pixels, camera, start, 0.5 * scale, diameter_mm / 2, 0.0)
        assert fit is not None
        error = fit.xy_mm - [x, y]
        errors.append(np.hypot(*error) / scale)
        assert (
            error @ np.linalg.solve(fit.covariance_mm2, error) < 16
        )  # four of its own standard deviations
    assert np.median(errors) < 0.3  # the start was 0.6 px off


def test_a_base_on_a_hill_is_fitted_at_its_height() -> None:
    camera = camera_over(25.0)
    frame = photo(camera, [Plinth(500.0, 400.0, 50.0, z_mm=40.0)])
    fit = fit_base(frame.pixels, camera, np.array([500.4, 399.5]), 0.6, 25.0, 40.0)
    assert fit is not None
    assert np.hypot(*(fit.xy_mm - [500.0, 400.0])) < 0.15


def test_half_hidden_is_found_and_says_so() -> None:
    camera = camera_over(10.0)
    plinth = Plinth(300.0, 240.0, 40.0)
    whole, half = photo(camera, [plinth]), photo(camera, [plinth])
    edge = int(camera.project([300.0, 240.0, 0.0])[0])
    pixels = half.pixels.copy()
    pixels[:, edge:] = (90, 140, 120)
    fits = [
        fit_base(p, camera, np.array([300.3, 239.6]), 0.5, 20.0, 0.0)
        for p in (whole.pixels, pixels)
    ]
    assert fits[0] is not None
    assert fits[1] is not None
    assert np.hypot(*(fits[1].xy_mm - [300.0, 240.0])) < 0.4
    assert fits[1].support < 0.75 * fits[0].support
    assert np.trace(fits[1].covariance_mm2) > 4 * np.trace(
        fits[0].covariance_mm2
    )  # by its edges alone: 3.1


def test_nothing_there_is_no_fit() -> None:
    camera = camera_over()
    pixels = np.full((900, 1200, 3), 128, np.uint8)
    assert fit_base(pixels, camera, np.array([300.0, 200.0]), 1.0, 16.0, 0.0) is None


def test_outside_the_picture_is_no_fit() -> None:
    camera = camera_over()
    frame = photo(camera, [])
    assert fit_base(frame.pixels, camera, np.array([5000.0, 200.0]), 1.0, 16.0, 0.0) is None


def test_many_are_fitted_as_each_would_be() -> None:
    """Whatever is fitted beside it, on other scales and at other heights, and whoever is not seen."""
    camera = camera_over(30.0)
    plinths = [
        Plinth(x, y, diameter)
        for (x, y), diameter in zip(GRID, (25.0, 60.0, 32.0) * 3, strict=True)
    ]
    frame = photo(camera, plinths)
    sought = [
        BaseHypothesis(np.array([p.x_mm + 0.4, p.y_mm - 0.3]), sigma, p.diameter_mm / 2, 0.0, ways)
        for p in plinths
        for sigma in (0.2, 2.5)
        for ways in (RIM_MODELS, RIM_MODELS[:1], RIM_MODELS[1:2])
    ]
    sought.insert(5, BaseHypothesis(np.array([5000.0, 200.0]), 1.0, 16.0, 0.0))
    together = fit_bases(frame.pixels, camera, sought)
    alone = [fit_bases(frame.pixels, camera, [one])[0] for one in sought]
    assert (
        [fit is None for fit in together]
        == [fit is None for fit in alone]
        == [k == 5 for k in range(len(sought))]
    )
    for one, other in zip(together, alone, strict=True):
        if one is not None and other is not None:
            for name in (
                "xy_mm",
                "covariance_mm2",
                "d_xy_d_camera",
                "seen",
                "merit",
                "visible_shares",
                "contrast",
            ):
                assert np.allclose(
                    getattr(one, name), getattr(other, name), rtol=1e-6, atol=1e-9
                ), name
            assert (one.profile, one.upper) == (other.profile, other.upper)


@settings(max_examples=40)
@given(
    x=st.floats(60, BOARD_MM[0] - 60),
    y=st.floats(60, BOARD_MM[1] - 60),
    radius=st.floats(12, 80),
    tilt=st.floats(0, 40),
    profile=st.sampled_from(PROFILES),
)
def test_rims_on_the_plane_are_what_the_camera_sees(
    x: float, y: float, radius: float, tilt: float, profile: Profile
) -> None:
    camera = camera_over(tilt)
    here = np.array([x, y])
    upper = here + (radius - profile.taper_mm) * turn(np.linspace(0, 2 * np.pi, 721))
    flat = (
        camera.unproject(
            camera.project(np.column_stack([upper, np.full(721, profile.height_mm)])), 0.0
        )
        - here
    )
    towards = flat / np.hypot(*flat.T)[:, None]
    rims = project_rims(camera, here, radius, 0.0, profile, towards)
    assert np.allclose(rims.upper_mm, np.hypot(*flat.T), atol=1e-6)
    directions = turn(np.linspace(0, 2 * np.pi, 50))
    rims = project_rims(camera, here, radius, 0.0, profile, directions)
    points = np.vstack([flat, radius * turn(np.linspace(0, 2 * np.pi, 721))])
    hull = MultiPoint(points).convex_hull.boundary
    for direction, far, normal in zip(
        directions, rims.outline_mm, rims.outline_normals, strict=True
    ):
        assert hull.distance(Point(direction * far)) < 2e-3
        assert (
            points @ normal
        ).max() <= direction @ normal * far + 1e-6  # the hull lies behind its tangents


def test_the_place_follows_the_camera_as_the_sensitivity_says() -> None:
    camera = camera_over(20.0)
    frame = photo(camera, [Plinth(450.0, 330.0, 50.0)])
    start = np.array([450.2, 329.9])
    fit = fit_base(frame.pixels, camera, start, 0.5, 25.0, 0.0)
    assert fit is not None
    for index, step in ((0, 5.0), (2, 4.0), (4, 0.01), (9, 0.002), (12, 1.0), (14, 3.0)):
        delta = np.zeros(15)
        delta[index] = step
        expected = fit.d_xy_d_camera @ delta
        moved = fit_base(frame.pixels, camera.moved(delta), fit.xy_mm + expected, 0.5, 25.0, 0.0)
        assert moved is not None
        assert np.allclose(
            moved.xy_mm - fit.xy_mm, expected, atol=0.06 + 0.05 * np.abs(expected).max()
        )


@pytest.mark.parametrize("every_px", [0.3, 0.5])
def test_edges_looked_for_roughly_lie_where_close_steps_find_them(every_px: float) -> None:
    """On the rim of a plain base, half of all directions and more: to a third of the step."""
    camera = camera_over(0.0)
    view = LabPatch.crop_around(
        photo(camera, [Plinth(300, 200, 40.0)]).pixels, camera, np.array([300.0, 200.0]), 20.0, 0.0
    )
    assert view is not None
    rays = ray_directions(20.0, view.mm_per_px)
    reach = np.full(len(rays), 20.0)
    sought = (
        view,
        np.array([300.0, 200.0]),
        rays,
        reach - 3 * view.mm_per_px,
        reach + 3 * view.mm_per_px,
    )
    close, rough = find_radial_edges(*sought), find_radial_edges(*sought, every_px)
    steepest = [
        np.array(
            [
                edges.radius_mm[edges.ray == k][edges.strength[edges.ray == k].argmax()]
                for k in range(len(rays))
            ]
        )
        for edges in (close, rough)
    ]
    assert np.median(np.abs(steepest[1] - steepest[0])) < every_px / 3 * view.mm_per_px
    assert ray_step_px(1.0) == RAY_STEP_PX < ray_step_px(2.0) < ray_step_px(9.0) == MAX_RAY_STEP_PX


@pytest.mark.parametrize("every_px", [RAY_STEP_PX, MAX_RAY_STEP_PX])
def test_what_is_noise_at_one_step_is_noise_at_any(every_px: float) -> None:
    """A soft step in brightness, 2 px wide, a little too faint and a little steep enough to be an edge."""
    camera, middle = camera_over(0.0), np.array([300.0, 200.0])
    view = LabPatch.crop_around(photo(camera, []).pixels, camera, middle, 20.0, 0.0)
    assert view is not None
    across_px = np.arange(view.lab.shape[1]) + view.corner_px[0] - camera.project([*middle, 0.0])[0]
    reach = np.array([4 * view.mm_per_px])
    for steep, many in ((0.8, 0), (1.3, 1)):
        slope = steep * MIN_EDGE_SLOPE / RAY_STEP_PX * np.exp(-0.5 * (across_px / 2) ** 2)
        lab = np.zeros_like(view.lab)
        lab[..., 0] = np.cumsum(slope)
        edges = find_radial_edges(
            replace(view, lab=lab), middle, np.array([[1.0, 0.0]]), -reach, reach, every_px
        )
        assert (len(edges.ray) > 0) == many
