"""The schema of the file that tells the overlay's look."""

from overruler.apps.web.live.look import COLOUR_WORDS, MAX_CORNER, MAX_SIZE, MIN_SIZE, SCHEMA
from overruler.rules.json_schema import OBJECT, TEXT, Schema, object_with

COLOUR: Schema = {
    "anyOf": [
        {"type": "string", "pattern": r"^\s*#[0-9a-fA-F]{6}\s*$"},
        {"type": "string", "pattern": rf"^\s*(?i:{'|'.join(COLOUR_WORDS)})\s*$"},
    ]
}
"""A colour as `parse_colour` reads it."""


def look() -> Schema:
    """A look file: colours, sizes and logos of the overlay, and of each player."""
    player = object_with({}, {"name": TEXT, "colour": COLOUR, "logo": TEXT})
    keys = {
        **dict.fromkeys(("plate", "ink", "soft", "edge"), COLOUR),
        "plate_opacity": _between(0.0, 1.0),
        "corner": _between(0.0, MAX_CORNER),
        "size": _between(MIN_SIZE, MAX_SIZE),
        "logo": TEXT,
        "players": OBJECT | {"additionalProperties": player},
    }
    return object_with({"schema": {"const": SCHEMA}}, keys, additionalProperties=False)


def _between(low: float, high: float) -> Schema:
    return {"type": "number", "minimum": low, "maximum": high}
