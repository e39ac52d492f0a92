"""A round magnifier on the place that decides: the range line, the base's edge, and the doubt between them."""

from dataclasses import dataclass

import numpy as np

from overruler.geometry.pose import Array
from overruler.picture.drawable_ruling import DrawableRuling
from overruler.picture.label_placement import LabelLayout
from overruler.picture.painters import base_outline
from overruler.picture.raster import Pixels, data_uri
from overruler.picture.svg import BLACK, WHITE, cased_line, element, group, path, text_plate
from overruler.picture.view import View, offset_outline

LOUPE_RADIUS = 92.0
"""In units of the view."""
WINDOW_MM = 44.0
"""How much of the board is seen across it."""
MAX_LINE_DISTANCE_MM = 12.0
"""A range line farther off than this decides nothing that a magnifier could show."""
LOUPE_OVERLAP_WEIGHT = 25.0
"""How much worse it is to cover the magnifier than a base."""
RANGE_LINE_COLOUR = "#ffd24a"
MIN_MAGNIFICATION = 1.6
"""A magnification below this shows nothing new."""


@dataclass(frozen=True, slots=True, eq=False)
class Loupe:
    """A magnifier: places p on the drawing appear at `middle + times * (p - source)`."""

    source: Array
    middle: Array
    magnification: float
    radius: float

    def to_loupe_px(self, places: Array) -> Array:
        """Where places (N, 2) of the drawing appear in the magnifier; NaN well outside its rim.

        What is far outside must go: a renderer would reserve room for all of it.
        """
        off = self.magnification * (places - self.source)
        near = np.linalg.norm(off, axis=-1, keepdims=True) < 2 * self.radius
        return np.asarray(np.where(near, self.middle + off, np.nan))


def place_loupe(view: View, claim: DrawableRuling, room: LabelLayout) -> Loupe | None:
    """The magnifier for a ruling, where one would help and there is room; its room is then taken."""
    line_mm = claim.nearest_line_mm
    if line_mm is None or abs(claim.distance_mm - line_mm) > MAX_LINE_DISTANCE_MM:
        return None
    radius = LOUPE_RADIUS * view.unit
    times = 2 * radius / (WINDOW_MM * view.px_per_mm(claim.to_mm, claim.z_mm))
    source = view.to_px(claim.to_mm, claim.z_mm)
    if times < MIN_MAGNIFICATION or not view.contains_all(source[None]):
        return None
    side = 2 * radius + 24 * view.unit
    middles = _candidate_centres(view, side, source)
    half = side / 2
    boxes = np.concatenate([middles - half, middles + half], 1)
    free = ~room.leaves_canvas(boxes) & (room.overlap_costs(boxes) < 0.35)
    if not free.any():
        return None
    return Loupe(
        source,
        middles[free][room.reserve_best((side, side), middles[free], LOUPE_OVERLAP_WEIGHT)],
        times,
        radius,
    )


def _candidate_centres(view: View, side: float, source: Array) -> Array:
    """Places for the magnifier, those nearest to what it shows first, but not on top of it."""
    border = side / 2 + 0.05 * np.array(view.size_px)
    x, y = (np.linspace(low, size - low, 9) for low, size in zip(border, view.size_px, strict=True))
    grid = np.stack(np.meshgrid(x, y), -1).reshape(-1, 2)
    away = np.linalg.norm(grid - source, axis=1)
    order = np.argsort(away)
    return np.asarray(grid[order[away[order] > 0.9 * side]])


def draw_loupe(view: View, claim: DrawableRuling, loupe: Loupe, pixels: Pixels) -> str:
    """The magnifier with what it shows, and the line that says where it looks."""
    x, y = loupe.middle
    disc = element("circle", cx=float(x), cy=float(y), r=loupe.radius)
    inside = group(
        (_photo_detail(loupe, pixels), *_draw_contents(view, claim, loupe)),
        clip_path="url(#loupe)",
    )
    rim = {"cx": float(x), "cy": float(y), "fill": "none"}
    return group(
        (
            element("clipPath", disc, id="loupe"),
            _draw_pointer(view, loupe),
            inside,
            element("circle", **rim, r=loupe.radius, stroke=BLACK, stroke_width=4.6 * view.unit),
            element("circle", **rim, r=loupe.radius, stroke=WHITE, stroke_width=2.4 * view.unit),
            text_plate(f"× {loupe.magnification:.0f}" if loupe.magnification >= 2 else f"× {loupe.magnification:.1f}", float(x),
                  float(y) + loupe.radius, 10 * view.unit, edge=BLACK),
        )
    )  # fmt: skip


def _photo_detail(loupe: Loupe, pixels: Pixels) -> str:
    """The photo's own pixels (H, W, 3) under the magnifier."""
    reach = loupe.radius / loupe.magnification + 1
    size = np.array([pixels.shape[1], pixels.shape[0]])
    left, top = np.clip(np.floor(loupe.source - reach), 0, size).astype(int)
    right, bottom = np.clip(np.ceil(loupe.source + reach), 0, size).astype(int)
    x, y = loupe.middle + loupe.magnification * (np.array([left, top]) - loupe.source)
    wide, high = right - left, bottom - top
    return element(
        "image",
        href=data_uri(pixels[top:bottom, left:right], (int(wide), int(high))),
        x=float(x),
        y=float(y),
        width=float(wide * loupe.magnification),
        height=float(high * loupe.magnification),
        preserveAspectRatio="none",
    )


def _draw_contents(view: View, claim: DrawableRuling, loupe: Loupe) -> list[str]:
    parts = []
    if claim.to_piece:
        edge = loupe.to_loupe_px(base_outline(view, claim.to_piece))
        parts.append(
            path(edge, True, stroke=BLACK, stroke_width=2.6 * view.unit, stroke_opacity=0.6)
        )
        parts.append(path(edge, True, stroke=WHITE, stroke_width=1.3 * view.unit))
    if claim.from_piece and claim.nearest_line_mm is not None:
        piece = claim.from_piece
        line = offset_outline(piece.shape, claim.nearest_line_mm, steps=2880)
        seen = loupe.to_loupe_px(view.to_px(line, piece.z_mm))
        parts.append(cased_line(seen, RANGE_LINE_COLOUR, 1.5 * view.unit))
        parts.append(_line_label(view, claim, loupe, seen))
    return [*parts, _confidence_bar(view, claim, loupe)]


def _line_label(view: View, claim: DrawableRuling, loupe: Loupe, line: Array) -> str:
    """The range line's number, on it, towards the rim and away from the base."""
    off = np.linalg.norm(line - loupe.middle, axis=1)
    x, y = line[np.nanargmin(np.abs(off - 0.78 * loupe.radius))]
    return text_plate(
        claim.line_name(claim.nearest_line_mm or 0.0),
        float(x),
        float(y),
        10 * view.unit,
        edge=BLACK,
    )


def _confidence_bar(view: View, claim: DrawableRuling, loupe: Loupe) -> str:
    """The closest point as a dot on a bar that spans 95 % (1.96 σ to either side) along the measured line."""
    way = claim.to_mm - claim.from_mm
    way = way / max(float(np.hypot(*way)), 1e-9)
    reach = 1.96 * claim.sigma_mm * way
    ends = loupe.to_loupe_px(
        view.to_px(np.stack([claim.to_mm - reach, claim.to_mm + reach]), claim.z_mm)
    )
    x, y = loupe.to_loupe_px(view.to_px(claim.to_mm, claim.z_mm)[None])[0]
    dot = element("circle", cx=float(x), cy=float(y), r=1.5 * view.unit, fill=WHITE)
    return cased_line(ends, claim.style.colour, 3.4 * view.unit) + dot


def _draw_pointer(view: View, loupe: Loupe) -> str:
    small = loupe.radius / loupe.magnification
    way = loupe.middle - loupe.source
    way = way / float(np.hypot(*way))
    line = np.stack([loupe.source + way * small, loupe.middle - way * loupe.radius])
    ring_ = {"cx": float(loupe.source[0]), "cy": float(loupe.source[1]), "r": small, "fill": "none"}
    return group(
        part
        for colour, wide in ((BLACK, 2.6), (WHITE, 1.3))
        for part in (
            path(line, stroke=colour, stroke_width=wide * view.unit),
            element("circle", **ring_, stroke=colour, stroke_width=wide * view.unit),
        )
    )
