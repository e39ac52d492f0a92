"""Who may count at an objective, and how much."""

from collections.abc import Sequence
from dataclasses import dataclass

from overruler.reading import Node
from overruler.rules.bodies import Body, piece_bodies
from overruler.rules.measure import BodyPair
from overruler.scene import Scene

DEFAULT_CONTROL = 1
"""How much a piece without a control value counts."""
MAX_CONTROL = 1e6
"""A larger control value is a slip of the pen."""
SUM_TOLERANCE = 1e-9
"""Sums that differ by a smaller share are equal: 0.1 and 0.2 are no more than 0.3."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A piece that may count for its player at an objective."""

    pair: BodyPair
    """The objective, and the piece."""
    player: str
    value: float


def claims_on(scene: Scene, objective: Body, keys: Sequence[str]) -> list[Claim]:
    """Every piece that belongs to a player, the objective aside."""
    claims = []
    for body in piece_bodies(scene):
        if body.player is not None and body.id != objective.id:
            value = _control_value(scene, body, keys)
            claims.append(Claim(BodyPair.of(objective, body), body.player, value))
    return claims


def _control_value(scene: Scene, body: Body, keys: Sequence[str]) -> float:
    """What a piece counts."""
    node = Node(scene.pieces[body.index or 0].stats, "scene", f"pieces[{body.index}].stats")
    for key in keys:
        if not node.has(key):
            return DEFAULT_CONTROL
        node = node[key]
    value = node.number()
    if value < 0:
        node.fail(f"must not be less than 0, is {value:g}")
    if value > MAX_CONTROL:
        node.fail(f"must be {MAX_CONTROL:,.0f} at most, is {value:g}")
    return int(value) if value.is_integer() else value
