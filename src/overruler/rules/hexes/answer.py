"""How many hexes one piece is from another, and what stands in the hexes between them."""

import json
from collections.abc import Sequence
from math import sqrt

from overruler.geometry.hex_grid import Hex, HexGrid, hex_distance, hexes_between
from overruler.geometry.shapes import Point, Polygon, gap
from overruler.reading import Node
from overruler.rules.bodies import piece_named
from overruler.rules.clauses import clauses_that_hold
from overruler.rules.fields import FROM, TO
from overruler.rules.hexes.hex_position import (
    HexPosition,
    find_hex_position,
    hex_count_probabilities,
)
from overruler.scene import Scene, Terrain
from overruler.units import CONTACT_TOLERANCE_MM
from overruler.verdict import Shade, Verdict

LEAST_OVERLAP_MM = 1e-3
"""Terrain that reaches less far into a hex only touches it."""


def answer_hexes(scene: Scene, question: Node) -> Verdict:
    """How many hexes one piece is from another, and the terrain in the hexes between."""
    first, second = _read_ends(scene, question)
    count = hex_distance(first.hex, second.hex)
    way = hexes_between(first.hex, second.hex)
    between = way[1:-1]
    terrain = [thing for thing in scene.terrain if _stands_in(scene, thing, first.hexes, between)]
    blocking = [thing for thing in terrain if _is_above(thing, first, second)]
    counts = hex_count_probabilities(scene, first, second)
    is_unsure = scene.covariance is not None
    return Verdict(
        answer={
            "hexes": count,
            "way": [list(hexagon) for hexagon in way],
            "terrain": [thing.id for thing in terrain],
            "blocked_by": [thing.id for thing in blocking],
        },
        headline=_headline(count, [thing.id for thing in terrain]),
        rules=_clauses(first, second, bool(between), bool(terrain)),
        pair=(first.piece.id, second.piece.id),
        margin_mm=_margin_mm(first, second),
        value=count,
        probability={json.dumps(k): share for k, share in counts.items()} if is_unsure else None,
        question=question.value,
        drawn_between_mm=(first.hexes.center(first.hex), first.hexes.center(second.hex)),
        shades=(_shade_of(first.hexes, way),),
    )


def _read_ends(scene: Scene, question: Node) -> tuple[HexPosition, HexPosition]:
    (_, i), (_, j) = (piece_named(scene, field.read(question)) for field in (FROM, TO))
    if i == j:
        question["to"].fail(f"{question['to'].value!r} is on both sides; a distance needs two")
    return find_hex_position(scene, i), find_hex_position(scene, j)


def _margin_mm(first: HexPosition, second: HexPosition) -> float | None:
    """The distance to the nearest border beyond which there would be another number of hexes."""
    count = hex_distance(first.hex, second.hex)
    borders = [
        border_mm
        for place, other in ((first, second), (second, first))
        for hexagon, border_mm in place.neighbour_distances_mm.items()
        if not place.is_given and hex_distance(hexagon, other.hex) != count
    ]
    return min(borders, default=None)


def _headline(count: int, terrain: Sequence[str]) -> str:
    words = "in one hex" if count == 0 else "1 hex" if count == 1 else f"{count} hexes"
    return f"{words}, past {' and '.join(terrain)}" if terrain else words


def _clauses(
    first: HexPosition, second: HexPosition, has_between: bool, has_terrain: bool
) -> tuple[str, ...]:
    clauses = {
        "any.hexes": True,
        "any.hex_center": not (first.is_given and second.is_given),
        "any.hex_way": has_between,
        "any.hex_terrain": has_terrain,
    }
    return clauses_that_hold(clauses)


# --- what stands between ---


def _stands_in(scene: Scene, thing: Terrain, grid: HexGrid, hexes: Sequence[Hex]) -> bool:
    """Whether terrain reaches into any of some hexes."""
    inner = [_hexagon(grid, hexagon, grid.size_mm - LEAST_OVERLAP_MM) for hexagon in hexes]
    parts = scene.terrain_parts[thing.id]
    return any(
        gap(part, hexagon).distance_mm <= CONTACT_TOLERANCE_MM
        for part in parts
        for hexagon in inner
    )


def _is_above(thing: Terrain, first: HexPosition, second: HexPosition) -> bool:
    """Whether terrain stands higher than both pieces' bases, so that neither looks over it."""
    highest_mm = max(first.piece.z_mm, second.piece.z_mm)
    return thing.top_z_mm > highest_mm + CONTACT_TOLERANCE_MM


def _hexagon(grid: HexGrid, hexagon: Hex, size_mm: float) -> Polygon:
    return Polygon(tuple(corners_of(grid, hexagon, size_mm)))


def corners_of(grid: HexGrid, hexagon: Hex, size_mm: float) -> list[Point]:
    """The six corners of a hex, counter-clockwise, or of a larger or smaller one about its centre."""
    x, y = grid.center(hexagon)
    half, high = size_mm * sqrt(3) / 2, size_mm / 2
    offsets = [(half, -high), (half, high), (0.0, size_mm)]
    offsets += [(-dx, -dy) for dx, dy in offsets]
    if not grid.pointy:
        offsets = [(dy, -dx) for dx, dy in offsets]
    return [(x + dx, y + dy) for dx, dy in offsets]


def _shade_of(grid: HexGrid, way: Sequence[Hex]) -> Shade:
    """The hexes from one to the other, numbered as they are counted."""
    corners = [corners_of(grid, hexagon, grid.size_mm) for hexagon in way]
    polygons = [[[[x, y] for x, y in ring]] for ring in corners]
    labels = tuple((str(number), grid.center(way[number])) for number in range(1, len(way)))
    return Shade("counted from hex to hex", polygons, labels_mm=labels)
