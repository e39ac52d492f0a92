"""A printed hex grid, found by the rhythm of its lines in the picture from above.

Lines that repeat as hexes do show as three waves at 60° to each other: lengths tell the size, phases the place.
"""

from dataclasses import dataclass
from itertools import pairwise

import cv2
import numpy as np

from overruler.calibration import Problem
from overruler.geometry.pose import Array
from overruler.scene import Grid
from overruler.vision.imaging.orthophoto import Orthophoto

SIZE_RANGE_MM = 10.0, 60.0
"""Centre to corner: what is looked for."""
WAVE_SIZES_MM = np.geomspace(3.5, SIZE_RANGE_MM[1], 480)
"""The same of the waves: a thin line's strongest are overtones, as of hexes down to a sixth as large."""
MAX_ROTATION_DEG = 0.25
"""A grid turned more than this against the board has no place in a board's frame."""
SEARCH_ROTATION_DEG = 1.5
"""Within so much of the frame's axes grids are looked for."""
MAX_CYCLES_PER_PX = 0.3
"""Waves of more cycles a pixel are not looked at."""
MIN_PEAK_RATIO = 30.0
"""How many times stronger each of the three waves is than others as long, at least."""
LATTICES_TRIED, GRIDS_CHECKED = 2, 4
"""So many rhythms are tried, and so many grids of each are looked at all over the board."""
MIN_LINE_CONTRAST, MIN_CONTRAST_RATIO = 1.2, 2.5
"""How much darker or brighter than their surroundings the lines are on average, of 255, and how many times as much as
what lies inside the hexes, at least: triangles have lines there."""
OTHER_ORIENTATION = {"pointy": "flat", "flat": "pointy"}
OVERTONE_RATIOS = tuple((n * root, root > 1) for root in (1.0, 3**0.5) for n in range(1, 9))
"""Grids of which a grid's waves may be overtones: how many times larger, and whether they stand the other way."""
MIN_DRAWN_SHARE = 0.6
"""The share of the hexes whose sides are at least a third as dark as usual."""
MIN_SIDE_RATIO = 0.7
"""How dark the faintest of the three sides is at least, as a share of the darkest: paving has two kinds of joints."""
SIDE_SAMPLE_SHARES = np.linspace(0.2, 0.8, 5)[:, None]
"""Where a side is looked at, as shares of it."""
MAX_HEX_STEPS = 6
"""How many hexes to each side of one are looked at."""

FLOOR_SIGMA_PX = 0.15
"""1 σ of where a hex lies that no wave shows, in pixels of the picture from above."""
MIN_PHASE_COHERENCE = 0.8
"""The cosine of how far the three waves are from meeting in the hexes' middles, at least."""
MIN_HEXES_ACROSS = 4.0
"""Hexes side by side on the board, at least."""
MAX_CONTRAST = 12.0
"""Lines count by how much brightness differs from its surroundings, to this at most: no figure outshouts them."""


@dataclass(frozen=True, slots=True, eq=False)
class GridSeen:
    """A hex grid in the photo, with its doubt."""

    grid: Grid
    rotation_deg: float
    """How far it is turned against the board, counter-clockwise."""
    sigma_mm: float
    """1 σ of where a hex lies, the camera taken as exact."""

    @property
    def is_aligned(self) -> bool:
        return abs(self.rotation_deg) <= MAX_ROTATION_DEG


def find_grid(view: Orthophoto, board_mm: tuple[float, float]) -> GridSeen | None:
    """The hex grid printed on the board; None where there is none, or none that is sure."""
    lines = _high_pass(view, board_mm)
    for _, size, orientation in _candidate_lattices(lines, view.mm_per_px):
        rhythm = _fit_lattice(lines, view, size, orientation, board_mm)
        seen = _best_drawn_grid(lines, view, rhythm, board_mm) if rhythm is not None else None
        if seen is not None:
            return seen
    return None


def grid_problems(seen: GridSeen | None) -> tuple[Problem, ...]:
    """That the grid is of no use, where it is turned."""
    if seen is None or seen.is_aligned:
        return ()
    text = f"the hex grid is turned by {seen.rotation_deg:.1f}° against the board: left out; lay the markers along it"
    return (Problem("grid_turned", text),)


def _high_pass(view: Orthophoto, board_mm: tuple[float, float]) -> Array:
    """How much brighter than its surroundings each place of the board is (H, W); 0 off the board."""
    grey = cv2.cvtColor(view.pixels, cv2.COLOR_BGR2GRAY).astype(np.float32)
    fine = cv2.GaussianBlur(grey, (0, 0), 0.8) - cv2.GaussianBlur(
        grey, (0, 0), 4.0 / view.mm_per_px
    )
    corners = view.to_px(np.array([(0, 0), (board_mm[0], 0), board_mm, (0, board_mm[1])]))
    mask = np.zeros(grey.shape, np.uint8)
    cv2.fillPoly(mask, [np.round(corners).astype(np.int32)], 1)
    inner = cv2.erode(mask * view.seen.astype(np.uint8), np.ones((9, 9), np.uint8), borderValue=0)
    return np.asarray(np.clip(fine, -MAX_CONTRAST, MAX_CONTRAST) * inner, np.float32)


def reciprocal_lattice(size_mm: float, orientation: str, turned_deg: float = 0.0) -> Array:
    """The three longest waves (3, 2) in cycles a mm of a hex grid: they sum to zero (its reciprocal lattice)."""
    first = 90.0 if orientation == "pointy" else 0.0
    angle = np.radians(first + turned_deg + np.array([0.0, 120.0, 240.0]))
    return np.asarray(2 / (3 * size_mm) * np.stack([np.cos(angle), np.sin(angle)], -1))


def _candidate_lattices(lines: Array, mm_per_px: float) -> list[tuple[float, float, str]]:
    """How far the weakest of three waves stands out, at the sizes (mm) where it does most, the best first."""
    shape = [cv2.getOptimalDFTSize(2 * side) for side in lines.shape]
    rows = np.fft.rfft(lines, shape[1])[
        :, : int(MAX_CYCLES_PER_PX * shape[1]) + 3
    ]  # nobody asks for faster waves
    power = np.asarray(
        cv2.dilate(np.abs(np.fft.fft(rows, shape[0], axis=0)) ** 2, np.ones((3, 3), np.uint8)),
        float,
    )
    most = min(lines.shape) * mm_per_px / (1.5 * MIN_HEXES_ACROSS)
    sizes = WAVE_SIZES_MM[
        (2 * mm_per_px / (3 * WAVE_SIZES_MM) < MAX_CYCLES_PER_PX) & (most > WAVE_SIZES_MM)
    ]
    found = []
    for orientation in ("pointy", "flat"):
        clear = _peak_ratios(power, shape, sizes, orientation, mm_per_px)
        for _ in range(LATTICES_TRIED):
            best = int(clear.argmax())
            if clear[best] > MIN_PEAK_RATIO:
                found.append((float(clear[best]), float(sizes[best]), orientation))
            clear[np.abs(np.log(sizes / sizes[best])) < 0.05] = 0
    return sorted(found, reverse=True)[:LATTICES_TRIED]


def _peak_ratios(
    power: Array, shape: list[int], sizes: Array, orientation: str, mm_per_px: float
) -> Array:
    """How many times stronger the weakest of the three waves of each size (S,) is than others as long."""

    def at(turned_deg: float) -> Array:
        wave = reciprocal_lattice(1.0, orientation, turned_deg) / sizes[:, None, None] * mm_per_px
        wave = wave * np.where(wave[..., :1] < -1e-9, -1, 1)
        row = np.rint(-wave[..., 1] * shape[0]).astype(int) % shape[0]
        return np.asarray(power[row, np.rint(wave[..., 0] * shape[1]).astype(int)])

    usual = np.median(np.concatenate([at(turn) for turn in (15.0, 30.0, 45.0)], axis=1), axis=1)
    return np.asarray(at(0.0).min(1) / cv2.blur(usual[:, None], (1, 15))[:, 0])


def _refine_size_and_rotation(
    lines: Array, view: Orthophoto, size_mm: float, orientation: str
) -> tuple[float, float]:
    """The size (mm) and the turn (degrees) at which the waves are strongest."""
    size, turn = size_mm, 0.0
    for reach in (0.012, 0.012, 0.004, 0.001):
        size, turn = _hill_climb(lines, view, orientation, size, turn, reach)
    return size, turn


@dataclass(frozen=True, slots=True, eq=False)
class HexLattice:
    """Three waves that meet: the grid's own, or overtones of it."""

    size_mm: float
    orientation: str
    rotation_deg: float
    origin_mm: Array
    """(2,): a place where they meet; a hex's middle is such a place."""
    sigma_mm: float
    """1 σ of that."""


def _fit_lattice(
    lines: Array, view: Orthophoto, size_mm: float, orientation: str, board_mm: tuple[float, float]
) -> HexLattice | None:
    """What the strongest waves say; None where they do not meet."""
    middle = np.array(board_mm) / 2
    size, turn = _refine_size_and_rotation(lines, view, size_mm, orientation)
    at = reciprocal_lattice(size, orientation, turn)
    found = _fourier_amplitudes(lines, view, at, middle)
    meet = float(np.real(np.prod(found / np.abs(found))))
    if abs(meet) < MIN_PHASE_COHERENCE or abs(turn) > SEARCH_ROTATION_DEG:
        return None
    phase = np.angle(found * np.sign(meet))
    phase[0] -= (
        2 * np.pi * np.round(phase.sum() / (2 * np.pi))
    )  # as the waves do, the phases sum to zero
    offset = np.linalg.lstsq(at * 2 * np.pi, -phase, rcond=None)[0]
    share = _noise_amplitude(lines, view, size, orientation, turn) / float(np.abs(found).min())
    return HexLattice(size, orientation, turn, middle + offset, share * 3 * size / (4 * np.pi))


def _best_drawn_grid(
    lines: Array, view: Orthophoto, rhythm: HexLattice, board_mm: tuple[float, float]
) -> GridSeen | None:
    """The grid whose sides lie where the picture has lines; None where there is none."""
    found, hexes = [], _hexes_within(MAX_HEX_STEPS)
    fine = _basis_vectors(rhythm.size_mm, rhythm.orientation, rhythm.rotation_deg)
    for share, flips in OVERTONE_RATIOS:
        size = rhythm.size_mm * share
        if not SIZE_RANGE_MM[0] <= size <= SIZE_RANGE_MM[1] or MIN_HEXES_ACROSS * 1.5 * size > min(
            board_mm
        ):
            continue
        orientation = OTHER_ORIENTATION[rhythm.orientation] if flips else rhythm.orientation
        coarse = _basis_vectors(size, orientation, rhythm.rotation_deg)
        for start in _distinct_origins(fine, coarse):
            middle = rhythm.origin_mm + start
            clear = _side_contrast(
                _mean_contrasts(lines, view, middle, coarse, hexes, _side_samples(coarse))
            )
            found.append((clear, size, orientation, middle, coarse))
    for clear, size, orientation, middle, coarse in sorted(found, key=lambda one: -one[0])[
        :GRIDS_CHECKED
    ]:
        everywhere = _hexes_within(max(board_mm) / size)  # a patch of it may be paving
        if clear > MIN_LINE_CONTRAST and _side_contrast(
            _mean_contrasts(
                lines,
                view,
                middle,
                coarse,
                everywhere,
                _side_samples(coarse),
                _inner_samples(coarse),
            )
        ):
            x, y = _nearest_to_corner(middle, coarse)
            grid = Grid(
                orientation, round(float(size), 4), (round(float(x), 3), round(float(y), 3))
            )
            return GridSeen(
                grid,
                rhythm.rotation_deg,
                float(np.hypot(rhythm.sigma_mm, FLOOR_SIGMA_PX * view.mm_per_px)),
            )
    return None


def _basis_vectors(size_mm: float, orientation: str, turn_deg: float) -> Array:
    """From a hex's middle to those of its neighbours (1, 0) and (0, 1), in mm (2, 2)."""
    grid = Grid(orientation, size_mm, (0.0, 0.0))
    c, s = np.cos(np.radians(turn_deg)), np.sin(np.radians(turn_deg))
    return np.asarray(
        np.array([grid.hex_center(1, 0), grid.hex_center(0, 1)]) @ np.array([[c, s], [-s, c]])
    )


def _distinct_origins(fine: Array, coarse: Array) -> Array:
    """The middles (N, 2) of fine hexes that are different places in a coarse one."""
    points = _hexes_within(9) @ fine
    inside = np.round(points @ np.linalg.inv(coarse), 3) % 1
    return np.asarray(
        points[np.unique(np.round(inside * 1000).astype(int) % 1000, axis=0, return_index=True)[1]]
    )


def _side_contrast(each: Array) -> float:
    """How clear the faintest of three sides is on average, of hexes (N, 3) or, with places within, (N, 9).

    0 where sides differ, where some of the hexes have no lines, or where there are lines within as well.
    """
    if not len(each):
        return 0.0
    sided = each * np.sign(each[:, :3].mean())
    sides, within = sided[:, :3].mean(0), float(sided[:, 3:].mean(0).max(initial=0.0))
    drawn = np.mean(sided[:, :3].mean(1) > sides.mean() / 3) > MIN_DRAWN_SHARE
    alike = sides.min() > max(MIN_SIDE_RATIO * sides.max(), MIN_CONTRAST_RATIO * within)
    return float(sides.min()) if drawn and alike else 0.0


def _hexes_within(reach: float) -> Array:
    """The hexes (N, 2), axial, within so many steps of one."""
    steps = np.arange(-int(reach), int(reach) + 1)
    return np.stack(np.meshgrid(steps, steps), -1).reshape(-1, 2).astype(float)


def _side_samples(steps: Array) -> Array:
    """Places (3, 5, 2) on three sides of a hex, from its middle."""
    corners = [
        (steps[0] + steps[1]) / 3 @ _rotation_matrix(60.0 * k) for k in range(4)
    ]  # the middle of three neighbours
    return np.stack([a + SIDE_SAMPLE_SHARES * (b - a) for a, b in pairwise(corners)])


def _inner_samples(steps: Array) -> Array:
    """Places (6, 5, 2) within a hex: towards three of its corners, and half way to three of its sides."""
    corner = (steps[0] + steps[1]) / 3
    return np.concatenate(
        [
            np.stack(
                [SIDE_SAMPLE_SHARES * (corner @ _rotation_matrix(60.0 * k)) for k in range(3)]
            ),
            _side_samples(steps) / 2,
        ]
    )


def _mean_contrasts(
    lines: Array, view: Orthophoto, middle: Array, steps: Array, hexes: Array, *places: Array
) -> Array:
    """How much the picture differs from its surroundings at places (K, 5, 2) of hexes seen whole: means (N, K)."""
    of_one = np.concatenate(places)
    at = np.rint(view.to_px((middle + hexes @ steps)[:, None] + of_one.reshape(-1, 2))).astype(
        np.int32
    )
    good = ((at >= 0) & (at < np.array(lines.shape[::-1]))).all((1, 2))
    values = lines[at[good, :, 1], at[good, :, 0]].reshape(-1, *of_one.shape[:2])
    return np.asarray(values[(values != 0).any((1, 2))].mean(2), float)


def _rotation_matrix(angle_deg: float) -> Array:
    c, s = np.cos(np.radians(angle_deg)), np.sin(np.radians(angle_deg))
    return np.array([[c, s], [-s, c]])


def _fourier_amplitudes(lines: Array, view: Orthophoto, at: Array, middle: Array) -> Array:
    """The waves (K,), complex, with `at` (K, 2) cycles a mm, and the phase that they have in the board's middle."""
    rows, columns = lines.shape
    x = view.to_mm(np.column_stack([np.arange(columns), np.zeros(columns)]))[:, 0] - middle[0]
    y = view.to_mm(np.column_stack([np.zeros(rows), np.arange(rows)]))[:, 1] - middle[1]
    by_x, by_y = (
        np.exp(-2j * np.pi * np.outer(k, place)) for k, place in ((at[:, 0], x), (at[:, 1], y))
    )
    rows_of = by_x.real @ lines.T + 1j * (by_x.imag @ lines.T)
    return np.asarray((by_y * rows_of).sum(1))


def _hill_climb(
    lines: Array, view: Orthophoto, orientation: str, size: float, turn: float, reach: float
) -> tuple[float, float]:
    """The size and the turn near these at which the waves are strongest; `reach` is a share, and an angle in rad."""
    shares = size * (1 + np.linspace(-reach, reach, 9))
    sized = np.concatenate([reciprocal_lattice(one, orientation, turn) for one in shares])
    middle = np.zeros(2)
    size = float(shares[_wave_power(lines, view, sized, middle).argmax()])
    turns = turn + np.degrees(np.linspace(-reach, reach, 9))
    turned = np.concatenate([reciprocal_lattice(size, orientation, one) for one in turns])
    return size, float(turns[_wave_power(lines, view, turned, middle).argmax()])


def _wave_power(lines: Array, view: Orthophoto, at: Array, middle: Array) -> Array:
    return np.asarray(
        (np.abs(_fourier_amplitudes(lines, view, at, middle)) ** 2).reshape(-1, 3).sum(1)
    )


def _noise_amplitude(
    lines: Array, view: Orthophoto, size: float, orientation: str, turn: float
) -> float:
    """How strong waves as long as the grid's are that are not the grid's (root mean square)."""
    others = np.concatenate(
        [reciprocal_lattice(size, orientation, turn + more) for more in (15.0, 25.0, 35.0, 45.0)]
    )
    return float(
        np.sqrt(np.mean(np.abs(_fourier_amplitudes(lines, view, others, np.zeros(2))) ** 2))
    )


def _nearest_to_corner(middle: Array, steps: Array) -> Array:
    """The hexes' middle that is nearest to the board's lower left corner."""
    q, r = np.round(np.linalg.solve(steps.T, -middle))
    near = [middle + np.array([q + i, r + j]) @ steps for i in (-1, 0, 1) for j in (-1, 0, 1)]
    return np.asarray(min(near, key=lambda point: float(np.hypot(*point))))
