"""The schema of an answer: what every question's has in common; what else it holds hangs on the question."""

from overruler.json_schema import (
    FLAG,
    NUMBER,
    OBJECT,
    POINT,
    TEXT,
    Schema,
    array_of,
    object_with,
)
from overruler.verdict import CALL_THRESHOLDS, LIKELY, TOO_CLOSE

PROBABILITY: Schema = {"type": "number", "minimum": 0, "maximum": 1 + 1e-9}


def answer() -> Schema:
    """An answer, or with `-` the error of one line."""
    return {"oneOf": [_ruling_schema(), object_with({"error": TEXT}, additionalProperties=False)]}


def _ruling_schema() -> Schema:
    place = array_of(NUMBER, 2, 2)
    change = object_with({"to": {}, "move_mm": NUMBER, "direction": place})
    calls = dict.fromkeys((*(call for _, call in CALL_THRESHOLDS), LIKELY, TOO_CLOSE))
    optional: dict[str, Schema] = {
        "distance_mm": _or_null(NUMBER | {"minimum": 0}),
        "sigma_mm": _or_null(NUMBER | {"minimum": 0}),
        "from_point_mm": _or_null(POINT),
        "to_point_mm": _or_null(POINT),
        "margin_mm": NUMBER,
        "probability": {"type": "object", "additionalProperties": PROBABILITY, "minProperties": 1},
        "call": {"enum": list(calls)},
        "from": TEXT,
        "to": TEXT,
        "changes": array_of(change, 1),
        "settings": OBJECT | {"additionalProperties": FLAG},
    }
    return object_with(
        {"rules": array_of(TEXT, 1)}, optional, dependentRequired={"probability": ["call"]}
    )


def _or_null(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}
