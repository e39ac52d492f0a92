"""A ship's arcs: the standard ones and its own."""

import math
from collections.abc import Mapping
from typing import NamedTuple

from overruler.bases import Base
from overruler.geometry.arcs import (
    FULL_TURN_DEG,
    WHOLE_TURN_TOLERANCE_DEG,
    Region,
    Strip,
    Wedge,
    counterclockwise_turn_deg,
)
from overruler.geometry.shapes import Point
from overruler.pieces import Piece, read_point
from overruler.reading import Node, read_length
from overruler.scene import Scene

HALF_FRONT_DEG: Mapping[float, float] = {40: 40.6, 60: 41.4, 80: 41.8}
"""Half the angle of the front and rear arcs, by the side in mm of a square base; as measured on
printed tokens."""
MEDIUM_SIDE_MM = 60.0
MEDIUM_SPREAD_MM = 1.0
"""A medium base measures up to this much more than its name says."""
BULLSEYE_WIDTH_MM = 15.0
MAX_ANGLE_DEG = 1e6
"""A larger angle is a slip of the pen."""
PRINTED_ARCS = ("front", "rear", "left", "right")
"""The standard arcs that are known only on bases of `HALF_FRONT_DEG`."""
CENTER: Point = (0.0, 0.0)


class ShipArc(NamedTuple):
    """An arc in a ship's frame: x ahead, y to the left, headings counter-clockwise from ahead."""

    apex: Point
    """(x, y) in mm."""
    from_deg: float
    """The heading of its first border, or of a strip."""
    sweep_deg: float
    """From its first border counter-clockwise to its last; 0 for a strip."""
    width_mm: float | None = None
    """The width of a strip; None for a wedge."""
    standard: bool = False
    """Whether every ship has it."""

    def on_board(self, ship: Piece) -> Region:
        """The region of the board that it covers."""
        turn = math.radians(math.remainder(ship.heading_deg, FULL_TURN_DEG))
        (x, y), c, s = self.apex, math.cos(turn), math.sin(turn)
        apex = ship.x_mm + c * x - s * y, ship.y_mm + s * x + c * y
        heading_deg = ship.heading_deg + self.from_deg
        if self.width_mm is None:
            return Wedge(apex, heading_deg, self.sweep_deg)
        return Strip(apex, heading_deg, self.width_mm)


def read_arcs(scene: Scene, index: int, node: Node) -> tuple[ShipArc, ...]:
    """The arcs of a ship that a question names: one, or several joined by `+`."""
    _check_front(scene, index)
    ship = scene.pieces[index]
    known = _standard_arcs(ship) | _own_arcs(Node(ship.stats, "scene", f"pieces[{index}].stats"))
    if node.text() in known:
        return (known[node.text()],)
    names = dict.fromkeys(node.text().split("+"))
    return tuple(_read_arc(scene, index, node, name) for name in names)


def _read_arc(scene: Scene, index: int, node: Node, name: str) -> ShipArc:
    ship = scene.pieces[index]
    known = _standard_arcs(ship) | _own_arcs(Node(ship.stats, "scene", f"pieces[{index}].stats"))
    if name in known:
        return known[name]
    if name in PRINTED_ARCS:
        sides = ", ".join(f"{side:g}" for side in HALF_FRONT_DEG)
        node.fail(
            f"the standard {name!r} arc is known on square bases of {sides} mm, "
            f"not on {ship.base.name}; give it in pieces[{index}].stats.arcs"
        )
    return node.fail(f"{ship.id!r} has no arc {name!r}; it has: {', '.join(known)}")


def _check_front(scene: Scene, index: int) -> None:
    """Raise `BadInput` where a photo shows a plate's sides and not its front."""
    ship = Node(scene.pieces[index].extra, "scene", f"pieces[{index}]")
    if not ship.has("heading_modulo_deg"):
        return
    turn = ship["heading_modulo_deg"].number()
    if turn < FULL_TURN_DEG:
        ship.fail(
            f"{scene.pieces[index].id!r} may be turned by {turn:g} degrees, so its arcs are not known: "
            f'give --fix to overruler measure with do = "turn"; in a scene, set heading_deg right and '
            "take heading_modulo_deg out"
        )


def _half_front_deg(base: Base) -> float | None:
    """Half the angle of the front arc on a square base; None where it is not known."""
    side_mm = base.width_mm
    if MEDIUM_SIDE_MM <= side_mm <= MEDIUM_SIDE_MM + MEDIUM_SPREAD_MM:
        side_mm = MEDIUM_SIDE_MM
    return HALF_FRONT_DEG.get(side_mm)


def _standard_arcs(ship: Piece) -> dict[str, ShipArc]:
    sectors = {"full_front": (-90.0, 180.0), "full_rear": (90.0, 180.0)}
    half = _half_front_deg(ship.base) if ship.base.is_square else None
    if half:
        sectors["front"] = (-half, 2 * half)
        sectors["rear"] = (180 - half, 2 * half)
        sectors["left"] = (half, 180 - 2 * half)
        sectors["right"] = (half - 180, 180 - 2 * half)
    arcs = {name: ShipArc(CENTER, *sector, standard=True) for name, sector in sectors.items()}
    return arcs | {"bullseye": ShipArc(CENTER, 0.0, 0.0, BULLSEYE_WIDTH_MM, standard=True)}


def _own_arcs(stats: Node) -> dict[str, ShipArc]:
    arcs: dict[str, ShipArc] = {}
    for node in stats["arcs"].items() if stats.has("arcs") else ():
        name = node["name"].text()
        if name in arcs:
            node["name"].fail(f"repeats {name!r}")
        arcs[name] = _read_own_arc(node)
    return arcs


def _read_own_arc(node: Node) -> ShipArc:
    from_deg = read_angle_deg(node["from_deg"])
    if node.has("width_mm"):
        apex = node.get("apex_mm", read_point, CENTER)
        return ShipArc(apex, from_deg, 0.0, read_length(node["width_mm"]))
    sweep = counterclockwise_turn_deg(from_deg, read_angle_deg(node["to_deg"]))
    if sweep > FULL_TURN_DEG + WHOLE_TURN_TOLERANCE_DEG:
        node["to_deg"].fail(
            f"sweeps {sweep:g} degrees from from_deg; a whole turn is {FULL_TURN_DEG:g}"
        )
    return ShipArc(read_point(node["apex_mm"]), from_deg, sweep)


def read_angle_deg(node: Node) -> float:
    """An angle in degrees, of any number of turns within reason."""
    value = node.number()
    if abs(value) > MAX_ANGLE_DEG:
        node.fail(f"is no angle in degrees: {value:g}")
    return value
