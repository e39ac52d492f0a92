"""The fit of a plate: from a rough start to its place, and the start's own doubt."""

from dataclasses import replace

import numpy as np
import pytest

from overruler.vision.contours.radial_edges import LabPatch
from overruler.vision.plates.coarse_grid import (
    POSTERIOR_TEMPER,
    SHIFTS_MM,
    TURNS_RAD,
    PosePosterior,
    fit_coarsely,
)
from overruler.vision.plates.face_net import FaceLikelihood
from overruler.vision.plates.fine_grid import fit_finely
from overruler.vision.plates.side_net import OFFSET_BINS, STRETCHES_PER_SIDE, SideEvidence
from overruler.vision.plates.sides import PLATE_HEIGHT_MM, lower_outline_mm, side_normals
from tests.vision.plate_table import SIZE_PX, Ship, table_camera, table_with


@pytest.mark.parametrize("off", [(0.0, 0.0, 0.0), (4.0, -3.0, 4.0), (-3.5, -4.0, -5.0)])
def test_the_fit_comes_home_from_rough_starts(off: tuple[float, float, float]) -> None:
    ship, camera = Ship(300, 250, 30.0), table_camera(30.0)
    frame = table_with(camera, [ship], SIZE_PX)
    start = np.array([300 + off[0], 250 + off[1]])
    view = LabPatch.crop_around(frame.pixels, camera, start, 30.0, PLATE_HEIGHT_MM)
    assert view is not None
    rough = fit_coarsely(view, start, [np.radians(30 + off[2])], 40.0)
    assert rough is not None
    fit = fit_finely(view, rough)
    assert fit is not None
    assert np.hypot(*(fit.xy_mm - [300, 250])) < 0.3
    assert abs((np.degrees(fit.turn_rad) - 30 + 90) % 180 - 90) < 0.6
    assert abs(fit.inset_mm - 2.2) < 0.45


def test_the_close_fit_weighs_the_face_in() -> None:
    """A face that is surest 2 mm forward of the plate draws the fit that way, and none the other way."""
    camera, at = table_camera(30.0), np.array([300.0, 250.0])
    view = LabPatch.crop_around(
        table_with(camera, [Ship(300, 250, 30.0)], SIZE_PX).pixels,
        camera,
        at,
        30.0,
        PLATE_HEIGHT_MM,
    )
    assert view is not None
    rough = fit_coarsely(view, at, [np.radians(30.0)], 40.0)
    assert rough is not None
    forward = side_normals(np.radians(30.0))[0]
    odds = -20 * ((np.array([[-3.0, 3.0], [-3.0, 3.0]]) - [[2.0], [0.0]]) ** 2 - [[4.0], [0.0]])
    plain, drawn = (
        fit_finely(view, replace(rough, face=leaning))
        for leaning in (None, FaceLikelihood(at, np.radians(30.0), 3.0, odds))
    )
    assert plain is not None
    assert drawn is not None
    assert (drawn.xy_mm - plain.xy_mm) @ forward > 1
    assert abs((drawn.xy_mm - plain.xy_mm) @ side_normals(np.radians(30.0))[1]) < 0.3


@pytest.mark.parametrize("turn_rad", [0.0, 0.7])
def test_what_is_normally_distributed_settles_in_its_mean_with_its_moments(turn_rad: float) -> None:
    mean, sigma, turned, turn_sigma = (
        np.array([0.6, -1.1]),
        np.array([0.3, 0.4]),
        np.radians(1.5),
        np.radians(1.2),
    )
    off = [(SHIFTS_MM - middle) / width for middle, width in zip(mean, sigma, strict=True)]
    turns = ((TURNS_RAD - turned) / turn_sigma) ** 2
    logs = -(off[0][:, None] ** 2 + off[1] ** 2 + turns[:, None, None]) / 2
    look = PosePosterior(
        np.array([30.0, 40.0]),
        turn_rad,
        logs,
        SideEvidence(np.zeros((4, STRETCHES_PER_SIDE, OFFSET_BINS)), np.zeros((4, 1)), 0.5),
    )
    xy, turn, moments, turn_moment = look.mean_and_moments()
    axes = side_normals(turn_rad)[:2]
    np.testing.assert_allclose(xy, [30.0, 40.0] + mean @ axes, atol=0.05)
    np.testing.assert_allclose(turn, turn_rad + turned, atol=1e-3)
    np.testing.assert_allclose(
        axes @ moments @ axes.T, POSTERIOR_TEMPER * np.diag(sigma**2), rtol=0.1, atol=0.01
    )
    np.testing.assert_allclose(turn_moment, POSTERIOR_TEMPER * turn_sigma**2, rtol=0.1)


@pytest.mark.parametrize("turn_rad", [0.0, 0.4])
def test_a_second_place_less_likely_by_so_much_is_in_the_doubt(turn_rad: float) -> None:
    """Two places 4 mm apart along the heading, the second 3 nats behind: nothing else is likely."""
    logs = np.full((len(TURNS_RAD), len(SHIFTS_MM), len(SHIFTS_MM)), -1e3)
    here, there = (int(np.argmin(np.abs(SHIFTS_MM - shift))) for shift in (0.0, 4.0))
    logs[8, here, here], logs[8, there, here] = 0.0, -3.0
    edges = SideEvidence(
        np.zeros((4, STRETCHES_PER_SIDE, OFFSET_BINS)), np.zeros((4, STRETCHES_PER_SIDE)), 0.5
    )
    look = PosePosterior(np.array([30.0, 40.0]), turn_rad, logs, edges)
    share = 1 / (1 + np.exp(3.0 / POSTERIOR_TEMPER))
    away = 4 * np.array([np.cos(turn_rad), np.sin(turn_rad)])
    np.testing.assert_allclose(
        look.moments_beyond(look.xy_mm, 1.0), share * np.outer(away, away), atol=1e-9
    )
    np.testing.assert_allclose(look.moments_beyond(look.xy_mm, 5.0), 0.0, atol=1e-9)
    xy, _, moments, _ = look.mean_and_moments()
    np.testing.assert_allclose(xy, look.xy_mm)
    np.testing.assert_allclose(moments, share * np.outer(away, away), atol=1e-9)


@pytest.mark.parametrize("tilt_deg", [0.0, 25.0])
def test_the_lower_outline_appears_where_the_camera_sees_it(tilt_deg: float) -> None:
    camera, ship = table_camera(tilt_deg), Ship(200, 150, 30.0, 60.0)
    middles = ship.place(np.array([[1.0, 0], [0, 1], [-1, 0], [0, -1]]), 0.0)
    on_top = camera.unproject(camera.project(middles), PLATE_HEIGHT_MM) - [200, 150]
    out = np.sum(on_top * side_normals(np.radians(30.0)), axis=1)
    np.testing.assert_allclose(
        lower_outline_mm(camera, np.array([200.0, 150]), np.radians(30.0), 60.0), out, atol=1e-6
    )
