"""A printed hex grid, found by the rhythm of its lines in the picture from above.

Lines that repeat as hexes do show as three waves at 60° to each other; their lengths tell the size, their phases where
the hexes lie.
"""

from dataclasses import dataclass
from itertools import pairwise

import cv2
import numpy as np

from overruler.calibration import Problem
from overruler.geometry.pose import Array
from overruler.scene import Grid
from overruler.vision.orthophoto import Orthophoto

SIZES_MM = 10.0, 60.0
"""Centre to corner: what is looked for."""
WAVES_MM = np.geomspace(3.5, SIZES_MM[1], 480)
"""The same of the waves: a thin line's strongest are overtones, as of hexes down to a sixth as large."""
TURNED_DEG = 0.25
"""A grid turned more than this against the board has no place in a board's frame."""
SPAN_DEG = 1.5
"""Within so much of the frame's axes grids are looked for."""
NYQUIST = 0.3
"""Waves of more cycles a pixel are not looked at."""
STANDS_OUT = 40.0
"""How many times stronger each of the three waves is than others as long, at least."""
DRAWN = 3.0
"""How much darker or brighter than their surroundings the lines are on average, of 255, at least."""
FLIPPED = {"pointy": "flat", "flat": "pointy"}
COARSER = tuple((n * root, root > 1) for root in (1.0, 3**0.5) for n in range(1, 9))
"""Grids of which a grid's waves may be overtones: how many times larger, and whether they stand the other way."""
MOST_OF_THEM = 0.75
"""The share of the hexes whose sides are at least half as dark."""
ALIKE = 0.7
"""How dark the faintest of the three sides is at least, as a share of the darkest: paving has two kinds of joints."""
MOST_STEPS = 6
"""How many hexes to each side of one are looked at."""

FLOOR_PX = 0.15
"""1 σ of where a hex lies that no wave shows, in pixels of the picture from above."""
IN_STEP = 0.8
"""The cosine of how far the three waves are from meeting in the hexes' middles, at least."""
FEWEST = 4.0
"""Hexes side by side on the board, at least."""
STEEP = 12.0
"""Lines count by how much brightness differs from its surroundings, to this at most: no figure outshouts them."""


@dataclass(frozen=True, slots=True, eq=False)
class GridSeen:
    """A hex grid in the photo, with its doubt."""

    grid: Grid
    turned_deg: float
    """How far it is turned against the board, counter-clockwise."""
    sigma_mm: float
    """1 σ of where a hex lies, the camera taken as exact."""

    @property
    def straight(self) -> bool:
        return abs(self.turned_deg) <= TURNED_DEG


def find_grid(view: Orthophoto, board_mm: tuple[float, float]) -> GridSeen | None:
    """The hex grid printed on the board; None where there is none, or none that is sure."""
    lines = _lines(view, board_mm)
    tried = [_best_size(lines, view.mm_per_px, orientation) for orientation in ("pointy", "flat")]
    clear, size, orientation = max(tried)
    if clear < STANDS_OUT:
        return None
    rhythm = _rhythm(lines, view, size, orientation, board_mm)
    return None if rhythm is None else _drawn(lines, view, rhythm, board_mm)


def turned(seen: GridSeen | None) -> tuple[Problem, ...]:
    """That the grid is of no use, where it is turned."""
    if seen is None or seen.straight:
        return ()
    text = f"the hex grid is turned by {seen.turned_deg:.1f}° against the board: left out; lay the markers along it"
    return (Problem("grid_turned", text),)


def _lines(view: Orthophoto, board_mm: tuple[float, float]) -> Array:
    """How much brighter than its surroundings each place of the board is (H, W); 0 off the board."""
    grey = cv2.cvtColor(view.pixels, cv2.COLOR_BGR2GRAY).astype(np.float32)
    fine = cv2.GaussianBlur(grey, (0, 0), 0.8) - cv2.GaussianBlur(grey, (0, 0), 4.0 / view.mm_per_px)
    corners = view.to_px(np.array([(0, 0), (board_mm[0], 0), board_mm, (0, board_mm[1])]))
    mask = np.zeros(grey.shape, np.uint8)
    cv2.fillPoly(mask, [np.round(corners).astype(np.int32)], 1)
    inner = cv2.erode(mask * view.seen.astype(np.uint8), np.ones((9, 9), np.uint8), borderValue=0)
    return np.asarray(np.clip(fine, -STEEP, STEEP) * inner, float)


def waves(size_mm: float, orientation: str, turned_deg: float = 0.0) -> Array:
    """The three longest waves (3, 2) in cycles a mm of a hex grid: they sum to zero (its reciprocal lattice)."""
    first = 90.0 if orientation == "pointy" else 0.0
    angle = np.radians(first + turned_deg + np.array([0.0, 120.0, 240.0]))
    return np.asarray(2 / (3 * size_mm) * np.stack([np.cos(angle), np.sin(angle)], -1))


def _best_size(lines: Array, mm_per_px: float, orientation: str) -> tuple[float, float, str]:
    """How far the weakest of the three waves stands out, at the size (mm) where it does most."""
    height, width = (cv2.getOptimalDFTSize(2 * side) for side in lines.shape)
    power = np.abs(np.fft.rfft2(lines, (height, width))) ** 2
    power = cv2.dilate(power, np.ones((3, 3), np.uint8))
    most = min(lines.shape) * mm_per_px / (1.5 * FEWEST)
    sizes = WAVES_MM[(2 * mm_per_px / (3 * WAVES_MM) < NYQUIST) & (most > WAVES_MM)]
    at = np.stack([waves(size, orientation) for size in sizes]) * mm_per_px
    at *= np.where(at[..., :1] < -1e-9, -1, 1)
    row = np.rint(-at[..., 1] * height).astype(int) % height
    column = np.rint(at[..., 0] * width).astype(int)
    other = np.stack([waves(size, orientation, turn) for size in sizes for turn in (15.0, 30.0, 45.0)]) * mm_per_px
    other *= np.where(other[..., :1] < -1e-9, -1, 1)
    rings = power[np.rint(-other[..., 1] * height).astype(int) % height, np.rint(other[..., 0] * width).astype(int)]
    usual = np.median(rings.reshape(len(sizes), -1), axis=1)
    usual = cv2.blur(usual[:, None], (1, 15))[:, 0]
    clear = power[row, column].min(1) / usual
    best = int(clear.argmax())
    return float(clear[best]), float(sizes[best]), orientation


# --- the fit ---


def _sharpened(lines: Array, view: Orthophoto, size_mm: float, orientation: str) -> tuple[float, float]:
    """The size (mm) and the turn (degrees) at which the waves are strongest."""
    size, turn = size_mm, 0.0
    for reach in (0.012, 0.004, 0.001):
        size, turn = _climbed(lines, view, orientation, size, turn, reach)
    return size, turn


@dataclass(frozen=True, slots=True, eq=False)
class Rhythm:
    """Three waves that meet: the grid's own, or overtones of it."""

    size_mm: float
    orientation: str
    turn_deg: float
    meets_mm: Array
    """(2,): a place where they meet; a hex's middle is such a place."""
    sigma_mm: float
    """1 σ of that."""


def _rhythm(
    lines: Array, view: Orthophoto, size_mm: float, orientation: str, board_mm: tuple[float, float]
) -> Rhythm | None:
    """What the strongest waves say; None where they do not meet."""
    middle = np.array(board_mm) / 2
    size, turn = _sharpened(lines, view, size_mm, orientation)
    at = waves(size, orientation, turn)
    found = _amplitudes(lines, view, at, middle)
    meet = float(np.real(np.prod(found / np.abs(found))))
    if abs(meet) < IN_STEP or abs(turn) > SPAN_DEG:
        return None
    phase = np.angle(found * np.sign(meet))
    phase[0] -= 2 * np.pi * np.round(phase.sum() / (2 * np.pi))  # as the waves do, the phases sum to zero
    offset = np.linalg.lstsq(at * 2 * np.pi, -phase, rcond=None)[0]
    share = _noise(lines, view, size, orientation, turn) / float(np.abs(found).min())
    return Rhythm(size, orientation, turn, middle + offset, share * 3 * size / (4 * np.pi))


def _drawn(lines: Array, view: Orthophoto, rhythm: Rhythm, board_mm: tuple[float, float]) -> GridSeen | None:
    """The grid whose sides lie where the picture has lines; None where there is none."""
    best, clearest, hexes = None, DRAWN, _around(MOST_STEPS)
    for share, flips in COARSER:
        size = rhythm.size_mm * share
        if not SIZES_MM[0] <= size <= SIZES_MM[1] or FEWEST * 1.5 * size > min(board_mm):
            continue
        orientation = FLIPPED[rhythm.orientation] if flips else rhythm.orientation
        fine = _steps(rhythm.size_mm, rhythm.orientation, rhythm.turn_deg)
        coarse = _steps(size, orientation, rhythm.turn_deg)
        for start in _starts(fine, coarse):
            each = _on_sides(lines, view, rhythm.meets_mm + start, coarse, hexes)
            clear = _clear(each)
            if clear > clearest:
                best, clearest = (size, orientation, rhythm.meets_mm + start, coarse), clear
    if best is None:
        return None
    size, orientation, middle, coarse = best
    if not _clear(_on_sides(lines, view, middle, coarse, _around(max(board_mm) / size))):
        return None  # a patch of it, as of paving
    x, y = _nearest_to_corner(middle, coarse)
    grid = Grid(orientation, round(float(size), 4), (round(float(x), 3), round(float(y), 3)))
    return GridSeen(grid, rhythm.turn_deg, float(np.hypot(rhythm.sigma_mm, FLOOR_PX * view.mm_per_px)))


def _steps(size_mm: float, orientation: str, turn_deg: float) -> Array:
    """From a hex's middle to those of its neighbours (1, 0) and (0, 1), in mm (2, 2)."""
    grid = Grid(orientation, size_mm, (0.0, 0.0))
    c, s = np.cos(np.radians(turn_deg)), np.sin(np.radians(turn_deg))
    return np.asarray(np.array([grid.center(1, 0), grid.center(0, 1)]) @ np.array([[c, s], [-s, c]]))


def _starts(fine: Array, coarse: Array) -> Array:
    """The middles (N, 2) of fine hexes that are different places in a coarse one."""
    points = _around(9) @ fine
    inside = np.round(points @ np.linalg.inv(coarse), 3) % 1
    return np.asarray(points[np.unique(np.round(inside * 1000).astype(int) % 1000, axis=0, return_index=True)[1]])


def _clear(each: Array) -> float:
    """How clear the faintest side is on average; 0 where sides differ, or some of the hexes (N, 3) have no lines."""
    if not len(each):
        return 0.0
    sided = each * np.sign(each.mean())
    drawn = np.mean(sided.mean(1) > DRAWN / 2) > MOST_OF_THEM
    sides = sided.mean(0)
    return float(sides.min()) if drawn and sides.min() > ALIKE * sides.max() else 0.0


def _around(reach: float) -> Array:
    """The hexes (N, 2), axial, within so many steps of one."""
    steps = np.arange(-int(reach), int(reach) + 1)
    return np.stack(np.meshgrid(steps, steps), -1).reshape(-1, 2).astype(float)


def _on_sides(lines: Array, view: Orthophoto, middle: Array, steps: Array, hexes: Array) -> Array:
    """How much the picture differs from its surroundings on the sides of hexes: means (N, 3) of hexes seen whole."""
    third = (steps[0] + steps[1]) / 3  # a corner: the middle of three neighbours
    corners = [third @ _turned(60.0 * k) for k in range(4)]
    along = np.linspace(0.2, 0.8, 5)[:, None]
    sides = np.concatenate([a + along * (b - a) for a, b in pairwise(corners)])
    centers = middle + hexes @ steps
    at = np.rint(view.to_px(centers[:, None] + sides)).astype(int)
    good = ((at >= 0) & (at < np.array(lines.shape[::-1]))).all((1, 2))
    values = lines[at[good, :, 1], at[good, :, 0]]
    values = values.reshape(len(values), 3, len(along))
    return np.asarray(values[(values != 0).any((1, 2))].mean(2))


def _turned(angle_deg: float) -> Array:
    c, s = np.cos(np.radians(angle_deg)), np.sin(np.radians(angle_deg))
    return np.array([[c, s], [-s, c]])


def _amplitudes(lines: Array, view: Orthophoto, at: Array, middle: Array) -> Array:
    """The waves (K,), complex, with `at` (K, 2) cycles a mm, and the phase that they have in the board's middle."""
    rows, columns = lines.shape
    x = view.to_mm(np.column_stack([np.arange(columns), np.zeros(columns)]))[:, 0] - middle[0]
    y = view.to_mm(np.column_stack([np.zeros(rows), np.arange(rows)]))[:, 1] - middle[1]
    by_x, by_y = (np.exp(-2j * np.pi * np.outer(k, place)) for k, place in ((at[:, 0], x), (at[:, 1], y)))
    rows_of = by_x.real @ lines.T + 1j * (by_x.imag @ lines.T)
    return np.asarray((by_y * rows_of).sum(1))


def _climbed(
    lines: Array, view: Orthophoto, orientation: str, size: float, turn: float, reach: float
) -> tuple[float, float]:
    """The size and the turn near these at which the waves are strongest; `reach` is a share, and an angle in rad."""
    shares = size * (1 + np.linspace(-reach, reach, 9))
    sized = np.concatenate([waves(one, orientation, turn) for one in shares])
    middle = np.zeros(2)
    size = float(shares[_strengths(lines, view, sized, middle).argmax()])
    turns = turn + np.degrees(np.linspace(-reach, reach, 9))
    turned = np.concatenate([waves(size, orientation, one) for one in turns])
    return size, float(turns[_strengths(lines, view, turned, middle).argmax()])


def _strengths(lines: Array, view: Orthophoto, at: Array, middle: Array) -> Array:
    return np.asarray((np.abs(_amplitudes(lines, view, at, middle)) ** 2).reshape(-1, 3).sum(1))


def _noise(lines: Array, view: Orthophoto, size: float, orientation: str, turn: float) -> float:
    """How strong waves as long as the grid's are that are not the grid's (root mean square)."""
    others = np.concatenate([waves(size, orientation, turn + more) for more in (15.0, 25.0, 35.0, 45.0)])
    return float(np.sqrt(np.mean(np.abs(_amplitudes(lines, view, others, np.zeros(2))) ** 2)))


def _nearest_to_corner(middle: Array, steps: Array) -> Array:
    """The hexes' middle that is nearest to the board's lower left corner."""
    q, r = np.round(np.linalg.solve(steps.T, -middle))
    near = [middle + np.array([q + i, r + j]) @ steps for i in (-1, 0, 1) for j in (-1, 0, 1)]
    return np.asarray(min(near, key=lambda point: float(np.hypot(*point))))
