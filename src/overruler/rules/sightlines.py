"""The straight lines between two bases, and what stands in them: sight and cover, as measured.

A game that looks along lines takes `sight_clauses` into its record and asks a `Sight`; `sightlines_doubt` says how sure.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from overruler.geometry.shapes import Shape
from overruler.geometry.visibility import Hull, ObstructedView, widest_separation
from overruler.rules.sampling import max_relative_shift_mm
from overruler.scene import Scene, Terrain
from overruler.units import CONTACT_TOLERANCE_MM

_CLAUSES = {
    "sight": "One base sees another where some straight line between them is free of terrain and of third bases.",
    "third_base": "A third base stands in the way whatever it is and whose, and also where it overlaps one of the two."
    " (Decided here.)",
    "grazing": "A free line may graze an edge; between two obstacles it needs a gap. (Decided here.)",
    "looked_over": "Terrain that does not stand higher than both bases is looked over. (Decided here.)",
    "stood_on": "Terrain that one of the two bases overlaps hides neither. (Decided here.)",
    "sight_in_contact": "Bases in contact see each other, and neither has cover. (Decided here.)",
    "bases_only": "The lines run from base to base; the bodies on them are not looked at. (Decided here.)",
}


def sight_clauses(game: str) -> dict[str, str]:
    """The clauses on lines of sight, under a game's own name."""
    return {f"{game}.{name}": text for name, text in _CLAUSES.items()}


# --- what may stand in the way ---


@dataclass(frozen=True)
class Obstacle:
    """A third base, or terrain."""

    id: str
    parts: tuple[Shape, ...]
    """Convex, together its outline."""
    index: int | None = None
    """A piece's place in the scene; None for terrain, whose place is exact."""


def all_obstacles(scene: Scene) -> tuple[Obstacle, ...]:
    """Everything that can stand in a line, pieces first."""
    pieces = (
        Obstacle(piece.id, (scene.shapes[index],), index)
        for index, piece in enumerate(scene.pieces)
    )
    return (*pieces, *(Obstacle(name, parts) for name, parts in scene.terrain_parts.items()))


@dataclass(frozen=True)
class Sight:
    """The lines from one base to another."""

    scene: Scene
    i: int
    j: int
    sizes: Mapping[str, int] | None = None
    """Of pieces and terrain, where an object must be as large as the target, j, to give it cover."""

    # --- as measured ---

    @cached_property
    def signed_gap_mm(self) -> float:
        return widest_separation(*self.ends).signed_gap_mm

    @property
    def ends(self) -> tuple[Shape, Shape]:
        return self.scene.shapes[self.i], self.scene.shapes[self.j]

    @property
    def touches(self) -> bool:
        """Whether the two bases are in contact."""
        return self.signed_gap_mm <= CONTACT_TOLERANCE_MM

    @cached_property
    def hull(self) -> Hull:
        return Hull(*self.ends)

    @cached_property
    def nearby_obstacles(self) -> tuple[Obstacle, ...]:
        """What touches the lines, or can be displaced to touch them; terrain that is looked over is not among it."""
        low = {ground.id for ground in self.scene.terrain if self.looks_over(ground)}
        third = (
            thing for thing in all_obstacles(self.scene) if thing.index not in (self.i, self.j)
        )
        return tuple(thing for thing in third if thing.id not in low and self._is_near(thing))

    def looks_over(self, ground: Terrain) -> bool:
        """Whether terrain does not stand higher than both bases."""
        return (
            ground.top_z_mm
            <= max(self.scene.pieces[k].z_mm for k in (self.i, self.j)) + CONTACT_TOLERANCE_MM
        )

    def _is_near(self, thing: Obstacle) -> bool:
        return any(self._may_meet(part, self.max_shift_mm(thing)) for part in thing.parts)

    def _may_meet(self, part: Shape, reach: float) -> bool:
        (ax, ay), (bx, by) = (end.center for end in self.ends)
        x, y, dx, dy = part.center[0] - ax, part.center[1] - ay, bx - ax, by - ay
        size = dx * dx + dy * dy
        share = min(max((x * dx + y * dy) / size, 0.0), 1.0) if size else 0.0
        off = ((x - share * dx) ** 2 + (y - share * dy) ** 2) ** 0.5
        most = (
            part.bounding_radius_mm
            + max(end.bounding_radius_mm for end in self.ends)
            + reach
            + CONTACT_TOLERANCE_MM
        )
        return (
            off <= most
            and widest_separation(self.hull, part).signed_gap_mm <= reach + CONTACT_TOLERANCE_MM
        )

    def overlaps_end(self, thing: Obstacle) -> bool:
        """Whether it is terrain that reaches into one of the two bases."""
        return thing.index is None and any(
            widest_separation(end, part).signed_gap_mm < -CONTACT_TOLERANCE_MM
            for end in self.ends
            for part in thing.parts
        )

    @cached_property
    def counted_obstacles(self) -> tuple[Obstacle, ...]:
        """What counts of all that is near."""
        return (
            ()
            if self.touches
            else tuple(thing for thing in self.nearby_obstacles if not self.overlaps_end(thing))
        )

    @cached_property
    def depths_mm(self) -> Mapping[str, float]:
        """How far each of those reaches into the lines; less than 0: how far it stands clear of them."""
        return {
            thing.id: -min(widest_separation(self.hull, part).signed_gap_mm for part in thing.parts)
            for thing in self.counted_obstacles
        }

    @cached_property
    def crossing_obstacles(self) -> tuple[Obstacle, ...]:
        """What crosses a line; touching the outermost is not crossing."""
        return tuple(
            thing
            for thing in self.counted_obstacles
            if self.depths_mm[thing.id] > CONTACT_TOLERANCE_MM
        )

    @cached_property
    def view(self) -> ObstructedView:
        return ObstructedView(
            *self.ends, tuple(part for thing in self.counted_obstacles for part in thing.parts)
        )

    @cached_property
    def is_clear(self) -> bool:
        """Whether some line is free."""
        return not self.crossing_obstacles or self.view.is_clear

    @property
    def cover_objects(self) -> tuple[Obstacle, ...]:
        """What gives the target cover."""
        return tuple(filter(self.large_enough, self.crossing_obstacles))

    def large_enough(self, thing: Obstacle) -> bool:
        """Whether an object gives the target cover where it crosses a line."""
        return (
            self.sizes is None or self.sizes[thing.id] >= self.sizes[self.scene.pieces[self.j].id]
        )

    def max_shift_mm(self, thing: Obstacle) -> float:
        """It is never displaced farther than this against the lines."""
        return max(max_relative_shift_mm(self.scene, end, thing.index) for end in (self.i, self.j))

    @property
    def margin_mm(self) -> float | None:
        """The widest way past what is near, or, less than 0, by how much all ways are shut; None where nothing is."""
        return self.view.widest_opening.width_mm if self.counted_obstacles else None

    @property
    def cover_margin_mm(self) -> float | None:
        """How deep what gives cover reaches into the lines; less than 0: how far the nearest object stands clear."""
        return max(
            (
                self.depths_mm[thing.id]
                for thing in self.counted_obstacles
                if self.large_enough(thing)
            ),
            default=None,
        )

    def rules(self, game: str) -> tuple[str, ...]:
        """The clauses that sight and cover rest on here."""
        names = {
            "sight": True,
            "bases_only": True,
            "third_base": any(thing.index is not None for thing in self.crossing_obstacles),
            "grazing": bool(self.counted_obstacles),
            "looked_over": any(
                self.looks_over(ground) and self._in_the_way(ground)
                for ground in self.scene.terrain
            ),
            "stood_on": any(map(self.overlaps_end, self.nearby_obstacles)),
            "sight_in_contact": self.touches,
        }
        return tuple(f"{game}.{name}" for name, holds in names.items() if holds)

    def _in_the_way(self, ground: Terrain) -> bool:
        return not self.touches and any(
            self._may_meet(part, -2 * CONTACT_TOLERANCE_MM) for part in ground.parts
        )
