"""The schemas of the files that describe a table: board, lens, terrain and corrections.

Some of them are TOML. Their schemas describe the values that a TOML parser returns.
"""

import sys
from typing import Any

from overruler.bases import LARGEST_BASE_MM
from overruler.board import DICTIONARIES
from overruler.board import SCHEMA as BOARD
from overruler.declared_terrain import OUTLINE_KEYS
from overruler.declared_terrain import READER_BY_KEY as TERRAIN_READERS
from overruler.declared_terrain import SCHEMA as TERRAIN
from overruler.fixes import KEYS_BY_ACTION, LABEL_KEYS, PLACE_KEYS
from overruler.fixes import READER_BY_KEY as FIX_READERS
from overruler.fixes import SCHEMA as FIX
from overruler.lens import SCHEMA as LENS
from overruler.marker_card import MAX_RAISED_MM
from overruler.pieces import KINDS
from overruler.rules.json_schema import (
    FLAG,
    NAME,
    NUMBER,
    OBJECT,
    OUTLINE,
    POINT,
    POSITIVE,
    TEXT,
    Schema,
    array_of,
    enum_of,
    integer_between,
    matrix,
    object_with,
    properties_from_readers,
)
from overruler.taught import MAX_OFFSET, SLOPES
from overruler.taught import SCHEMA as TAUGHT

MARKER_KEYS = ("around_mm", "marker_mm", "markers_at_mm")
"""Keys of an entry of a terrain file that require `markers`."""
PIXELS: Schema = {"type": "number", "minimum": 1, "maximum": sys.float_info.max}
BASE: Schema = {
    "anyOf": [
        {"type": "number", "minimum": 1e-4, "maximum": LARGEST_BASE_MM},
        {
            "type": "string",
            "pattern": r"^\s*\d+(\.\d+)?\s*([xX×]\s*\d+(\.\d+)?\s*)?([mM]{2})?\s*\w*\s*$",
        },
    ]
}
"""A base as `Base.parse` reads it: 27, "27", "40x40", "75x42o"."""


def board() -> Schema:
    """A board file: the size of the board, and its markers."""
    markers = object_with(
        {"size_mm": POSITIVE},
        {
            "dictionary": enum_of(("auto", *DICTIONARIES)),
            "corners_mm": _corners(),
            "scale_share": POSITIVE,
            "scale_by_print": {"type": "boolean"},
            "covariance": array_of(array_of(NUMBER), 3),
            "print": _print(),
            "raised_mm": {"type": "number", "minimum": -MAX_RAISED_MM, "maximum": MAX_RAISED_MM},
        },
        dependentRequired={"covariance": ["corners_mm"]},
    )
    required = {
        "schema": {"const": BOARD},
        "width_mm": POSITIVE,
        "height_mm": POSITIVE,
        "markers": markers,
    }
    return object_with(required, {"name": TEXT})


def _corners() -> Schema:
    """Corners of each marker by its id, the printed top left first, then clockwise."""
    each = {"patternProperties": {r"^\d+$": matrix(4, 3)}, "additionalProperties": False}
    return {"type": "object", "minProperties": 1, **each}


def _print() -> Schema:
    lengths = dict.fromkeys(("printed_mm", "across_mm", "along_mm", "doubt_mm"), POSITIVE)
    return object_with(lengths, {"flush": FLAG})


def lens() -> Schema:
    """A lens file: OpenCV's camera matrix and distortion coefficients, with their covariance."""
    rows = (
        [POSITIVE, {"const": 0}, NUMBER],
        [{"const": 0}, POSITIVE, NUMBER],
        [{"const": value} for value in (0, 0, 1)],
    )
    required = {
        "schema": {"const": LENS},
        "size_px": array_of(PIXELS, 2, 2),
        "matrix": _tuple_of(*(_tuple_of(*row) for row in rows)),
        "distortion": array_of(NUMBER, 5, 5),
    }
    return object_with(required, {"covariance": matrix(9, 9)})


def _tuple_of(*items: Schema) -> Schema:
    return {
        "type": "array",
        "prefixItems": list(items),
        "minItems": len(items),
        "maxItems": len(items),
    }


def terrain() -> Schema:
    """A terrain file: declared raised ground."""
    special = {
        "id": NAME | {"not": {"pattern": r"^p\d+$"}},
        "markers": array_of(integer_between(0), 1) | {"uniqueItems": True},
        "markers_at_mm": array_of(POINT),
    }
    keys = properties_from_readers(TERRAIN_READERS, special) | dict.fromkeys(OUTLINE_KEYS, OUTLINE)
    entry = {
        "type": "object",
        "properties": keys,
        "required": ["id"],
        "additionalProperties": False,
        "oneOf": [{"required": [key]} for key in OUTLINE_KEYS],
        "anyOf": [{"required": ["top_z_mm"]}, {"required": ["markers"]}],
        "dependentRequired": {key: ["markers"] for key in MARKER_KEYS},
    }
    required = {"schema": {"const": TERRAIN}, "terrain": array_of(entry)}
    return object_with(required, additionalProperties=False)


def fix() -> Schema:
    """A fix file: corrections of what was found."""
    corrections = array_of({"oneOf": [_correction_schema(do) for do in KEYS_BY_ACTION]})
    required = {"schema": {"const": FIX}, "fix": corrections}
    return object_with(required, additionalProperties=False)


def taught() -> Schema:
    """A file of what corrections taught: the judged findings, and how each kind is re-weighed."""
    share: Schema = {"type": "number", "minimum": 0, "maximum": 1}
    finding = {"kind": TEXT, "probability": share, "is_piece": FLAG}
    findings = array_of(object_with(finding, additionalProperties=False))
    photo = object_with(
        {"photo": TEXT, "sha256": TEXT, "findings": findings}, additionalProperties=False
    )
    low, high = SLOPES
    weights = {
        "offset": {"type": "number", "minimum": -MAX_OFFSET, "maximum": MAX_OFFSET},
        "slope": {"type": "number", "minimum": low, "maximum": high},
    }
    weighing = object_with(weights, additionalProperties=False)
    required = {
        "schema": {"const": TAUGHT},
        "networks": TEXT,
        "weighings": OBJECT | {"additionalProperties": weighing},
        "photos": array_of(photo),
    }
    return object_with(required, additionalProperties=False)


def _correction_schema(do: str) -> Schema:
    """A correction of one kind, with its keys."""
    required_keys, optional_keys = KEYS_BY_ACTION[do]
    special = {
        **dict.fromkeys(("id", "new_id", "unit", "player"), NAME),
        "xy_px": array_of(NUMBER, 2, 2),
        "base": BASE,
        "kind": enum_of(KINDS),
        "photo": integer_between(0),
        "stats": OBJECT,
    }
    schemas = properties_from_readers(FIX_READERS, special)
    required: dict[str, Schema] = {"do": {"const": do}}
    for key in sorted(required_keys - PLACE_KEYS):
        required[key] = schemas[key]
    other_keys = (required_keys & PLACE_KEYS) | optional_keys
    optional = {key: schemas[key] for key in sorted(other_keys)}
    more: dict[str, Any] = {}
    if required_keys & PLACE_KEYS:
        more["oneOf"] = [{"required": [key]} for key in sorted(PLACE_KEYS)]
    if do == "name":
        more["anyOf"] = [{"required": [key]} for key in LABEL_KEYS]
    return object_with(required, optional, additionalProperties=False, **more)
