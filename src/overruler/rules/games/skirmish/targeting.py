"""Whom a unit of Skirmish can shoot at, and how sure that is."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING

from overruler.geometry.shapes import gap
from overruler.rules.games.skirmish.shooters import Fighter, enemies_of, read_fighters
from overruler.rules.sampled.sightlines import Displacements, SightUncertainty, joint_displacements
from overruler.rules.sampling import max_relative_shift_mm
from overruler.rules.sightlines import Sight
from overruler.scene import Scene
from overruler.units import CONTACT_TOLERANCE_MM, mm_from_inches

if TYPE_CHECKING:
    from overruler.geometry.batched.visibility import Mask
    from overruler.geometry.pose import Array

BELOW_MM = mm_from_inches(2)
"""An enemy that stands so far below, or farther, can always be aimed at."""


def is_below(shooter: Fighter, target: Fighter) -> bool:
    """Whether a target stands at least 2 inches below the shooter."""
    return shooter.piece.z_mm - target.piece.z_mm >= BELOW_MM - CONTACT_TOLERANCE_MM


@dataclass(frozen=True, eq=False)
class TargetSight:
    """What a shooter sees of one other unit: by the players' own word, or by the scene's lines where they give none."""

    scene: Scene
    shooter: Fighter
    target: Fighter

    @cached_property
    def sight(self) -> Sight:
        return Sight(self.scene, self.shooter.index, self.target.index)

    @cached_property
    def uncertainty(self) -> SightUncertainty:
        return SightUncertainty(self.sight)

    @cached_property
    def distance_mm(self) -> float:
        return gap(self.shooter.shape, self.target.shape).distance_mm

    @cached_property
    def is_seen(self) -> bool:
        hidden_from = self.target.out_of_sight_of
        return self.sight.is_clear if hidden_from is None else self.shooter.id not in hidden_from

    @cached_property
    def in_cover(self) -> bool:
        covered_from = self.target.in_cover_from
        return (
            bool(self.sight.crossing_obstacles)
            if covered_from is None
            else self.shooter.id in covered_from
        )

    @property
    def can_be_aimed_at(self) -> bool:
        """Whether it can be aimed at as far as sight and melee go."""
        return "engaged" not in self.target.flags and self.is_seen

    @property
    def stands_out(self) -> bool:
        """Whether it can be aimed at wherever it is: large, or far below."""
        return "large" in self.target.flags or is_below(self.shooter, self.target)

    def rules(self, *asked: str) -> tuple[str, ...]:
        """The clauses that `seen` and `in_cover`, whichever is asked, rest on."""
        given = {"seen": self.target.out_of_sight_of, "in_cover": self.target.in_cover_from}
        told = any(given[name] is not None for name in asked)
        drawn = any(given[name] is None for name in asked)
        return (
            *(("skirmish.told", "skirmish.body") if told else ()),
            *(self.sight.rules("skirmish") if drawn else ()),
        )

    # --- in doubt ---

    @property
    def max_shift_mm(self) -> float:
        """The distance is never off by more."""
        return max_relative_shift_mm(self.scene, self.shooter.index, self.target.index)

    @cached_property
    def settled_seen(self) -> bool | None:
        """Whether it is seen; None where that is in doubt."""
        return (
            self.uncertainty.settled_clear if self.target.out_of_sight_of is None else self.is_seen
        )

    @cached_property
    def settled_cover(self) -> bool | None:
        return (
            self.uncertainty.settled_cover if self.target.in_cover_from is None else self.in_cover
        )

    def distances_in_draws(self, places: Displacements) -> "Array":
        """The distance in each draw (n,)."""
        from overruler.geometry.batched.distances import gaps_at_shifts

        shift = places[self.target.index] - places[self.shooter.index]
        return gaps_at_shifts(self.shooter.shape, self.target.shape, shift)

    def aimable_in_draws(self, places: Displacements) -> "Mask":
        """`open` in each draw (n,)."""
        return self._in_draws(places, "clear", self.settled_seen) & (
            "engaged" not in self.target.flags
        )

    def in_cover_in_draws(self, places: Displacements) -> "Mask":
        """`in_cover` in each draw (n,)."""
        return self._in_draws(places, "cover", self.settled_cover)

    def _in_draws(self, places: Displacements, what: str, sure: bool | None) -> "Mask":
        import numpy as np

        if sure is not None:
            return np.full(len(places[None]), sure)
        return (
            self.uncertainty.clear_in_draws(places)
            if what == "clear"
            else self.uncertainty.cover_in_draws(places)
        )


@dataclass(frozen=True, eq=False)
class Targets:
    """The enemies of a shooter, and which of them are valid targets."""

    scene: Scene
    shooter: Fighter
    looks: tuple[TargetSight, ...]
    """One for each enemy, the closest first; equally close ones in the scene's order."""

    @classmethod
    def of(cls, scene: Scene, index: int) -> "Targets":
        units = read_fighters(scene)
        looks = [
            TargetSight(scene, units[index], enemy) for enemy in enemies_of(units, units[index])
        ]
        return cls(scene, units[index], tuple(_closest_first(looks)))

    @cached_property
    def aimable_looks(self) -> tuple[TargetSight, ...]:
        """Those that count at all: in sight and not engaged."""
        return tuple(look for look in self.looks if look.can_be_aimed_at)

    def closer_looks(self, look: TargetSight) -> list[TargetSight]:
        """Those that count and are closer than one."""
        return [
            other
            for other in self.aimable_looks
            if other.distance_mm < look.distance_mm - CONTACT_TOLERANCE_MM
        ]

    def shut_out_by(self, look: TargetSight) -> TargetSight | None:
        """The closer one that keeps a unit from being a target; None where nothing does.

        Closer ones that are stunned or dazed can be ignored, and for a unit not in cover so can those that are.
        """
        return next(
            (other for other in self.closer_looks(look) if not _can_be_ignored(other, look)), None
        )

    def is_valid(self, look: TargetSight) -> bool:
        return look.can_be_aimed_at and (look.stands_out or self.shut_out_by(look) is None)

    @cached_property
    def valid(self) -> list[str]:
        """The ids of the valid targets, the closest first."""
        return [look.target.id for look in self.looks if self.is_valid(look)]

    # --- words ---

    def reason_for(self, look: TargetSight) -> str:
        """Why one enemy is a valid target or is none, in one phrase."""
        if "engaged" in look.target.flags:
            return "is engaged"
        if not look.is_seen:
            return "is out of sight"
        keeper, closer = self.shut_out_by(look), self.closer_looks(look)
        if keeper is None:
            return _closest_reason(look, closer)
        if "large" in look.target.flags:
            return "is large"
        if look.stands_out:
            return "is at least 2 inches below"
        return f"{keeper.target.id} is closer"

    def rules(self) -> tuple[str, ...]:
        """The clauses that all this rests on."""
        found = dict.fromkeys(
            ["any.enemies", "any.edge_to_edge", "skirmish.closest", "skirmish.range_no_part"]
        )
        for look in self.looks:
            found |= dict.fromkeys(self._look_rules(look))
        return tuple(found)

    def _look_rules(self, look: TargetSight) -> Iterator[str]:
        if "engaged" in look.target.flags:
            yield "skirmish.not_engaged"
            return
        yield "skirmish.in_sight"
        yield from look.rules("seen", "in_cover")
        if not look.is_seen:
            return
        closer = self.closer_looks(look)
        shut_out = self.shut_out_by(look) is not None
        helpless = any(other.target.helpless for other in closer)
        past_cover = not look.in_cover and any(
            other.in_cover and not other.target.helpless for other in closer
        )
        names = {
            "ignored": helpless and not shut_out,
            "past_cover": past_cover and not shut_out,
            "together": helpless and past_cover and not shut_out,
            "large": "large" in look.target.flags,
            "below": is_below(self.shooter, look.target),
            "stands_out": look.stands_out,
            "ties": any(
                abs(other.distance_mm - look.distance_mm) <= CONTACT_TOLERANCE_MM
                for other in self.aimable_looks
                if other is not look
            ),
        }
        yield from (f"skirmish.{name}" for name, holds in names.items() if holds)

    # --- in doubt ---

    @cached_property
    def uncertain_indices(self) -> set[int]:
        """The pieces whose displacements may change who is a valid target; none where it is settled."""
        found: set[int] = set()
        here = [
            look
            for look in self.looks
            if "engaged" not in look.target.flags and look.settled_seen is not False
        ]
        for look in here:
            if look.settled_seen is None or look.settled_cover is None:
                found |= look.uncertainty.indices
        for look, other in combinations(here, 2):
            if other.distance_mm - look.distance_mm <= self._max_distance_change_mm(look, other):
                found |= {look.target.index, other.target.index}
        return found

    def _max_distance_change_mm(self, look: TargetSight, other: TargetSight) -> float:
        """By so much two distances can change against each other; less than 0 where neither can change."""
        reach = look.max_shift_mm + other.max_shift_mm
        return reach + CONTACT_TOLERANCE_MM if reach else -1.0

    def list_probabilities(self) -> dict[str, float]:
        """The probability of each list of valid targets, each in the order of the distances as measured."""
        if not self.uncertain_indices:
            return {json.dumps(self.valid): 1.0}
        import numpy as np

        lists, counts = np.unique(
            self.valid_in_draws(self.displacements), axis=0, return_counts=True
        )
        ids = [look.target.id for look in self.looks]
        names = [
            json.dumps([name for name, holds in zip(ids, row, strict=True) if holds])
            for row in lists
        ]
        return dict(zip(names, (counts / counts.sum()).tolist(), strict=True))

    def valid_probability(self, name: str) -> float:
        """How likely a unit is a valid target."""
        if not self.uncertain_indices or name not in [look.target.id for look in self.looks]:
            return float(name in self.valid)
        shares = self.valid_in_draws(self.displacements).mean(0)
        return next(
            float(share)
            for look, share in zip(self.looks, shares, strict=True)
            if look.target.id == name
        )

    @cached_property
    def displacements(self) -> Displacements:
        """Where all pieces in doubt may be, drawn together."""
        return joint_displacements(
            self.scene,
            self.uncertain_indices
            | {self.shooter.index}
            | {look.target.index for look in self.looks},
        )

    def valid_in_draws(self, places: Displacements) -> "Mask":
        """Which of the enemies are valid targets in each draw (n, enemies)."""
        import numpy as np

        opens = [look.aimable_in_draws(places) for look in self.looks]
        covers = [
            look.in_cover_in_draws(places) if open_.any() else open_
            for look, open_ in zip(self.looks, opens, strict=True)
        ]
        apart = [look.distances_in_draws(places) for look in self.looks]
        valid = [open_.copy() for open_ in opens]
        for k, look in enumerate(self.looks):
            if look.stands_out:
                continue
            for m, other in enumerate(self.looks):
                if other.target.helpless or other is look:
                    continue
                shuts_out = opens[m] & (apart[m] < apart[k] - CONTACT_TOLERANCE_MM)
                valid[k] &= ~(shuts_out & (covers[k] | ~covers[m]))
        return np.stack(valid, 1)


def _closest_first(looks: Sequence[TargetSight]) -> list[TargetSight]:
    """By distance; those within rounding of each other in the order given."""
    found: list[TargetSight] = []
    for look in sorted(looks, key=lambda look: look.distance_mm):
        tied = [
            k
            for k, other in enumerate(found)
            if look.distance_mm - other.distance_mm <= CONTACT_TOLERANCE_MM
        ]
        after = [k for k in tied if found[k].target.index > look.target.index]
        found.insert(after[0] if after else len(found), look)
    return found


def _can_be_ignored(other: TargetSight, look: TargetSight) -> bool:
    """Whether a closer enemy can be ignored in favour of one farther off."""
    return other.target.helpless or (other.in_cover and not look.in_cover)


def _closest_reason(look: TargetSight, closer: Sequence[TargetSight]) -> str:
    if not closer:
        return "is the closest in sight that is not engaged"
    if look.in_cover or all(other.target.helpless for other in closer):
        return "is the closest once those stunned or dazed are ignored"
    return "is the closest that is not in cover"
