"""A bare cell of a printed grid is told from a base, whatever stands on the mat beside it."""

from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluate.accuracy import board_of
from evaluate.printed_grids import counted
from overruler.bases import Base
from overruler.referee import Referee
from overruler.sources.photo import load_photo
from overruler.vision.imaging.orthophoto import Orthophoto
from overruler.vision.prints.printed_grid import WEIGHTS, PrintedGrid
from synthetic.from_above.sheet import read_truth
from synthetic.mats import mat
from synthetic.printed_grids import FORMS, lay_grid, print_grid

TEXEL_MM, SIDE_MM, CELL_MM = 1.0, 900.0, 25.4
BOARD_MM = (SIDE_MM, SIDE_MM)
CLEAR = [3, 4, 6, 7]
"""Seeds of mats whose lines are clear."""
SAMPLES = Path(__file__).parents[3] / "sample_images"


def view_of(form: str, seed: int) -> Orthophoto:
    """A mat from above, with a grid."""
    rng = np.random.default_rng(seed)
    picture = mat("grass", SIDE_MM, SIDE_MM, TEXEL_MM, rng).astype(np.float32) / np.float32(255)
    drawn = 255 * print_grid(picture, TEXEL_MM, form, CELL_MM, rng)
    noisy = cv2.GaussianBlur(drawn, (0, 0), 0.8) + rng.normal(0, 2, drawn.shape)
    pixels = noisy.clip(0, 255).astype(np.uint8)
    return Orthophoto(pixels, np.ones(pixels.shape[:2], bool), 0.0, SIDE_MM, TEXEL_MM)


def with_base(view: Orthophoto, base: Base, xy_mm: np.ndarray, seed: int) -> Orthophoto:
    """The same with a base whose top has sand of its own, and a figure with light and dark parts."""
    rng = np.random.default_rng([seed, 1])
    pixels, middle = view.pixels.copy(), np.rint(view.to_px(xy_mm)).astype(int)
    half = np.array([base.length_mm, base.width_mm]) / 2 / TEXEL_MM
    top = np.zeros(pixels.shape[:2], np.uint8)
    if base.shape == "rectangle":
        low, high = ((middle + sign * half).astype(int).tolist() for sign in (-1, 1))
        cv2.rectangle(top, low, high, 1, -1)
    else:
        cv2.ellipse(top, (middle.tolist(), (2 * half).tolist(), 0.0), 1, -1)
    sand = rng.uniform(40, 140, 3) + 15 * rng.normal(0, 1, pixels.shape)
    pixels[top > 0] = cv2.GaussianBlur(sand, (0, 0), 0.7).clip(0, 255)[top > 0]
    for ink in (25, 210, 90):
        part = middle + rng.uniform(-0.4, 0.4, 2) * half
        cv2.circle(pixels, np.rint(part).astype(int).tolist(), int(half[1] / 3), (ink,) * 3, -1)
    return Orthophoto(pixels, view.seen, 0.0, SIDE_MM, TEXEL_MM)


def middles_of_cells(grid: PrintedGrid) -> np.ndarray:
    """Places (N, 2) in the midst of the mat, a step apart from each other."""
    cells = grid.cells[0]
    return np.array([[400.0, 420.0]]) + cells.nearest_steps(60)


BASES = st.sampled_from(
    [Base.circle(25.0), Base.circle(32.0), Base.rectangle(25.0, 25.0), Base.rectangle(25.0, 50.0)]
)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("seed", CLEAR)
def test_bare_cells_are_told(form: str, seed: int) -> None:
    grid = PrintedGrid.of(view_of(form, seed), BOARD_MM)
    assert grid is not None
    placed = [(Base.circle(25.0), at, 0.0) for at in middles_of_cells(grid)]
    assert grid.are_bare_cells(placed).mean() > 0.95


@given(
    form=st.sampled_from(["hexes", "squares"]),
    seed=st.sampled_from(CLEAR),
    base=BASES,
    at=st.tuples(st.floats(200, 700), st.floats(200, 700)),
)
@settings(max_examples=15, deadline=None)
def test_a_base_is_no_bare_cell(form: str, seed: int, base: Base, at: tuple[float, float]) -> None:
    xy_mm = np.array(at)
    grid = PrintedGrid.of(with_base(view_of(form, seed), base, xy_mm, seed), BOARD_MM)
    assert grid is not None
    assert not grid.are_bare_cells([(base, xy_mm, 0.0)])[0]


@pytest.mark.parametrize("seed", range(3, 7))
def test_a_mat_without_a_grid_has_no_sure_one(seed: int) -> None:
    rng = np.random.default_rng(seed)
    pixels = mat("grass", SIDE_MM, SIDE_MM, TEXEL_MM, rng)
    view = Orthophoto(pixels, np.ones(pixels.shape[:2], bool), 0.0, SIDE_MM, TEXEL_MM)
    grid = PrintedGrid.of(view, BOARD_MM)
    assert grid is None or all(cells.is_faint for cells in grid.cells)


def told_as(grid: PrintedGrid, odds: list[float], places: np.ndarray) -> list[bool]:
    """Which places are bare cells of a grid, had looks such log odds."""
    base = Base.circle(25.0)
    said = dict(zip(map(tuple, places.tolist()), odds, strict=True))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(
            PrintedGrid,
            "features",
            lambda self, cells, base, xy_mm, turn_rad: (
                said[tuple(xy_mm)] * WEIGHTS / (WEIGHTS @ WEIGHTS)
            ),
        )
        return [bool(one) for one in grid.are_bare_cells([(base, at, 0.0) for at in places])]


def test_what_is_hard_to_tell_is_bare_where_others_are_whole_steps_away() -> None:
    grid = PrintedGrid.of(view_of("squares", 4), BOARD_MM)
    assert grid is not None
    alone = replace(grid, cells=grid.cells[:1])
    steps = alone.cells[0].basis_mm
    middle = np.array([450.0, 450.0])
    near = np.array([middle, middle + steps[0], middle + steps[1], middle - steps[0]])
    aside = near + np.outer([1, 0, 0, 0], [6.0, 0.0])
    assert told_as(alone, [-2.0, 3, 3, 3], near) == [True] * 4
    assert told_as(alone, [-2.0, 3, 3, 3], aside) == [False, True, True, True]
    assert told_as(alone, [-2.0, 3, 3, -6], near) == [False, True, True, False]
    assert told_as(alone, [-3.0, 3, 3, 3], near) == [False, True, True, True]


def test_of_a_faint_grid_one_cell_is_not_told_alone() -> None:
    grid = PrintedGrid.of(view_of("squares", 4), BOARD_MM)
    assert grid is not None
    faint = replace(grid, cells=(replace(grid.cells[0], is_faint=True),))
    middle = np.array([450.0, 450.0])
    steps = np.concatenate([[[0, 0]], faint.cells[0].nearest_steps(8)])
    assert told_as(faint, [2.0], middle[None]) == [False]
    assert told_as(faint, [2.0] * 9, middle + steps) == [True] * 9


def test_what_lies_beside_the_photo_is_not_told() -> None:
    view = view_of("squares", 4)
    seen = view.seen.copy()
    seen[:, 700:] = False
    grid = PrintedGrid.of(Orthophoto(view.pixels, seen, 0.0, SIDE_MM, TEXEL_MM), BOARD_MM)
    assert grid is not None
    outside = (Base.circle(25.0), np.array([705.0, 450.0]), 0.0)
    assert not grid.are_bare_cells([outside])[0]


def test_a_burnt_out_part_is_no_bare_cell() -> None:
    view = view_of("squares", 4)
    pixels = view.pixels.copy()
    pixels[300:600, 300:600] = 255
    grid = PrintedGrid.of(replace(view, pixels=pixels), BOARD_MM)
    assert grid is not None
    burnt = [(Base.circle(25.0), np.array([x, 450.0]), 0.0) for x in (420.0, 450.0, 480.0)]
    assert not grid.are_bare_cells(burnt).any()


def test_nothing_found_is_nothing_bare() -> None:
    grid = PrintedGrid.of(view_of("squares", 4), BOARD_MM)
    assert grid is not None
    assert not len(grid.are_bare_cells([]))


@pytest.mark.parametrize(("form", "most"), [("squares", 5), ("hexes", 0)])
def test_a_grid_on_the_mat_costs_no_base(form: str, most: int) -> None:
    """Squares of an inch on this mat were told as 151 bases."""
    photo = SAMPLES / "legion_grass.jpg"
    bases, before, after, false_before, false_after = counted(
        photo, form, CELL_MM, np.random.default_rng([1, 1])
    )
    assert after >= before >= bases - 1
    assert false_before == 0
    assert false_after <= most


def test_a_grid_is_known_where_bases_are_looked_for_again() -> None:
    photo = SAMPLES / "legion_grass.jpg"
    truth, camera, _ = read_truth(photo.with_suffix(".json"))
    frame, rng = load_photo(photo), np.random.default_rng([1, 1])
    pixels = lay_grid(frame.pixels, camera, truth, "squares", CELL_MM, rng)
    printed, referee = replace(frame, pixels=pixels), Referee(board_of(photo, truth))
    again = referee.redetect_bases(printed, referee.look(printed), None, None)
    assert sum(one.base.shape == "rectangle" for one in again) <= 5
