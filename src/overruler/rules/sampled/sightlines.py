"""How sure sight and cover are: settled where nothing within reach can change them, else by equally likely draws.

A base that reaches into one of the two, as it may in a photo, is drawn as if it stood before it: right to 0.005 where
it reaches in by a few millimetres, to 0.02 where it covers the other.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING

from overruler.geometry.shapes import translate_shape
from overruler.geometry.visibility import ObstructedView, widest_separation
from overruler.rules.sampling import draw_displacements, max_relative_shift_mm
from overruler.rules.sightlines import Obstacle, Sight
from overruler.scene import Scene
from overruler.units import CONTACT_TOLERANCE_MM

if TYPE_CHECKING:
    from overruler.geometry.batched.visibility import Mask
    from overruler.geometry.pose import Array

DRAW_COUNT = 16384
"""Enough for 0.005 in a probability."""

Displacements = Mapping[int | None, "Array"]
"""The displacements (n, 2) of pieces by their places in the scene; under None those of terrain, all 0."""


def joint_displacements(scene: Scene, indices: set[int]) -> Displacements:
    """Equally likely displacements of some pieces, together."""
    places = [None, *sorted(indices)]
    return dict(
        zip(places, draw_displacements(scene, places, DRAW_COUNT).swapaxes(0, 1), strict=True)
    )


@dataclass(frozen=True)
class SightUncertainty:
    """What sight and cover may be instead."""

    sight: Sight

    @property
    def scene(self) -> Scene:
        return self.sight.scene

    @cached_property
    def max_shift_mm(self) -> float:
        """No two bodies in or beside the lines are displaced farther than this against each other."""
        places = dict.fromkeys(
            [self.sight.i, self.sight.j, *(thing.index for thing in self.sight.nearby_obstacles)]
        )
        return max(max_relative_shift_mm(self.scene, p, q) for p, q in combinations(places, 2))

    @property
    def indices(self) -> set[int]:
        """The pieces whose displacements matter."""
        return {
            self.sight.i,
            self.sight.j,
            *(thing.index for thing in self.sight.nearby_obstacles if thing.index is not None),
        }

    @cached_property
    def settled_contact(self) -> bool | None:
        """Whether the two bases touch; None where they may or may not."""
        apart = self.sight.signed_gap_mm - CONTACT_TOLERANCE_MM
        reach = max_relative_shift_mm(self.scene, self.sight.i, self.sight.j)
        return apart <= 0 if abs(apart) > reach or not reach else None

    @cached_property
    def counts_by_id(self) -> Mapping[str, bool | None]:
        """Of each obstacle near whether it counts: terrain that reaches into a base does not; None: perhaps."""
        return {thing.id: self._surely_counts(thing) for thing in self.sight.nearby_obstacles}

    def _surely_counts(self, thing: Obstacle) -> bool | None:
        if thing.index is not None:
            return True
        clear_of = [
            (
                widest_separation(end, part).signed_gap_mm,
                max_relative_shift_mm(self.scene, None, index),
            )
            for end, index in zip(self.sight.ends, (self.sight.i, self.sight.j), strict=True)
            for part in thing.parts
        ]
        if any(apart < -max(reach, CONTACT_TOLERANCE_MM) for apart, reach in clear_of):
            return False
        return True if all(apart > reach or not reach for apart, reach in clear_of) else None

    @cached_property
    def possible_obstacles(self) -> tuple[Obstacle, ...]:
        """What counts, or may."""
        return tuple(
            thing
            for thing in self.sight.nearby_obstacles
            if self.counts_by_id[thing.id] is not False
        )

    # --- settled ---

    @cached_property
    def settled_clear(self) -> bool | None:
        """Whether some line is free; None where it may or may not be."""
        if not self.max_shift_mm:
            return self.sight.is_clear
        if self.settled_contact or not self.possible_obstacles:
            return True
        if self.settled_contact is None:
            return None
        width = self.view.widest_opening.width_mm
        sure = None not in self.counts_by_id.values()
        return width > 0 if abs(width) > self.max_shift_mm and (width > 0 or sure) else None

    @cached_property
    def settled_cover(self) -> bool | None:
        """Whether the target has cover; None where it may or may not have."""
        if not self.max_shift_mm:
            return bool(self.sight.cover_objects)
        if self.settled_contact or not self.cover_candidates:
            return False
        return (
            True
            if self.settled_contact is False
            and any(map(self._covers_surely, self.cover_candidates))
            else None
        )

    @cached_property
    def cover_candidates(self) -> tuple[Obstacle, ...]:
        """What gives cover where it crosses a line."""
        return tuple(thing for thing in self.possible_obstacles if self.sight.large_enough(thing))

    def _covers_surely(self, thing: Obstacle) -> bool:
        depth = max(-widest_separation(self.sight.hull, part).signed_gap_mm for part in thing.parts)
        return self.counts_by_id[thing.id] is True and depth > max(
            self.sight.max_shift_mm(thing), CONTACT_TOLERANCE_MM
        )

    # --- drawn ---

    @cached_property
    def view(self) -> ObstructedView:
        """What is looked at; bases that touch as measured are parted for it, by `_parted`."""
        a, b = self.sight.ends
        return ObstructedView(
            a,
            translate_shape(b, *self._separating_shift),
            tuple(part for thing in self.possible_obstacles for part in thing.parts),
        )

    @cached_property
    def _separating_shift(self) -> tuple[float, float]:
        """How far (x, y) the target is moved so that it stands apart from the other end."""
        if not self.sight.touches:
            return 0.0, 0.0
        towards = widest_separation(*self.sight.ends)
        away = self.max_shift_mm / 4 - towards.signed_gap_mm
        return away * math.cos(towards.angle), away * math.sin(towards.angle)

    def clear_in_draws(self, moved: Displacements) -> "Mask":
        """Whether some line is free in each draw (n,)."""
        import numpy as np

        from overruler.geometry.batched.visibility import has_free_line

        if self.settled_clear is not None:
            return np.full(len(moved[None]), self.settled_clear)
        always = np.ones(len(moved[None]), bool)
        parts = [
            (thing, self._counts_in_draws(thing, moved))
            for thing in self.possible_obstacles
            for _ in thing.parts
        ]
        shifts = [
            moved[self.sight.i],
            moved[self.sight.j] - self._separating_shift,
            *(moved[thing.index] for thing, _ in parts),
        ]
        present = [always, always, *(there for _, there in parts)]
        return has_free_line(
            self.view, np.stack(shifts), np.stack(present)
        ) | self._contact_in_draws(moved)

    def cover_in_draws(self, moved: Displacements) -> "Mask":
        """Whether the target has cover in each draw (n,)."""
        import numpy as np

        if self.settled_cover is not None:
            return np.full(len(moved[None]), self.settled_cover)
        covered = [
            self._crossed_in_draws(thing, moved) & self._counts_in_draws(thing, moved)
            for thing in self.cover_candidates
        ]
        return np.asarray(np.any(covered, 0) & ~self._contact_in_draws(moved))

    def _crossed_in_draws(self, thing: Obstacle, moved: Displacements) -> "Mask":
        import numpy as np

        from overruler.geometry.batched.visibility import crosses_any_line

        shifts = np.stack([moved[self.sight.i], moved[self.sight.j], moved[thing.index]])
        return np.asarray(
            np.any([crosses_any_line(*self.sight.ends, part, shifts) for part in thing.parts], 0)
        )

    def _counts_in_draws(self, thing: Obstacle, moved: Displacements) -> "Mask":
        """Whether an obstacle counts (n,)."""
        import numpy as np

        from overruler.geometry.batched.distances import gaps_at_shifts

        found = np.full(len(moved[None]), self.counts_by_id[thing.id] is not False)
        if self.counts_by_id[thing.id] is None:
            for end, index in zip(self.sight.ends, (self.sight.i, self.sight.j), strict=True):
                for part in thing.parts:
                    found &= gaps_at_shifts(part, end, moved[index]) > 0
        return found

    def _contact_in_draws(self, moved: Displacements) -> "Mask":
        import numpy as np

        from overruler.geometry.batched.distances import gaps_at_shifts

        if self.settled_contact is not None:
            return np.full(len(moved[None]), self.settled_contact)
        return np.asarray(
            gaps_at_shifts(*self.sight.ends, moved[self.sight.j] - moved[self.sight.i])
            <= CONTACT_TOLERANCE_MM
        )
