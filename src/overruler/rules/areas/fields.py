"""The fields of an area, and their schema."""

from collections.abc import Mapping
from typing import Any

from overruler.games import MAX_SEGMENTS
from overruler.reading import MAX_LENGTH_MM, Node
from overruler.rules.fields import (
    INCHES,
    NAME,
    YES_NO,
    Field,
    ValueType,
    fields_schema,
    list_of,
    one_of,
    unread,
)
from overruler.rules.json_schema import (
    OBJECT,
    OUTLINE,
    TEXT,
    Schema,
    array_of,
    enum_of,
    integer_between,
)
from overruler.units import MM_PER_INCH

Interval = tuple[float, float]
MAX_PARTS = 64
"""Most areas that one operator joins."""
DISTANCES = ("within_mm", "within_in", "range")
"""The keys of how near the ground lies, of which an area of something has one."""
KINDS = ("of", "of_player", "edge", "zone", "hidden_from", "all", "any", "not")
"""The keys of what an area is made of, of which it has one."""


def _interval(unit_mm: float) -> ValueType[Interval]:
    """A distance X in a unit, read in mm as 0 to X, or [A, B], both in."""
    most = MAX_LENGTH_MM / unit_mm

    def read_distance(node: Node) -> float:
        value = node.number()
        if not 0 <= value <= most:
            node.fail(f"must be from 0 to {most:g}, is {value:g}")
        return value * unit_mm

    def read(node: Node) -> Interval:
        if not isinstance(node.value, list):
            return 0.0, read_distance(node)
        node.vector(2)
        low, high = map(read_distance, node.items())
        if high < low:
            node.fail(f"runs backwards, from {low / unit_mm:g} to {high / unit_mm:g}")
        return low, high

    distance = {"type": "number", "minimum": 0, "maximum": most}
    return ValueType(read, {"anyOf": [distance, array_of(distance, 2, 2)]})


_BAND = integer_between(0, MAX_SEGMENTS)
EDGES = ("left", "right", "bottom", "top")
"""The edges of the board, as the table's frame has them."""
MAX_BEHIND = 64
"""Most names of what hides ground."""
OF: Field[Node] = Field("of", NAME, "p01", tap="A", required=False)
OF_PLAYER: Field[Node] = Field("of_player", NAME, required=False)
EDGE: Field[str] = Field("edge", one_of(EDGES), required=False)
ZONE: Field[Node] = Field("zone", unread({"anyOf": [TEXT, OUTLINE]}), required=False)
HIDDEN_FROM: Field[Node] = Field("hidden_from", NAME, tap="A", required=False)
BEHIND: Field[list[Node]] = Field("behind", list_of(NAME, 1, MAX_BEHIND), required=False)
ARC: Field[Node] = Field("arc", NAME, required=False)
MOVE_IN: Field[float] = Field("move_in", INCHES, required=False, default=0.0)
WITHIN_MM: Field[Interval] = Field("within_mm", _interval(1.0), required=False)
WITHIN_IN: Field[Interval] = Field(
    "within_in", _interval(MM_PER_INCH), 6, tap="REACH", required=False
)
RANGE: Field[Node] = Field(
    "range", unread({"anyOf": [_BAND, array_of(_BAND, 1, 2)]}), required=False
)
FOR: Field[Node] = Field("for", NAME, required=False)
WHOLE: Field[bool] = Field("whole", YES_NO, required=False, default=False)


MORE = (MOVE_IN, ARC, BEHIND)
"""What narrows or widens one piece of ground."""


def _fields(inner: Schema) -> tuple[Field[Any], ...]:
    """The fields of an area whose parts have the schema `inner`."""
    parts = unread(array_of(inner, 1, MAX_PARTS))
    operators = [Field(name, parts, required=False) for name in ("all", "any")]
    negation = Field("not", unread(inner), required=False)
    kinds = (OF, OF_PLAYER, EDGE, ZONE, HIDDEN_FROM)
    return *kinds, WITHIN_IN, WITHIN_MM, RANGE, *MORE, *operators, negation, FOR, WHOLE


def _exactly_one(keys: tuple[str, ...]) -> Schema:
    return {"oneOf": [{"required": [key]} for key in keys]}


def _none_or_one(keys: tuple[str, ...]) -> Schema:
    none = {"not": {"anyOf": [{"required": [key]} for key in keys]}}
    return {"oneOf": [none, *({"required": [key]} for key in keys)]}


_NEAR_SOMETHING: Schema = {
    "anyOf": [
        {"required": ["of"], "not": {"required": ["arc"]}},
        {"required": ["of_player"]},
        {"required": ["edge"]},
    ]
}
AREA_SHAPE: Mapping[str, Any] = {
    **_exactly_one(KINDS),
    "if": _NEAR_SOMETHING,
    "then": _exactly_one(DISTANCES),
    "else": {"if": {"required": ["of"]}, "then": _none_or_one(DISTANCES)},
    "dependentRequired": {"whole": ["for"]},
}
"""Which of an area's keys go together."""


def _inner_schema() -> Schema:
    """The schema of an area inside another.

    A schema repeats itself by reference only, so areas inside this one are any objects.
    """
    schema = fields_schema(_fields(OBJECT))
    schema["properties"] = {"question": enum_of(("area",)), **schema["properties"]}
    return {**schema, **AREA_SHAPE}


AREA_FIELDS = _fields(_inner_schema())
