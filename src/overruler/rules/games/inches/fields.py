"""The fields of the questions of a game in inches."""

from overruler.reading import Node
from overruler.rules.fields import INCHES, NAME, Field, ValueType, read_inches_mm
from overruler.rules.json_schema import integer_between
from overruler.units import mm_from_inches

MAX_NEIGHBOURS = 1000
"""More neighbours than any unit has."""
STATS_PATTERN = r"^stats(\.[^.]+)+$"
"""A path into a piece's `stats`: its keys joined by dots."""


def _read_inches_or_null_mm(node: Node) -> float | None:
    return None if node.value is None else read_inches_mm(node)


def _read_neighbours(node: Node) -> int:
    count = node.integer()
    if not 0 <= count <= MAX_NEIGHBOURS:
        node.fail(f"must be from 0 to {MAX_NEIGHBOURS}, is {count}")
    return count


def _read_stats_path(node: Node) -> tuple[str, ...]:
    first, *keys = node.text().split(".")
    if first != "stats" or not keys or not all(keys):
        node.fail(f"expected a path such as stats.control, found {node.value!r}")
    return tuple(keys)


INCHES_OR_NULL = ValueType(_read_inches_or_null_mm, {"anyOf": [INCHES.schema, {"type": "null"}]})
"""A length in inches, read in mm; null for no limit."""
NEIGHBOUR_COUNT = ValueType(_read_neighbours, integer_between(0, MAX_NEIGHBOURS))
STATS_PATH = ValueType(_read_stats_path, {"type": "string", "pattern": STATS_PATTERN})
"""A path into a piece's `stats`; read as its keys."""

WITHIN_IN = Field("distance_in", INCHES, 6, tap="REACH")
HORIZONTAL_IN = Field("horizontal_in", INCHES, 1, required=False, default=mm_from_inches(1))
VERTICAL_IN = Field("vertical_in", INCHES, 5, required=False, default=mm_from_inches(5))
UNIT = Field("unit", NAME, "troopers", tap="A")
COHERENCY_IN = Field("distance_in", INCHES, 2, required=False, default=mm_from_inches(2))
NEIGHBOURS = Field("neighbours", NEIGHBOUR_COUNT, 1, required=False, default=1)
SPREAD_IN: Field[float | None] = Field("spread_in", INCHES_OR_NULL, required=False)
OBJECTIVE = Field("objective", NAME, "p01", tap="A")
CONTROL_IN = Field("distance_in", INCHES, 3, required=False, default=mm_from_inches(3))
CONTROL_VALUE: Field[tuple[str, ...]] = Field(
    "value", STATS_PATH, required=False, default=("control",)
)
