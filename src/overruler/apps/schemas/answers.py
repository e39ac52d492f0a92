"""The schema of an answer: what every question's has in common; what else it holds hangs on the question."""

from overruler.apps.schemas.words import FLAG, NUMBER, OBJECT, POINT, TEXT, Schema, record, several
from overruler.verdict import LIKELY, THRESHOLDS, TOO_CLOSE

SHARE: Schema = {"type": "number", "minimum": 0, "maximum": 1 + 1e-9}


def answer() -> Schema:
    """An answer, or with `-` the error of one line."""
    return {"oneOf": [_answer(), record({"error": TEXT}, additionalProperties=False)]}


def _answer() -> Schema:
    place = several(NUMBER, 2, 2)
    change = record({"to": {}, "move_mm": NUMBER, "direction": place})
    calls = dict.fromkeys((*(call for _, call in THRESHOLDS), LIKELY, TOO_CLOSE))
    optional: dict[str, Schema] = {
        "distance_mm": _or_null(NUMBER | {"minimum": 0}),
        "sigma_mm": _or_null(NUMBER | {"minimum": 0}),
        "from_point_mm": _or_null(POINT),
        "to_point_mm": _or_null(POINT),
        "margin_mm": NUMBER,
        "probability": {"type": "object", "additionalProperties": SHARE, "minProperties": 1},
        "call": {"enum": list(calls)},
        "from": TEXT,
        "to": TEXT,
        "changes": several(change, 1),
        "settings": OBJECT | {"additionalProperties": FLAG},
    }
    return record({"rules": several(TEXT, 1)}, optional, dependentRequired={"probability": ["call"]})


def _or_null(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}
