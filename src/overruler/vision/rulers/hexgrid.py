"""A printed hex grid, found by the periodicity of its lines in the orthophoto.

Lines that repeat as hexes do are three plane waves at 60° to each other. The wavelength gives the
size, the phases give the place.
"""

from dataclasses import dataclass

import cv2
import numpy as np

from overruler.calibration import Problem
from overruler.geometry.pose import Array
from overruler.scene import Grid
from overruler.vision.imaging.orthophoto import Orthophoto
from overruler.vision.rulers.hex_lattice import (
    MIN_HEXES_ACROSS,
    SIZE_RANGE_MM,
    HexLattice,
    candidate_lattices,
    fit_lattice,
)
from overruler.vision.rulers.hex_lines import (
    basis_vectors,
    hexes_within,
    inner_samples,
    mean_contrasts,
    side_contrast,
    side_samples,
)

MAX_ROTATION_DEG = 0.25
"""Largest rotation against the board at which the scene can hold the grid, in degrees."""
GRIDS_CHECKED = 4
"""Number of grids of each lattice that are checked all over the board."""
MIN_LINE_CONTRAST = 1.2
"""Least contrast of the lines to their surroundings, in grey levels of 255."""
MAX_CONTRAST = 12.0
"""Contrasts are clipped to this, in grey levels: no figure on the mat outweighs the lines."""
OTHER_ORIENTATION = {"pointy": "flat", "flat": "pointy"}
OVERTONE_RATIOS = tuple((n * root, root > 1) for root in (1.0, 3**0.5) for n in range(1, 9))
"""Grids of which a lattice may be an overtone: size ratio, and whether the orientation changes."""
MAX_HEX_STEPS = 6
"""Radius of the patch of hexes on which grids are compared, in hexes."""
FLOOR_SIGMA_PX = 0.15
"""Least 1 σ of a grid's place, in orthophoto pixels."""


@dataclass(frozen=True, slots=True, eq=False)
class GridSeen:
    """A hex grid in the photo, with its uncertainty."""

    grid: Grid
    rotation_deg: float
    """Its rotation against the board, counter-clockwise."""
    sigma_mm: float
    """1 σ of its place on either axis, given the camera."""

    @property
    def is_aligned(self) -> bool:
        """Whether it lies along the board's axes."""
        return abs(self.rotation_deg) <= MAX_ROTATION_DEG


@dataclass(frozen=True, slots=True, eq=False)
class _Candidate:
    """A grid whose waves the picture may show."""

    contrast: float
    """Contrast of its faintest side on a patch, in grey levels."""
    size_mm: float
    orientation: str
    center_mm: Array
    """(2,): the centre of one of its hexes."""
    basis_mm: Array
    """(2, 2): from a hex's centre to those of its neighbours (1, 0) and (0, 1)."""


def find_grid(view: Orthophoto, board_mm: tuple[float, float]) -> GridSeen | None:
    """Find the hex grid printed on the board; None where there is none, or none is certain."""
    lines = _high_pass(view, board_mm)
    for size, orientation in candidate_lattices(lines, view.mm_per_px):
        lattice = fit_lattice(lines, view, size, orientation, board_mm)
        grid = None if lattice is None else _best_drawn_grid(lines, view, lattice, board_mm)
        if grid is not None:
            return grid
    return None


def grid_problems(seen: GridSeen | None) -> tuple[Problem, ...]:
    """The problem that a rotated grid is left out."""
    if seen is None or seen.is_aligned:
        return ()
    text = (
        f"the hex grid is turned by {seen.rotation_deg:.1f}° against the board: left out; "
        "lay the markers along it"
    )
    return (Problem("grid_turned", text),)


def _high_pass(view: Orthophoto, board_mm: tuple[float, float]) -> Array:
    """Brightness of the board (H, W) less that of its surroundings; 0 off the board."""
    grey = cv2.cvtColor(view.pixels, cv2.COLOR_BGR2GRAY).astype(np.float32)
    surroundings = cv2.GaussianBlur(grey, (0, 0), 4.0 / view.mm_per_px)
    fine = cv2.GaussianBlur(grey, (0, 0), 0.8) - surroundings
    width, height = board_mm
    corners_mm = np.array([(0, 0), (width, 0), (width, height), (0, height)])
    corners = np.round(view.to_px(corners_mm)).astype(np.int32)
    board = np.zeros(grey.shape, np.uint8)
    cv2.fillPoly(board, [corners], 1)
    visible = board * view.seen.astype(np.uint8)
    inner = cv2.erode(visible, np.ones((9, 9), np.uint8), borderValue=0)
    return np.asarray(np.clip(fine, -MAX_CONTRAST, MAX_CONTRAST) * inner, np.float32)


def _best_drawn_grid(
    lines: Array, view: Orthophoto, lattice: HexLattice, board_mm: tuple[float, float]
) -> GridSeen | None:
    """The grid whose sides lie on lines of the picture; None where there is none."""
    candidates = _candidate_grids(lines, view, lattice, board_mm)
    candidates.sort(key=lambda candidate: -candidate.contrast)
    for candidate in candidates[:GRIDS_CHECKED]:
        if candidate.contrast <= MIN_LINE_CONTRAST:
            continue
        everywhere = hexes_within(max(board_mm) / candidate.size_mm)
        basis = candidate.basis_mm
        samples = np.concatenate([side_samples(basis), inner_samples(basis)])
        # a patch of it may be paving: check the whole board
        if side_contrast(
            mean_contrasts(lines, view, candidate.center_mm, basis, everywhere, samples)
        ):
            return _to_grid_seen(candidate, view, lattice)
    return None


def _candidate_grids(
    lines: Array, view: Orthophoto, lattice: HexLattice, board_mm: tuple[float, float]
) -> list[_Candidate]:
    """The grids of which a lattice may be an overtone, at all their distinct places."""
    found = []
    patch = hexes_within(MAX_HEX_STEPS)
    fine = basis_vectors(lattice.size_mm, lattice.orientation, lattice.rotation_deg)
    for ratio, flips in OVERTONE_RATIOS:
        size = lattice.size_mm * ratio
        fits_board = MIN_HEXES_ACROSS * 1.5 * size <= min(board_mm)
        if not (SIZE_RANGE_MM[0] <= size <= SIZE_RANGE_MM[1] and fits_board):
            continue
        orientation = OTHER_ORIENTATION[lattice.orientation] if flips else lattice.orientation
        basis = basis_vectors(size, orientation, lattice.rotation_deg)
        samples = side_samples(basis)
        for offset in _distinct_origins(fine, basis):
            center = lattice.origin_mm + offset
            contrast = side_contrast(mean_contrasts(lines, view, center, basis, patch, samples))
            found.append(_Candidate(contrast, size, orientation, center, basis))
    return found


def _to_grid_seen(candidate: _Candidate, view: Orthophoto, lattice: HexLattice) -> GridSeen:
    x, y = _nearest_to_corner(candidate.center_mm, candidate.basis_mm)
    origin = (round(float(x), 3), round(float(y), 3))
    grid = Grid(candidate.orientation, round(float(candidate.size_mm), 4), origin)
    sigma = np.hypot(lattice.sigma_mm, FLOOR_SIGMA_PX * view.mm_per_px)
    return GridSeen(grid, lattice.rotation_deg, float(sigma))


def _distinct_origins(fine: Array, coarse: Array) -> Array:
    """The centres (N, 2) of fine hexes that are different places within a coarse one."""
    points = hexes_within(9) @ fine
    inside = np.round(points @ np.linalg.inv(coarse), 3) % 1
    thousandths = np.round(inside * 1000).astype(int) % 1000
    _, first = np.unique(thousandths, axis=0, return_index=True)
    return np.asarray(points[first])


def _nearest_to_corner(center: Array, basis: Array) -> Array:
    """The hex centre (2,) nearest to the board's lower left corner."""
    q, r = np.round(np.linalg.solve(basis.T, -center))
    steps = (-1, 0, 1)
    hexes = [np.array([q + i, r + j]) for i in steps for j in steps]
    near = [center + hex_ @ basis for hex_ in hexes]
    return np.asarray(min(near, key=lambda point: float(np.hypot(*point))))
