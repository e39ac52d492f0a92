"""A ship's arcs, its own and the standard ones, and how sure a range measured inside one is."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from overruler.geometry.arcs import FULL_DEG, ROUNDED_DEG, Region, Strip, Wedge, closest_in, outline_away, sweep
from overruler.geometry.shapes import Gap, Point
from overruler.pieces import Piece, point, size
from overruler.reading import Node
from overruler.rules.doubt import doubt_of
from overruler.rules.measure import Measure, Pair
from overruler.rules.sampling import reach_mm
from overruler.scene import Scene
from overruler.units import TOUCH_MM

HALF_FRONT_DEG: Mapping[float, float] = {40: 40.6, 60: 41.4, 80: 41.8}
"""Half the angle of the front and the rear arc on the square base of each side, as measured on printed tokens."""
BULLSEYE_MM = 15.0
LARGEST_DEG = 1e6
"""Beyond, an angle is a slip of the pen."""
DRAWS = 4096


class ShipArc(NamedTuple):
    """An arc in a ship's own frame: x ahead, y to the left, headings counter-clockwise from ahead."""

    apex: Point
    from_deg: float
    sweep_deg: float
    width_mm: float | None = None
    """Of a strip, which has no sweep; None for a wedge."""
    standard: bool = False
    """Whether it is one that every ship has."""

    def on_board(self, ship: Piece) -> Region:
        """The region of the board that it covers."""
        turn = math.radians(math.remainder(ship.heading_deg, FULL_DEG))
        (x, y), c, s = self.apex, math.cos(turn), math.sin(turn)
        apex, heading_deg = (ship.x_mm + c * x - s * y, ship.y_mm + s * x + c * y), ship.heading_deg + self.from_deg
        return (
            Wedge(apex, heading_deg, self.sweep_deg)
            if self.width_mm is None
            else Strip(apex, heading_deg, self.width_mm)
        )


def arc_named(scene: Scene, index: int, node: Node) -> ShipArc:
    """The arc of a ship that a question names."""
    _check_front(scene, index)
    ship, name = scene.pieces[index], node.text()
    known = _standard(ship) | _own(Node(ship.stats, "scene", f"pieces[{index}].stats"))
    if name in known:
        return known[name]
    if name in _PRINTED:
        node.fail(
            f"the standard {name!r} arc is known on square bases of {_sides()} mm, not on {ship.base.name}; "
            f"give it in pieces[{index}].stats.arcs"
        )
    return node.fail(f"{ship.id!r} has no arc {name!r}; it has: {', '.join(known)}")


_PRINTED = ("front", "rear", "left", "right")


def _check_front(scene: Scene, index: int) -> None:
    """A photo may show a plate's sides and not its front: then no arc can be laid."""
    ship = Node(scene.pieces[index].extra, "scene", f"pieces[{index}]")
    if ship.has("heading_modulo_deg") and (turn := ship["heading_modulo_deg"].number()) < FULL_DEG:
        ship.fail(
            f"its heading is known but for turns of {turn:g} degrees; set it right and take heading_modulo_deg out"
        )


def _sides() -> str:
    return ", ".join(f"{side:g}" for side in HALF_FRONT_DEG)


def _standard(ship: Piece) -> dict[str, ShipArc]:
    center, base = (0.0, 0.0), ship.base
    arcs = {"full_front": (-90.0, 180.0), "full_rear": (90.0, 180.0)}
    if base.square and (half := HALF_FRONT_DEG.get(base.width_mm)):
        arcs |= {"front": (-half, 2 * half), "rear": (180 - half, 2 * half)}
        arcs |= {"left": (half, 180 - 2 * half), "right": (half - 180, 180 - 2 * half)}
    found = {name: ShipArc(center, *angles, standard=True) for name, angles in arcs.items()}
    return found | {"bullseye": ShipArc(center, 0.0, 0.0, BULLSEYE_MM, standard=True)}


def _own(stats: Node) -> dict[str, ShipArc]:
    found: dict[str, ShipArc] = {}
    for node in stats["arcs"].items() if stats.has("arcs") else ():
        name = node["name"].text()
        if name in found:
            node["name"].fail(f"repeats {name!r}")
        found[name] = _arc(node)
    return found


def _arc(node: Node) -> ShipArc:
    first = _angle(node["from_deg"])
    if node.has("width_mm"):
        return ShipArc(node.get("apex_mm", point, (0.0, 0.0)), first, 0.0, size(node["width_mm"]))
    turn = sweep(first, _angle(node["to_deg"]))
    if turn > FULL_DEG + ROUNDED_DEG:
        node["to_deg"].fail(f"sweeps {turn:g} degrees from from_deg; a whole turn is {FULL_DEG:g}")
    return ShipArc(point(node["apex_mm"]), first, turn)


def _angle(node: Node) -> float:
    value = node.number()
    return value if abs(value) <= LARGEST_DEG else node.fail(f"is no angle in degrees: {value:g}")


# --- doubt ---


class AimDoubt(NamedTuple):
    """What a range inside an arc may be instead."""

    sigma_mm: float | None
    """The standard deviation of the distance where there is one; None where no draw lies in the arc."""
    shares: tuple[float, ...]
    """The probability of each band in arc, contact first, past the ruler last."""

    @property
    def in_arc(self) -> float:
        """The probability that any part lies in the arc."""
        return min(math.fsum(self.shares), 1.0)


def aim_doubt(scene: Scene, arc: ShipArc, free: Pair, found: Gap | None, lines_mm: Sequence[float]) -> AimDoubt | None:
    """The doubt of the closest distance inside an arc of `free.a`, whichever way that ship faces.

    None in a scene without covariance. `free` is the closest pair wherever it lies, `found` the gap inside the arc.
    """
    ship = scene.pieces[free.a.index or 0]
    doubt = _aim_doubt(scene, arc.on_board(ship), free, found, lines_mm)
    if doubt is None:
        return None
    others = _other_headings(scene, free.a.index or 0)
    shares = [(1 - math.fsum(others.values())) * share for share in doubt.shares]
    for heading_deg, chance in others.items():
        region = arc.on_board(replace(ship, heading_deg=heading_deg))
        found = closest_in(region, free.a.parts[0], free.b.parts[0])
        other = _aim_doubt(scene, region, free, found, lines_mm)
        assert other is not None  # there is covariance
        shares = [share + chance * more for share, more in zip(shares, other.shares, strict=True)]
    return doubt._replace(shares=tuple(shares))


def _other_headings(scene: Scene, index: int) -> dict[float, float]:
    """What else a ship's heading may be, by what a photo says, and how likely that is."""
    found: dict[float, float] = {}
    ship = Node(scene.pieces[index].extra, "scene", f"pieces[{index}]")
    for node in ship["other_headings"].items() if ship.has("other_headings") else ():
        found[_angle(node["heading_deg"])] = node["probability"].number()
    if any(chance < 0 for chance in found.values()) or math.fsum(found.values()) > 1:
        ship["other_headings"].fail("the probabilities must lie above 0, and be 1 at most together")
    return found


def _aim_doubt(
    scene: Scene, region: Region, free: Pair, found: Gap | None, lines_mm: Sequence[float]
) -> AimDoubt | None:
    """The same for one region of the board."""
    if scene.covariance is None:
        return None
    target, reach = free.b.parts[0], reach_mm(scene, free.a.index, free.b.index)
    if outline_away(region, target) > reach and found is None:
        return AimDoubt(None, (0.0,) * (len(lines_mm) + 1))
    if _arc_is_idle(region, free, found, reach):
        doubt = doubt_of(scene, Measure((free,)), lines_mm)
        return AimDoubt(doubt.sigma_mm, doubt.shares) if doubt else None
    return _of_draws(scene, region, free, reach, lines_mm)


def _arc_is_idle(region: Region, free: Pair, found: Gap | None, reach: float) -> bool:
    """Whether the closest part of all lies in the arc however the two are displaced.

    The closest points of two convex shapes that stay apart move no farther than the shapes, and with them.
    """
    if outline_away(region, free.b.parts[0]) > reach:
        return True
    return (
        found is not None
        and free.gap.distance_mm > reach
        and _away(region, free.gap.to_point) > 2 * reach
        and (found.distance_mm <= free.gap.distance_mm)
    )


def _away(region: Region, place: Point) -> float:
    return min((edge.away_mm(place) for edge in region.edges), default=math.inf)


def _of_draws(scene: Scene, region: Region, free: Pair, reach: float, lines_mm: Sequence[float]) -> AimDoubt:
    import numpy as np

    from overruler.geometry.batched.arcs import closests_in
    from overruler.geometry.batched.draws import draws

    assert scene.covariance is not None
    shifts = draws(np.array(scene.covariance.difference(free.a.index, free.b.index)), DRAWS)
    in_reach = (
        free.gap.distance_mm <= reach
        or region.holds(free.gap.to_point)
        or _away(region, free.gap.to_point) <= 2 * reach
    )
    away = closests_in(region, free.a.parts[0], free.b.parts[0], shifts, in_reach)
    hits = away[np.isfinite(away)]
    counts = np.bincount(np.searchsorted(lines_mm, hits - TOUCH_MM), minlength=len(lines_mm) + 1)
    return AimDoubt(float(hits.std()) if len(hits) else None, tuple((counts / len(shifts)).tolist()))
