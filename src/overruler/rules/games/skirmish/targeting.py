"""Whom a unit of Skirmish can shoot at, and how sure that is. n draws, E enemies."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING

from overruler.reading import Node
from overruler.rules.clauses import clauses_that_hold
from overruler.rules.games.skirmish.shooters import (
    Fighter,
    enemies_of,
    read_fighters,
    read_piece_index,
)
from overruler.rules.games.skirmish.target_sight import TargetSight, is_below
from overruler.rules.sampled.sightlines import Displacements, joint_displacements
from overruler.scene import Scene
from overruler.units import CONTACT_TOLERANCE_MM
from overruler.verdict import Verdict

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from overruler.geometry.batched.visibility import Mask
    from overruler.geometry.pose import Array

    IntArray = NDArray[np.intp]


def answer_targets(scene: Scene, question: Node) -> Verdict:
    """All valid targets of a unit, the closest first, and of each enemy why it is one or is none."""
    targets = Targets.of(scene, read_piece_index(scene, question["unit"]))
    why = {sight.target.id: targets.reason_for(sight) for sight in targets.sights}
    return Verdict(
        answer={"valid": targets.valid, "why": why},
        headline="can shoot at " + (", ".join(targets.valid) or "nobody"),
        rules=targets.rules(),
        value=targets.valid,
        probability=targets.list_probabilities() if scene.covariance else None,
        question=question.value,
        unnamed=targets.unnamed,
    )


@dataclass(frozen=True, eq=False)
class Targets:
    """The enemies of a shooter, and which of them are valid targets."""

    scene: Scene
    shooter: Fighter
    sights: tuple[TargetSight, ...]
    """(E,) one for each enemy, the closest first; equally close ones in the scene's order."""

    @classmethod
    def of(cls, scene: Scene, index: int) -> "Targets":
        """The targets of the piece at an index in the scene."""
        units = read_fighters(scene)
        shooter = units[index]
        sights = [TargetSight(scene, shooter, enemy) for enemy in enemies_of(units, shooter)]
        return cls(scene, shooter, tuple(_closest_first(sights)))

    @cached_property
    def aimable_sights(self) -> tuple[TargetSight, ...]:
        """The enemies in sight and not in melee."""
        return tuple(sight for sight in self.sights if sight.can_be_aimed_at)

    def closer_sights(self, sight: TargetSight) -> list[TargetSight]:
        """The aimable enemies that are closer than one."""
        limit_mm = sight.distance_mm - CONTACT_TOLERANCE_MM
        return [other for other in self.aimable_sights if other.distance_mm < limit_mm]

    def shut_out_by(self, sight: TargetSight) -> TargetSight | None:
        """The closer enemy that keeps one from being a target; None where nothing does.

        Closer enemies that are stunned or dazed can be ignored. So can those in cover, for one that is not.
        """
        closer = self.closer_sights(sight)
        return next((other for other in closer if not _can_be_ignored(other, sight)), None)

    def is_valid(self, sight: TargetSight) -> bool:
        """Whether an enemy is a valid target."""
        if not sight.can_be_aimed_at:
            return False
        return sight.stands_out or self.shut_out_by(sight) is None

    @cached_property
    def valid(self) -> list[str]:
        """The ids of the valid targets, the closest first."""
        return [sight.target.id for sight in self.sights if self.is_valid(sight)]

    @property
    def unnamed(self) -> tuple[str, ...]:
        """The ids of the pieces that the choice rests on, be they no targets themselves."""
        names: list[str] = []
        for sight in self.sights:
            if not sight.engaged:
                names += sight.hiding_pieces
            keeper = None if self.is_valid(sight) else self.shut_out_by(sight)
            names += [keeper.target.id] if keeper else []
        return tuple(dict.fromkeys(names))

    # --- words ---

    def reason_for(self, sight: TargetSight) -> str:
        """Why one enemy is a valid target or is none, in one phrase."""
        if sight.engaged:
            return "is engaged"
        if not sight.is_seen:
            return "is out of sight"
        keeper = self.shut_out_by(sight)
        if keeper is None:
            return _closest_reason(sight, self.closer_sights(sight))
        if sight.large:
            return "is large"
        if sight.stands_out:
            return "is at least 2 inches below"
        return f"{keeper.target.id} is closer"

    def rules(self) -> tuple[str, ...]:
        """The clauses that the choice of a target rests on."""
        rules = dict.fromkeys(
            ["any.enemies", "any.edge_to_edge", "skirmish.closest", "skirmish.range_no_part"]
        )
        for sight in self.sights:
            rules |= dict.fromkeys(self._rules_for(sight))
        return tuple(rules)

    def _rules_for(self, sight: TargetSight) -> Iterator[str]:
        if sight.engaged:
            yield "skirmish.not_engaged"
            return
        yield "skirmish.in_sight"
        yield from sight.rules()
        if not sight.is_seen:
            return
        closer = self.closer_sights(sight)
        is_closest = self.shut_out_by(sight) is None
        past_helpless = is_closest and any(other.target.helpless for other in closer)
        past_cover = is_closest and not sight.in_cover and any(map(_is_covered_only, closer))
        holds = {
            "ignored": past_helpless,
            "past_cover": past_cover,
            "together": past_helpless and past_cover,
            "large": sight.large,
            "below": is_below(self.shooter, sight.target),
            "stands_out": sight.stands_out,
            "ties": self._is_tied(sight),
        }
        yield from clauses_that_hold(holds, "skirmish")

    def _is_tied(self, sight: TargetSight) -> bool:
        """Whether another aimable enemy is equally close."""
        return any(
            abs(other.distance_mm - sight.distance_mm) <= CONTACT_TOLERANCE_MM
            for other in self.aimable_sights
            if other is not sight
        )

    # --- uncertainty ---

    @cached_property
    def uncertain_indices(self) -> set[int]:
        """The pieces whose displacements may change the valid targets; none where settled."""
        indices: set[int] = set()
        maybe_seen = [
            sight for sight in self.sights if not sight.engaged and sight.settled_seen is not False
        ]
        for sight in maybe_seen:
            if sight.settled_seen is None or sight.settled_cover is None:
                indices |= sight.uncertainty.indices
        for sight, other in combinations(maybe_seen, 2):
            farther_mm = other.distance_mm - sight.distance_mm
            if farther_mm <= _max_distance_change_mm(sight, other):
                indices |= {sight.target.index, other.target.index}
        return indices

    def list_probabilities(self) -> dict[str, float]:
        """The probability of each list of valid targets, the closest first."""
        if not self.uncertain_indices:
            return {json.dumps(self.valid): 1.0}
        from overruler.geometry.batched.draws import count_rows

        order = self._order_in_draws(self.valid_in_draws())
        rows, counts = count_rows(order)
        ids = [sight.target.id for sight in self.sights]
        lists = [json.dumps([ids[k] for k in row if k >= 0]) for row in rows.tolist()]
        return dict(zip(lists, (counts / len(order)).tolist(), strict=True))

    def _order_in_draws(self, valid: "Mask") -> "IntArray":
        """The indices of the valid targets in each draw (n, E), the closest first, then -1."""
        import numpy as np

        distances = np.stack(self.drawn_distances_mm, 1)
        ticks = np.round(distances / CONTACT_TOLERANCE_MM)
        order = np.argsort(np.where(valid, ticks, np.inf), axis=1, kind="stable")
        return np.where(np.take_along_axis(valid, order, 1), order, -1)

    def valid_probability(self, name: str) -> float:
        """The probability that a unit is a valid target."""
        ids = [sight.target.id for sight in self.sights]
        if not self.uncertain_indices or name not in ids:
            return float(name in self.valid)
        return float(self.valid_in_draws().mean(0)[ids.index(name)])

    @cached_property
    def displacements(self) -> Displacements:
        """Joint displacements of the shooter, the enemies and whatever else is uncertain."""
        enemies = {sight.target.index for sight in self.sights}
        return joint_displacements(
            self.scene, self.uncertain_indices | {self.shooter.index} | enemies
        )

    @cached_property
    def drawn_distances_mm(self) -> list["Array"]:
        """The distance of each enemy in each draw (n,)."""
        return [sight.distances_in_draws(self.displacements) for sight in self.sights]

    def valid_in_draws(self) -> "Mask":
        """Which of the enemies are valid targets in each draw (n, E)."""
        import numpy as np

        places, distance_mm = self.displacements, self.drawn_distances_mm
        aimable = [sight.aimable_in_draws(places) for sight in self.sights]
        covered = [
            sight.in_cover_in_draws(places) if mask.any() else mask
            for sight, mask in zip(self.sights, aimable, strict=True)
        ]
        valid = [mask.copy() for mask in aimable]
        for k, sight in enumerate(self.sights):
            if sight.stands_out:
                continue
            for m, other in enumerate(self.sights):
                if other.target.helpless or other is sight:
                    continue
                closer = distance_mm[m] < distance_mm[k] - CONTACT_TOLERANCE_MM
                shuts_out = aimable[m] & closer & (covered[k] | ~covered[m])
                valid[k] &= ~shuts_out
        return np.stack(valid, 1)


def _closest_first(sights: Sequence[TargetSight]) -> list[TargetSight]:
    """By distance; those within rounding of each other in the scene's order."""
    ordered: list[TargetSight] = []
    for sight in sorted(sights, key=lambda sight: sight.distance_mm):
        place = len(ordered)
        for k, other in enumerate(ordered):
            tied = sight.distance_mm - other.distance_mm <= CONTACT_TOLERANCE_MM
            if tied and other.target.index > sight.target.index:
                place = k
                break
        ordered.insert(place, sight)
    return ordered


def _is_covered_only(sight: TargetSight) -> bool:
    """Whether only its cover lets the shooter pass an enemy over."""
    return sight.in_cover and not sight.target.helpless


def _can_be_ignored(other: TargetSight, sight: TargetSight) -> bool:
    """Whether a closer enemy can be ignored in favour of one farther off."""
    return other.target.helpless or (other.in_cover and not sight.in_cover)


def _closest_reason(sight: TargetSight, closer: Sequence[TargetSight]) -> str:
    if not closer:
        return "is the closest in sight that is not engaged"
    if sight.in_cover or all(other.target.helpless for other in closer):
        return "is the closest once those stunned or dazed are ignored"
    return "is the closest that is not in cover"


def _max_distance_change_mm(sight: TargetSight, other: TargetSight) -> float:
    """How far two distances can change against each other; negative where neither can."""
    reach_mm = sight.max_shift_mm + other.max_shift_mm
    return reach_mm + CONTACT_TOLERANCE_MM if reach_mm else -1.0
