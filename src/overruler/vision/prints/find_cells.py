"""The cells of a grid that is printed on the mat, in squares or hexes, found by how they repeat.

The mat is cut into blocks. What repeats in a fifth of them is printed on the mat: bases in rank and file
repeat in fewer. The autocorrelation of a block has a peak at each step from cell to cell and none
between. It needs neither the lines' colour nor their place: dots and rings in rows repeat as well. Prints that
repeat otherwise are not looked for.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from overruler.geometry.pose import Array
from overruler.vision.imaging.line_profiles import Floats
from overruler.vision.prints.cells import MOST_GRIDS, SLANT, Cells, lattice

WIDTHS_MM = np.geomspace(18.0, 65.0, 110)
"""Widths of cells that are tried: about those of bases."""
TURN_DEG = 1.5
"""Step of the turns that are tried."""
BLOCK_MM = 320.0
"""Side of a block."""
HOP = 0.75
"""From one block to the next, in sides."""
MIN_SEEN_SHARE = 0.8
"""Least share of a block that the photo shows."""
MIN_BLOCKS = 4
"""Least number of blocks."""
SHARE_OF_BLOCKS = 0.2
"""Share of the blocks in which cells repeat at least as much as is told: where markers lie anywhere, much of
the picture is no mat."""
SURE_LEAD, MIN_LEAD = 0.08, 0.05
"""Lead of the weakest peak over what lies between peaks from which a grid is sure; and the least of a faint one. Of 49
rendered tables 7 have 0.08 or more, all with paving or a grid; mats with 16 grids that deceived have 0.09 to 0.6."""
MIN_VARIANCE = 1e-6
"""A block's at least: grey pictures have no colour."""
SAME_WIDTH = 0.15
"""Two grids differ in the logarithm of their width by more."""
NEARLY = 0.9
"""A smaller cell counts with this share of the largest lead."""
REFINEMENTS = ((0.02, 1.5), (0.0025, 0.2))
"""How far about the best cell its width, as a share, and its turn, in degrees, are tried: once, and again."""
FINE_TRIALS = 15
"""Widths, and turns, that are tried each time."""
FINE_REACH_MM = 130.0
"""Steps up to this one say how large cells are exactly."""
MIN_LEAST_SHARE = 0.3
"""Least autocorrelation after any of these steps, against the mean of all. On 57 rendered mats the first grid that is
found has 0.34 or more on 52; of 31 others found beside it 19 have less than 0.1: there is no such grid."""


class _Form(NamedTuple):
    """A form of cells, as steps (N, 2) in widths of a cell."""

    basis: Array
    """(2, 2): to two neighbours."""
    peaks: Array
    """Steps after which it repeats."""
    between: Array
    """Steps after which it looks otherwise."""
    turns: Array
    """(T,): the angles that are tried, in rad."""

    @classmethod
    def of(
        cls, basis: Array, peaks: list[list[int]], between: list[list[float]], degrees: float
    ) -> "_Form":
        """Make a form from steps that count in those of its basis."""
        turns = np.radians(np.arange(0, degrees, TURN_DEG))
        return cls(basis, np.array(peaks) @ basis, np.array(between) @ basis, turns)


FORMS = (
    _Form.of(
        np.eye(2),
        [[1, 0], [0, 1], [1, 1], [1, -1], [2, 0], [0, 2]],
        [[0.5, 0.5], [0.5, -0.5], [1.5, 0.5], [0.5, 1.5]],
        90.0,
    ),
    _Form.of(
        np.array([[1.0, 0.0], [0.5, SLANT]]),
        [[1, 0], [0, 1], [-1, 1], [1, 1], [-1, 2], [2, -1]],
        [[0.5, 0], [0, 0.5], [-0.5, 0.5], [1 / 3, 1 / 3], [-1 / 3, 2 / 3]],
        60.0,
    ),
)
"""Squares and hexes."""


def find_cells(
    reliefs: Floats, seen: NDArray[np.bool_], mm_per_px: float, within_px: Array
) -> list[Cells]:
    """Find the cells of the grids that are printed on a mat seen from above, the clearest first.

    `reliefs` (K, H, W) are its lightness, or a colour, against the surroundings, 0 where `seen` (H, W) is
    false. The mat lies at least `within_px` (2, 2), upper left and lower right.
    """
    corners = _corners_of_blocks(seen, mm_per_px, within_px)
    if len(corners) < MIN_BLOCKS:
        return []
    repeated = [_repeated_in_blocks(relief, corners, mm_per_px) for relief in reliefs]
    tried = [
        (k, form, _peaks(_leads(one, form, mm_per_px)))
        for k, one in enumerate(repeated)
        for form in FORMS
    ]
    found: list[Cells] = []
    while len(found) < MOST_GRIDS:
        k, form, lead = max(tried, key=lambda one: float(one[2].max()))
        if lead.max() < MIN_LEAD:
            break
        i, j = _smallest_of_the_best(lead)
        about = float(WIDTHS_MM[i]), float(form.turns[j])
        basis_mm = _refined_basis_mm(repeated[k], form, *about, mm_per_px)
        cells = Cells(basis_mm, k, is_faint=bool(lead.max() < SURE_LEAD))
        is_new = not any(cells.repeats_within(other) for other in found)
        if is_new and _repeat_after_all_steps(repeated[k], cells, mm_per_px):
            found.append(cells)
        is_same = np.abs(np.log(WIDTHS_MM / WIDTHS_MM[i])) < SAME_WIDTH
        tried = [(k, form, np.where(is_same[:, None], 0.0, some)) for k, form, some in tried]
    return found


def _smallest_of_the_best(lead: Array) -> tuple[int, int]:
    """Return the width and turn of the largest lead (S, T), or of a smaller cell with nearly as large a one.

    Every fifth square of a grid lies on a grid, too.
    """
    smallest = int(np.flatnonzero((lead >= NEARLY * lead.max()).any(1))[0])
    about = WIDTHS_MM / WIDTHS_MM[smallest]
    among = np.where(((about >= 1) & (about < 1 + SAME_WIDTH))[:, None], lead, -np.inf)
    i, j = np.unravel_index(np.argmax(among), lead.shape)
    return int(i), int(j)


def _corners_of_blocks(
    seen: NDArray[np.bool_], mm_per_px: float, within_px: Array
) -> list[tuple[int, int]]:
    """Return the upper left corners (y, x) of blocks that the photo shows, with their middles on the mat."""
    side = round(BLOCK_MM / mm_per_px)

    def starts(size: int, low: float, high: float) -> range:
        first = max(0, math.ceil(low - side / 2))
        return range(first, min(size - side, math.floor(high - side / 2)) + 1, round(HOP * side))

    (left, top), (right, bottom) = within_px
    rows, columns = starts(seen.shape[0], top, bottom), starts(seen.shape[1], left, right)
    return [
        (y, x)
        for y in rows
        for x in columns
        if seen[y : y + side, x : x + side].mean() >= MIN_SEEN_SHARE
    ]


def _repeated_in_blocks(
    relief: Floats, corners: Sequence[tuple[int, int]], mm_per_px: float
) -> Floats:
    """Return the autocorrelation (M, M), step 0 in the middle, that enough blocks reach."""
    side = round(BLOCK_MM / mm_per_px)
    window = np.outer(np.hanning(side), np.hanning(side)).astype(np.float32)
    blocks = np.stack([relief[y : y + side, x : x + side] for y, x in corners])
    reach = round(2 * WIDTHS_MM[-1] / mm_per_px) + 2
    own = _autocorrelation(window[None], reach)[0]
    each = _autocorrelation((blocks - blocks.mean((1, 2), keepdims=True)) * window, reach) / own
    each /= np.maximum(each[:, reach, reach], MIN_VARIANCE)[:, None, None]
    return np.asarray(np.quantile(each, 1 - SHARE_OF_BLOCKS, axis=0), np.float32)


def _autocorrelation(blocks: Floats, reach: int) -> Floats:
    """Return sums of products (N, M, M) of blocks with themselves at steps up to `reach` either way."""
    size = cv2.getOptimalDFTSize(blocks.shape[1] + reach)
    power = np.abs(np.fft.rfft2(blocks, (size, size))) ** 2  # SciPy takes 0.4 s to load
    whole = np.fft.irfft2(power, (size, size))
    steps = np.arange(-reach, reach + 1)
    return np.asarray(whole[:, steps[:, None], steps])


def _leads(repeated: Floats, form: _Form, mm_per_px: float) -> Array:
    """Return the lead (S, T) of the weakest peak of cells, by widths and turns."""
    tried = WIDTHS_MM, form.turns, mm_per_px
    peaks = _at_steps(repeated, form.peaks, *tried).min(-1)
    return np.asarray(peaks - _at_steps(repeated, form.between, *tried).max(-1), float)


def _peaks(lead: Array) -> Array:
    """Return leads (S, T), 0 where a cell a little wider or narrower has a larger one: its slope is no other grid."""
    padded = np.pad(lead, ((1, 1), (0, 0)), constant_values=-np.inf)
    return np.where((lead >= padded[:-2]) & (lead >= padded[2:]), lead, 0.0)


def _refined_basis_mm(
    repeated: Floats, form: _Form, width_mm: float, turn_rad: float, mm_per_px: float
) -> Array:
    """Return the basis (2, 2) of cells as wide and as turned as all steps near enough say together."""
    near = _near_steps(width_mm * form.basis) / width_mm
    for share, degrees in REFINEMENTS:
        widths = width_mm * np.linspace(1 - share, 1 + share, FINE_TRIALS)
        turns = turn_rad + np.radians(np.linspace(-degrees, degrees, FINE_TRIALS))
        mean = _at_steps(repeated, near, widths, turns, mm_per_px).mean(-1)
        i, j = np.unravel_index(np.argmax(mean), mean.shape)
        width_mm, turn_rad = float(widths[i]), float(turns[j])
    return np.asarray(width_mm * form.basis @ _rotations(np.array([turn_rad]))[0])


def _repeat_after_all_steps(repeated: Floats, cells: Cells, mm_per_px: float) -> bool:
    """Return whether the mat repeats after each step of cells that is near enough."""
    once, unturned = np.ones(1), np.zeros(1)
    after = _at_steps(repeated, _near_steps(cells.basis_mm), once, unturned, mm_per_px)
    return bool(after.min() >= MIN_LEAST_SHARE * after.mean())


def _near_steps(basis_mm: Array) -> Array:
    """Return the steps (N, 2) to all cells that are near enough to say how large they are exactly."""
    steps = lattice(FINE_REACH_MM / float(np.hypot(*basis_mm[0]))) @ basis_mm
    return np.asarray(steps[np.hypot(*steps.T) < FINE_REACH_MM])


def _at_steps(
    repeated: Floats, steps: Array, widths: Array, turns: Array, mm_per_px: float
) -> Floats:
    """Return the autocorrelation (S, T, N) after steps (N, 2), by widths (S,) and turns (T,)."""
    turned = steps @ _rotations(turns)
    right, up = np.moveaxis(widths[:, None, None, None] * turned / mm_per_px, -1, 0)
    middle = repeated.shape[0] // 2
    x, y = (middle + right).astype(np.float32), (middle - up).astype(np.float32)
    flat = cv2.remap(
        repeated, x.reshape(len(widths), -1), y.reshape(len(widths), -1), cv2.INTER_CUBIC
    )
    return np.asarray(flat.reshape(x.shape), np.float32)


def _rotations(turns: Array) -> Array:
    """Return matrices (T, 2, 2) that turn rows counter-clockwise."""
    cosine, sine = np.cos(turns), np.sin(turns)
    return np.stack([np.stack([cosine, sine], -1), np.stack([-sine, cosine], -1)], -2)
