"""What the photo shows of a plate: edges along its four sides, bright lines there and along its card's diagonals.

Plates are thin and square: a lower outline on the table, an upper edge 3 mm above it, half a millimetre further in, and
on top a printed card with a light frame and with lines from near the middle to the corners, the limits of the firing
arcs. A dark plate on a dark mat shows little but the card. So rays across each side note both kinds of marks, colour
edges (outline, upper edge) and bright lines (the frame), and leave it to the fit which is which.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from overruler.geometry.camera import Camera
from overruler.geometry.parabola import parabolic_peak_offset
from overruler.geometry.pose import Array
from overruler.vision.contours.radial_edges import MIN_EDGE_SLOPE, RAY_SPACING_PX, LabPatch

PLATE_HEIGHT_MM = 3.0
"""Of a plate."""
UPPER_EDGE_INSET_MM = 0.5
"""How much further in the upper edge lies."""
CORNER_MM = 3.5
"""The ends of each side that are left out: corners are round, frames stop short of them."""
MIN_RAYS, MAX_RAYS = 12, 48
UNIT_CORNERS = np.array([[1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0]])
"""Of a plate that looks along +x, counter-clockwise, in half sides."""
ARC_HALF_ANGLE_RAD = np.radians(41.3)
"""Half the angle of the front and the rear arc as printed on cards, which differ by half a degree."""
ARC_FROM, ARC_TO = 0.4, 0.95
"""The part of the lines to the corners that is looked at, in half sides along the heading: pegs hide the middle."""
LINE_OFFSET_PX, LINE_OFFSET_MM = 1.3, 0.6
"""A bright line stands out from what lies so far from its middle on both sides, the larger of the two."""
MIN_INSIDE_SHARE = 0.5
"""The share of the samples that must lie in the photo."""
MIN_LINE_CONTRAST = 1.0
"""Fainter lines (L* units) are noise."""


@dataclass(frozen=True, slots=True, eq=False)
class Marks:
    """Edges or bright lines beside four lines of a plate."""

    side: NDArray[np.intp]
    """(M,): 0 to 3, beside which."""
    along_mm: Array
    """(M,): where along it."""
    out_mm: Array
    """(M,): how far beside its start."""
    strength: Array
    """(M,): 0 to 1, against the usual one here."""


@dataclass(frozen=True, slots=True, eq=False)
class ObservedMarks:
    """All that is seen beside four lines of one plate, on the plane of its upper face."""

    edges: Marks
    lines: Marks
    rays: int
    """Across each line."""
    contrast: float
    """How much lighter (L*) the brightest line on a ray usually is than what lies beside it."""


def side_normals(turn_rad: float) -> Array:
    """The outward normals (4, 2) of a plate's sides."""
    angles = turn_rad + np.arange(4) * (np.pi / 2)
    return np.stack([np.cos(angles), np.sin(angles)], -1)


@dataclass(frozen=True, slots=True, eq=False)
class SearchLines:
    """Four straight lines of a plate, and how far to look beside them."""

    starts_mm: Array
    """(4, 2): on the plane of the upper face."""
    directions: Array
    """(4, 2): along each line, unit vectors."""
    normals: Array
    """(4, 2): the way that `out_mm` runs."""
    along_mm: Array
    """(R,): the places along each line that rays cross it at."""
    out_mm: Array
    """(N,): the samples of each ray."""


def side_search_lines(
    view: LabPatch,
    xy_mm: Array,
    turn_rad: float,
    side_mm: float,
    reach_mm: tuple[float, float],
    step_mm: float,
) -> SearchLines:
    """The four sides, looked at from so far to so far from the centre, in steps of `step_mm`."""
    normals = side_normals(turn_rad)
    along = _ray_places(view, CORNER_MM - side_mm / 2, side_mm / 2 - CORNER_MM)
    return SearchLines(
        np.tile(xy_mm, (4, 1)),
        rotate_left(normals),
        normals,
        along,
        _sample_places(*reach_mm, step_mm),
    )


def arc_search_lines(
    view: LabPatch, xy_mm: Array, turn_rad: float, side_mm: float, reach_mm: float, step_mm: float
) -> SearchLines:
    """The four limits of the firing arcs, for a heading of `turn_rad` or the opposite one."""
    angles = turn_rad + np.array(
        [
            ARC_HALF_ANGLE_RAD,
            np.pi - ARC_HALF_ANGLE_RAD,
            np.pi + ARC_HALF_ANGLE_RAD,
            -ARC_HALF_ANGLE_RAD,
        ]
    )
    directions = np.stack([np.cos(angles), np.sin(angles)], -1)
    along = _ray_places(
        view, *(share * side_mm / 2 / np.cos(ARC_HALF_ANGLE_RAD) for share in (ARC_FROM, ARC_TO))
    )
    return SearchLines(
        np.tile(xy_mm, (4, 1)),
        directions,
        rotate_left(directions),
        along,
        _sample_places(-reach_mm, reach_mm, step_mm),
    )


def rotate_left(directions: Array) -> Array:
    """The directions (N, 2) a quarter of a turn further counter-clockwise."""
    return np.stack([-directions[:, 1], directions[:, 0]], -1)


def _ray_places(view: LabPatch, first_mm: float, last_mm: float) -> Array:
    rays = int(np.clip((last_mm - first_mm) / view.mm_per_px / RAY_SPACING_PX, MIN_RAYS, MAX_RAYS))
    return np.linspace(first_mm, last_mm, rays)


def _sample_places(first_mm: float, last_mm: float, step_mm: float) -> Array:
    return np.asarray(
        first_mm + np.arange(int(np.ceil((last_mm - first_mm) / step_mm)) + 1) * step_mm
    )


def find_marks(view: LabPatch, strokes: SearchLines) -> ObservedMarks | None:
    """The marks beside four lines; `view` is of the plane z = `PLATE_HEIGHT_MM`.

    None where the photo shows less than half of where they are looked for.
    """
    out, along = strokes.out_mm, strokes.along_mm
    points = strokes.starts_mm[:, None, None] + strokes.normals[:, None, None] * out[:, None]
    points = points + strokes.directions[:, None, None] * along[:, None, None]
    colours, inside = view.sample_board(points.reshape(4 * len(along), len(out), 2))
    if inside.mean() < MIN_INSIDE_SHARE:
        return None
    apart = max(1, round(max(LINE_OFFSET_PX * view.mm_per_px, LINE_OFFSET_MM) / (out[1] - out[0])))
    place = np.repeat(np.arange(4), len(along)), np.tile(along, 4)
    slope = np.linalg.norm(np.diff(colours, axis=1), axis=-1) * inside[:, 1:]
    edges = _find_peaks(np.asarray(slope, float), MIN_EDGE_SLOPE, *place, (out[:-1] + out[1:]) / 2)
    lines = _line_strength(colours[..., 0], inside, apart)
    return ObservedMarks(
        edges,
        _find_peaks(lines, MIN_LINE_CONTRAST, *place, out),
        len(along),
        float(np.median(lines.max(1))),
    )


def _line_strength(lightness: NDArray[np.float32], inside: NDArray[np.bool_], apart: int) -> Array:
    """How much lighter (R, N) each sample is than the lighter of the two that lie so many samples apart from it."""
    higher = np.zeros(lightness.shape)
    middle = lightness[:, apart:-apart]
    higher[:, apart:-apart] = middle - np.maximum(
        lightness[:, : -2 * apart], lightness[:, 2 * apart :]
    )
    return np.asarray(np.maximum(higher, 0) * inside)


def _find_peaks(
    height: Array, least: float, side: NDArray[np.intp], along_mm: Array, out_mm: Array
) -> Marks:
    """The local maxima of each row of `height` (R, N), to a fraction of a step by a parabola."""
    usual = float(np.median(height.max(1)))
    peak = np.zeros_like(height, bool)
    peak[:, 1:-1] = (height[:, 1:-1] >= height[:, :-2]) & (height[:, 1:-1] > height[:, 2:])
    row, at = np.nonzero(peak & (height > max(least, 0.25 * usual)))
    part = parabolic_peak_offset(*(height[row, at + i] for i in (-1, 0, 1)))
    step = out_mm[1] - out_mm[0]
    clear = np.minimum(height[row, at] / max(usual, least), 1.0)
    return Marks(side[row], along_mm[row], out_mm[at] + part * step, clear)


def half_extents(size_mm: ArrayLike) -> Array:
    """How far from its middle each side (4,) of a rectangle lies, its side or its length and width being given."""
    return np.tile(np.broadcast_to(np.asarray(size_mm, float), 2) / 2, 2)


def lower_outline_mm(camera: Camera, xy_mm: Array, turn_rad: float, size_mm: ArrayLike) -> Array:
    """How far out (4,) the lower outline of each side appears on the plane of the upper face."""
    eye = camera.center_mm
    share = PLATE_HEIGHT_MM / eye[2]
    return np.asarray(
        half_extents(size_mm) * (1 - share)
        - share * side_normals(turn_rad) @ (np.asarray(xy_mm) - eye[:2])
    )
