"""A whole table out of a seed: a game in play, and what lies around it."""

from dataclasses import dataclass, field, replace

import numpy as np
from shapely.geometry import Polygon

from overruler.pieces import Grid
from synthetic.arrays import Rng
from synthetic.things.lookalikes import any_lookalike
from synthetic.things.markers import MODULES, Marker
from synthetic.things.materials import Part
from synthetic.things.mesh import rectangle
from synthetic.things.pieces import Piece
from synthetic.things.props import PROPS, Prop, hand
from synthetic.things.rulers import Ruler, ruler
from synthetic.things.terrain import KINDS, Terrain, flat_roof, hill
from synthetic.traced.armies import muster
from synthetic.traced.ground import Ground
from synthetic.traced.light import Lights, lights
from synthetic.traced.scenery import draw_grid, scenery
from synthetic.traced.spec import Spec

RULER_KINDS = {
    "legion": ("legion", "legion", "legion_short"),
    "xwing": ("xwing",),
    "inches": ("inch_stick",),
    "ranks": ("inch_stick",),
    "regiments": ("inch_stick",),
    "riders": ("inch_stick",),
    "stands": ("inch_stick",),
    "bikes": ("inch_stick",),
    "hexagons": ("inch_stick",),
    "heroes": ("inch_stick",),
}
LITTER = ("token", "token", "token", "dice", "die", "card", "pencil", "mug", "tape")
SPACE_LITTER = ("template", "template", "asteroid", "asteroid", "asteroid")
ON_DECK = ("container", "barricade", "tower")


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Everything on the table."""

    spec: Spec
    lights: Lights
    markers: list[Marker] = field(default_factory=list)
    pieces: list[Piece] = field(default_factory=list)
    terrain: list[Terrain] = field(default_factory=list)
    props: list[Prop] = field(default_factory=list)
    rulers: list[Ruler] = field(default_factory=list)
    critical: list[tuple[str, str, float]] = field(default_factory=list)
    """Pairs near a line of the ruler: ids, the line in mm."""
    grid: Grid | None = None
    scenery: list[Part] = field(default_factory=list)
    """Mat, table, floor, markers."""

    @property
    def parts(self) -> list[Part]:
        """Every surface."""
        owners: list[Piece | Terrain | Prop | Ruler] = [
            *self.pieces,
            *self.terrain,
            *self.props,
            *self.rulers,
        ]
        return self.scenery + [part for owner in owners for part in owner.parts]


def build(spec: Spec, texel_mm: float) -> Table:
    """The table; its prints have pixels of `texel_mm`. What a later line draws does not change the lines before."""
    rng = np.random.default_rng([spec.seed, 2])
    ground = Ground(*spec.size_mm)
    markers = _markers(spec, ground, rng)
    rulers = _rulers(spec, ground, rng)
    terrain = _terrain(spec, ground, rng)
    hills = [t for t in terrain if t.kind in ("hill", "roof")]
    pieces, critical = muster(spec.game, spec.crowd, ground, hills, rng, spec.armies)
    if spec.unmanned:
        pieces = [replace(piece, figure_parts=[]) for piece in pieces]
    props = _props(spec, ground, rng)
    grid = draw_grid(spec, rng)
    light = lights(spec.light, (*(np.array(spec.size_mm) / 2), 0), rng)
    under = scenery(spec, grid, texel_mm, rng) + _cards(spec, markers, rng)
    return Table(spec, light, markers, pieces, terrain, props, rulers, critical, grid, under)


def _markers(spec: Spec, ground: Ground, rng: Rng) -> list[Marker]:
    """Markers at regular places round the edge, or anywhere."""
    quiet = spec.marker_mm / MODULES[spec.dictionary[5]] * float(rng.choice([0.8, 1, 1.2]))
    shuffled = spec.layout == "free" or rng.random() < 0.2
    ids = (rng.permutation(50) if shuffled else np.arange(50)).tolist()[: spec.markers]
    if spec.layout == "free":
        found = [_anywhere(i, k % 4, spec.marker_mm, quiet, ground, rng) for k, i in enumerate(ids)]
        return [m for m in found if m]
    places = _regular(spec, spec.marker_mm / 2 + quiet + float(rng.uniform(2, 25)))
    known = [
        Marker(i, spec.marker_mm, quiet, x, y, 0.0) for i, (x, y) in zip(ids, places, strict=True)
    ]
    for m in known:
        ground.take(m.card_mm[:, :2])
    return known


def _regular(spec: Spec, inset: float) -> list[tuple[float, float]]:
    """Corners, then the middles of the long sides, then of the short ones."""
    width, height = spec.size_mm
    corners = [(x, y) for y in (inset, height - inset) for x in (inset, width - inset)]
    middles = [
        (width / 2, inset),
        (width / 2, height - inset),
        (inset, height / 2),
        (width - inset, height / 2),
    ]
    return [*corners, *middles][: spec.markers]


def _anywhere(
    marker: int, quarter: int, size: float, quiet: float, ground: Ground, rng: Rng
) -> Marker | None:
    """A marker somewhere in a quarter of the board, as people spread them."""
    side = size + 2 * quiet
    low = ground.size_mm / 2 * [quarter % 2, quarter // 2]
    found = ground.settle(rectangle(side, side), rng, low, low + ground.size_mm / 2)
    return Marker(marker, size, quiet, *found) if found else None


def _cards(spec: Spec, markers: list[Marker], rng: Rng) -> list[Part]:
    white, gloss = (
        str(rng.choice(["#f0f0ec", "#e6e4dc", "#f4f4f4"])),
        float(rng.choice([0.05, 0.2, 0.5])),
    )
    return [part for m in markers for part in m.parts(spec.dictionary, white, gloss)]


def _rulers(spec: Spec, ground: Ground, rng: Rng) -> list[Ruler]:
    found = []
    for _ in range(spec.rulers):
        kind = str(rng.choice(RULER_KINDS[spec.game]))
        tries = (
            ruler(kind, rng.uniform((0, 0), ground.size_mm), float(rng.uniform(0, 360)), rng)
            for _ in range(200)
        )
        one = next((r for r in tries if ground.free(Polygon(r.footprint_mm))), None)
        if one:
            ground.take(one.footprint_mm)
            found.append(one)
    return found


def _terrain(spec: Spec, ground: Ground, rng: Rng) -> list[Terrain]:
    """Hills first, so that they find room."""
    names = ON_DECK if spec.mat == "deck" else tuple(KINDS)
    found = []
    for k in range(spec.terrain):
        if k < spec.heights:
            raw = flat_roof(rng) if k % 2 else hill(rng, float(rng.uniform(90, 140)))
        elif k == 0 and rng.random() < 0.6:
            raw = hill(rng, float(rng.uniform(90, 140)))
        else:
            raw = KINDS[str(rng.choice(names))](rng)
        at = ground.settle(raw.footprint_mm, rng, (0, 0), ground.size_mm, 8)
        if at:
            found.append(raw.moved(*at))
    return found


def _props(spec: Spec, ground: Ground, rng: Rng) -> list[Prop]:
    names = LITTER + (SPACE_LITTER if spec.game == "xwing" else ())
    found = []
    for _ in range(spec.props):
        prop = PROPS[str(rng.choice(names))](rng)
        at = ground.settle(prop.outline_mm, rng, (0, 0), ground.size_mm)
        if at:
            found.append(prop.moved(*at))
    for _ in range(spec.lookalikes):
        prop = any_lookalike(rng)
        at = ground.settle(prop.outline_mm, rng, (0, 0), ground.size_mm)
        if at:
            found.append(prop.moved(*at))
    if spec.hand:
        found.append(hand(np.random.default_rng([spec.seed, 4]), ground.size_mm))
    return found
