"""What a shooter of Skirmish sees of one other unit, and how sure that is. n draws."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from overruler.geometry.shapes import gap
from overruler.rules.games.skirmish.shooters import Fighter
from overruler.rules.sampled.eye_lines import HeightUncertainty, sight_uncertainty
from overruler.rules.sampled.sightlines import Displacements, SightUncertainty
from overruler.rules.sampling import max_relative_shift_mm
from overruler.rules.sightlines import Sight
from overruler.scene import Scene
from overruler.units import CONTACT_TOLERANCE_MM, mm_from_inches

if TYPE_CHECKING:
    from overruler.geometry.batched.visibility import Mask
    from overruler.geometry.pose import Array

BELOW_MM = mm_from_inches(2)
"""An enemy that stands at least this far below the shooter can always be aimed at."""


def is_below(shooter: Fighter, target: Fighter) -> bool:
    """Whether a target stands at least 2 inches below the shooter."""
    return shooter.piece.z_mm - target.piece.z_mm >= BELOW_MM - CONTACT_TOLERANCE_MM


@dataclass(frozen=True, eq=False)
class TargetSight:
    """What a shooter sees of one other unit: by the players' word, else by the scene's lines."""

    scene: Scene
    shooter: Fighter
    target: Fighter

    @cached_property
    def sight(self) -> Sight:
        """The lines from base to base."""
        return Sight(self.scene, self.shooter.index, self.target.index)

    @cached_property
    def uncertainty(self) -> SightUncertainty | HeightUncertainty:
        """How sure those lines are."""
        return sight_uncertainty(self.sight)

    @cached_property
    def distance_mm(self) -> float:
        """The distance between the bases."""
        return gap(self.shooter.shape, self.target.shape).distance_mm

    @cached_property
    def is_seen(self) -> bool:
        """Whether the target is in sight."""
        out_of_sight_of = self.target.out_of_sight_of
        if out_of_sight_of is None:
            return self.sight.is_clear
        return self.shooter.id not in out_of_sight_of

    @cached_property
    def in_cover(self) -> bool:
        """Whether the target has cover."""
        in_cover_from = self.target.in_cover_from
        if in_cover_from is None:
            return bool(self.sight.crossing_obstacles)
        return self.shooter.id in in_cover_from

    @property
    def engaged(self) -> bool:
        """Whether the target is in melee."""
        return "engaged" in self.target.flags

    @property
    def large(self) -> bool:
        """Whether the target is large."""
        return "large" in self.target.flags

    @property
    def can_be_aimed_at(self) -> bool:
        """Whether sight and melee let the shooter aim at it."""
        return not self.engaged and self.is_seen

    @property
    def stands_out(self) -> bool:
        """Whether it can be aimed at past closer units: it is large, or far below."""
        return self.large or is_below(self.shooter, self.target)

    @property
    def cover_pieces(self) -> tuple[str, ...]:
        """The ids of the third pieces that give the target cover, where the scene's lines say so."""
        return () if self.target.in_cover_from is not None else self._crossing_pieces

    @property
    def hiding_pieces(self) -> tuple[str, ...]:
        """The ids of the third pieces that hide the target, in part or whole, by the scene's lines."""
        hides = self.target.out_of_sight_of is None and not self.is_seen
        return self._crossing_pieces if hides else self.cover_pieces

    @property
    def _crossing_pieces(self) -> tuple[str, ...]:
        crossing = self.sight.crossing_obstacles
        return tuple(thing.id for thing in crossing if thing.index is not None)

    def cover_rules(self) -> tuple[str, ...]:
        """The clauses that `in_cover` rests on."""
        return self._sight_rules(self.target.in_cover_from)

    def rules(self) -> tuple[str, ...]:
        """The clauses that `is_seen` and `in_cover` rest on."""
        return self._sight_rules(self.target.out_of_sight_of, self.target.in_cover_from)

    def _sight_rules(self, *by_players: frozenset[str] | None) -> tuple[str, ...]:
        """The clauses on what the players say, and on the lines where they do not."""
        told: tuple[str, ...] = ()
        if any(word is not None for word in by_players):
            told = ("skirmish.told", "skirmish.body")
        if None in by_players:
            return (*told, *self.sight.rules("skirmish"))
        return told

    # --- uncertainty ---

    @property
    def max_shift_mm(self) -> float:
        """The largest error of the distance."""
        return max_relative_shift_mm(self.scene, self.shooter.index, self.target.index)

    @cached_property
    def settled_seen(self) -> bool | None:
        """Whether the target is in sight; None where that is uncertain."""
        if self.target.out_of_sight_of is None:
            return self.uncertainty.settled_clear
        return self.is_seen

    @cached_property
    def settled_cover(self) -> bool | None:
        """Whether the target has cover; None where that is uncertain."""
        if self.target.in_cover_from is None:
            return self.uncertainty.settled_cover
        return self.in_cover

    def distances_in_draws(self, places: Displacements) -> "Array":
        """The distance in each draw (n,)."""
        from overruler.geometry.batched.distances import gaps_at_shifts

        shift = places[self.target.index] - places[self.shooter.index]
        return gaps_at_shifts(self.shooter.shape, self.target.shape, shift)

    def aimable_in_draws(self, places: Displacements) -> "Mask":
        """Whether the target can be aimed at in each draw (n,)."""
        import numpy as np

        if self.engaged:
            return np.zeros(len(places[None]), bool)
        if self.settled_seen is not None:
            return np.full(len(places[None]), self.settled_seen)
        return self.uncertainty.clear_in_draws(places)

    def in_cover_in_draws(self, places: Displacements) -> "Mask":
        """Whether the target has cover in each draw (n,)."""
        import numpy as np

        if self.settled_cover is not None:
            return np.full(len(places[None]), self.settled_cover)
        return self.uncertainty.cover_in_draws(places)
