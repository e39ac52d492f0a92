"""X-Wing's ruler laid between two objects, and the clauses that its reading rests on."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from overruler.reading import Node
from overruler.rules.bands import Reading
from overruler.rules.bodies import Body
from overruler.rules.clauses import clauses_that_hold
from overruler.rules.game import Setting, ruler_of
from overruler.rules.games.xwing.range_zero import held_pairs, id_pair
from overruler.rules.measure import Measure
from overruler.scene import Ruler, Scene
from overruler.units import CONTACT_TOLERANCE_MM
from overruler.verdict import Verdict

if TYPE_CHECKING:
    from overruler.rules.pair_ranges import PairRanges

NEARER_BAND = Setting("nearer_band", True, "The line between two bands belongs to the nearer one.")


def pair_ranges(scene: Scene) -> "PairRanges":
    """How `rules.matrix` reads distances as ranges: contact and pairs held there are at range 0."""
    from overruler.rules.pair_ranges import RulerRanges, apart_in_height

    lines_mm = _band_ends_mm(ruler_of(scene), NEARER_BAND.chosen(scene))
    return RulerRanges(lines_mm, 0, held_pairs(scene), apart_in_height(scene))


def lay_along(scene: Scene, question: Node, measure: Measure) -> "LaidRuler":
    """The ruler laid along a measure."""
    held = held_pairs(scene)
    held_at_zero = any(id_pair(pair.a.id, pair.b.id) in held for pair in measure.pairs)
    nearer_band = NEARER_BAND.chosen(scene)
    return LaidRuler(scene, question, measure, ruler_of(scene), held_at_zero, nearer_band)


def _band_ends_mm(ruler: Ruler, nearer_band: bool) -> tuple[float, ...]:
    """Where each band ends, contact first.

    Where a line belongs to the farther band, the nearer one ends just short of it.
    """
    *between, last = ruler.lines_mm
    if not nearer_band:
        between = [line - 2 * CONTACT_TOLERANCE_MM for line in between]
    return (0.0, *between, last)


@dataclass(frozen=True)
class LaidRuler(Reading):
    """The ruler laid along a measure."""

    held_at_zero: bool
    """Whether one of the pairs measured is held at range 0."""
    nearer_band: bool
    """Whether the line between two bands belongs to the nearer one."""

    @cached_property
    def lines_mm(self) -> tuple[float, ...]:
        """Where each band ends, contact first."""
        return _band_ends_mm(self.ruler, self.nearer_band)

    @property
    def on_line(self) -> bool:
        """Whether the distance touches a line between two bands."""
        return self.touches_line(self.measure.distance_mm)

    def touches_line(self, distance_mm: float) -> bool:
        """Whether a distance touches a line between two bands."""
        lines_mm = self.ruler.lines_mm[:-1]
        return any(abs(distance_mm - line) <= CONTACT_TOLERANCE_MM for line in lines_mm)

    @property
    def held_apart(self) -> bool:
        """Whether it is at range 0 though nothing touches."""
        return self.held_at_zero and self.band > 0

    def range_at(self, band: int) -> int | None:
        """The range in a band of the ruler; None past its end."""
        if self.held_at_zero:
            return 0
        return band if band <= self.ruler.segments else None

    def settings(self, on_line: bool) -> dict[str, bool]:
        """The table's choices that the answer rests on."""
        return {NEARER_BAND.name: self.nearer_band} if on_line else {}


def ruler_clauses(ruler: LaidRuler, zero: bool) -> tuple[str, ...]:
    """The clauses that this reading rests on; `zero`: whether range 0 may be the answer."""
    scene, pair = ruler.scene, ruler.measure.closest
    kinds = [_kind_of_body(scene, body) for body in (pair.a, pair.b)]
    two_ships = kinds == ["ship", "ship"]
    contact = zero and ruler.band == 0
    clauses = {
        "xwing.range": True,
        "xwing.bands": True,
        "xwing.closest_points": True,
        "xwing.one_edge": True,
        "xwing.ship_base": kinds[1] == "ship",
        "xwing.not_a_ship": kinds[1] != "ship",
        "xwing.line": ruler.on_line,
        "xwing.past": ruler.is_past_end and not ruler.held_at_zero,
        "xwing.zero": contact or (zero and ruler.held_at_zero),
        "xwing.touching": contact and two_ships,
        "xwing.on_top": contact and not two_ships,
        "xwing.edge_contact": contact and not two_ships,
        "xwing.held": zero and ruler.held_at_zero,
        "xwing.held_apart": ruler.held_apart,
        "xwing.default_kind": any(_has_default_kind(scene, body) for body in (pair.a, pair.b)),
        "any.closest_piece": len(ruler.measure.pairs) > 1,
    }
    return clauses_that_hold(clauses)


def _kind_of_body(scene: Scene, body: Body) -> str:
    return "obstacle" if body.index is None else scene.kind_of(scene.pieces[body.index])


def _has_default_kind(scene: Scene, body: Body) -> bool:
    return body.index is not None and scene.pieces[body.index].kind is None


def with_every_answer(verdict: Verdict, values: Iterable[Any]) -> Verdict:
    """The verdict with a probability for every possible answer."""
    known = verdict.probability
    if known is None:
        return verdict
    probability = {key: known.get(key, 0.0) for key in map(json.dumps, values)}
    return replace(verdict, probability=probability)


def all_ranges(ruler: LaidRuler) -> tuple[int | None, ...]:
    """Every range of the ruler, None for past its end."""
    return (*range(ruler.ruler.segments + 1), None)
