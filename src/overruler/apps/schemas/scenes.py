"""The schema of a scene file."""

from overruler.apps.schemas.words import (
    FLAG,
    INTEGER,
    LENGTH,
    OBJECT,
    OUTLINE,
    POINT,
    SIZE,
    TEXT,
    Schema,
    choice,
    matrix,
    of_readers,
    record,
    several,
    whole,
)
from overruler.pieces import KINDS, LARGEST_MM, MOST_DEG, MOST_SEGMENTS, PIECE_KEYS, SIZE_KEYS, TERRAIN_KEYS
from overruler.scene import GAMES, SCHEMA

AREA: Schema = {"type": "number", "minimum": -(LARGEST_MM**2), "maximum": LARGEST_MM**2}
CHANCE: Schema = {"type": "number", "minimum": 0, "maximum": 1}
HEADING: Schema = {"type": "number", "minimum": -MOST_DEG, "maximum": MOST_DEG}


def scene() -> Schema:
    """A table at one moment: JSON, millimetres in the board frame, degrees counter-clockwise from +x."""
    required = {
        "schema": {"const": SCHEMA},
        "game": choice(GAMES),
        "board": record({"width_mm": SIZE, "height_mm": SIZE}),
        "pieces": several({"$ref": "#/$defs/piece"}),
    }
    optional = {
        "ruler": record({"segment_mm": SIZE, "segments": whole(1, MOST_SEGMENTS)}),
        "terrain": several({"$ref": "#/$defs/terrain"}),
        "grid": grid(),
        "covariance": covariance(),
        "state": OBJECT,
    }
    on_hexes = {"properties": {"pieces": {"contains": {"type": "object", "required": ["hex"]}}}, "required": ["pieces"]}
    needs_grid = {"if": on_hexes, "then": {"required": ["grid"]}}
    return record(required, optional, **needs_grid, **{"$defs": {"piece": piece(), "terrain": terrain()}})


def covariance() -> Schema:
    """Over x and y of the pieces in this order, in mm²; and what holds with some probability in its place."""
    rows = several(several(AREA))
    required = {"order": several(TEXT) | {"uniqueItems": True}, "mm2": rows}
    return record(required, {"otherwise": record({"probability": CHANCE, "mm2": rows})})


def grid() -> Schema:
    """A printed grid of hexes."""
    orientation = choice(("pointy", "flat"))
    return record({"type": {"const": "hex"}, "orientation": orientation, "size_mm": SIZE, "origin_mm": POINT})


def piece() -> Schema:
    """A base: placed by x and y, or by the hex that it stands on."""
    special = {
        "heading_deg": HEADING,
        "covariance_mm2": matrix(2, 2, AREA),
        "kind": choice(KINDS),
        "stats": OBJECT,
        "hex": several(INTEGER, 2, 2),
    }
    base = {"oneOf": [_base(shape, sizes) for shape, sizes in SIZE_KEYS.items()]}
    by_hex = {"required": ["hex"], "not": {"anyOf": [{"required": ["x_mm"]}, {"required": ["y_mm"]}]}}
    by_place = {"required": ["x_mm", "y_mm"], "not": {"required": ["hex"]}}
    optional = of_readers(PIECE_KEYS, special) | {"x_mm": LENGTH, "y_mm": LENGTH}
    return record({"id": TEXT, "base": base}, optional, oneOf=[by_place, by_hex])


def _base(shape: str, sizes: tuple[str, ...]) -> Schema:
    corners = {"corner_radius_mm": {"type": "number", "minimum": 0}} if shape == "rectangle" else {}
    return record({"shape": {"const": shape}, **dict.fromkeys(sizes, SIZE)}, corners)


def terrain() -> Schema:
    """Something on the table that is no piece."""
    optional = of_readers(TERRAIN_KEYS, {"rough": FLAG})
    return record({"id": TEXT, "footprint_mm": OUTLINE, "top_z_mm": LENGTH}, optional)
