"""Reads an area from a question."""

from dataclasses import replace

from overruler.errors import UnknownName
from overruler.reading import Node
from overruler.rules.areas import fields
from overruler.rules.areas.arcs import read_arcs
from overruler.rules.areas.fields import DISTANCES, FOR, KINDS, MAX_PARTS, WHOLE
from overruler.rules.areas.tree import (
    Area,
    Hidden,
    InArc,
    Joined,
    Leaf,
    Near,
    Outside,
    WholeBase,
    Zone,
    bases_of,
    bodies_of,
    leaves_of,
)
from overruler.rules.bands import read_bands
from overruler.rules.bodies import Body, bodies_named, piece_bodies, piece_named, terrain_body
from overruler.scene import Scene
from overruler.terrain import read_footprint
from overruler.units import CONTACT_TOLERANCE_MM

MAX_DEPTH = 8
"""Most areas inside each other."""


def read_area(scene: Scene, node: Node, base: Body | None = None, depth: int = 1) -> Area:
    """Read an area; `base` is the one that an area round it is for."""
    if depth > MAX_DEPTH:
        node.fail(f"lies more than {MAX_DEPTH} areas deep")
    if node.has("question"):
        node["question"].choice(("area",))
    kind = _read_one_key(node, KINDS)
    own = _read_base(scene, node, base)
    if WHOLE.read(node):
        if not node.has(FOR.name):
            node["whole"].fail("needs the key 'for': the base that is to be there")
        assert own is not None
        if base is not None:
            node["whole"].fail("cannot stand inside an area that is for a base")
        return WholeBase(_read_kind(scene, node, kind, None, depth), own)
    return _read_kind(scene, node, kind, own, depth)


def check_bases(area: Area, node: Node) -> None:
    """Raise `BadInput` where a piece is to stand near itself."""
    for base in bases_of(area):
        if any(base in bodies_of(leaf) for leaf in leaves_of(area)):
            node.fail(f"{base.id!r} is on both sides; a distance needs two")


def _read_kind(scene: Scene, node: Node, kind: str, base: Body | None, depth: int) -> Area:
    if kind == "not":
        return Outside(read_area(scene, node[kind], base, depth + 1))
    if kind not in ("all", "any"):
        return _with_base(_read_leaf(scene, node, kind), base)
    items = node[kind].items()
    if not 1 <= len(items) <= MAX_PARTS:
        node[kind].fail(f"expected from 1 to {MAX_PARTS} areas, found {len(items)}")
    parts = (read_area(scene, item, base, depth + 1) for item in items)
    return Joined(kind == "all", tuple(parts))


def _with_base(area: Area, base: Body | None) -> Area:
    """An area of one piece of ground, or of an arc and a distance, for a base."""
    if isinstance(area, Joined):
        return replace(area, parts=tuple(_with_base(part, base) for part in area.parts))
    if isinstance(area, Hidden):
        seen_past = tuple(body for body in area.obstacles if body != base)
        return replace(area, obstacles=seen_past, base=base)
    assert isinstance(area, Leaf)
    return replace(area, base=base)


def _read_one_key(node: Node, keys: tuple[str, ...]) -> str:
    """The one of some keys that an area has."""
    found = [key for key in keys if node.has(key)]
    if len(found) != 1:
        what = f"has {' and '.join(found)}" if found else "has none of them"
        node.fail(f"an area has exactly one of {', '.join(keys)}; this one {what}")
    return found[0]


def _read_base(scene: Scene, node: Node, outer: Body | None) -> Body | None:
    """The piece that an area is for: its own, or that of the area round it."""
    if not node.has(FOR.name):
        return outer
    base, _ = piece_named(scene, node[FOR.name])
    if outer is not None and base != outer:
        node[FOR.name].fail(f"the area round this one is for {outer.id!r} already")
    return base


# --- pieces of ground ---


def _read_leaf(scene: Scene, node: Node, kind: str) -> Area:
    if kind == "of":
        return _read_of(scene, node)
    if kind == "of_player":
        return _read_near(scene, node, _bodies_of_player(scene, node[kind]))
    if kind == "edge":
        return _read_edge(scene, node)
    if kind == "hidden_from":
        return _read_hidden(scene, node)
    return _read_zone(scene, node[kind])


def _read_of(scene: Scene, node: Node) -> Area:
    """The ground near something, in an arc of it, or in both."""
    if not node.has(fields.ARC.name):
        return _read_near(scene, node, bodies_named(scene, node[fields.OF.name]))
    body, index = piece_named(scene, node[fields.OF.name])
    arcs = read_arcs(scene, index, node[fields.ARC.name])
    in_arc = InArc(body, tuple(arc.on_board(scene.pieces[index]) for arc in arcs))
    if not any(node.has(key) for key in DISTANCES):
        return in_arc
    return Joined(True, (in_arc, _read_near(scene, node, (body,))))


def _bodies_of_player(scene: Scene, node: Node) -> tuple[Body, ...]:
    """The surely placed pieces of a player."""
    name = node.text()
    bodies = tuple(
        body
        for body in piece_bodies(scene)
        if body.player == name and body.id not in scene.reasons_for_doubt
    )
    players = sorted({piece.player for piece in scene.pieces if piece.player})
    if not bodies:
        raise UnknownName(f"{node.name}: {node.path}", name, players)
    return bodies


def _read_near(scene: Scene, node: Node, bodies: tuple[Body, ...]) -> Near:
    low_mm, high_mm, by_range = _read_distances(scene, node)
    move_mm = fields.MOVE_IN.read(node)
    low_mm = max(low_mm - move_mm, 0.0)  # a move away leaves more room
    is_low_out = by_range and low_mm > 0
    return Near(bodies, low_mm, high_mm + move_mm, is_low_out, None, by_range, move_mm)


def _read_distances(scene: Scene, node: Node) -> tuple[float, float, bool]:
    """Where the ground begins and ends, and whether a ruler says so."""
    key = _read_one_key(node, DISTANCES)
    if key == "range":
        return *_read_range(scene, node[fields.RANGE.name]), True
    field = fields.WITHIN_MM if key == "within_mm" else fields.WITHIN_IN
    return *field.read(node), False


def _read_range(scene: Scene, node: Node) -> tuple[float, float]:
    """Where some bands of the game's ruler begin and end; band 0 is contact."""
    ruler = scene.range_ruler
    if ruler is None:
        node.fail("the game has no ruler of its own; ask by within_mm or within_in")
    bands = node if isinstance(node.value, list) else Node([node.value], node.name, node.path)
    first, last = read_bands(bands, 0, ruler.segments)
    ends_mm = (0.0, *ruler.lines_mm)
    return ends_mm[max(first - 1, 0)], ends_mm[last]


def _read_edge(scene: Scene, node: Node) -> Zone:
    """The strip along an edge of the board."""
    edge = fields.EDGE.read(node)
    low_mm, high_mm, _ = _read_distances(scene, node)
    width, height = scene.board.width_mm, scene.board.height_mm
    left, right, bottom, top = {
        "left": (low_mm, high_mm, 0.0, height),
        "right": (width - high_mm, width - low_mm, 0.0, height),
        "bottom": (0.0, width, low_mm, high_mm),
        "top": (0.0, width, height - high_mm, height - low_mm),
    }[edge]
    return Zone(((left, bottom), (right, bottom), (right, top), (left, top)))


def _read_zone(scene: Scene, node: Node) -> Zone:
    """A zone by its outline, or by its name in the scene's `state.zones`."""
    if isinstance(node.value, list):
        return Zone(read_footprint(node))
    name = node.text()
    if name not in scene.zones:
        raise UnknownName(f"{node.name}: {node.path} (state.zones)", name, tuple(scene.zones))
    return Zone(scene.zones[name])


def _read_hidden(scene: Scene, node: Node) -> Hidden:
    """The ground that a piece does not see, past all terrain or past what the question names."""
    viewer, _ = piece_named(scene, node["hidden_from"])
    if node.has(fields.BEHIND.name):
        items = fields.BEHIND.read(node)
        if not 1 <= len(items) <= fields.MAX_BEHIND:
            node[fields.BEHIND.name].fail(f"expected from 1 to {fields.MAX_BEHIND} names")
        behind = [body for item in items for body in bodies_named(scene, item)]
        if viewer in behind:
            node[fields.BEHIND.name].fail(f"{viewer.id!r} is on both sides; it hides nothing")
    else:
        behind = [terrain_body(scene, terrain.id) for terrain in scene.terrain]
    lowest_mm = max(viewer.z_mm, 0.0) + CONTACT_TOLERANCE_MM
    return Hidden(
        viewer, tuple(body for body in dict.fromkeys(behind) if body.top_z_mm > lowest_mm)
    )
