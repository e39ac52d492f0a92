"""Cells of a printed grid are found by how they repeat, whatever their size, turn and colour; nothing else is."""

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overruler.vision.prints.cells import MOST_GRIDS, Cells, common_cells
from overruler.vision.prints.find_cells import find_cells
from synthetic.noise import clouds

MM_PER_PX = 2.0
SHAPE = (460, 460)
WHOLE = np.array([[0.0, 0.0], [460.0, 460.0]])
"""Where the mat lies."""
CORNERS = {"squares": 90.0, "hexes": 60.0}


def ground(rng: np.random.Generator) -> np.ndarray:
    """A mat with texture: clouds of some pixels, and noise of each."""
    texture = clouds(SHAPE, 3.0, rng) + rng.normal(0, 0.5, SHAPE)
    return np.asarray(texture / texture.std(), np.float32)


def lines(form: str, width_mm: float, turn_deg: float, at_mm: tuple[float, float]) -> np.ndarray:
    """How much the lines of a grid cover each pixel."""
    y, x = (MM_PER_PX * grid for grid in np.mgrid[: SHAPE[0], : SHAPE[1]].astype(float))
    x, y = x - at_mm[0], -y - at_mm[1]
    c, s = np.cos(np.radians(turn_deg)), np.sin(np.radians(turn_deg))
    x, y = c * x + s * y, c * y - s * x
    if form == "squares":
        apart = np.minimum(*(np.abs((axis / width_mm + 0.5) % 1 - 0.5) for axis in (x, y)))
    else:
        rows = np.sqrt(3) * width_mm
        middles = []
        for shift in (0.0, 0.5):
            across = (x / width_mm - shift + 0.5) % 1 - 0.5
            up = (y / rows - shift + 0.5) % 1 - 0.5
            middles.append(np.hypot(across * width_mm, up * rows))
        apart = np.abs(middles[0] - middles[1]) / 2 / width_mm
        nearest = np.argmin(middles, 0)
        in_row = [np.abs((x / width_mm - shift) % 1 - 0.5) for shift in (0.0, 0.5)]
        apart = np.minimum(apart, np.choose(nearest, in_row))
    return np.asarray(((0.9 - apart * width_mm) / MM_PER_PX + 0.5).clip(0, 1), np.float32)


def reliefs(form: str, width_mm: float, turn_deg: float, ink: float, seed: int) -> np.ndarray:
    """The only relief (1, H, W) of a mat with a grid."""
    rng = np.random.default_rng(seed)
    drawn = ground(rng) + ink * lines(form, width_mm, turn_deg, tuple(rng.uniform(0, 50, 2)))
    return np.asarray(drawn - drawn.mean(), np.float32)[None]


@given(
    form=st.sampled_from(sorted(CORNERS)),
    width_mm=st.floats(22, 60),
    turn_deg=st.floats(0, 90),
    ink=st.sampled_from([-3.0, 3.0]),
    seed=st.integers(0, 99),
)
@settings(max_examples=15, deadline=None)
def test_cells_are_found_with_their_size_and_turn(
    form: str, width_mm: float, turn_deg: float, ink: float, seed: int
) -> None:
    seen = np.ones(SHAPE, bool)
    first = find_cells(reliefs(form, width_mm, turn_deg, ink, seed), seen, MM_PER_PX, WHOLE)[0]
    assert first.width_mm == pytest.approx(width_mm, rel=0.01)
    turn = np.degrees(np.arctan2(*first.basis_mm[0][::-1]))
    corner = CORNERS[form]
    assert abs((turn - turn_deg + corner / 2) % corner - corner / 2) < 0.7
    step = np.degrees(np.arctan2(*first.basis_mm[1][::-1])) - turn
    assert step == pytest.approx(corner, abs=0.01)


@pytest.mark.parametrize("seed", range(4))
def test_a_mat_without_a_grid_has_no_cells(seed: int) -> None:
    assert not find_cells(
        ground(np.random.default_rng(seed))[None], np.ones(SHAPE, bool), MM_PER_PX, WHOLE
    )


def test_what_repeats_in_one_place_alone_is_no_grid() -> None:
    """A unit in rank and file covers a part of the mat."""
    unit = ground(np.random.default_rng(1))
    unit[40:140, 40:140] += 3 * lines("squares", 25.0, 0.0, (0.0, 0.0))[40:140, 40:140]
    assert not find_cells(unit[None], np.ones(SHAPE, bool), MM_PER_PX, WHOLE)


def test_a_grid_is_found_where_much_of_the_picture_is_beside_the_mat() -> None:
    """Around markers that lie anywhere the table may show more than the mat does."""
    rng = np.random.default_rng(5)
    wide = rng.normal(0, 1, (1000, 1600)).astype(np.float32)
    wide[300:760, 700:1160] = reliefs("squares", 25.4, 10.0, 3.0, 2)[0]
    within = np.array([[680.0, 280.0], [1180.0, 780.0]])
    (first, *_) = find_cells(wide[None], np.ones(wide.shape, bool), MM_PER_PX, within)
    assert first.width_mm == pytest.approx(25.4, rel=0.004)


def test_two_grids_are_told_apart() -> None:
    both = reliefs("squares", 24.0, 0.0, 2.0, 3) + 4 * lines("squares", 40.0, 0.0, (7.0, 9.0))
    found = find_cells(np.asarray(both, np.float32), np.ones(SHAPE, bool), MM_PER_PX, WHOLE)
    assert sorted(round(one.width_mm) for one in found if not one.is_faint) == [24, 40]


def test_a_grid_is_found_in_the_relief_that_shows_it() -> None:
    both = np.concatenate(
        [ground(np.random.default_rng(4))[None], reliefs("hexes", 40.0, 5.0, 3.0, 7)]
    )
    found = find_cells(both, np.ones(SHAPE, bool), MM_PER_PX, WHOLE)
    assert [(round(one.width_mm), one.relief) for one in found] == [(40, 1)]


def test_a_grey_picture_has_no_grid_in_its_colour() -> None:
    assert not find_cells(np.zeros((1, *SHAPE), np.float32), np.ones(SHAPE, bool), MM_PER_PX, WHOLE)
    both = np.concatenate([np.zeros((1, *SHAPE)), reliefs("squares", 30.0, 5.0, 3.0, 7)])
    found = find_cells(both.astype(np.float32), np.ones(SHAPE, bool), MM_PER_PX, WHOLE)
    assert [(round(one.width_mm), one.relief) for one in found if not one.is_faint] == [(30, 1)]


def test_how_far_ways_are_from_whole_steps() -> None:
    cells = Cells(np.array([[30.0, 0.0], [0.0, 30.0]]))
    ways = np.array([[60.0, -30.0], [61.0, 30.0], [27.0, 4.0], [15.0, 15.0]])
    assert cells.off_whole_steps_mm(ways) == pytest.approx([0, 1, 5, np.hypot(15, 15)])


def test_every_fifth_cell_is_no_other_grid() -> None:
    """Its lattice is wider by the root of five, and turned."""
    found = find_cells(
        reliefs("squares", 25.4, 10.0, 3.0, 2), np.ones(SHAPE, bool), MM_PER_PX, WHOLE
    )
    assert [round(one.width_mm) for one in found] == [25]


@pytest.mark.parametrize("width_mm", [28.0, 36.0, 45.0])
def test_the_slope_of_a_broad_peak_is_no_other_grid(width_mm: float) -> None:
    """Dots half as wide as their cell repeat nearly as well after a step that is a seventh longer or shorter."""
    y, x = (MM_PER_PX * grid for grid in np.mgrid[: SHAPE[0], : SHAPE[1]].astype(float))
    off = [(axis / width_mm + 0.5) % 1 - 0.5 for axis in (x, y)]
    dots = np.hypot(*off) < 0.3
    mat = ground(np.random.default_rng(5)) + 3 * (dots - dots.mean())
    found = find_cells(mat[None].astype(np.float32), np.ones(SHAPE, bool), MM_PER_PX, WHOLE)
    assert [round(one.width_mm) for one in found if not one.is_faint] == [width_mm]


def test_what_repeats_after_the_nearest_steps_alone_is_no_grid() -> None:
    """Threes of dots in threes of rows, strewn over the mat: farther dots lie anywhere."""
    rng = np.random.default_rng(2)
    drawn, spacing = np.zeros(SHAPE), 12
    for y, x in rng.integers(0, SHAPE[0] - 3 * spacing, (220, 2)):
        drawn[y : y + 3 * spacing : spacing, x : x + 3 * spacing : spacing] += 1
    mat = 0.2 * ground(rng) + 9 * cv2.GaussianBlur(drawn - drawn.mean(), (0, 0), 1.2)
    assert not find_cells(mat[None].astype(np.float32), np.ones(SHAPE, bool), MM_PER_PX, WHOLE)


def squares(width_mm: float, is_faint: bool = False, turn_deg: float = 0.0) -> Cells:
    c, s = np.cos(np.radians(turn_deg)), np.sin(np.radians(turn_deg))
    return Cells(width_mm * np.array([[c, s], [-s, c]]), is_faint=is_faint)


def test_photos_of_one_mat_tell_its_grid_together() -> None:
    clear, faint = squares(30.0), squares(40.0, is_faint=True)
    assert common_cells([[], []]) == []
    assert [one.width_mm for one in common_cells([[clear], [], []])] == [30]
    assert common_cells([[faint], [], []]) == []  # chance may have made it
    (twice,) = common_cells([[faint], [squares(40.3, is_faint=True)], []])
    assert (twice.width_mm, twice.is_faint) == (40, False)
    together = common_cells([[faint], [squares(40.3), clear], [clear]])
    assert [one.width_mm for one in together] == [30, 40.3]


def test_a_grid_whose_steps_are_whole_steps_of_another_is_the_same_print() -> None:
    wider = squares(30.0 * np.sqrt(2), turn_deg=45.0)
    assert [one.width_mm for one in common_cells([[squares(30.0), wider], [squares(30.0)]])] == [30]
    many = [squares(20.0 * 1.31**k) for k in range(MOST_GRIDS + 1)]
    assert len(common_cells([many])) == MOST_GRIDS


def test_too_little_of_the_mat_says_nothing() -> None:
    seen = np.zeros(SHAPE, bool)
    seen[:200, :200] = True
    assert not find_cells(reliefs("squares", 25.0, 0.0, 3.0, 1), seen, MM_PER_PX, WHOLE)


def test_the_nearest_cells_are_the_nearest() -> None:
    (first, *_) = find_cells(
        reliefs("hexes", 30.0, 20.0, 3.0, 1), np.ones(SHAPE, bool), MM_PER_PX, WHOLE
    )
    steps = np.hypot(*first.nearest_steps(18).T) / first.width_mm
    assert steps[:6] == pytest.approx(1, abs=1e-6)
    assert steps[6:12] == pytest.approx(np.sqrt(3), abs=1e-6)
    assert steps[12:] == pytest.approx(2, abs=1e-6)
