"""Measuring between what a question names: pieces, units, terrain."""

import math
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

from overruler.geometry.farthest import farthest_gap
from overruler.geometry.shapes import Gap, Shape, gap
from overruler.reading import Node
from overruler.rules.bodies import Body, bodies_named
from overruler.scene import Scene
from overruler.units import CONTACT_TOLERANCE_MM
from overruler.verdict import Verdict

TIE_TOLERANCE_MM = 1e-9
"""Distances that differ by less are equal: rounding must not choose the pair."""


@dataclass(frozen=True, slots=True)
class BodyPair:
    """Two bodies and the gap between them."""

    a: Body
    b: Body
    gap: Gap

    @classmethod
    def of(cls, a: Body, b: Body) -> "BodyPair":
        """Two bodies with their gap measured."""
        return cls(a, b, gap_between(a, b))

    @property
    def touches(self) -> bool:
        """Whether the two are in contact, in height too."""
        return self.gap.distance_mm <= CONTACT_TOLERANCE_MM and self.may_touch

    @property
    def may_touch(self) -> bool:
        """Whether the heights of the two let them touch, wherever they are."""
        return self.a.meets_in_height(self.b)

    @property
    def are_enemies(self) -> bool:
        """Whether the two belong to different players."""
        return self.a.is_enemy_of(self.b)


@dataclass(frozen=True)
class Measure:
    """Everything between the bodies on the first side and those on the second."""

    pairs: tuple[BodyPair, ...]
    """Each body of the first side with each of the second, in the scene's order."""

    @cached_property
    def closest(self) -> BodyPair:
        """The closest pair; of equally close ones the first in the scene's order."""
        limit_mm = min(pair.gap.distance_mm for pair in self.pairs) + TIE_TOLERANCE_MM
        return next(pair for pair in self.pairs if pair.gap.distance_mm <= limit_mm)

    @property
    def distance_mm(self) -> float:
        """The closest distance."""
        return self.closest.gap.distance_mm

    @property
    def touches(self) -> bool:
        """Whether any pair is in contact."""
        return any(pair.touches for pair in self.pairs)

    @cached_property
    def touching_in_height(self) -> "Measure | None":
        """The pairs whose heights let them touch; None without one."""
        pairs = tuple(pair for pair in self.pairs if pair.may_touch)
        return Measure(pairs) if pairs else None

    @cached_property
    def enemies_in_height(self) -> "Measure | None":
        """The pairs of enemies whose heights let them touch; None without one."""
        pairs = tuple(pair for pair in self.pairs if pair.may_touch and pair.are_enemies)
        return Measure(pairs) if pairs else None

    @cached_property
    def from_bodies(self) -> tuple[Body, ...]:
        """The bodies of the first side."""
        return tuple(dict.fromkeys(pair.a for pair in self.pairs))

    @cached_property
    def to_bodies(self) -> tuple[Body, ...]:
        """The bodies of the second side."""
        return tuple(dict.fromkeys(pair.b for pair in self.pairs))

    @cached_property
    def farthest_mm(self) -> float:
        """The largest distance from a point of the second side to the nearest body of the first."""
        froms = [part for body in self.from_bodies for part in body.parts]
        tos = [part for body in self.to_bodies for part in body.parts]
        limits = [min(_farthest_limit_mm(a, b) for a in froms) for b in tos]
        farthest_mm = 0.0
        for limit_mm, part in sorted(zip(limits, tos, strict=True), key=lambda x: -x[0]):
            if limit_mm > farthest_mm:
                farthest_mm = farthest_distance_mm(froms, part, farthest_mm)
        return farthest_mm

    @cached_property
    def farthest_by_part(self) -> tuple[tuple[Body, Shape, float], ...]:
        """`farthest_mm` of each part of the second side alone."""
        from_parts = [part for body in self.from_bodies for part in body.parts]
        return tuple(
            (body, part, farthest_distance_mm(from_parts, part))
            for body in self.to_bodies
            for part in body.parts
        )

    @property
    def extremes_by_body(self) -> Iterator[tuple[float, float]]:
        """The closest and the farthest distance of each body of the second side."""
        for body in self.to_bodies:
            gaps = [pair.gap.distance_mm for pair in self.pairs if pair.b == body]
            fars = [far for owner, _, far in self.farthest_by_part if owner == body]
            yield min(gaps), max(fars)

    def of_body(self, body: Body) -> "Measure":
        """The part of the measure to one body of the second side."""
        return Measure(tuple(pair for pair in self.pairs if pair.b == body))


def between(scene: Scene, question: Node, from_key: str = "from", to_key: str = "to") -> Measure:
    """The measure between the two that a question names."""
    froms, tos = bodies_named(scene, question[from_key]), bodies_named(scene, question[to_key])
    return measure_sides(froms, tos, question[to_key])


def measure_sides(froms: Sequence[Body], tos: Sequence[Body], node: Node) -> Measure:
    """The measure between two sides; `BadInput` about `node` where they share a body."""
    for body in tos:
        if body in froms:
            node.fail(f"{body.id!r} is on both sides; a distance needs two")
    return Measure(tuple(BodyPair.of(a, b) for a, b in product(froms, tos)))


def verdict_on(question: Node, measure: Measure, sigma_mm: float) -> Verdict:
    """A verdict with the distance that it rests on; its answer is still to be filled in."""
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
    """The band of a distance; 0 is up to the first line. A line touched is not crossed."""
    return bisect_left(lines_mm, distance_mm - CONTACT_TOLERANCE_MM)


def gap_between(a: Body, b: Body) -> Gap:
    """The gap between two bodies."""
    best = Gap(math.inf, (0, 0), (0, 0))
    for p, q in product(a.parts, b.parts):
        if _least_gap_mm(p, q) <= best.distance_mm:
            best = min(best, gap(p, q), key=lambda found: found.distance_mm)
    return best


def farthest_distance_mm(shapes: Sequence[Shape], b: Shape, floor_mm: float = 0.0) -> float:
    """The largest distance from any point of `b` to the nearest of `shapes`; at least a floor."""
    candidates = _nearest_candidates(shapes, b)
    if len(candidates) == 1:
        return max(farthest_gap(candidates[0], b).distance_mm, floor_mm)
    from overruler.geometry.batched.distances import farthest_from_all

    return farthest_from_all(candidates, b, floor_mm)


def _nearest_candidates(shapes: Sequence[Shape], b: Shape) -> list[Shape]:
    """The shapes that may be nearest to the farthest point of `b`."""
    limit_mm = min(_farthest_limit_mm(shape, b) for shape in shapes)
    near = [shape for shape in shapes if _least_gap_mm(shape, b) <= limit_mm]
    if len(near) > 1:
        nearest = min(near, key=lambda shape: math.dist(shape.center, b.center))
        limit_mm = farthest_gap(nearest, b).distance_mm
    return [shape for shape in near if gap(shape, b).distance_mm <= limit_mm]


def _farthest_limit_mm(a: Shape, b: Shape) -> float:
    """A limit of how far the farthest point of `b` is from `a`."""
    return math.dist(a.center, b.center) + b.bounding_radius_mm


def _least_gap_mm(a: Shape, b: Shape) -> float:
    """A limit of how near two shapes are."""
    between_mm = math.dist(a.center, b.center)
    return between_mm - a.bounding_radius_mm - b.bounding_radius_mm
