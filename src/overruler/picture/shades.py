"""Ground drawn as shades: light fills with outlines that show on any mat, and soft edges.

Alphabet: n points of an outline.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from overruler.geometry.pose import Array
from overruler.picture.answer_style import CLOSE_STYLE, MEASURED_STYLE, NO_STYLE, YES_STYLE
from overruler.picture.drawable_ruling import DrawableRuling
from overruler.picture.svg import cased_line, element, group, path_data, text_plate
from overruler.picture.view import View
from overruler.verdict import Rings, Shade

if TYPE_CHECKING:
    from shapely.geometry.base import BaseGeometry

COLOURS = (YES_STYLE.colour, NO_STYLE.colour, CLOSE_STYLE.colour)
"""The colours of the first shades of a picture, which differ for every kind of colour vision."""
FILL_OPACITY = 0.34
"""Opacity of a shade whose border is exact."""
SOFT_OPACITIES = (0.13, 0.13, 0.14)
"""Opacities of what may lie in a shade, of what does as measured, and of what surely does.

They lie over each other, so the middle of a shade is as opaque as an exact one."""
OUTLINE_WIDTH = 1.5
"""Width of the core of an outline, in units of the view."""
WORD_SIZE = 8.5
"""Font size of the words on a shade, in units of the view."""
STEP_MM = 20.0
"""The most between two points of an outline, which the lens bends."""
BORDER_STEPS = 24
"""Points along each side of the picture, by which the ground in sight is known."""
FARTHEST_MM = 20_000.0
"""Ground farther from the board's origin is not drawn."""


def with_shade_colours(claims: Sequence[DrawableRuling]) -> list[DrawableRuling]:
    """Rulings in the colours of their ground, so that words and shades belong together."""
    coloured, number = [], 0
    for claim in claims:
        if claim.shades and claim.style == MEASURED_STYLE:
            style = replace(claim.style, colour=COLOURS[number % len(COLOURS)])
            claim = replace(claim, style=style)
        coloured.append(claim)
        number += len(claim.shades)
    return coloured


def draw_shade(view: View, shade: Shade, number: int) -> str:
    """Draw a shade in the colour of its number, without its words."""
    colour = COLOURS[number % len(COLOURS)]
    parts = []
    for polygons, opacity in shade_layers(shade):
        outline = outline_path(view, polygons)
        if outline:
            fill = {"fill": colour, "fill_opacity": opacity, "fill_rule": "evenodd"}
            parts.append(element("path", d=outline, **fill))
    for ring in rings_px(view, shade.polygons_mm):
        parts.append(cased_line(ring, colour, OUTLINE_WIDTH * view.unit, closed=True))
    return group(parts)


def draw_shade_words(view: View, shade: Shade) -> str:
    """Draw the words that belong to places on a shade."""
    size = WORD_SIZE * view.unit
    plates = []
    for text, place in shade.labels_mm:
        x, y = view.to_px(place).tolist()
        if view.contains_all(np.array([[x, y]])):
            plates.append(text_plate(text, x, y, size))
    return group(plates)


def shade_layers(shade: Shade) -> list[tuple[Sequence[Rings], float]]:
    """The polygons that make up a shade, each with its opacity, from the back to the front."""
    if not (shade.sure_mm or shade.possible_mm):
        return [(shade.polygons_mm, FILL_OPACITY)]
    soft = (shade.possible_mm, shade.polygons_mm, shade.sure_mm)
    return [*zip(soft, SOFT_OPACITIES, strict=True)]


def outline_path(view: View, polygons_mm: Sequence[Rings]) -> str:
    """The `d` of all outlines and holes of some polygons, as far as the picture shows them."""
    return "".join(path_data(ring, closed=True) for ring in rings_px(view, polygons_mm))


def rings_px(view: View, polygons_mm: Sequence[Rings]) -> list[Array]:
    """Each outline and each hole of some polygons on the drawing (n, 2), without its first point again."""
    import shapely

    ground = [shapely.Polygon(outline, holes) for outline, *holes in polygons_mm]
    shown = shapely.intersection(ground, _ground_in_sight(view))
    parts = shapely.get_parts(shapely.get_parts(shapely.segmentize(shown, STEP_MM)))
    areas = [part for part in parts if isinstance(part, shapely.Polygon)]
    rings = [shapely.get_coordinates(ring)[:-1] for ring in shapely.get_rings(areas)]
    drawn = (view.to_px(ring) for ring in rings)
    return [ring for ring in drawn if np.isfinite(ring).all()]


def _ground_in_sight(view: View) -> "BaseGeometry":
    """The ground that the picture shows, as a polygon in mm."""
    import shapely

    width, height = view.size_px
    share = np.linspace(0, 1, BORDER_STEPS)
    edge = np.concatenate(
        [np.stack([share, share * 0 + end], 1) for end in (0, 1)]
        + [np.stack([share * 0 + end, share], 1) for end in (0, 1)]
    )
    with np.errstate(all="ignore"):
        places = view.camera.unproject(edge * (width, height) - 0.5)[..., :2]
        is_there = np.isfinite(places).all(1) & np.isfinite(view.to_px(places)).all(1)
    near = is_there & (np.abs(places).max(1) < FARTHEST_MM)
    return shapely.MultiPoint(places[near]).convex_hull
