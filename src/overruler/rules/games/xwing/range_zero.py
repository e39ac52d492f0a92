"""Range 0 of X-Wing: which pairs a scene holds there, and which are there after some moves."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple

from overruler.errors import UnknownName
from overruler.geometry.shapes import gap
from overruler.pieces import Piece, read_coordinate
from overruler.reading import Node
from overruler.rules.sampling import max_relative_shift_mm
from overruler.scene import Scene
from overruler.units import CONTACT_TOLERANCE_MM
from overruler.verdict import Verdict

IdPair = tuple[str, str]
"""Two pieces by their ids, in ascending order."""


def id_pair(a: str, b: str) -> IdPair:
    return (a, b) if a < b else (b, a)


# --- what a scene holds ---


def held_pairs(scene: Scene) -> frozenset[IdPair]:
    """The pairs that the scene's `state.range0` holds at range 0."""
    state = Node(scene.state, "scene", "state")
    return frozenset(
        _read_held_pair(scene, item)
        for item in (state["range0"].items() if state.has("range0") else ())
    )


def _read_held_pair(scene: Scene, node: Node) -> IdPair:
    pair = node.items()
    if len(pair) != 2:
        node.fail(f"expected the ids of two pieces, found {len(pair)}")
    a, b = (scene.pieces[read_piece_index(scene, item)].id for item in pair)
    return id_pair(a, b) if a != b else node.fail(f"names {a!r} twice; range 0 is held between two")


def read_piece_index(scene: Scene, node: Node) -> int:
    """The place in the scene of the piece whose id a node gives."""
    ids = [piece.id for piece in scene.pieces]
    if node.text() not in ids:
        raise UnknownName(f"{node.name}: {node.path}", node.text(), ids)
    return ids.index(node.text())


# --- moves ---


class Event(NamedTuple):
    """A ship comes to a new place."""

    ship: int
    piece: Piece
    """As it stands afterwards."""
    overlapped: int | None
    """After a partial maneuver the last ship that it overlapped."""


def read_events(scene: Scene, question: Node) -> list[Event]:
    """What a question's `read_events` say happens, in order."""
    return [_read_event(scene, node) for node in question["events"].items()]


def _read_event(scene: Scene, node: Node) -> Event:
    partial = node["type"].choice(("move", "partial_maneuver")) == "partial_maneuver"
    ship = _read_ship_index(scene, node["ship"])
    x_mm, y_mm, heading_deg = (
        read_coordinate(node["x_mm"]),
        read_coordinate(node["y_mm"]),
        node["heading_deg"].number(),
    )
    overlapped = _read_ship_index(scene, node["last_overlapped"]) if partial else None
    if overlapped == ship:
        node["last_overlapped"].fail("a ship does not overlap itself")
    return Event(
        ship, replace(scene.pieces[ship], x_mm=x_mm, y_mm=y_mm, heading_deg=heading_deg), overlapped
    )


def _read_ship_index(scene: Scene, node: Node) -> int:
    index = read_piece_index(scene, node)
    kind = scene.kind_of(scene.pieces[index])
    return (
        index if kind == "ship" else node.fail(f"{node.value!r} is no ship, it is of kind {kind!r}")
    )


class ShipPair(NamedTuple):
    """Two ships as they stood when one of them last moved."""

    a: Piece
    b: Piece
    i: int | None
    j: int | None
    """Their places in the scene; None where an event placed them, exactly."""
    is_held: bool
    """At range 0 whether they touch or not."""

    def is_within(self, limit_mm: float) -> bool:
        """Whether no more than a limit parts their bases."""
        a, b = self.a.shape, self.b.shape
        return (
            math.dist(a.center, b.center) - a.bounding_radius_mm - b.bounding_radius_mm
            <= limit_mm
            >= gap(a, b).distance_mm
        )

    @property
    def is_at_zero(self) -> bool:
        return self.is_held or self.is_within(CONTACT_TOLERANCE_MM)


ShipPairs = Mapping[IdPair, ShipPair]


def initial_ship_pairs(scene: Scene, held: frozenset[IdPair]) -> ShipPairs:
    """Every two ships as the scene has them."""
    ships = [
        (index, piece) for index, piece in enumerate(scene.pieces) if scene.kind_of(piece) == "ship"
    ]
    both = (
        (id_pair(a.id, b.id), ShipPair(a, b, i, j, False))
        for (i, a), (j, b) in combinations(ships, 2)
    )
    return {key: tie._replace(is_held=key in held) for key, tie in both}


def ship_pairs_after(ties: ShipPairs, event: Event, overlapped: str | None) -> ShipPairs:
    """The ties after one event: those of the ship that moves are made anew, all others stand."""
    ship, after = event.piece.id, dict(ties)
    for key, tie in ties.items():
        if ship == tie.a.id:
            after[key] = tie._replace(a=event.piece, i=None, is_held=tie.b.id == overlapped)
        elif ship == tie.b.id:
            after[key] = tie._replace(b=event.piece, j=None, is_held=tie.a.id == overlapped)
    return after


def range0_after(scene: Scene, question: Node) -> Verdict:
    """The pairs of ships at range 0 after some events; none of them need be."""
    held, happened = held_pairs(scene), read_events(scene, question)
    ties = initial_ship_pairs(scene, held)
    started = {key for key, tie in ties.items() if tie.is_at_zero}
    into = False
    for event in happened:
        before = ties
        overlapped = None if event.overlapped is None else scene.pieces[event.overlapped].id
        ties = ship_pairs_after(before, event, overlapped)
        into = into or any(
            _moved_into(before[key], tie) for key, tie in ties.items() if tie is not before[key]
        )
    pairs = sorted(key for key, tie in ties.items() if tie.is_at_zero)
    clauses = {
        "xwing.pairs": True,
        "xwing.zero": True,
        "xwing.touching": any(ties[key].is_within(CONTACT_TOLERANCE_MM) for key in pairs),
        "xwing.held": bool(started) or bool(held),
        "xwing.partial": any(event.overlapped is not None for event in happened),
        "xwing.moved_into": into,
        "xwing.default_kind": any(piece.kind is None for piece in scene.pieces),
    }
    value = [list(pair) for pair in pairs]
    return Verdict(
        answer={"range0": value},
        headline=_pairs_in_words(value),
        rules=tuple(clause for clause, holds in clauses.items() if holds),
        value=value,
        probability=None if scene.covariance is None else _pair_list_probabilities(scene, ties),
        question=question.value,
    )


def _moved_into(before: ShipPair, after: ShipPair) -> bool:
    return not before.is_at_zero and after.is_within(CONTACT_TOLERANCE_MM)


def _pairs_in_words(pairs: Sequence[Sequence[str]]) -> str:
    return (
        ", ".join(" and ".join(pair) for pair in pairs) + " at range 0"
        if pairs
        else "no two ships at range 0"
    )


# --- doubt ---


def _pair_list_probabilities(scene: Scene, ties: ShipPairs) -> dict[str, float]:
    """The probability of each list of pairs, by its JSON text."""
    open_ones = {
        key: tie for key, tie in ties.items() if not tie.is_held and _may_touch(scene, tie)
    }
    sure = {key for key, tie in ties.items() if key not in open_ones and tie.is_at_zero}
    shares = _touch_probabilities(scene, list(open_ones.values())) if open_ones else {(): 1.0}
    keys = list(open_ones)
    found = {
        tuple(
            sorted(sure | {key for key, at_zero in zip(keys, row, strict=True) if at_zero})
        ): share
        for row, share in shares.items()
    }
    return {json.dumps(pairs): share for pairs, share in found.items()}


def _may_touch(scene: Scene, tie: ShipPair) -> bool:
    """Whether it is open if two ships touch."""
    reach = max_relative_shift_mm(scene, tie.i, tie.j)
    return reach > 0 and tie.is_within(reach)


def _touch_probabilities(scene: Scene, ties: Sequence[ShipPair]) -> dict[tuple[bool, ...], float]:
    """How likely it is that each of some pairs touches or not, all together."""
    import numpy as np

    from overruler.geometry.batched.distances import gaps_at_shifts
    from overruler.geometry.batched.draws import difference_covariance, draw_gaussian

    assert scene.covariance is not None
    joint = difference_covariance(scene.covariance.array, [(tie.i, tie.j) for tie in ties])
    shifts = draw_gaussian(joint).reshape(-1, len(ties), 2)
    touch = [
        gaps_at_shifts(tie.a.shape, tie.b.shape, shifts[:, k]) <= CONTACT_TOLERANCE_MM
        for k, tie in enumerate(ties)
    ]
    rows, counts = np.unique(np.stack(touch, 1), axis=0, return_counts=True)
    return {
        tuple(row): count / len(touch[0])
        for row, count in zip(rows.tolist(), counts.tolist(), strict=True)
    }
