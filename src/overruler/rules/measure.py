"""Measuring between what a question names: pieces, units, terrain."""

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

from overruler.geometry.farthest import farthest_gap
from overruler.geometry.shapes import Gap, Shape, gap
from overruler.reading import Node
from overruler.scene import Scene
from overruler.units import CONTACT_TOLERANCE_MM
from overruler.verdict import Verdict

TIE_TOLERANCE_MM = 1e-9
"""Distances nearer to each other than this are one distance: rounding must not choose the pair."""


@dataclass(frozen=True, slots=True)
class Body:
    """A piece or a terrain, as far as distances go."""

    id: str
    parts: tuple[Shape, ...]
    """Convex shapes that together are its outline; one for a piece."""
    index: int | None = None
    """A piece's place in the scene; None for terrain, whose place is exact."""
    player: str | None = None
    leader: bool = False
    z_mm: float = 0.0


@dataclass(frozen=True, slots=True)
class BodyPair:
    """Two bodies and the gap between them."""

    a: Body
    b: Body
    gap: Gap

    @property
    def touches(self) -> bool:
        """Whether the two are in contact."""
        return self.gap.distance_mm <= CONTACT_TOLERANCE_MM

    @property
    def are_enemies(self) -> bool:
        """Whether they belong to two players; a body without a player is nobody's enemy."""
        return None not in (self.a.player, self.b.player) and self.a.player != self.b.player


@dataclass(frozen=True)
class Measure:
    """Everything between the bodies on the one side and those on the other."""

    pairs: tuple[BodyPair, ...]
    """Each with each, in the scene's order."""

    @cached_property
    def closest(self) -> BodyPair:
        """The closest pair; of equally close ones the first in the scene's order."""
        least = min(pair.gap.distance_mm for pair in self.pairs)
        return next(pair for pair in self.pairs if pair.gap.distance_mm <= least + TIE_TOLERANCE_MM)

    @property
    def distance_mm(self) -> float:
        return self.closest.gap.distance_mm

    @property
    def is_melee(self) -> bool:
        """Whether two enemies are in contact."""
        return any(pair.touches and pair.are_enemies for pair in self.pairs)

    @cached_property
    def from_bodies(self) -> tuple[Body, ...]:
        return tuple(dict.fromkeys(pair.a for pair in self.pairs))

    @cached_property
    def to_bodies(self) -> tuple[Body, ...]:
        return tuple(dict.fromkeys(pair.b for pair in self.pairs))

    @cached_property
    def farthest_mm(self) -> float:
        """The largest distance from any part of any body of the second side to whichever of the first is nearest."""
        return max(far for _, _, far in self.farthest_by_part)

    @cached_property
    def farthest_by_part(self) -> tuple[tuple[Body, Shape, float], ...]:
        """For each part of the bodies of the second side the largest distance from any point of it to the first."""
        parts = [part for body in self.from_bodies for part in body.parts]
        return tuple(
            (body, part, farthest_part(parts, part))
            for body in self.to_bodies
            for part in body.parts
        )


def between(scene: Scene, question: Node, from_key: str = "from", to_key: str = "to") -> Measure:
    """The measure between the two that a question names."""
    froms, tos = bodies_named(scene, question[from_key]), bodies_named(scene, question[to_key])
    return measure_sides(froms, tos, question[to_key])


def measure_sides(froms: Sequence[Body], tos: Sequence[Body], node: Node) -> Measure:
    """The measure between two sides; `node` is complained about where they share a body."""
    for body in tos:
        if body in froms:
            node.fail(f"{body.id!r} is on both sides; a distance needs two")
    return Measure(tuple(BodyPair(a, b, gap_between(a, b)) for a, b in product(froms, tos)))


def bodies_named(scene: Scene, node: Node) -> tuple[Body, ...]:
    """The bodies that a name in a question stands for: a piece, a unit's pieces, or a terrain."""
    name = node.text()
    scene.check_name(name, f"{node.name}: {node.path}")
    if name in scene.terrain_parts:
        return (Body(name, scene.terrain_parts[name]),)
    return tuple(_piece_body(scene, index) for index in scene.piece_indices[name])


def _piece_body(scene: Scene, index: int) -> Body:
    piece = scene.pieces[index]
    return Body(piece.id, (scene.shapes[index],), index, piece.player, piece.leader, piece.z_mm)


def verdict_on(question: Node, measure: Measure, sigma_mm: float) -> Verdict:
    """A verdict with the distance that it rests on; what it says is still to be filled in."""
    closest = measure.closest
    return Verdict(
        answer={},
        headline="",
        rules=(),
        distance_mm=measure.distance_mm,
        sigma_mm=sigma_mm,
        from_point_mm=closest.gap.from_point,
        to_point_mm=closest.gap.to_point,
        pair=(closest.a.id, closest.b.id),
        question=question.value,
    )


def band_of(distance_mm: float, lines_mm: Sequence[float]) -> int:
    """The band between ascending lines that a distance lies in: 0 is up to the first. A line touched is not crossed."""
    return bisect_left(lines_mm, distance_mm - CONTACT_TOLERANCE_MM)


def gap_between(a: Body, b: Body) -> Gap:
    """The gap between two bodies."""
    best = Gap(math.inf, (0, 0), (0, 0))
    for p, q in product(a.parts, b.parts):
        if (
            math.dist(p.center, q.center) - p.bounding_radius_mm - q.bounding_radius_mm
            <= best.distance_mm
        ):
            best = min(best, gap(p, q), key=lambda found: found.distance_mm)
    return best


def farthest_part(shapes: Sequence[Shape], b: Shape) -> float:
    """The largest distance from any part of `b` to whichever of `shapes` is nearest to that part."""
    near = nearest_candidates(shapes, b)
    if len(near) == 1:
        return farthest_gap(near[0], b).distance_mm
    from overruler.geometry.batched.distances import farthest_from_all

    return farthest_from_all(near, b)


def nearest_candidates(shapes: Sequence[Shape], b: Shape) -> list[Shape]:
    """Those shapes that may be nearest to the farthest part of `b`."""
    enough = min(farthest_gap(shape, b).distance_mm for shape in shapes)
    return [shape for shape in shapes if gap(shape, b).distance_mm <= enough]
