"""What a question holds: its keys, how each is read, and how the question is shown and tapped.

A game declares each of its questions once, as a `Question`. The rules read the fields by it. The
JSON Schema, the example in `overruler rules` and what a `Tap` asks are made from it.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Generic, NamedTuple, TypeVar, cast

from overruler.games import MAX_SEGMENTS
from overruler.pieces import MAX_HEADING_DEG, read_heading
from overruler.reading import MAX_LENGTH_MM, Node, read_coordinate
from overruler.rules.json_schema import (
    FLAG,
    INTEGER,
    LENGTH,
    TEXT,
    Schema,
    array_of,
    enum_of,
    integer_between,
    object_with,
)
from overruler.scene import Scene
from overruler.units import MM_PER_INCH, mm_from_inches
from overruler.verdict import Verdict

T = TypeVar("T")

Rule = Callable[[Scene, Node], Verdict]
"""Answers one kind of question; `BadInput` names what is wrong with it."""


# --- values ---


class ValueType(NamedTuple, Generic[T]):
    """A kind of value: its reader, and the JSON Schema of what the reader takes."""

    read: Callable[[Node], T]
    schema: Schema


def unread(schema: Schema) -> ValueType[Node]:
    """A value that means something only with a scene: its `Node` is handed on."""
    return ValueType(lambda node: node, schema)


def check_type(node: Node, kind: ValueType[Any]) -> None:
    """Raise `BadInput` where a value is not of a kind; of what a scene gives a meaning, only its type."""
    kind.read(node)
    reads = {"string": Node.text, "array": Node.items, "object": Node.object}
    if read := reads.get(kind.schema.get("type", "")):
        read(node)


def read_inches_mm(node: Node) -> float:
    """A length in a question, given in inches, in mm."""
    value = node.number()
    if value < 0:
        node.fail(f"must not be less than 0, is {value:g}")
    if value > MAX_LENGTH_MM / MM_PER_INCH:
        node.fail(f"is more than 10 km: {value:g} inches")
    return mm_from_inches(value)


NAME = unread(TEXT)
"""The name of a piece, a unit, a terrain or an arc."""
WHOLE_NUMBER = ValueType(Node.integer, INTEGER)
YES_NO = ValueType(Node.boolean, FLAG)
HEADING = ValueType(
    read_heading, {"type": "number", "minimum": -MAX_HEADING_DEG, "maximum": MAX_HEADING_DEG}
)
COORDINATE = ValueType(read_coordinate, LENGTH)
INCHES = ValueType(
    read_inches_mm, {"type": "number", "minimum": 0, "maximum": MAX_LENGTH_MM / MM_PER_INCH}
)
"""A length in inches; read in mm."""


def whole_between(least: int, most: int | None = None) -> ValueType[int]:
    """A whole number; the rule that reads it checks its bounds."""
    return ValueType(Node.integer, integer_between(least, most))


def one_of(names: tuple[str, ...]) -> ValueType[str]:
    """One of some names."""
    return ValueType(lambda node: node.choice(names), enum_of(names))


def bands_from(least: int) -> ValueType[Node]:
    """`[2]` or `[1, 2]`: bands, both included; `read_bands` checks them by the scene's ruler."""
    return unread(array_of(integer_between(least, MAX_SEGMENTS), 1, 2))


def list_of(kind: ValueType[Any], least: int = 0, most: int | None = None) -> ValueType[list[Node]]:
    """An array of values of one kind."""
    return ValueType(Node.items, array_of(kind.schema, least, most))


def record_of(*fields: "Field[Any]") -> ValueType[Node]:
    """An object inside a question."""
    return unread(fields_schema(fields))


# --- fields ---


class Field(NamedTuple, Generic[T]):
    """One key of a question."""

    name: str
    type: ValueType[T]
    example: Any = None
    """Its value in the question's example. None: the example leaves it out."""
    tap: str = ""
    """What taps on a photo put here: `A` or `B` for the piece tapped first or second, `ARC` for the
    arc chosen, `REACH` for the inches typed. Empty: nothing."""
    required: bool = True
    default: T | None = None
    """What an optional field is where the question leaves it out."""
    only_if: tuple[str, str] | None = None
    """The field that decides whether this one is asked for, and its value if so."""

    def read(self, question: Node) -> T:
        """The field's value in a question; `BadInput` names what is wrong with it."""
        if self.required or question.has(self.name):
            return self.type.read(question[self.name])
        return cast(T, self.default)


def fields_schema(fields: tuple[Field[Any], ...]) -> Schema:
    """The JSON Schema of an object of some fields."""
    plain = [one for one in fields if one.only_if is None]
    schema = object_with(
        {one.name: one.type.schema for one in plain if one.required},
        {one.name: one.type.schema for one in plain if not one.required},
    )
    for one in fields:
        if one.only_if is not None:
            key, value = one.only_if
            schema["if"] = {"properties": {key: {"const": value}}}
            schema["then"] = {"properties": {one.name: one.type.schema}, "required": [one.name]}
    return schema


FROM = Field("from", NAME, "p01", tap="A")
TO = Field("to", NAME, "p02", tap="B")
FROM_TO = (FROM, TO)
"""The two ends of a distance."""


def bands_field(least: int) -> Field[Node]:
    """The bands that a question of a ruler asks about, from band `least` on."""
    return Field("range", bands_from(least), [1, 2])


BANDS_FROM_ZERO = bands_field(0)
"""The bands of a ruler whose contact is band 0."""
BANDS_ABOVE_ZERO = Field(
    "range",
    unread(BANDS_FROM_ZERO.type.schema | {"contains": {"minimum": 1}}),
    BANDS_FROM_ZERO.example,
)
"""The same where they have to reach past contact."""


# --- questions ---

OTHER_NAMES = {"defender": "target", "target": "defender"}
"""Two names for whom an attack or a move is about: a question may give either."""


class Tap(NamedTuple):
    """A button that asks a question about the two pieces tapped on a photo."""

    question: str
    """The kind of question."""
    label: str
    """The button's text."""
    fixed: Mapping[str, Any] = MappingProxyType({})
    """Values of fields that no tap fills."""
    reach_in: float | None = None
    """The inches typed at first, where the question has a field for them."""
    arcs: tuple[str, ...] = ()
    """The arcs to choose from, where the question has a field for one."""
    needs: Mapping[str, str] = MappingProxyType({})
    """By `A` and `B`: the key of `stats` that this piece must have before it is asked about."""
    by_unit: bool = False
    """Whether a piece tapped stands for its unit."""
    on_grid: bool = False
    """Whether it is asked of tables with a hex grid alone."""
    only: tuple[str, ...] = ()
    """The fields that taps fill; empty for all that can be."""


class Question(NamedTuple):
    """One kind of question of a game."""

    answer: Rule
    fields: tuple[Field[Any], ...] = FROM_TO
    one_of: tuple[str, ...] = ()
    """Optional fields of which exactly one is given."""
    more: Mapping[str, Any] = MappingProxyType({})
    """What the schema says of several fields together."""
    is_area: bool = False
    """Whether its answers are ground of the table, which has a shape."""

    @property
    def about(self) -> str:
        """What it asks, in one sentence: the first line of the rule's docstring."""
        return (self.answer.__doc__ or "").partition("\n")[0]

    @property
    def example(self) -> dict[str, Any]:
        """The fields as an example asks them."""
        return {field.name: field.example for field in self.fields if field.example is not None}

    @property
    def schema(self) -> Schema:
        """The JSON Schema of its fields."""
        schema = fields_schema(self.fields)
        if self.one_of:
            schema["oneOf"] = [{"required": [name]} for name in self.one_of]
        for name, other in self.other_names.items():
            schema["properties"][other] = schema["properties"][name]
            schema["required"] = [each for each in schema["required"] if each != name]
            schema["anyOf"] = [{"required": [name]}, {"required": [other]}]
        return {**schema, **self.more}

    @property
    def other_names(self) -> dict[str, str]:
        """The required fields that have two names, with the other one."""
        required = (field.name for field in self.fields if field.required)
        return {name: OTHER_NAMES[name] for name in required if name in OTHER_NAMES}

    @property
    def needed(self) -> tuple[str, ...]:
        """The names of the fields that every question of this kind gives."""
        return tuple(one.name for one in self.fields if one.required and one.only_if is None)

    def takes(self, name: str) -> bool:
        """Whether a field is called so."""
        names = {field.name for field in self.fields} | set(self.other_names.values())
        return name in names | set(self.more.get("properties", ()))

    def with_usual_names(self, node: Node) -> Node:
        """A question with each field under the name that the rule reads."""
        values = {
            name: node.value[other]
            for name, other in self.other_names.items()
            if not node.has(name) and node.has(other)
        }
        return Node({**node.value, **values}, node.name, node.path) if values else node

    def tapped(self, tap: Tap) -> dict[str, Any]:
        """The fields as a tap asks them, with the placeholders of `Field.tap`."""
        filled = [one for one in self.fields if one.tap and (not tap.only or one.name in tap.only)]
        return {one.name: one.tap for one in filled} | dict(tap.fixed)
