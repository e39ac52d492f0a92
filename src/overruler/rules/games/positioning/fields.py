"""The fields of Positioning's questions."""

from overruler.geometry.arcs import heading_vector
from overruler.geometry.shapes import Point
from overruler.pieces import read_heading, read_point
from overruler.reading import Node
from overruler.rules.fields import (
    COORDINATE,
    HEADING,
    INCHES,
    NAME,
    Field,
    ValueType,
    list_of,
    one_of,
)
from overruler.rules.json_schema import POINT, array_of

FORCE_KINDS = ("push", "pull", "reposition")


def _read_direction(node: Node) -> Point:
    return heading_vector(read_heading(node))


def _read_directions(node: Node) -> tuple[Point, ...]:
    if not isinstance(node.value, list):
        return (_read_direction(node),)
    if not node.items():
        node.fail("is empty: a reposition needs one direction at least")
    return tuple(_read_direction(item) for item in node.items())


def _read_path(node: Node) -> list[Point]:
    points = [read_point(item) for item in node.items()]
    return points or node.fail("is empty: a path needs one point at least")


DIRECTION = ValueType(_read_direction, HEADING.schema)
"""An angle in degrees; read as a unit vector."""
DIRECTIONS = ValueType(_read_directions, {"anyOf": [HEADING.schema, array_of(HEADING.schema, 1)]})
"""One angle in degrees for all, or one for each; read as unit vectors."""
PATH = ValueType(_read_path, array_of(POINT, 1))
"""The points that a path runs through, one at least."""

PIECE = Field("piece", NAME, "p01", tap="A")
TARGET = Field("target", NAME, "p02", tap="B")
DIRECTION_DEG = Field("direction_deg", DIRECTION, 90)
RANGE_IN = Field("range_in", INCHES, 8, tap="REACH")
WITHIN_IN = Field("distance_in", INCHES, 4, tap="REACH")
ADVANCE_IN = Field("distance_in", INCHES, 6)
RETREAT_IN = Field("distance_in", INCHES, 4, tap="REACH")
PATH_MM = Field("path_mm", PATH, [[200, 100], [300, 150]])
ALLOWANCE_IN = Field("allowance_in", INCHES, 6)
X_MM = Field("x_mm", COORDINATE, 300)
Y_MM = Field("y_mm", COORDINATE, 150)

FORCE_KIND = Field("kind", one_of(FORCE_KINDS), "push")
ACTOR = Field("actor", NAME, "p01")
FORCE_TARGET = Field("target", NAME, "p02", required=False)
FORCE_TARGETS = Field("targets", list_of(NAME, 1), required=False)
FORCE_IN = Field("distance_in", INCHES, 3)
REPOSITION_DEG = Field("direction_deg", DIRECTIONS, only_if=("kind", "reposition"))
