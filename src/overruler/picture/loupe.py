"""A round magnifier on the decisive place: the range line, the base's edge, and the uncertainty."""

from dataclasses import dataclass, replace

import numpy as np

from overruler.geometry.pose import Array
from overruler.picture.drawable_ruling import DrawableRuling
from overruler.picture.label_placement import LabelLayout, boxes_around
from overruler.picture.painters import base_outline
from overruler.picture.raster import Pixels, data_uri
from overruler.picture.svg import BLACK, WHITE, cased_line, element, group, path, text_plate
from overruler.picture.view import View, offset_outline
from overruler.units import SIGMAS_95

LOUPE_RADIUS = 92.0
"""Radius of the magnifier, in units of the view."""
WINDOW_MM = 44.0
"""Width of the board seen across it, in mm."""
MAX_LINE_DISTANCE_MM = 12.0
"""A range line farther than this from the measured distance decides nothing worth magnifying."""
LOUPE_OVERLAP_WEIGHT = 25.0
"""Cost of covering the magnifier, relative to a label."""
MAX_COVERED_COST = 0.05
"""Most that the magnifier may cover."""
GRID_PLACES = 17
"""Places for the magnifier along either side of the picture."""
POINTER_POINTS = 17
"""Points along the line from the magnified place to the magnifier, between which it is reserved."""
POINTER_LENGTH_COST = 2.0
"""Cost of this line for each width of the magnifier between it and its place."""
RANGE_LINE_COLOUR = "#ffd24a"
MIN_MAGNIFICATION = 1.6
"""A magnification below this shows nothing new."""
RANGE_LINE_STEPS = 2880
"""Points round a magnified range line."""


@dataclass(frozen=True, slots=True, eq=False)
class Loupe:
    """A magnifier: a place p on the drawing appears at middle + magnification · (p - source)."""

    source: Array
    """(2,): the magnified place on the drawing."""
    middle: Array
    """(2,): the magnifier's centre on the drawing."""
    magnification: float
    radius: float
    """Radius in pixels of the drawing."""

    def to_loupe_px(self, places: Array) -> Array:
        """Return where places (N, 2) of the drawing appear; NaN well outside the rim.

        A renderer would reserve room for everything outside.
        """
        offsets = self.magnification * (places - self.source)
        is_near = np.linalg.norm(offsets, axis=-1, keepdims=True) < 2 * self.radius
        return np.asarray(np.where(is_near, self.middle + offsets, np.nan))

    def pointer_px(self, count: int = 2) -> Array:
        """Return points (count, 2) along the line from the ring round its source to its rim."""
        direction = self.middle - self.source
        direction = direction / float(np.hypot(*direction))
        start = self.source + direction * self.radius / self.magnification
        end = self.middle - direction * self.radius
        share = np.linspace(0, 1, count)[:, None]
        return np.asarray(start * (1 - share) + end * share)


def place_loupe(view: View, claim: DrawableRuling, room: LabelLayout) -> Loupe | None:
    """Reserve a place for a ruling's magnifier; None if it would not help or there is no room."""
    side = loupe_side(view)
    middles = _candidate_centres(view, side, view.to_px(claim.to_mm, claim.z_mm))
    boxes = boxes_around((side, side), middles)
    is_free = ~room.leaves_canvas(boxes) & (room.overlap_costs(boxes) < MAX_COVERED_COST)
    if not is_free.any():
        return None
    free = middles[is_free]
    loupe = loupe_beside(view, claim, free[0])
    if loupe is not None:
        costs = _pointer_costs(view, loupe, free, room)
        middle = free[room.reserve_best((side, side), free, LOUPE_OVERLAP_WEIGHT, costs)]
        loupe = replace(loupe, middle=middle)
    return loupe


def _pointer_costs(view: View, loupe: Loupe, middles: Array, room: LabelLayout) -> Array:
    """Return the cost (N,) of the pointer to a magnifier at each centre (N, 2).

    It grows with its length, with what it covers beside the base whose edge is magnified, and with the
    measured lines that it crosses.
    """
    pointers = [replace(loupe, middle=middle).pointer_px(POINTER_POINTS) for middle in middles]
    ways = np.stack(pointers)
    low = np.minimum(ways[:, :-1], ways[:, 1:]) - view.unit
    high = np.maximum(ways[:, :-1], ways[:, 1:]) + view.unit
    stretches = np.concatenate([low, high], -1)
    covered = room.without(loupe.source).overlap_costs(stretches.reshape(-1, 4))
    covered = covered.reshape(len(middles), -1).sum(1)
    lengths = np.linalg.norm(middles - loupe.source, axis=1) / loupe_side(view)
    crossings = room.crossing_costs(loupe.source, ways[:, -1])
    return np.asarray(covered + crossings + POINTER_LENGTH_COST * lengths)


def loupe_side(view: View) -> float:
    """Side of the square that a magnifier needs, in pixels."""
    return (2 * LOUPE_RADIUS + 24) * view.unit


def loupe_beside(view: View, claim: DrawableRuling, middle: Array) -> Loupe | None:
    """A ruling's magnifier with its centre at a place (2,); None if it would not help."""
    line_mm = claim.nearest_line_mm
    if line_mm is None or abs(claim.distance_mm - line_mm) > MAX_LINE_DISTANCE_MM:
        return None
    radius = LOUPE_RADIUS * view.unit
    magnification = 2 * radius / (WINDOW_MM * view.px_per_mm(claim.to_mm, claim.z_mm))
    source = view.to_px(claim.to_mm, claim.z_mm)
    if magnification < MIN_MAGNIFICATION or not view.contains_all(source[None]):
        return None
    return Loupe(source, middle, magnification, radius)


def _candidate_centres(view: View, side: float, source: Array) -> Array:
    """Return centres for the magnifier, the nearest to its source first, but not on top of it."""
    wide, high = view.size_px
    border_x, border_y = side / 2 + 0.05 * np.array(view.size_px)
    x = np.linspace(border_x, wide - border_x, GRID_PLACES)
    y = np.linspace(border_y, high - border_y, GRID_PLACES)
    grid = np.stack(np.meshgrid(x, y), -1).reshape(-1, 2)
    distances = np.linalg.norm(grid - source, axis=1)
    order = np.argsort(distances)
    is_beside = distances[order] > 0.9 * side
    return np.asarray(grid[order[is_beside]])


def draw_loupe(view: View, claim: DrawableRuling, loupe: Loupe, pixels: Pixels) -> str:
    """Draw the magnifier with its contents, and the line to the place that it shows."""
    unit = view.unit
    x = float(loupe.middle[0])
    y = float(loupe.middle[1])
    disc = element("circle", cx=x, cy=y, r=loupe.radius)
    contents = (_photo_detail(loupe, pixels), *_draw_contents(view, claim, loupe))
    rim = {"cx": x, "cy": y, "fill": "none", "r": loupe.radius}
    decimals = 0 if loupe.magnification >= 2 else 1
    label = f"× {loupe.magnification:.{decimals}f}"
    parts = (
        element("clipPath", disc, id="loupe"),
        _draw_pointer(view, loupe),
        group(contents, clip_path="url(#loupe)"),
        element("circle", **rim, stroke=BLACK, stroke_width=4.6 * unit),
        element("circle", **rim, stroke=WHITE, stroke_width=2.4 * unit),
        text_plate(label, x, y + loupe.radius, 10 * unit, edge=BLACK),
    )
    return group(parts)


def _photo_detail(loupe: Loupe, pixels: Pixels) -> str:
    """Draw the photo's own pixels (H, W, 3) under the magnifier."""
    reach = loupe.radius / loupe.magnification + 1
    size = np.array([pixels.shape[1], pixels.shape[0]])
    corner = np.floor(loupe.source - reach).clip(0, size).astype(int)
    end = np.ceil(loupe.source + reach).clip(0, size).astype(int)
    left, top = corner
    right, bottom = end
    x, y = loupe.middle + loupe.magnification * (corner - loupe.source)
    wide, high = end - corner
    detail = data_uri(pixels[top:bottom, left:right], (int(wide), int(high)))
    box = {
        "x": x,
        "y": y,
        "width": wide * loupe.magnification,
        "height": high * loupe.magnification,
    }
    return element("image", href=detail, **box, preserveAspectRatio="none")


def _draw_contents(view: View, claim: DrawableRuling, loupe: Loupe) -> list[str]:
    unit = view.unit
    parts = []
    if claim.to_piece:
        edge = loupe.to_loupe_px(base_outline(view, claim.to_piece))
        parts.append(path(edge, True, stroke=BLACK, stroke_width=2.6 * unit, stroke_opacity=0.6))
        parts.append(path(edge, True, stroke=WHITE, stroke_width=1.3 * unit))
    if claim.from_piece and claim.nearest_line_mm is not None:
        piece = claim.from_piece
        line = offset_outline(piece.shape, claim.nearest_line_mm, steps=RANGE_LINE_STEPS)
        magnified = loupe.to_loupe_px(view.to_px(line, piece.z_mm))
        parts.append(cased_line(magnified, RANGE_LINE_COLOUR, 1.5 * unit))
        parts.append(_line_label(view, claim, loupe, magnified))
    return [*parts, _confidence_bar(view, claim, loupe)]


def _line_label(view: View, claim: DrawableRuling, loupe: Loupe, line: Array) -> str:
    """Write the range line's number on it, towards the rim and away from the base."""
    distances = np.linalg.norm(line - loupe.middle, axis=1)
    nearest = np.nanargmin(np.abs(distances - 0.78 * loupe.radius))
    x, y = line[nearest]
    name = claim.line_name(claim.nearest_line_mm or 0.0)
    return text_plate(name, x, y, 10 * view.unit, edge=BLACK)


def _confidence_bar(view: View, claim: DrawableRuling, loupe: Loupe) -> str:
    """Draw the closest point as a dot on a bar that spans 95 % along the measured line."""
    direction = claim.to_mm - claim.from_mm
    direction = direction / max(float(np.hypot(*direction)), 1e-9)
    reach = SIGMAS_95 * claim.sigma_mm * direction
    ends_mm = np.stack([claim.to_mm - reach, claim.to_mm + reach])
    ends = loupe.to_loupe_px(view.to_px(ends_mm, claim.z_mm))
    point = view.to_px(claim.to_mm, claim.z_mm)
    x, y = loupe.to_loupe_px(point[None])[0]
    dot = element("circle", cx=x, cy=y, r=1.5 * view.unit, fill=WHITE)
    return cased_line(ends, claim.style.colour, 3.4 * view.unit) + dot


def _draw_pointer(view: View, loupe: Loupe) -> str:
    """Draw a ring round the magnified place, and a line from it to the magnifier."""
    radius = loupe.radius / loupe.magnification
    line = loupe.pointer_px()
    x, y = loupe.source
    ring = {"cx": x, "cy": y, "r": radius, "fill": "none"}
    parts = []
    for colour, wide in ((BLACK, 2.6), (WHITE, 1.3)):
        stroke = {"stroke": colour, "stroke_width": wide * view.unit}
        parts += [path(line, False, **stroke), element("circle", **ring, **stroke)]
    return group(parts)
