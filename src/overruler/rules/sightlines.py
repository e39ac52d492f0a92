"""The straight lines between two bases and what stands in them: sight and cover, as measured.

A game that looks along lines takes `sight_clauses` into its record and asks a `Sight`.
`rules.sampled.sightlines` tells how sure the answers are.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from overruler.geometry.separating_shift import shift_length_mm, shortest_separating_shift
from overruler.geometry.shapes import Shape
from overruler.geometry.tangents import Hull, signed_gap_mm
from overruler.geometry.visibility import ObstructedView
from overruler.rules.clauses import clauses_that_hold
from overruler.rules.eye_lines import SIGHT, TRUE_LINE, EyeHeights, EyePlane, HeightErrors
from overruler.rules.sampling import max_relative_shift_mm
from overruler.scene import Piece, Scene, Terrain
from overruler.units import CONTACT_TOLERANCE_MM

_CLAUSES = {
    "sight": "One base sees another where some straight line between them is free of terrain and of third bases.",
    "third_base": "A third base stands in the way whatever it is and whose, and also where it overlaps one of the two."
    " (Decided here.)",
    "grazing": "A free line may graze an edge; between two obstacles it needs a gap. (Decided here.)",
    "looked_over": "Terrain and third bases whose tops are not above both bases are looked over. (Decided here.)",
    "stood_on": "Terrain that one of the two bases overlaps hides neither. (Decided here.)",
    "sight_in_contact": "Bases in contact see each other, and neither has cover. (Decided here.)",
    "bases_only": "The lines run from base to base; the bodies on them are not looked at. (Decided here.)",
    "no_terrain": "No terrain is known, so only bases stand in a line. (Decided here.)",
    "true_line": "The lines run in the plane through both eyes; what it passes above or below hides nothing."
    " (Decided here.)",
    "eyes": "Eyes are at nine tenths of a piece's height, anywhere over its base. (Decided here.)",
}


def sight_clauses(game: str) -> dict[str, str]:
    """The clauses on lines of sight, under a game's own name."""
    return {f"{game}.{name}": text for name, text in _CLAUSES.items()}


@dataclass(frozen=True)
class Obstacle:
    """A third base, or terrain."""

    id: str
    parts: tuple[Shape, ...]
    """Convex shapes that together are its outline."""
    index: int | None = None
    """A piece's index in the scene; None for terrain, whose place is exact."""


def parts_of(things: Sequence[Obstacle]) -> tuple[tuple[Shape, ...], tuple[int, ...]]:
    """The convex parts of all obstacles, and the number of the obstacle that each is a part of."""
    parts = tuple(part for thing in things for part in thing.parts)
    return parts, tuple(number for number, thing in enumerate(things) for _ in thing.parts)


def _all_obstacles(scene: Scene) -> list[Obstacle]:
    """Everything that can stand in a line, pieces first."""
    pieces = enumerate(scene.pieces)
    obstacles = [Obstacle(piece.id, (scene.shapes[index],), index) for index, piece in pieces]
    return obstacles + [Obstacle(name, parts) for name, parts in scene.terrain_parts.items()]


@dataclass(frozen=True)
class Sight:
    """The lines from one base to another."""

    scene: Scene
    i: int
    j: int
    """The indices of the two pieces in the scene; j is the target."""
    sizes: Mapping[str, float] | None = None
    """Sizes by id, where an object must be as large as the target to give cover; else None."""
    height_errors: HeightErrors = field(default_factory=dict)
    """For true lines: by how much heights differ from the scene's."""

    @property
    def ends(self) -> tuple[Shape, Shape]:
        """The two bases."""
        return self.scene.shapes[self.i], self.scene.shapes[self.j]

    @cached_property
    def signed_gap_mm(self) -> float:
        """The gap between the two bases; negative where they overlap."""
        return signed_gap_mm(*self.ends)

    @property
    def touches(self) -> bool:
        """Whether the two bases are in contact."""
        return self.signed_gap_mm <= CONTACT_TOLERANCE_MM

    @cached_property
    def hull(self) -> Hull:
        """The convex hull of the two bases: all lines between them."""
        return Hull(*self.ends)

    @cached_property
    def plane(self) -> EyePlane | None:
        """The plane of true lines; None where the table looks from base to base."""
        if SIGHT.choice(self.scene) != TRUE_LINE:
            return None
        return self._heights.plane(self.i, self.j)

    @property
    def _heights(self) -> EyeHeights:
        return EyeHeights(self.scene, self.height_errors)

    # --- obstacles ---

    @cached_property
    def nearby_obstacles(self) -> tuple[Obstacle, ...]:
        """The obstacles that touch the lines, or may; without those that are looked over."""
        third = (k for k in _all_obstacles(self.scene) if k.index not in (self.i, self.j))
        return tuple(thing for thing in self._tall_parts(third) if self._is_near(thing))

    def _tall_parts(self, things: Iterable[Obstacle]) -> Iterator[Obstacle]:
        """The obstacles as far as lines do not pass above or below them."""
        if self.plane is not None:
            yield from (self._part_in_plane(thing, self.plane) for thing in things)
            return
        tall: tuple[Terrain | Piece, ...] = (*self.scene.terrain, *self.scene.pieces)
        low = {thing.id for thing in tall if self._looks_over(thing)}
        yield from (thing for thing in things if thing.id not in low)

    def _part_in_plane(self, thing: Obstacle, plane: EyePlane) -> Obstacle:
        """What the plane of true lines cuts of an obstacle; without parts where it cuts nothing."""
        span = self._heights.span_mm(thing.id)
        cut = (plane.part_between(part, *span) for part in thing.parts)
        return replace(thing, parts=tuple(part for part in cut if part is not None))

    def _looks_over(self, thing: Terrain | Piece) -> bool:
        """Whether a top does not stand higher than both bases."""
        highest_mm = max(self.scene.pieces[k].z_mm for k in (self.i, self.j))
        return thing.top_z_mm <= highest_mm + CONTACT_TOLERANCE_MM

    def _is_near(self, thing: Obstacle) -> bool:
        return any(self._may_meet(part, self.max_shift_mm(thing)) for part in thing.parts)

    def _may_meet(self, part: Shape, reach_mm: float) -> bool:
        """Whether a shape comes within `reach_mm` of the lines."""
        end_radius_mm = max(end.bounding_radius_mm for end in self.ends)
        limit_mm = part.bounding_radius_mm + end_radius_mm + reach_mm + CONTACT_TOLERANCE_MM
        if self._distance_from_axis_mm(part) > limit_mm:
            return False
        gap_mm = signed_gap_mm(self.hull, part)
        return gap_mm <= reach_mm + CONTACT_TOLERANCE_MM

    def _distance_from_axis_mm(self, part: Shape) -> float:
        """The distance of a shape's centre from the segment between the centres of the bases."""
        (ax, ay), (bx, by) = (end.center for end in self.ends)
        x, y, dx, dy = part.center[0] - ax, part.center[1] - ay, bx - ax, by - ay
        square = dx * dx + dy * dy
        share = min(max((x * dx + y * dy) / square, 0.0), 1.0) if square else 0.0
        return float(((x - share * dx) ** 2 + (y - share * dy) ** 2) ** 0.5)

    def _overlaps_end(self, thing: Obstacle) -> bool:
        """Whether it is terrain that reaches into one of the two bases."""
        return thing.index is None and any(
            signed_gap_mm(end, part) < -CONTACT_TOLERANCE_MM
            for end in self.ends
            for part in thing.parts
        )

    @cached_property
    def counted_obstacles(self) -> tuple[Obstacle, ...]:
        """The nearby obstacles that can be in the way."""
        if self.touches:
            return ()
        return tuple(thing for thing in self.nearby_obstacles if not self._overlaps_end(thing))

    @cached_property
    def depths_mm(self) -> Mapping[str, float]:
        """How far each counted obstacle reaches into the lines, by id; negative where clear."""
        return {
            thing.id: -min(signed_gap_mm(self.hull, part) for part in thing.parts)
            for thing in self.counted_obstacles
        }

    @cached_property
    def crossing_obstacles(self) -> tuple[Obstacle, ...]:
        """The obstacles that cross a line; touching the outermost is not crossing."""
        depths, counted = self.depths_mm, self.counted_obstacles
        return tuple(thing for thing in counted if depths[thing.id] > CONTACT_TOLERANCE_MM)

    def max_shift_mm(self, thing: Obstacle) -> float:
        """The largest displacement of an obstacle against the lines."""
        return max(max_relative_shift_mm(self.scene, end, thing.index) for end in (self.i, self.j))

    # --- sight and cover ---

    @cached_property
    def view(self) -> ObstructedView:
        """The two bases with the obstacles between them."""
        return ObstructedView(*self.ends, *parts_of(self.counted_obstacles))

    @cached_property
    def is_clear(self) -> bool:
        """Whether some line is free."""
        return not self.crossing_obstacles or self.view.is_clear

    @property
    def cover_objects(self) -> tuple[Obstacle, ...]:
        """The obstacles that give the target cover."""
        return tuple(filter(self.large_enough, self.crossing_obstacles))

    def large_enough(self, thing: Obstacle) -> bool:
        """Whether an obstacle that crosses a line gives the target cover."""
        if self.sizes is None:
            return True
        target = self.scene.pieces[self.j].id
        return self.sizes[thing.id] >= self.sizes[target]

    @property
    def margin_mm(self) -> float | None:
        """The widest opening; negative where all lines are shut; None without obstacles."""
        return self.view.widest_opening.width_mm if self.counted_obstacles else None

    @property
    def cover_margin_mm(self) -> float | None:
        """How deep cover reaches into the lines; negative: how far the nearest object is clear."""
        giving_cover = filter(self.large_enough, self.counted_obstacles)
        return max(map(self._whole_depth_mm, giving_cover), default=None)

    def _whole_depth_mm(self, thing: Obstacle) -> float:
        """How far an obstacle must move, all its parts together, to cross no line; negative where clear."""
        depth_mm = self.depths_mm[thing.id]
        if len(thing.parts) == 1 or depth_mm <= CONTACT_TOLERANCE_MM:
            return depth_mm
        pairs = [(part, self.hull) for part in thing.parts]
        return shift_length_mm(shortest_separating_shift(pairs, CONTACT_TOLERANCE_MM))

    @property
    def lacks_terrain(self) -> bool:
        """Whether the answer rests on it that no terrain is known: a photo may hide or miss some."""
        return not self.scene.terrain and not self.touches

    def rules(self, game: str) -> tuple[str, ...]:
        """The clauses that sight and cover rest on here."""
        third_bases = any(thing.index is not None for thing in self.crossing_obstacles)
        true_line = self.plane is not None
        holds = {
            "sight": True,
            "bases_only": not true_line,
            "no_terrain": self.lacks_terrain,
            "true_line": true_line,
            "eyes": true_line,
            "third_base": third_bases,
            "grazing": bool(self.counted_obstacles),
            "looked_over": not true_line and self._looks_over_something,
            "stood_on": any(map(self._overlaps_end, self.nearby_obstacles)),
            "sight_in_contact": self.touches,
        }
        return clauses_that_hold(holds, game)

    @property
    def _looks_over_something(self) -> bool:
        """Whether something in the lines is looked over."""
        low = [terrain for terrain in self.scene.terrain if self._looks_over(terrain)]
        return any(map(self._in_the_way, low)) or self._looks_over_piece

    @property
    def _looks_over_piece(self) -> bool:
        """Whether a third base in the lines is looked over."""
        pieces = enumerate(self.scene.pieces)
        third = [k for k, piece in pieces if k not in (self.i, self.j) and self._looks_over(piece)]
        slack_mm = -2 * CONTACT_TOLERANCE_MM
        return not self.touches and any(
            self._may_meet(self.scene.shapes[k], slack_mm) for k in third
        )

    def _in_the_way(self, terrain: Terrain) -> bool:
        """Whether terrain reaches into the lines."""
        if self.touches:
            return False
        return any(self._may_meet(part, -2 * CONTACT_TOLERANCE_MM) for part in terrain.parts)
