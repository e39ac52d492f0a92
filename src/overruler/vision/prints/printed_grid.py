"""Whether a base stands at a place, or just a cell of the grid that is printed on the mat.

Networks take printed squares, hexes, dots and rings for bases: a score of 0.99 says nothing there. But a
cell looks like the cells around it, and a base covers its cell.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import cv2
import numpy as np
from numpy.typing import NDArray

from overruler.bases import Base
from overruler.geometry.pose import Array
from overruler.vision.contours.outlines import is_in_outline
from overruler.vision.imaging.line_profiles import Floats, log_colours
from overruler.vision.imaging.orthophoto import Orthophoto, resample_orthophoto
from overruler.vision.learned.coefficients import load_coefficients
from overruler.vision.prints.cells import Cells
from overruler.vision.prints.find_cells import find_cells

MM_PER_PX = 2.0
"""Resolution at which cells are compared; a coarser photo's own."""
FINE_MM, AROUND_MM = 6.0, 40.0
"""Lightness counts against its surroundings of the first size, by the contrast in those of the second."""
COLOUR_MM, COLOUR_BLUR_MM = 12.0, 2.5
"""Colour counts against wider surroundings, blurred: pictures hold half as many pixels of it."""
MOST_SIGMAS = 2.0
"""Contrast at which it is clipped: no figure outweighs the lines."""
DARK = 8.0
"""Lightness, of 255, that is added before the logarithm: the noise of dark pictures."""
NEIGHBOURS = 80
"""So many cells about a place tell how the print looks: no unit covers half of them. Farther ones tell less
where the mat has folds."""
SAMPLES, REACH = 18, 1.15
"""Samples along and across a base, and how far they reach, in half lengths."""
NEAREST = 18
"""So many say what colour the mat has about a place."""
INSIDE = 0.72
"""Reach of a base's inside, in half lengths."""
INSIDE_QUANTILE = 0.8
"""Share of the inside that has to look like the mat."""
MOST_CONTRAST = 1.0
"""Contrasts are clipped to this logarithm of a ratio of brightnesses."""
MIN_NEIGHBOURS = 20
"""So many of them must be seen, at least."""
MIN_PRINT = 0.2
"""Least standard deviation of the print: what does not repeat has less."""
MIN_SPREAD = 1e-6
"""Least product of two standard deviations that a correlation is divided by."""
ALIKE = 3
"""So many bare cells that are alike say that another is one, too."""
ALIKE_ODDS = 2.5
"""What they add to its log odds. On 24 rendered mats 155 of 166 findings that were no bases had so many where the odds
were -2.5 to 0, of 82 bases 2. Bases that stand in the midst of cells may have them, too: 16 of 183 have such odds."""
ALIKE_REACH = 6.0
"""They lie so near, in widths of a cell, ..."""
ALIKE_OFF_MM, ALIKE_OFF_SHARE = 1.0, 0.01
"""... so nearly whole steps away, more with the distance, ..."""
ALIKE_SIZE = 0.12
"""... and the logarithm of their length differs by no more."""
WEIGHTS = np.array(list(load_coefficients("printed_grid").values()))
"""Weights of the log odds of a bare cell; the file names the features."""


T = TypeVar("T")
PlacedBase = tuple[Base, Array, float]
"""A base, its middle (2,) in mm, and its turn in rad."""


@dataclass(frozen=True, slots=True, eq=False)
class PrintedGrid:
    """The grids of cells that are printed on the mat."""

    view: Orthophoto
    """The mat from above."""
    reliefs: Floats
    """(2, H, W): its lightness, and its red against its green, against the surroundings; NaN where the photo does
    not show it."""
    colours: Floats
    """(H, W, 3): logarithms of its colours, NaN where the photo does not show it."""
    cells: tuple[Cells, ...]
    """Those of each grid."""

    @classmethod
    def of(cls, view: Orthophoto, board_mm: tuple[float, float]) -> "PrintedGrid | None":
        """Find the grid on a mat that is seen from above, `board_mm` wide and high; None where there is none."""
        looked = _look_for_cells(view, board_mm)
        return cls._of(*looked) if looked[-1] else None

    @classmethod
    def seen_on(cls, view: Orthophoto, board_mm: tuple[float, float]) -> "PrintedGrid":
        """Find the same; without cells where there is none: other photos of the mat may show them."""
        return cls._of(*_look_for_cells(view, board_mm))

    @classmethod
    def _of(cls, view: Orthophoto, reliefs: Floats, cells: Sequence[Cells]) -> "PrintedGrid":
        colours = log_colours(view.pixels)
        reliefs[:, ~view.seen], colours[~view.seen] = np.nan, np.nan
        return cls(view, reliefs, colours, tuple(cells))

    def are_bare_cells(self, placed: Sequence[PlacedBase]) -> NDArray[np.bool_]:
        """Tell which places (N,) show the print of a grid as other cells do, and no base."""
        return self.log_odds(placed) > 0

    def log_odds(self, placed: Sequence[PlacedBase]) -> Array:
        """Return the log odds (N,) of a bare cell; NaN where no print is seen.

        One that is hard to tell is bare where others of its size are, whole steps away. On a faint grid all are
        hard to tell.
        """
        of_each = [self._log_odds_of(cells, placed) for cells in self.cells]
        return np.asarray(np.fmax.reduce(of_each))

    def _log_odds_of(self, cells: Cells, placed: Sequence[PlacedBase]) -> Array:
        odds = np.array([self._own_log_odds(cells, *one) for one in placed], float)
        many = _have_many_alike(cells, placed, odds > 0)
        return np.asarray(odds + ALIKE_ODDS * (many - float(cells.is_faint)))

    def _own_log_odds(self, cells: Cells, base: Base, xy_mm: Array, turn_rad: float) -> float:
        """Return the log odds of a bare cell by how the place looks."""
        features = self.features(cells, base, xy_mm, turn_rad)
        return np.nan if features is None else float(features @ WEIGHTS)

    def features(self, cells: Cells, base: Base, xy_mm: Array, turn_rad: float) -> Array | None:
        """Return what tells a bare cell of a grid from a base (3,); None where no print is seen.

        1, the correlation with the usual cell, and the contrast of most of its inside with the cells around it.
        """
        corners = base.shape == "rectangle"
        half_mm = np.hypot(base.length_mm, base.width_mm if corners else 0.0) / 2
        steps = half_mm * np.linspace(-REACH, REACH, SAMPLES)
        offsets = np.stack(np.meshgrid(steps, steps), -1).reshape(-1, 2)
        around = cells.nearest_steps(NEIGHBOURS)[:, None]
        places = xy_mm + offsets[is_in_outline(base, offsets, turn_rad, REACH)]
        relief = self.reliefs[cells.relief]
        own = self._looks(relief, places[None])[0]
        others = self._looks(relief, around + places)
        others = others[np.isfinite(others).all(1)]
        if len(others) < MIN_NEIGHBOURS or not np.isfinite(own).all():
            return None
        usual = np.median(_likest_half(others), 0)
        if usual.std() < MIN_PRINT:
            return None
        correlation = float(_correlations(own[None], usual)[0])
        inside = xy_mm + offsets[is_in_outline(base, offsets, turn_rad, INSIDE)]
        contrast = self._contrast(inside, around[:NEAREST])
        return np.array([1.0, correlation, contrast])

    def _contrast(self, places_mm: Array, around: Array) -> float:
        """Return the contrast of most places (K, 2) with those after steps (N, 1, 2), by any colour."""
        ground = self._looks(self.colours, around + places_mm).reshape(-1, 3)
        usual = np.nanmedian(ground, 0)
        contrasts = np.abs(self._looks(self.colours, places_mm[None])[0] - usual).max(-1)
        return float(min(np.quantile(contrasts, INSIDE_QUANTILE), MOST_CONTRAST))

    def _looks(self, picture: Floats, xy_mm: Array) -> Floats:
        """Return how places (N, K, 2) look (N, K, ...) in a picture; NaN where the photo does not show them."""
        x, y = np.moveaxis(self.view.to_px(xy_mm).astype(np.float32), -1, 0)
        beside = (np.nan,) * 3
        looks = cv2.remap(picture, x, y, cv2.INTER_LINEAR, None, cv2.BORDER_CONSTANT, beside)
        return np.asarray(looks, np.float32)


def _have_many_alike(
    cells: Cells, placed: Sequence[PlacedBase], are_bare: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Tell which places (N,) have many of those that surely `are_bare`, alike in shape and size, whole steps away."""
    if not len(placed):
        return are_bare
    angular = np.array([base.shape == "rectangle" for base, _, _ in placed])
    lengths = np.log([base.length_mm for base, _, _ in placed])
    places = np.array([xy_mm for _, xy_mm, _ in placed])
    ways = places[:, None] - places
    far = np.linalg.norm(ways, axis=-1)
    alike = np.abs(lengths[:, None] - lengths) <= ALIKE_SIZE
    alike &= (angular[:, None] == angular) & are_bare
    alike &= (far > cells.width_mm / 2) & (far < ALIKE_REACH * cells.width_mm)
    alike &= cells.off_whole_steps_mm(ways) <= ALIKE_OFF_MM + ALIKE_OFF_SHARE * far
    return np.asarray(alike.sum(1) >= ALIKE, bool)


def _likest_half(looks: Floats) -> Floats:
    """Return the half of the looks (N, K) that are most like all: bases, and what lies beside the mat, are not."""
    usual = np.median(looks, 0)
    alike = _correlations(looks, usual)
    return np.asarray(looks[np.argsort(-alike)[: (len(looks) + 1) // 2]])


def _correlations(looks: Floats, usual: Floats) -> Floats:
    """Return the correlation (N,) of looks (N, K) with another (K,); 0 where one is plain, as burnt-out parts are."""
    products = (looks - looks.mean(1, keepdims=True)) @ (usual - usual.mean()) / len(usual)
    return np.asarray(products / np.maximum(looks.std(1) * usual.std(), MIN_SPREAD), np.float32)


PrintOnMat = Callable[[], PrintedGrid | None]
"""Tells what grid is printed on the mat, once somebody asks."""


def nothing_printed() -> None:
    """Tell that the mat has no grid."""


def without_bare_cells(
    grid: PrintedGrid | None, things: Sequence[T], placed: Callable[[T], PlacedBase]
) -> list[T]:
    """Return the things but those that are just bare cells of the grid, if there is one."""
    if grid is None:
        return [*things]
    bare = grid.are_bare_cells([placed(one) for one in things])
    return [one for one, is_bare in zip(things, bare, strict=True) if not is_bare]


def _look_for_cells(
    view: Orthophoto, board_mm: tuple[float, float]
) -> tuple[Orthophoto, Floats, list[Cells]]:
    """Return a mat as coarsely as it is compared, its reliefs, and the cells of its grids."""
    coarse = view if view.mm_per_px >= MM_PER_PX else resample_orthophoto(view, MM_PER_PX)
    reliefs = _reliefs(coarse)
    corners = coarse.to_px(np.array([(0.0, board_mm[1]), (board_mm[0], 0.0)]))
    return coarse, reliefs, find_cells(reliefs, coarse.seen, coarse.mm_per_px, corners)


def _reliefs(view: Orthophoto) -> Floats:
    """Return a mat's lightness and its red against its green (2, H, W), 0 where the photo does not show it.

    Faint dots on sand are lost among its grains, but have a colour.
    """
    grey = np.log(cv2.cvtColor(view.pixels, cv2.COLOR_BGR2GRAY).astype(np.float32) + DARK)
    _, green, red = np.moveaxis(np.log(view.pixels.astype(np.float32) + DARK), -1, 0)
    fine = [
        _band(grey, FINE_MM, 0.0, view.mm_per_px),
        _band(red - green, COLOUR_MM, COLOUR_BLUR_MM, view.mm_per_px),
    ]
    return np.asarray(np.where(view.seen, fine, 0.0), np.float32)


def _band(values: Floats, wide_mm: float, blur_mm: float, mm_per_px: float) -> Floats:
    """Return values (H, W), blurred, against their surroundings, in multiples of the contrast there."""
    blurred = cv2.GaussianBlur(values, (0, 0), blur_mm / mm_per_px) if blur_mm else values
    fine = blurred - cv2.GaussianBlur(values, (0, 0), wide_mm / mm_per_px)
    contrast = np.sqrt(cv2.GaussianBlur(fine * fine, (0, 0), AROUND_MM / mm_per_px)) + 1e-3
    return np.asarray(np.clip(fine / contrast, -MOST_SIGMAS, MOST_SIGMAS), np.float32)
