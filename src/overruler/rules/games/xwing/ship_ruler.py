"""X-Wing's ruler laid between two objects, and what that rests on."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from overruler.rules.bands import Reading
from overruler.rules.measure import Body
from overruler.scene import Ruler, Scene
from overruler.units import CONTACT_TOLERANCE_MM
from overruler.verdict import Verdict


def band_ends_mm(ruler: Ruler, nearer: bool) -> tuple[float, ...]:
    """Where each band ends, contact first; where a line belongs to the next band, a touch before it."""
    *between, last = ruler.lines_mm
    return (0.0, *(line if nearer else line - 2 * CONTACT_TOLERANCE_MM for line in between), last)


@dataclass(frozen=True)
class LaidRuler(Reading):
    """The ruler laid along a measure."""

    held_at_zero: bool
    """Whether two of those measured between are held at range 0."""
    nearer_band: bool
    """Whether the line between two bands belongs to the nearer one."""

    @cached_property
    def lines_mm(self) -> tuple[float, ...]:
        """Where each band ends, contact first."""
        return band_ends_mm(self.ruler, self.nearer_band)

    @property
    def on_line(self) -> bool:
        return self.touches_line(self.measure.distance_mm)

    def touches_line(self, distance_mm: float) -> bool:
        """Whether a distance touches a line between two bands."""
        return any(
            abs(distance_mm - line) <= CONTACT_TOLERANCE_MM for line in self.ruler.lines_mm[:-1]
        )

    @property
    def held_apart(self) -> bool:
        """Whether it is at range 0 though nothing touches."""
        return self.held_at_zero and self.band > 0

    def range_at(self, band: int) -> int | None:
        """The range in a band of the ruler."""
        return 0 if self.held_at_zero else band if band <= self.ruler.segments else None

    def settings(self, on_line: bool) -> dict[str, bool]:
        """What the table chose that the answer rests on."""
        return {"nearer_band": self.nearer_band} if on_line else {}


def ruler_clauses(ruler: LaidRuler, zero: bool) -> tuple[str, ...]:
    """The clauses that this use of the ruler rests on; `zero` where range 0 can come into it."""
    pair, contact = ruler.measure.closest, ruler.band == 0
    kinds = [_kind_of_body(ruler.scene, body) for body in (pair.a, pair.b)]
    clauses = {
        "xwing.range": True,
        "xwing.bands": True,
        "xwing.closest_points": True,
        "xwing.one_edge": True,
        "xwing.ship_base": kinds[1] == "ship",
        "xwing.not_a_ship": kinds[1] != "ship",
        "xwing.line": ruler.on_line,
        "xwing.past": ruler.is_past_end and not ruler.held_at_zero,
        "xwing.zero": zero and (contact or ruler.held_at_zero),
        "xwing.touching": zero and contact and kinds == ["ship", "ship"],
        "xwing.on_top": zero and contact and kinds != ["ship", "ship"],
        "xwing.edge_contact": zero and contact and kinds != ["ship", "ship"],
        "xwing.held": zero and ruler.held_at_zero,
        "xwing.held_apart": ruler.held_apart,
        "xwing.default_kind": any(
            _has_default_kind(ruler.scene, body) for body in (pair.a, pair.b)
        ),
        "any.closest_piece": len(ruler.measure.pairs) > 1,
    }
    return tuple(clause for clause, holds in clauses.items() if holds)


def _kind_of_body(scene: Scene, body: Body) -> str:
    return "obstacle" if body.index is None else scene.kind_of(scene.pieces[body.index])


def _has_default_kind(scene: Scene, body: Body) -> bool:
    return body.index is not None and scene.pieces[body.index].kind is None


def with_every_answer(verdict: Verdict, values: Iterable[Any]) -> Verdict:
    """The same with every possible answer among its odds."""
    odds = verdict.probability
    if odds is None:
        return verdict
    return replace(
        verdict, probability={key: odds.get(key, 0.0) for key in map(json.dumps, values)}
    )


def all_ranges(ruler: LaidRuler) -> tuple[int | None, ...]:
    """Every range there is."""
    return (*range(ruler.ruler.segments + 1), None)
