"""A ship's arcs, its own and the standard ones, and how sure a range measured inside one is."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from overruler.geometry.arcs import (
    FULL_TURN_DEG,
    WHOLE_TURN_TOLERANCE_DEG,
    Region,
    Strip,
    Wedge,
    counterclockwise_turn_deg,
    distance_to_outline_mm,
    gap_inside_region,
)
from overruler.geometry.shapes import Gap, Point
from overruler.pieces import Piece, read_length, read_point
from overruler.reading import Node
from overruler.rules.measure import BodyPair, Measure
from overruler.rules.sampling import max_relative_shift_mm
from overruler.rules.uncertainty import distance_uncertainty
from overruler.scene import Scene
from overruler.units import CONTACT_TOLERANCE_MM

HALF_FRONT_DEG: Mapping[float, float] = {40: 40.6, 60: 41.4, 80: 41.8}
"""Half the angle of the front and the rear arc on the square base of each side, as measured on printed tokens."""
BULLSEYE_WIDTH_MM = 15.0
MAX_ANGLE_DEG = 1e6
"""Beyond, an angle is a slip of the pen."""
DRAW_COUNT = 4096


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
        turn = math.radians(math.remainder(ship.heading_deg, FULL_TURN_DEG))
        (x, y), c, s = self.apex, math.cos(turn), math.sin(turn)
        apex, heading_deg = (
            (ship.x_mm + c * x - s * y, ship.y_mm + s * x + c * y),
            ship.heading_deg + self.from_deg,
        )
        return (
            Wedge(apex, heading_deg, self.sweep_deg)
            if self.width_mm is None
            else Strip(apex, heading_deg, self.width_mm)
        )


def read_arc(scene: Scene, index: int, node: Node) -> ShipArc:
    """The arc of a ship that a question names."""
    _check_front(scene, index)
    ship, name = scene.pieces[index], node.text()
    known = _standard_arcs(ship) | _own_arcs(Node(ship.stats, "scene", f"pieces[{index}].stats"))
    if name in known:
        return known[name]
    if name in _PRINTED_ARCS:
        node.fail(
            f"the standard {name!r} arc is known on square bases of {_known_sides_text()} mm, not on {ship.base.name}; "
            f"give it in pieces[{index}].stats.arcs"
        )
    return node.fail(f"{ship.id!r} has no arc {name!r}; it has: {', '.join(known)}")


_PRINTED_ARCS = ("front", "rear", "left", "right")


def _check_front(scene: Scene, index: int) -> None:
    """A photo may show a plate's sides and not its front: then no arc can be laid."""
    ship = Node(scene.pieces[index].extra, "scene", f"pieces[{index}]")
    if (
        ship.has("heading_modulo_deg")
        and (turn := ship["heading_modulo_deg"].number()) < FULL_TURN_DEG
    ):
        ship.fail(
            f"its heading is known but for turns of {turn:g} degrees; set it right and take heading_modulo_deg out"
        )


def _known_sides_text() -> str:
    return ", ".join(f"{side:g}" for side in HALF_FRONT_DEG)


def _standard_arcs(ship: Piece) -> dict[str, ShipArc]:
    center, base = (0.0, 0.0), ship.base
    arcs = {"full_front": (-90.0, 180.0), "full_rear": (90.0, 180.0)}
    if base.is_square and (half := HALF_FRONT_DEG.get(base.width_mm)):
        arcs |= {"front": (-half, 2 * half), "rear": (180 - half, 2 * half)}
        arcs |= {"left": (half, 180 - 2 * half), "right": (half - 180, 180 - 2 * half)}
    found = {name: ShipArc(center, *angles, standard=True) for name, angles in arcs.items()}
    return found | {"bullseye": ShipArc(center, 0.0, 0.0, BULLSEYE_WIDTH_MM, standard=True)}


def _own_arcs(stats: Node) -> dict[str, ShipArc]:
    found: dict[str, ShipArc] = {}
    for node in stats["arcs"].items() if stats.has("arcs") else ():
        name = node["name"].text()
        if name in found:
            node["name"].fail(f"repeats {name!r}")
        found[name] = _read_own_arc(node)
    return found


def _read_own_arc(node: Node) -> ShipArc:
    first = _read_angle_deg(node["from_deg"])
    if node.has("width_mm"):
        return ShipArc(
            node.get("apex_mm", read_point, (0.0, 0.0)), first, 0.0, read_length(node["width_mm"])
        )
    turn = counterclockwise_turn_deg(first, _read_angle_deg(node["to_deg"]))
    if turn > FULL_TURN_DEG + WHOLE_TURN_TOLERANCE_DEG:
        node["to_deg"].fail(
            f"sweeps {turn:g} degrees from from_deg; a whole turn is {FULL_TURN_DEG:g}"
        )
    return ShipArc(read_point(node["apex_mm"]), first, turn)


def _read_angle_deg(node: Node) -> float:
    value = node.number()
    return value if abs(value) <= MAX_ANGLE_DEG else node.fail(f"is no angle in degrees: {value:g}")


# --- doubt ---


class ArcRangeUncertainty(NamedTuple):
    """What a range inside an arc may be instead."""

    sigma_mm: float | None
    """The standard deviation of the distance where there is one; None where no draw lies in the arc."""
    band_probabilities: tuple[float, ...]
    """The probability of each band in arc, contact first, past the ruler last."""

    @property
    def in_arc_probability(self) -> float:
        """The probability that any part lies in the arc."""
        return min(math.fsum(self.band_probabilities), 1.0)


def arc_range_uncertainty(
    scene: Scene, arc: ShipArc, free: BodyPair, found: Gap | None, lines_mm: Sequence[float]
) -> ArcRangeUncertainty | None:
    """The doubt of the closest distance inside an arc of `free.a`, whichever way that ship faces.

    None in a scene without covariance. `free` is the closest pair wherever it lies, `found` the gap inside the arc.
    """
    ship = scene.pieces[free.a.index or 0]
    doubt = _region_range_uncertainty(scene, arc.on_board(ship), free, found, lines_mm)
    if doubt is None:
        return None
    others = _other_headings(scene, free.a.index or 0)
    shares = [(1 - math.fsum(others.values())) * share for share in doubt.band_probabilities]
    for heading_deg, chance in others.items():
        region = arc.on_board(replace(ship, heading_deg=heading_deg))
        found = gap_inside_region(region, free.a.parts[0], free.b.parts[0])
        other = _region_range_uncertainty(scene, region, free, found, lines_mm)
        assert other is not None  # there is covariance
        shares = [
            share + chance * more
            for share, more in zip(shares, other.band_probabilities, strict=True)
        ]
    return doubt._replace(band_probabilities=tuple(shares))


def _other_headings(scene: Scene, index: int) -> dict[float, float]:
    """What else a ship's heading may be, by what a photo says, and how likely that is."""
    found: dict[float, float] = {}
    ship = Node(scene.pieces[index].extra, "scene", f"pieces[{index}]")
    for node in ship["other_headings"].items() if ship.has("other_headings") else ():
        found[_read_angle_deg(node["heading_deg"])] = node["probability"].number()
    if any(chance < 0 for chance in found.values()) or math.fsum(found.values()) > 1:
        ship["other_headings"].fail("the probabilities must lie above 0, and be 1 at most together")
    return found


def _region_range_uncertainty(
    scene: Scene, region: Region, free: BodyPair, found: Gap | None, lines_mm: Sequence[float]
) -> ArcRangeUncertainty | None:
    """The same for one region of the board."""
    if scene.covariance is None:
        return None
    target, reach = free.b.parts[0], max_relative_shift_mm(scene, free.a.index, free.b.index)
    if distance_to_outline_mm(region, target) > reach and found is None:
        return ArcRangeUncertainty(None, (0.0,) * (len(lines_mm) + 1))
    if _arc_never_matters(region, free, found, reach):
        doubt = distance_uncertainty(scene, Measure((free,)), lines_mm)
        return ArcRangeUncertainty(doubt.sigma_mm, doubt.band_probabilities) if doubt else None
    return _sampled_uncertainty(scene, region, free, reach, lines_mm)


def _arc_never_matters(region: Region, free: BodyPair, found: Gap | None, reach: float) -> bool:
    """Whether the closest part of all lies in the arc however the two are displaced.

    The closest points of two convex shapes that stay apart move no farther than the shapes, and with them.
    """
    if distance_to_outline_mm(region, free.b.parts[0]) > reach:
        return True
    return (
        found is not None
        and free.gap.distance_mm > reach
        and _distance_to_outline_mm(region, free.gap.to_point) > 2 * reach
        and (found.distance_mm <= free.gap.distance_mm)
    )


def _distance_to_outline_mm(region: Region, place: Point) -> float:
    return min((edge.distance_to_mm(place) for edge in region.edges), default=math.inf)


def _sampled_uncertainty(
    scene: Scene, region: Region, free: BodyPair, reach: float, lines_mm: Sequence[float]
) -> ArcRangeUncertainty:
    import numpy as np

    from overruler.geometry.batched.arcs import distances_inside_region
    from overruler.geometry.batched.draws import draw_gaussian

    assert scene.covariance is not None
    shifts = draw_gaussian(
        np.array(scene.covariance.of_difference(free.a.index, free.b.index)), DRAW_COUNT
    )
    in_reach = (
        free.gap.distance_mm <= reach
        or region.contains(free.gap.to_point)
        or _distance_to_outline_mm(region, free.gap.to_point) <= 2 * reach
    )
    away = distances_inside_region(region, free.a.parts[0], free.b.parts[0], shifts, in_reach)
    hits = away[np.isfinite(away)]
    counts = np.bincount(
        np.searchsorted(lines_mm, hits - CONTACT_TOLERANCE_MM), minlength=len(lines_mm) + 1
    )
    return ArcRangeUncertainty(
        float(hits.std()) if len(hits) else None, tuple((counts / len(shifts)).tolist())
    )
