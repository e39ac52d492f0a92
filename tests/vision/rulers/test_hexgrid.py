"""A printed hex grid is found with its size, its way and its place; squares, bricks and bare mats have none."""

from itertools import product

import cv2
import numpy as np
import pytest

from overruler.geometry.pose import Array
from overruler.scene import Grid
from overruler.vision.imaging.orthophoto import Orthophoto
from overruler.vision.rulers.hex_lines import side_contrast
from overruler.vision.rulers.hexgrid import find_grid, grid_problems

BOARD_MM = (800.0, 700.0)
MM_PER_PX = 1.6
OVERSAMPLE = 4


def view_of(segments: list[tuple[Array, Array]], ink: int = 60, noise: float = 4.0) -> Orthophoto:
    """The board from above with lines (mm) drawn on it, each about a millimetre wide."""
    width, height = (round(size / MM_PER_PX) for size in BOARD_MM)
    canvas = np.full((height * OVERSAMPLE, width * OVERSAMPLE), 120, np.uint8)
    scale = OVERSAMPLE / MM_PER_PX
    for a, b in segments:
        start, end = (
            (round(x * scale * 16), round((BOARD_MM[1] - y) * scale * 16)) for x, y in (a, b)
        )
        cv2.line(canvas, start, end, ink, 3, cv2.LINE_AA, 4)
    grey = cv2.resize(canvas, (width, height), interpolation=cv2.INTER_AREA).astype(float)
    grey += np.random.default_rng(7).normal(0, noise, grey.shape)
    pixels = np.repeat(np.clip(np.rint(grey), 0, 255).astype(np.uint8)[..., None], 3, 2)
    return Orthophoto(pixels, np.ones((height, width), bool), 0.0, BOARD_MM[1], MM_PER_PX)


def hexes(grid: Grid, turn_deg: float = 0.0) -> list[tuple[Array, Array]]:
    first = 30.0 if grid.orientation == "pointy" else 0.0
    angle = np.radians(first + 60 * np.arange(7))
    ring = grid.size_mm * np.stack([np.cos(angle), np.sin(angle)], -1)
    c, s = np.cos(np.radians(turn_deg)), np.sin(np.radians(turn_deg))
    middle, turn = np.array(BOARD_MM) / 2, np.array([[c, s], [-s, c]])
    found = []
    for q, r in product(range(-30, 60), range(-30, 60)):
        center = np.array(grid.hex_center(q, r))
        if (np.abs(center - middle) < 700).all():
            corners = middle + (center + ring - middle) @ turn
            found += [(corners[k], corners[k + 1]) for k in range(3)]
    return found


@pytest.mark.parametrize("orientation", ["pointy", "flat"])
@pytest.mark.parametrize(("size_mm", "ink"), [(15.0, 70), (28.87, 60), (34.64, 190)])
def test_a_grid_is_found_where_it_is(orientation: str, size_mm: float, ink: int) -> None:
    truth = Grid(orientation, size_mm, (31.0, 22.0))
    seen = find_grid(view_of(hexes(truth), ink), BOARD_MM)
    assert seen is not None
    assert seen.is_aligned
    assert seen.grid.orientation == orientation
    assert seen.grid.size_mm == pytest.approx(size_mm, rel=1e-3)
    for corner in ((60.0, 60.0), (740.0, 640.0)):
        center = np.array(truth.hex_center(*truth.hexes.hex_at(corner)))
        again = np.array(seen.grid.hex_center(*seen.grid.hexes.hex_at(tuple(center.tolist()))))
        assert np.hypot(*(again - center)) < max(4 * seen.sigma_mm, 0.6)


def test_a_turned_grid_is_said_to_be_turned() -> None:
    seen = find_grid(view_of(hexes(Grid("flat", 28.0, (10.0, 10.0)), 0.8)), BOARD_MM)
    assert seen is not None
    assert not seen.is_aligned
    assert seen.rotation_deg == pytest.approx(0.8, abs=0.1)
    assert [problem.flag for problem in grid_problems(seen)] == ["grid_turned"]


def squares(step_mm: float) -> list[tuple[Array, Array]]:
    across = [(np.array([0, y]), np.array([800, y])) for y in np.arange(0, 700, step_mm)]
    return across + [(np.array([x, 0]), np.array([x, 700])) for x in np.arange(0, 800, step_mm)]


def bricks(length_mm: float, height_mm: float) -> list[tuple[Array, Array]]:
    across = [(np.array([0, y]), np.array([800, y])) for y in np.arange(0, 700, height_mm)]
    for row, y in enumerate(np.arange(0, 700, height_mm)):
        for x in np.arange(row % 2 * length_mm / 2, 800, length_mm):
            across.append((np.array([x, y]), np.array([x, y + height_mm])))
    return across


def triangles(step_mm: float) -> list[tuple[Array, Array]]:
    """Lines three ways through: the sides of hexes and their insides as well."""
    middle, found = np.array(BOARD_MM) / 2, []
    for angle in np.radians((0.0, 60.0, 120.0)):
        along, across = (
            np.array([np.cos(angle), np.sin(angle)]),
            np.array([-np.sin(angle), np.cos(angle)]),
        )
        for k in range(-30, 31):
            center = middle + k * step_mm * across
            found.append((center - 900 * along, center + 900 * along))
    return found


@pytest.mark.parametrize(
    "lines",
    [[], triangles(26.0), squares(25.0), squares(50.0), bricks(40.0, 34.6), bricks(24.0, 20.8)],
)
def test_what_is_no_hex_grid_is_none(lines: list[tuple[Array, Array]]) -> None:
    assert find_grid(view_of(lines), BOARD_MM) is None


def test_nothing_is_said_of_a_grid_that_lies_straight() -> None:
    assert grid_problems(None) == ()
    assert (
        grid_problems(find_grid(view_of(hexes(Grid("flat", 28.0, (10.0, 10.0)))), BOARD_MM)) == ()
    )


def test_hexes_with_lines_of_the_other_way_within_are_not_those_that_are_drawn() -> None:
    """Sides that look dark because light lines run beside them: the grid is half as large."""
    drawn = np.tile([1.8, 1.9, 1.7, -0.4, -0.5, -0.4, -0.6, -0.6, -0.5], (20, 1))
    between = np.tile([1.8, 1.9, 1.7, -1.6, -2.0, -2.1, -3.5, -2.7, -3.6], (20, 1))
    assert side_contrast(drawn) == pytest.approx(1.7)
    assert side_contrast(-drawn) == pytest.approx(1.7)
    assert side_contrast(between) == 0
