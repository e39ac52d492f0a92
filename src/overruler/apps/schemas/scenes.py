"""The schema of a scene file."""

from overruler.bases import SIZE_KEYS
from overruler.games import GAMES, MAX_SEGMENTS, SEGMENT_KEYS
from overruler.pieces import KINDS, MAX_HEADING_DEG, PIECE_READERS
from overruler.reading import MAX_LENGTH_MM
from overruler.rules.json_schema import (
    FLAG,
    INTEGER,
    LENGTH,
    NAME,
    OBJECT,
    OUTLINE,
    POINT,
    SIZE,
    TEXT,
    Schema,
    array_of,
    enum_of,
    integer_between,
    matrix,
    object_with,
    properties_from_readers,
)
from overruler.scene import SCHEMA
from overruler.terrain import TERRAIN_READERS

COVARIANCE_MM2: Schema = {
    "type": "number",
    "minimum": -(MAX_LENGTH_MM**2),
    "maximum": MAX_LENGTH_MM**2,
}
PROBABILITY: Schema = {"type": "number", "minimum": 0, "maximum": 1}
HEADING_DEG: Schema = {"type": "number", "minimum": -MAX_HEADING_DEG, "maximum": MAX_HEADING_DEG}


def scene() -> Schema:
    """A scene: JSON, millimetres in the board frame, degrees counter-clockwise from +x."""
    required = {
        "schema": {"const": SCHEMA},
        "game": enum_of(GAMES),
        "board": object_with({"width_mm": SIZE, "height_mm": SIZE}),
        "pieces": array_of({"$ref": "#/$defs/piece"}),
    }
    optional = {
        "ruler": ruler(),
        "terrain": array_of({"$ref": "#/$defs/terrain"}),
        "grid": grid(),
        "covariance": covariance(),
        "state": OBJECT,
    }
    on_hexes = {
        "properties": {"pieces": {"contains": {"type": "object", "required": ["hex"]}}},
        "required": ["pieces"],
    }
    needs_grid = {"if": on_hexes, "then": {"required": ["grid"]}}
    definitions = {"$defs": {"piece": piece(), "terrain": terrain()}}
    return object_with(required, optional, **needs_grid, **definitions)


def ruler() -> Schema:
    """A ruler of equal segments, or of lines at any distances; the reader checks that they ascend."""
    equal = object_with({"segment_mm": SIZE, "segments": integer_between(1, MAX_SEGMENTS)})
    lines = object_with(
        {"lines_mm": array_of(SIZE, 1, MAX_SEGMENTS)},
        {"names": array_of(NAME, 1, MAX_SEGMENTS) | {"uniqueItems": True}},
        **{"not": {"anyOf": [{"required": [key]} for key in SEGMENT_KEYS]}},
    )
    is_lines = {"required": ["lines_mm"]}
    return {"type": "object", "if": is_lines, "then": lines, "else": equal}


def covariance() -> Schema:
    """The covariance of x and y of the pieces in this order, in mm², and its rare alternative."""
    rows = array_of(array_of(COVARIANCE_MM2))
    required = {"order": array_of(TEXT) | {"uniqueItems": True}, "mm2": rows}
    otherwise = object_with({"probability": PROBABILITY, "mm2": rows})
    return object_with(required, {"otherwise": otherwise})


def grid() -> Schema:
    """A grid of hexes."""
    orientation = enum_of(("pointy", "flat"))
    return object_with(
        {"type": {"const": "hex"}, "orientation": orientation, "size_mm": SIZE, "origin_mm": POINT}
    )


def piece() -> Schema:
    """A piece, placed by x and y or by hex."""
    special = {
        "heading_deg": HEADING_DEG,
        "covariance_mm2": matrix(2, 2, COVARIANCE_MM2),
        "kind": enum_of(KINDS),
        "stats": OBJECT,
        "hex": array_of(INTEGER, 2, 2),
    }
    base = {"oneOf": [_base(shape, sizes) for shape, sizes in SIZE_KEYS.items()]}
    by_hex = {
        "required": ["hex"],
        "not": {"anyOf": [{"required": ["x_mm"]}, {"required": ["y_mm"]}]},
    }
    by_place = {"required": ["x_mm", "y_mm"], "not": {"required": ["hex"]}}
    optional = properties_from_readers(PIECE_READERS, special) | {"x_mm": LENGTH, "y_mm": LENGTH}
    optional |= {
        "height_mm": SIZE,
        "probability": {"type": "number", "minimum": 0, "maximum": 1},
        "by_hand": {"anyOf": [FLAG, array_of(TEXT)]},
    }
    return object_with({"id": NAME, "base": base}, optional, oneOf=[by_place, by_hex])


def _base(shape: str, sizes: tuple[str, ...]) -> Schema:
    corners = {"corner_radius_mm": {"type": "number", "minimum": 0}} if shape == "rectangle" else {}
    return object_with({"shape": {"const": shape}, **dict.fromkeys(sizes, SIZE)}, corners)


def terrain() -> Schema:
    """A piece of terrain."""
    halves = INTEGER | {"type": "number", "multipleOf": 0.5}
    optional = properties_from_readers(TERRAIN_READERS, {"rough": FLAG, "size": halves})
    return object_with({"id": NAME, "footprint_mm": OUTLINE, "top_z_mm": LENGTH}, optional)
