"""Range 0 of X-Wing: the pairs that a scene holds there, and those there after some moves."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple

from overruler.errors import UnknownName
from overruler.geometry.shapes import gap
from overruler.pieces import Piece, read_heading
from overruler.reading import Node, read_coordinate
from overruler.rules.clauses import clauses_that_hold
from overruler.rules.sampling import max_relative_shift_mm
from overruler.scene import Scene
from overruler.units import CONTACT_TOLERANCE_MM
from overruler.verdict import Verdict

IdPair = tuple[str, str]
"""Two pieces by their ids, in ascending order."""

EVENT_TYPES = ("move", "partial_maneuver")


def id_pair(a: str, b: str) -> IdPair:
    """Two ids as a pair."""
    return (a, b) if a < b else (b, a)


# --- in the scene ---


def held_pairs(scene: Scene) -> frozenset[IdPair]:
    """The pairs that the scene's `state.range0` holds at range 0."""
    state = Node(scene.state, "scene", "state")
    nodes = state["range0"].items() if state.has("range0") else ()
    return frozenset(_read_held_pair(scene, node) for node in nodes)


def _read_held_pair(scene: Scene, node: Node) -> IdPair:
    pair = node.items()
    if len(pair) != 2:
        node.fail(f"expected the ids of two pieces, found {len(pair)}")
    a, b = (scene.pieces[_read_piece_index(scene, item)].id for item in pair)
    if a == b:
        node.fail(f"names {a!r} twice; range 0 is held between two")
    return id_pair(a, b)


def _read_piece_index(scene: Scene, node: Node) -> int:
    """The index in the scene of the piece whose id a node gives."""
    ids = [piece.id for piece in scene.pieces]
    if node.text() not in ids:
        raise UnknownName(f"{node.name}: {node.path}", node.text(), ids)
    return ids.index(node.text())


# --- moves ---


class Event(NamedTuple):
    """A ship comes to a new place."""

    piece: Piece
    """The ship as it stands afterwards."""
    overlapped: str | None
    """After a partial maneuver the id of the last ship that it overlapped."""


def _read_event(scene: Scene, node: Node) -> Event:
    partial = node["type"].choice(EVENT_TYPES) == "partial_maneuver"
    ship = _read_ship(scene, node["ship"])
    x_mm, y_mm = read_coordinate(node["x_mm"]), read_coordinate(node["y_mm"])
    heading_deg = read_heading(node["heading_deg"])
    overlapped = _read_ship(scene, node["last_overlapped"]).id if partial else None
    if overlapped == ship.id:
        node["last_overlapped"].fail("a ship does not overlap itself")
    return Event(replace(ship, x_mm=x_mm, y_mm=y_mm, heading_deg=heading_deg), overlapped)


def _read_ship(scene: Scene, node: Node) -> Piece:
    piece = scene.pieces[_read_piece_index(scene, node)]
    kind = scene.kind_of(piece)
    if kind != "ship":
        node.fail(f"{node.value!r} is no ship, it is of kind {kind!r}")
    return piece


class ShipPair(NamedTuple):
    """Two ships as they stood when one of them last moved."""

    a: Piece
    b: Piece
    i: int | None
    j: int | None
    """Their indices in the scene; None for a ship that an event placed, exactly."""
    is_held: bool
    """Whether the two are at range 0 even if they do not touch."""

    def is_within(self, limit_mm: float) -> bool:
        """Whether their bases are at most `limit_mm` apart."""
        a, b = self.a.shape, self.b.shape
        least_mm = math.dist(a.center, b.center) - a.bounding_radius_mm - b.bounding_radius_mm
        return least_mm <= limit_mm and gap(a, b).distance_mm <= limit_mm

    @property
    def touches(self) -> bool:
        """Whether their bases are in contact, in height too."""
        return self.meets_in_height and self.is_within(CONTACT_TOLERANCE_MM)

    @property
    def meets_in_height(self) -> bool:
        """Whether their heights overlap or touch."""
        low_mm, high_mm = max(self.a.z_mm, self.b.z_mm), min(self.a.top_z_mm, self.b.top_z_mm)
        return high_mm - low_mm >= -CONTACT_TOLERANCE_MM

    @property
    def is_at_zero(self) -> bool:
        """Whether the two are at range 0."""
        return self.is_held or self.touches


ShipPairs = Mapping[IdPair, ShipPair]


def _initial_pairs(scene: Scene, held: frozenset[IdPair], objects: bool) -> ShipPairs:
    """Every two ships as the scene has them; with `objects` each with each obstacle and device too."""
    kinds = ("ship", "obstacle", "device") if objects else ("ship",)
    pieces = [
        (index, piece) for index, piece in enumerate(scene.pieces) if scene.kind_of(piece) in kinds
    ]
    pairs = {}
    for (i, a), (j, b) in combinations(pieces, 2):
        if "ship" not in (scene.kind_of(a), scene.kind_of(b)):
            continue
        ids = id_pair(a.id, b.id)
        pairs[ids] = ShipPair(a, b, i, j, ids in held)
    return pairs


def _pairs_after(pairs: ShipPairs, event: Event) -> ShipPairs:
    """The pairs after one event: those of the ship that moves are made anew, all others stay."""
    moved, after = event.piece, dict(pairs)
    for ids, pair in pairs.items():
        if moved.id == pair.a.id:
            after[ids] = pair._replace(a=moved, i=None, is_held=pair.b.id == event.overlapped)
        elif moved.id == pair.b.id:
            after[ids] = pair._replace(b=moved, j=None, is_held=pair.a.id == event.overlapped)
    return after


def range0_after(scene: Scene, question: Node) -> Verdict:
    """The pairs of ships at range 0 after some events; none of them need be."""
    held = held_pairs(scene)
    events = [_read_event(scene, node) for node in question["events"].items()]
    objects = question.get("objects", Node.boolean, False)
    pairs = _initial_pairs(scene, held, objects)
    any_at_first = any(pair.is_at_zero for pair in pairs.values())
    moved_into = False
    for event in events:
        before = pairs
        pairs = _pairs_after(before, event)
        moved_into = moved_into or _comes_into_contact(before, pairs)
    at_zero = sorted(ids for ids, pair in pairs.items() if pair.is_at_zero)
    clauses = {
        "xwing.pairs": True,
        "xwing.zero": True,
        "xwing.touching": any(pairs[ids].touches for ids in at_zero),
        "xwing.objects": objects,
        "xwing.held": any_at_first or bool(held),
        "xwing.partial": any(event.overlapped is not None for event in events),
        "xwing.moved_into": moved_into,
        "xwing.default_kind": any(piece.kind is None for piece in scene.pieces),
    }
    value = [list(ids) for ids in at_zero]
    return Verdict(
        answer={"range0": value},
        headline=_pairs_in_words(value),
        rules=clauses_that_hold(clauses),
        value=value,
        probability=None if scene.covariance is None else _list_probabilities(scene, pairs),
        question=question.value,
    )


def _comes_into_contact(before: ShipPairs, after: ShipPairs) -> bool:
    """Whether any pair that was not at range 0 touches after a move."""
    moved = [ids for ids in after if after[ids] is not before[ids]]
    return any(not before[ids].is_at_zero and after[ids].touches for ids in moved)


def _pairs_in_words(pairs: Sequence[Sequence[str]]) -> str:
    if not pairs:
        return "no pair at range 0"
    return ", ".join(" and ".join(pair) for pair in pairs) + " at range 0"


# --- uncertainty ---


def _list_probabilities(scene: Scene, pairs: ShipPairs) -> dict[str, float]:
    """The probability of each list of pairs, by its JSON text."""
    unsure = {
        ids: pair for ids, pair in pairs.items() if not pair.is_held and _may_touch(scene, pair)
    }
    sure = {ids for ids, pair in pairs.items() if ids not in unsure and pair.is_at_zero}
    patterns: dict[tuple[bool, ...], float] = {(): 1.0}
    if unsure:
        patterns = _touch_probabilities(scene, list(unsure.values()))
    probabilities = {}
    for touches, probability in patterns.items():
        touching = {ids for ids, touch in zip(unsure, touches, strict=True) if touch}
        probabilities[json.dumps(sorted(sure | touching))] = probability
    return probabilities


def _may_touch(scene: Scene, pair: ShipPair) -> bool:
    """Whether it is uncertain that two ships touch."""
    reach_mm = max_relative_shift_mm(scene, pair.i, pair.j)
    return reach_mm > 0 and pair.meets_in_height and pair.is_within(reach_mm)


def _touch_probabilities(scene: Scene, pairs: Sequence[ShipPair]) -> dict[tuple[bool, ...], float]:
    """The joint probability of each pattern of contact among some pairs."""
    import numpy as np

    from overruler.geometry.batched.distances import gaps_at_shifts
    from overruler.geometry.batched.draws import difference_covariance, draw_gaussian

    assert scene.covariance is not None
    indices = [(pair.i, pair.j) for pair in pairs]
    joint = difference_covariance(scene.covariance.array, indices)
    shifts = draw_gaussian(joint).reshape(-1, len(pairs), 2)
    touches = [
        gaps_at_shifts(pair.a.shape, pair.b.shape, shifts[:, k]) <= CONTACT_TOLERANCE_MM
        for k, pair in enumerate(pairs)
    ]
    rows, counts = np.unique(np.stack(touches, 1), axis=0, return_counts=True)
    patterns = zip(rows.tolist(), counts.tolist(), strict=True)
    return {tuple(row): count / len(shifts) for row, count in patterns}
