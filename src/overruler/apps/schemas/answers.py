"""The schema of an answer: the keys that all questions share; other keys depend on the question."""

from overruler.rules.json_schema import (
    NUMBER,
    OBJECT,
    POINT,
    TEXT,
    Schema,
    array_of,
    object_with,
)
from overruler.verdict import CALL_THRESHOLDS, TOO_CLOSE

PROBABILITY: Schema = {"type": "number", "minimum": 0, "maximum": 1 + 1e-9}


def answer() -> Schema:
    """An answer, or the error of a line of standard input."""
    return {"oneOf": [_ruling_schema(), object_with({"error": TEXT}, additionalProperties=False)]}


def _ruling_schema() -> Schema:
    unit_vector = array_of(NUMBER, 2, 2)
    change = object_with({"to": {}, "move_mm": NUMBER, "direction": unit_vector})
    calls = (*(call for _, call in CALL_THRESHOLDS), TOO_CLOSE)
    size = _or_null(NUMBER | {"minimum": 0})
    optional: dict[str, Schema] = {
        "distance_mm": size,
        "sigma_mm": size,
        "from_point_mm": _or_null(POINT),
        "to_point_mm": _or_null(POINT),
        "margin_mm": NUMBER,
        "distance_in": size,
        "sigma_in": size,
        "margin_in": NUMBER,
        "probability": {"type": "object", "additionalProperties": PROBABILITY, "minProperties": 1},
        "call": {"enum": list(calls)},
        "from": TEXT,
        "to": TEXT,
        "rests_on": array_of(object_with({"id": TEXT}), 1),
        "changes": array_of(change, 1),
        "settings": OBJECT | {"additionalProperties": {"type": ["boolean", "string"]}},
    }
    return object_with(
        {"rules": array_of(TEXT, 1)}, optional, dependentRequired={"probability": ["call"]}
    )


def _or_null(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}
