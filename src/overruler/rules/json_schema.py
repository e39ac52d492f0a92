"""The parts of schemas: numbers, texts, points, and objects made from a reader's table of keys."""

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
"""A finite number: some readers of JSON make an infinity of 1e999."""
INTEGER: Schema = NUMBER | {"type": "integer"}
POSITIVE: Schema = {"type": "number", "exclusiveMinimum": 0, "maximum": sys.float_info.max}
LENGTH: Schema = {"type": "number", "minimum": -MAX_LENGTH_MM, "maximum": MAX_LENGTH_MM}
SIZE: Schema = {"type": "number", "minimum": MIN_LENGTH_MM, "maximum": MAX_LENGTH_MM}


def enum_of(names: Iterable[str]) -> Schema:
    """One of the names."""
    return {"enum": list(names)}


def integer_between(least: int, most: int | None = None) -> Schema:
    """An integer between two limits, inclusive."""
    maximum = sys.float_info.max if most is None else most
    return {"type": "integer", "minimum": least, "maximum": maximum}


def array_of(items: Schema, least: int = 0, most: int | None = None) -> Schema:
    """An array with `least` to `most` items."""
    schema = {"type": "array", "items": items, "minItems": least}
    return schema if most is None else schema | {"maxItems": most}


def matrix(rows: int, columns: int, items: Schema = NUMBER) -> Schema:
    """An array of rows."""
    return array_of(array_of(items, columns, columns), rows, rows)


POINT = array_of(LENGTH, 2, 2)
OUTLINE = array_of(POINT, 3)
"""An outline. The reader checks that three points differ, and that it does not cross itself."""


def object_with(
    required: Mapping[str, Schema], optional: Mapping[str, Schema] | None = None, **more: Any
) -> Schema:
    """An object; `more` may forbid other keys by `additionalProperties`."""
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
"""The schema of what each simple reader accepts."""


def properties_from_readers(
    table: Mapping[str, Any], special: Mapping[str, Schema]
) -> dict[str, Schema]:
    """The schemas of a table of readers by key; `special` has those of readers that are not simple."""
    schemas = {}
    for key, reader in table.items():
        schemas[key] = special[key] if key in special else _READER_SCHEMAS[reader]
    return schemas
