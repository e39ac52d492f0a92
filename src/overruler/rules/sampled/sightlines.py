"""How sure sight and cover are: settled where nothing within reach changes them, else drawn.

A base that reaches into one of the two, as it may in a photo, is drawn as if it stood before it.
That is right to 0.005 where it reaches in by a few millimetres, and to 0.02 where it covers the
other. n draws.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING

from overruler.geometry.shapes import translate_shape
from overruler.geometry.tangents import signed_gap_mm, widest_separation
from overruler.geometry.visibility import ObstructedView
from overruler.rules.sampling import DRAW_COUNT, draw_displacements, max_relative_shift_mm
from overruler.rules.sightlines import Obstacle, Sight, parts_of
from overruler.scene import Scene
from overruler.units import CONTACT_TOLERANCE_MM

if TYPE_CHECKING:
    from overruler.geometry.batched.visibility import Mask
    from overruler.geometry.pose import Array

Displacements = Mapping[int | None, "Array"]
"""The displacements (n, 2) of pieces by index in the scene; under None those of terrain, all 0."""


def joint_displacements(scene: Scene, indices: set[int]) -> Displacements:
    """Equally likely displacements of some pieces, together."""
    places = [None, *sorted(indices)]
    shifts = draw_displacements(scene, places, DRAW_COUNT).swapaxes(0, 1)
    return dict(zip(places, shifts, strict=True))


@dataclass(frozen=True)
class SightUncertainty:
    """How sure a sight and its cover are."""

    sight: Sight

    @property
    def scene(self) -> Scene:
        return self.sight.scene

    @property
    def indices(self) -> set[int]:
        """The pieces whose displacements matter."""
        obstacles = {thing.index for thing in self.sight.nearby_obstacles}
        return {self.sight.i, self.sight.j} | {index for index in obstacles if index is not None}

    @cached_property
    def max_shift_mm(self) -> float:
        """The largest displacement of any two bodies in or beside the lines against each other."""
        obstacles = (thing.index for thing in self.sight.nearby_obstacles)
        bodies = dict.fromkeys([self.sight.i, self.sight.j, *obstacles])
        return max(max_relative_shift_mm(self.scene, p, q) for p, q in combinations(bodies, 2))

    # --- settled ---

    @cached_property
    def settled_contact(self) -> bool | None:
        """Whether the two bases touch; None where that is uncertain."""
        past_contact = self.sight.signed_gap_mm - CONTACT_TOLERANCE_MM
        reach = max_relative_shift_mm(self.scene, self.sight.i, self.sight.j)
        if reach and abs(past_contact) <= reach:
            return None
        return past_contact <= 0

    @cached_property
    def counts_by_id(self) -> Mapping[str, bool | None]:
        """Whether each obstacle near counts, by id; terrain that reaches into a base does not."""
        return {thing.id: self._settled_count(thing) for thing in self.sight.nearby_obstacles}

    def _settled_count(self, thing: Obstacle) -> bool | None:
        if thing.index is not None:
            return True
        surely_clear = True
        for end, index in zip(self.sight.ends, (self.sight.i, self.sight.j), strict=True):
            reach = max_relative_shift_mm(self.scene, None, index)
            for part in thing.parts:
                gap = signed_gap_mm(end, part)
                if gap < -max(reach, CONTACT_TOLERANCE_MM):
                    return False
                if reach and gap <= reach:
                    surely_clear = False
        return True if surely_clear else None

    @cached_property
    def possible_obstacles(self) -> tuple[Obstacle, ...]:
        """The obstacles that count, or may."""
        nearby, counts = self.sight.nearby_obstacles, self.counts_by_id
        return tuple(thing for thing in nearby if counts[thing.id] is not False)

    @cached_property
    def settled_clear(self) -> bool | None:
        """Whether some line is free; None where that is uncertain."""
        if not self.max_shift_mm:
            return self.sight.is_clear
        if self.settled_contact or not self.possible_obstacles:
            return True
        if self.settled_contact is None:
            return None
        width = self.view.widest_opening.width_mm
        if abs(width) <= self.max_shift_mm:
            return None
        if width > 0:
            return True
        return None if None in self.counts_by_id.values() else False

    @cached_property
    def settled_cover(self) -> bool | None:
        """Whether the target has cover; None where that is uncertain."""
        if not self.max_shift_mm:
            return bool(self.sight.cover_objects)
        if self.settled_contact or not self.cover_candidates:
            return False
        if self.settled_contact is None:
            return None
        return True if any(map(self._covers_surely, self.cover_candidates)) else None

    @cached_property
    def cover_candidates(self) -> tuple[Obstacle, ...]:
        """The obstacles that give cover if they cross a line."""
        return tuple(thing for thing in self.possible_obstacles if self.sight.large_enough(thing))

    def _covers_surely(self, thing: Obstacle) -> bool:
        depth = max(-signed_gap_mm(self.sight.hull, part) for part in thing.parts)
        reach = max(self.sight.max_shift_mm(thing), CONTACT_TOLERANCE_MM)
        return self.counts_by_id[thing.id] is True and depth > reach

    # --- drawn ---

    @cached_property
    def view(self) -> ObstructedView:
        """The two bases with the possible obstacles; bases that touch are parted for it."""
        a, b = self.sight.ends
        parted = translate_shape(b, *self._separating_shift)
        return ObstructedView(a, parted, *parts_of(self.possible_obstacles))

    @cached_property
    def _separating_shift(self) -> tuple[float, float]:
        """The shift (x, y) of the target after which it stands apart from the other end."""
        if not self.sight.touches:
            return 0.0, 0.0
        towards = widest_separation(*self.sight.ends)
        length = self.max_shift_mm / 4 - towards.signed_gap_mm
        return length * math.cos(towards.angle), length * math.sin(towards.angle)

    def clear_in_draws(self, shifts: Displacements) -> "Mask":
        """Whether some line is free in each draw (n,)."""
        import numpy as np

        from overruler.geometry.batched.visibility import has_free_line

        count = len(shifts[None])
        if self.settled_clear is not None:
            return np.full(count, self.settled_clear)
        always = np.ones(count, bool)
        body_shifts = [shifts[self.sight.i], shifts[self.sight.j] - self._separating_shift]
        present = [always, always]
        for thing in self.possible_obstacles:
            body_shifts += [shifts[thing.index]] * len(thing.parts)
            present += [self._counts_in_draws(thing, shifts)] * len(thing.parts)
        free = has_free_line(self.view, np.stack(body_shifts), np.stack(present))
        return free | self._contact_in_draws(shifts)

    def cover_in_draws(self, shifts: Displacements) -> "Mask":
        """Whether the target has cover in each draw (n,)."""
        import numpy as np

        if self.settled_cover is not None:
            return np.full(len(shifts[None]), self.settled_cover)
        covered = [
            self._crossed_in_draws(thing, shifts) & self._counts_in_draws(thing, shifts)
            for thing in self.cover_candidates
        ]
        return np.asarray(np.any(covered, 0) & ~self._contact_in_draws(shifts))

    def _crossed_in_draws(self, thing: Obstacle, shifts: Displacements) -> "Mask":
        """Whether an obstacle crosses a line (n,)."""
        import numpy as np

        from overruler.geometry.batched.visibility import crosses_any_line

        stacked = np.stack([shifts[self.sight.i], shifts[self.sight.j], shifts[thing.index]])
        crossed = [crosses_any_line(*self.sight.ends, part, stacked) for part in thing.parts]
        return np.asarray(np.any(crossed, 0))

    def _counts_in_draws(self, thing: Obstacle, shifts: Displacements) -> "Mask":
        """Whether an obstacle counts (n,)."""
        import numpy as np

        from overruler.geometry.batched.distances import gaps_at_shifts

        counts = np.full(len(shifts[None]), self.counts_by_id[thing.id] is not False)
        if self.counts_by_id[thing.id] is None:
            for end, index in zip(self.sight.ends, (self.sight.i, self.sight.j), strict=True):
                for part in thing.parts:
                    counts &= gaps_at_shifts(part, end, shifts[index]) > 0
        return counts

    def _contact_in_draws(self, shifts: Displacements) -> "Mask":
        """Whether the two bases touch (n,)."""
        import numpy as np

        from overruler.geometry.batched.distances import gaps_at_shifts

        if self.settled_contact is not None:
            return np.full(len(shifts[None]), self.settled_contact)
        between = shifts[self.sight.j] - shifts[self.sight.i]
        return np.asarray(gaps_at_shifts(*self.sight.ends, between) <= CONTACT_TOLERANCE_MM)
