"""Unit coherency: whether the pieces of a unit stand together, and how sure that is."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING

from overruler.reading import Node
from overruler.rules.bodies import Body, bodies_named
from overruler.rules.clauses import clauses_that_hold
from overruler.rules.games.inches.fields import (
    COHERENCY_IN,
    NEIGHBOURS,
    SPREAD_IN,
    UNIT,
    VERTICAL_IN,
)
from overruler.rules.measure import gap_between
from overruler.rules.sampling import max_relative_shift_mm, yes_no_probabilities
from overruler.scene import Scene
from overruler.units import CONTACT_TOLERANCE_MM
from overruler.verdict import Verdict

if TYPE_CHECKING:
    from overruler.rules.games.inches.drawn_units import LinkLimits

Link = tuple[int, int]
"""Two pieces of a unit, by their places in it."""


@dataclass(frozen=True)
class Formation:
    """The pieces of a unit, and what coherency asks of them."""

    scene: Scene
    bodies: tuple[Body, ...]
    distance_mm: float
    """How near neighbours are."""
    vertical_mm: float
    """How near they are in height."""
    neighbours: int
    """How many neighbours each piece has at least."""
    spread_mm: float | None
    """How far apart any two are at most; None for no limit."""

    @classmethod
    def read(cls, scene: Scene, question: Node) -> "Formation":
        """The formation that a question asks about."""
        return cls(
            scene,
            _read_unit(scene, question),
            COHERENCY_IN.read(question),
            VERTICAL_IN.read(question),
            NEIGHBOURS.read(question),
            SPREAD_IN.read(question),
        )

    @cached_property
    def gaps_mm(self) -> dict[Link, float]:
        """The distance of every two pieces."""
        pairs = combinations(enumerate(self.bodies), 2)
        return {(i, j): gap_between(a, b).distance_mm for (i, a), (j, b) in pairs}

    @cached_property
    def level_links(self) -> frozenset[Link]:
        """The pairs that are near enough in height to be neighbours."""
        bodies, limit_mm = self.bodies, self.vertical_mm
        near = ((i, j) for i, j in self.gaps_mm if bodies[i].is_near_in_height(bodies[j], limit_mm))
        return frozenset(near)

    @cached_property
    def links(self) -> frozenset[Link]:
        """The pairs that are neighbours."""
        limit_mm = self.distance_mm + CONTACT_TOLERANCE_MM
        return frozenset(link for link in self.level_links if self.gaps_mm[link] <= limit_mm)

    @cached_property
    def out(self) -> tuple[str, ...]:
        """The ids of pieces with too few neighbours; none in a unit of one."""
        if len(self.bodies) == 1:
            return ()
        counts = [0] * len(self.bodies)
        for i, j in self.links:
            counts[i] += 1
            counts[j] += 1
        pairs = zip(self.bodies, counts, strict=True)
        return tuple(body.id for body, count in pairs if count < self.neighbours)

    @property
    def group_count(self) -> int:
        """How many groups neighbours form."""
        return count_groups(len(self.bodies), self.links)

    @property
    def is_spread_kept(self) -> bool:
        """Whether no two are farther apart than the spread."""
        if self.spread_mm is None:
            return True
        limit_mm = self.spread_mm + CONTACT_TOLERANCE_MM
        return all(gap_mm <= limit_mm for gap_mm in self.gaps_mm.values())

    @property
    def is_coherent(self) -> bool:
        """Whether the unit is in coherency."""
        return not self.out and self.group_count == 1 and self.is_spread_kept

    @property
    def limits(self) -> "LinkLimits":
        """What decides in every draw."""
        from overruler.rules.games.inches.drawn_units import LinkLimits

        return LinkLimits(self.distance_mm, self.neighbours, self.spread_mm)

    @property
    def probabilities(self) -> dict[str, float] | None:
        """How likely the unit is in coherency; None in an exact scene."""
        if self.scene.covariance is None:
            return None
        if not self._unsure_links:
            return yes_no_probabilities(float(self.is_coherent))
        from overruler.rules.games.inches.drawn_units import probability_coherent

        return yes_no_probabilities(
            probability_coherent(
                self.scene,
                self.bodies,
                self.gaps_mm,
                self.level_links,
                self._unsure_links,
                self.limits,
            )
        )

    @cached_property
    def _unsure_links(self) -> tuple[Link, ...]:
        """The pairs whose distance may cross a line."""
        lines_mm = [self.distance_mm]
        if self.spread_mm is not None:
            lines_mm.append(self.spread_mm)
        unsure = []
        for (i, j), gap_mm in self.gaps_mm.items():
            a, b = self.bodies[i].index, self.bodies[j].index
            reach_mm = max_relative_shift_mm(self.scene, a, b)
            if any(abs(gap_mm - line) <= reach_mm + CONTACT_TOLERANCE_MM for line in lines_mm):
                unsure.append((i, j))
        return tuple(unsure)


def count_groups(size: int, links: Sequence[Link] | frozenset[Link]) -> int:
    """How many groups some pieces form, whose links join them."""
    group = list(range(size))
    for i, j in links:
        kept, joined = group[i], group[j]
        group = [kept if number == joined else number for number in group]
    return len(set(group))


def _read_unit(scene: Scene, question: Node) -> tuple[Body, ...]:
    """The pieces of the unit that a question names."""
    node = question[UNIT.name]
    bodies = bodies_named(scene, node)
    if bodies[0].index is None:
        node.fail(f"{node.value!r} is terrain, here a unit is asked for")
    unit = scene.pieces[bodies[0].index].unit
    if unit not in (None, node.value):
        node.fail(f"{node.value!r} is a piece of the unit {unit!r}, here the unit is asked for")
    return bodies


def answer_coherency(scene: Scene, question: Node) -> Verdict:
    """Whether a unit is in coherency, which pieces have too few neighbours, and its groups."""
    formation = Formation.read(scene, question)
    answer = formation.is_coherent
    clauses = {
        "inches.coherency": True,
        "inches.alone": len(formation.bodies) == 1,
        "inches.spread": formation.spread_mm is not None,
        "inches.height": len(formation.bodies) > 1,
        "any.edge_to_edge": True,
    }
    return Verdict(
        answer={"answer": answer, "out": list(formation.out), "groups": formation.group_count},
        headline=_headline(formation),
        rules=clauses_that_hold(clauses),
        value=answer,
        probability=formation.probabilities,
        question=question.value,
    )


def _headline(formation: Formation) -> str:
    if formation.is_coherent:
        return "in coherency"
    reasons = []
    if formation.out:
        reasons.append(f"too few neighbours: {', '.join(formation.out)}")
    if formation.group_count > 1:
        reasons.append(f"{formation.group_count} groups")
    if not formation.is_spread_kept:
        reasons.append("too wide a spread")
    return f"out of coherency ({'; '.join(reasons)})"
