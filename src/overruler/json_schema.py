"""What the schemas are put together from: numbers, texts, points, and objects made of a reader's table of keys."""

import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from overruler.pieces import MAX_LENGTH_MM, MIN_LENGTH_MM, read_coordinate, read_length, read_point
from overruler.reading import Node

Schema = dict[str, Any]
DRAFT = "https://json-schema.org/draft/2020-12/schema"

TEXT: Schema = {"type": "string"}
NAME: Schema = {"type": "string", "pattern": r"\S"}
FLAG: Schema = {"type": "boolean"}
OBJECT: Schema = {"type": "object"}
NUMBER: Schema = {"type": "number", "minimum": -sys.float_info.max, "maximum": sys.float_info.max}
"""Any that is finite: some readers of JSON make an infinity of 1e999."""
INTEGER: Schema = NUMBER | {"type": "integer"}
POSITIVE: Schema = {"type": "number", "exclusiveMinimum": 0, "maximum": sys.float_info.max}
LENGTH: Schema = {"type": "number", "minimum": -MAX_LENGTH_MM, "maximum": MAX_LENGTH_MM}
SIZE: Schema = {"type": "number", "minimum": MIN_LENGTH_MM, "maximum": MAX_LENGTH_MM}


def enum_of(names: Iterable[str]) -> Schema:
    """One of some names."""
    return {"enum": list(names)}


def integer_between(least: int, most: int | None = None) -> Schema:
    """A whole number between two."""
    return {
        "type": "integer",
        "minimum": least,
        "maximum": sys.float_info.max if most is None else most,
    }


def array_of(items: Schema, least: int = 0, most: int | None = None) -> Schema:
    """An array."""
    ends = {"minItems": least} | ({"maxItems": most} if most is not None else {})
    return {"type": "array", "items": items, **ends}


def matrix(rows: int, columns: int, items: Schema = NUMBER) -> Schema:
    """An array of rows."""
    return array_of(array_of(items, columns, columns), rows, rows)


POINT = array_of(LENGTH, 2, 2)
OUTLINE = array_of(POINT, 3)
"""An outline's points; that three of them differ, and that it does not cross itself, the reader sees."""


def object_with(
    required: Mapping[str, Schema], optional: Mapping[str, Schema] | None = None, **more: Any
) -> Schema:
    """An object of some keys; others are let through unless `additionalProperties` says otherwise."""
    properties = {**required, **(optional or {})}
    return {"type": "object", "properties": properties, "required": list(required), **more}


_READER_SCHEMAS: Mapping[Callable[[Node], Any], Schema] = {
    read_coordinate: LENGTH,
    read_length: SIZE,
    read_point: POINT,
    Node.text: TEXT,
    Node.boolean: FLAG,
    Node.integer: INTEGER,
    Node.number: NUMBER,
}
"""What each of the plain readers lets through."""


def properties_from_readers(
    table: Mapping[str, Any], special: Mapping[str, Schema]
) -> dict[str, Schema]:
    """The schemas of a reader's table of keys; those whose own readers are more than plain are given as `special`."""
    return {
        key: special[key] if key in special else _READER_SCHEMAS[reader]
        for key, reader in table.items()
    }
