"""Marks of a plate in the photo: edges along its four sides, bright lines there and on its card.

A plate has a lower outline on the table and an upper edge 3 mm above it, half a millimetre further
in. On top lies a printed card with a light frame and with lines from near the centre to the
corners, the limits of the firing arcs. A dark plate on a dark mat shows little but the card. Rays
across each side therefore note both colour edges (outline, upper edge) and bright lines (the
frame); the fit decides which is which.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from overruler.frame import Frame
from overruler.geometry.batched.vectors import left_normals, unit_vectors
from overruler.geometry.camera import Camera
from overruler.geometry.parabola import parabolic_peak_offset
from overruler.geometry.pose import Array
from overruler.vision.contours.radial_edges import (
    MIN_EDGE_SLOPE,
    RAY_SPACING_PX,
    LabPatch,
    median_of_few,
)

PLATE_HEIGHT_MM = 3.0
"""Height of a plate's upper face."""
UPPER_EDGE_INSET_MM = 0.5
"""Distance of the upper edge inside the outline."""
CORNER_MM = 3.5
"""Length left out at both ends of a side: corners are round, frames stop short of them."""
MIN_RAYS = 12
"""Smallest number of rays across a line."""
MAX_RAYS = 48
"""Largest number of rays across a line."""
UNIT_CORNERS = np.array([[1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0]])
"""(4, 2): corners of a plate that faces +x, counter-clockwise, in half sides."""
ARC_HALF_ANGLE_RAD = np.radians(41.3)
"""Half the angle of the front and rear arcs as printed on cards; they differ by half a degree."""
ARC_FROM = 0.4
"""Start of the searched part of an arc's limit, in half sides ahead: pegs hide the centre."""
ARC_TO = 0.95
"""End of that part."""
LINE_OFFSET_PX = 1.3
"""Distance from a bright line's middle at which it is compared with its surroundings, ..."""
LINE_OFFSET_MM = 0.6
"""... or this many mm, whichever is larger."""
MIN_INSIDE_SHARE = 0.5
"""Smallest share of a plate's samples that lies in the photo."""
VIEW_SIDES = 0.75
"""Radius of the photo's part around a plate, in sides, or around a rectangle, in lengths."""
MIN_LINE_CONTRAST = 1.0
"""Smallest contrast of a bright line, in L* units."""


@dataclass(frozen=True, slots=True, eq=False)
class Marks:
    """M edges or bright lines beside four lines of a plate."""

    side: NDArray[np.intp]
    """(M,): index of the line, 0 to 3."""
    along_mm: Array
    """(M,): position along it."""
    out_mm: Array
    """(M,): distance beside its start."""
    strength: Array
    """(M,): 0 to 1, relative to the usual one here."""


@dataclass(frozen=True, slots=True, eq=False)
class ObservedMarks:
    """The marks beside four lines of one plate, on the plane of its upper face."""

    edges: Marks
    """Colour edges."""
    lines: Marks
    """Bright lines."""
    rays: int
    """Rays across each line."""


@dataclass(frozen=True, slots=True, eq=False)
class SearchLines:
    """Four straight lines of a plate and the samples beside them."""

    starts_mm: Array
    """(4, 2): on the plane of the upper face."""
    directions: Array
    """(4, 2): unit vectors along the lines."""
    normals: Array
    """(4, 2): unit vectors of `out_mm`."""
    along_mm: Array
    """(R,): positions of the rays along each line."""
    out_mm: Array
    """(N,): positions of the samples on each ray."""


def crop_view(frame: Frame, camera: Camera, xy_mm: Array, length_mm: float) -> LabPatch | None:
    """Return the photo around a plate on the plane of its upper face, if it shows the place."""
    radius_mm = length_mm * VIEW_SIDES
    return LabPatch.crop_around(frame.pixels, camera, xy_mm, radius_mm, PLATE_HEIGHT_MM)


def side_normals(turn_rad: float) -> Array:
    """Return the outward normals (4, 2) of a plate's sides."""
    angles = turn_rad + np.arange(4) * (np.pi / 2)
    normals = np.empty((4, 2))
    normals[:, 0] = np.cos(angles)
    normals[:, 1] = np.sin(angles)
    return normals


def side_search_lines(
    view: LabPatch,
    xy_mm: Array,
    turn_rad: float,
    side_mm: float,
    reach_mm: tuple[float, float],
    step_mm: float,
) -> SearchLines:
    """Return the four sides; `reach_mm` is the searched range of distances from the centre."""
    normals = side_normals(turn_rad)
    along = _ray_places(view, CORNER_MM - side_mm / 2, side_mm / 2 - CORNER_MM)
    out = _sample_places(*reach_mm, step_mm)
    return SearchLines(np.tile(xy_mm, (4, 1)), left_normals(normals), normals, along, out)


def arc_search_lines(
    view: LabPatch, xy_mm: Array, turn_rad: float, side_mm: float, reach_mm: float, step_mm: float
) -> SearchLines:
    """Return the four limits of the firing arcs, for a heading of `turn_rad` or its opposite."""
    half = ARC_HALF_ANGLE_RAD
    angles = turn_rad + np.array([half, np.pi - half, np.pi + half, -half])
    directions = unit_vectors(angles)
    ends = (share * side_mm / 2 / np.cos(half) for share in (ARC_FROM, ARC_TO))
    along = _ray_places(view, *ends)
    out = _sample_places(-reach_mm, reach_mm, step_mm)
    return SearchLines(np.tile(xy_mm, (4, 1)), directions, left_normals(directions), along, out)


def _ray_places(view: LabPatch, first_mm: float, last_mm: float) -> Array:
    length_px = (last_mm - first_mm) / view.mm_per_px
    rays = int(np.clip(length_px / RAY_SPACING_PX, MIN_RAYS, MAX_RAYS))
    return np.linspace(first_mm, last_mm, rays)


def _sample_places(first_mm: float, last_mm: float, step_mm: float) -> Array:
    steps = int(np.ceil((last_mm - first_mm) / step_mm))
    return np.asarray(first_mm + np.arange(steps + 1) * step_mm)


def find_marks(view: LabPatch, search: SearchLines) -> ObservedMarks | None:
    """Return the marks beside four lines; None where too few samples lie in the photo."""
    out, rays = search.out_mm, len(search.along_mm)
    points = search.starts_mm[:, None, None] + search.normals[:, None, None] * out[:, None]
    along = search.directions[:, None, None] * search.along_mm[:, None, None]
    colours, inside = view.sample_board((points + along).reshape(4 * rays, len(out), 2))
    if inside.mean() < MIN_INSIDE_SHARE:
        return None
    side = np.repeat(np.arange(4), rays)
    along_mm = np.tile(search.along_mm, 4)
    slope = np.linalg.norm(np.diff(colours, axis=1), axis=-1) * inside[:, 1:]
    between = (out[:-1] + out[1:]) / 2
    edges = _find_peaks(np.asarray(slope, float), MIN_EDGE_SLOPE, side, along_mm, between)
    offset_mm = max(LINE_OFFSET_PX * view.mm_per_px, LINE_OFFSET_MM)
    offset = max(1, round(offset_mm / (out[1] - out[0])))
    contrast = _line_contrast(colours[..., 0], inside, offset)
    lines = _find_peaks(contrast, MIN_LINE_CONTRAST, side, along_mm, out)
    return ObservedMarks(edges, lines, rays)


def _line_contrast(lightness: NDArray[np.float32], inside: NDArray[np.bool_], offset: int) -> Array:
    """Return each sample's lightness (R, N) above the lighter of those `offset` away."""
    contrast = np.zeros(lightness.shape)
    before, after = lightness[:, : -2 * offset], lightness[:, 2 * offset :]
    middle = lightness[:, offset:-offset]
    contrast[:, offset:-offset] = middle - np.maximum(before, after)
    return np.asarray(np.maximum(contrast, 0) * inside)


def _find_peaks(
    height: Array, least: float, side: NDArray[np.intp], along_mm: Array, out_mm: Array
) -> Marks:
    """Return the local maxima of each row of `height` (R, N), interpolated by a parabola."""
    usual = median_of_few(height.max(1))
    middle = height[:, 1:-1]
    is_peak = np.zeros_like(height, bool)
    before, after = height[:, :-2], height[:, 2:]
    is_peak[:, 1:-1] = (middle >= before) & (middle > after)
    row, at = np.nonzero(is_peak & (height > max(least, 0.25 * usual)))
    around = [height[row, at + i] for i in (-1, 0, 1)]
    offset = parabolic_peak_offset(*around)
    step = out_mm[1] - out_mm[0]
    strength = np.minimum(around[1] / max(usual, least), 1.0)
    return Marks(side[row], along_mm[row], out_mm[at] + offset * step, strength)


def half_extents(size_mm: ArrayLike) -> Array:
    """Return each side's distance (4,) from the centre, for a side or a length and width."""
    return np.tile(np.broadcast_to(np.asarray(size_mm, float), 2) / 2, 2)


def lower_outline_mm(camera: Camera, xy_mm: Array, turn_rad: float, size_mm: ArrayLike) -> Array:
    """Return how far out (4,) each side's lower outline appears on the plane of the upper face."""
    eye = camera.center_mm
    share = PLATE_HEIGHT_MM / eye[2]
    scaled = half_extents(size_mm) * (1 - share)
    offset = np.asarray(xy_mm) - eye[:2]
    return np.asarray(scaled - share * side_normals(turn_rad) @ offset)
