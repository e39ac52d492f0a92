"""What to rule on: the questions asked, or those that a look at the table raises first."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

from overruler.geometry.shapes import gap
from overruler.rules import ask, game_of
from overruler.scene import Piece, Scene
from overruler.verdict import Verdict

COHESION_MM = 76.2
"""Pieces without players are one group where each stands this close to another: half a range of Legion."""
MAX_OPPONENT_PAIRS = 3

PiecePair = tuple[Piece, Piece]


def rule_on_questions(scene: Scene, questions: Sequence[dict[str, Any]]) -> tuple[Verdict, ...]:
    """The answers to the questions; where none is asked, the closest opponents' range, or distance in other games."""
    if questions:
        return tuple(ask(scene, question) for question in questions)
    game = game_of(scene.game)
    name = "range" if game.ruler and "range" in game.questions else "distance"
    return tuple(
        ask(scene, {"question": name, "from": a.id, "to": b.id})
        for a, b in closest_opponents(scene)
    )


def closest_opponents(scene: Scene) -> list[PiecePair]:
    """A handful of pairs, the closest first: of enemies where players are known, else of separate groups of pieces."""
    sides = group_by_player(scene.pieces) or group_by_cohesion(scene.pieces)
    pairs = [closest_pair(one, other) for one, other in combinations(sides, 2)]
    return sorted(pairs, key=_gap_mm)[:MAX_OPPONENT_PAIRS]


def group_by_player(pieces: Sequence[Piece]) -> list[list[Piece]]:
    """The pieces by player, empty where fewer than two players are known."""
    names = dict.fromkeys(piece.player for piece in pieces if piece.player)
    return (
        [[piece for piece in pieces if piece.player == name] for name in names]
        if len(names) > 1
        else []
    )


def group_by_cohesion(pieces: Sequence[Piece]) -> list[list[Piece]]:
    """The pieces in groups: whoever stands within cohesion of a member is one."""
    found: list[list[Piece]] = []
    for piece in pieces:
        near = [
            group
            for group in found
            if any(_gap_mm((piece, other)) <= COHESION_MM for other in group)
        ]
        found = [group for group in found if group not in near]
        found.append([*(member for group in near for member in group), piece])
    return found


def closest_pair(one: Sequence[Piece], other: Sequence[Piece]) -> PiecePair:
    """The closest two pieces of two groups."""
    return min(((a, b) for a in one for b in other), key=_gap_mm)


def _gap_mm(pair: PiecePair) -> float:
    return gap(pair[0].shape, pair[1].shape).distance_mm
