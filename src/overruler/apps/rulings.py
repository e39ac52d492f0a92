"""The rulings on a scene: on the questions asked, or on the closest opponents."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

from overruler.errors import BadInput
from overruler.geometry.shapes import gap
from overruler.reading import Node
from overruler.records import MovedRecord
from overruler.rules import ask, game_of
from overruler.scene import Piece, Scene
from overruler.verdict import Verdict

COHESION_MM = 76.2
"""Largest gap between neighbours in a group of pieces without players: half a range of Legion."""
MANY_DOUBTFUL = 3
"""Fewer pieces that may be none are left out one by one."""
MANY_DOUBTFUL_SHARE = 0.1
"""Nothing is ruled on unasked where a larger share of the pieces may be none. It is 0.08 at most on
14 clean tables."""
MAX_OPPONENT_PAIRS = 3
"""Number of pairs that are ruled on where nothing is asked."""


PiecePair = tuple[Piece, Piece]


def question_names(name: str, count: int) -> list[str]:
    """What errors call each of some questions: they have a number where there are several."""
    return [name] if count == 1 else [f"{name} {number}" for number in range(1, count + 1)]


def answer_each(
    scene: Scene, questions: Sequence[dict[str, Any]], name: str
) -> tuple[tuple[Verdict, ...], dict[int, str]]:
    """As `rule_on_questions`, but one that the scene cannot answer leaves the others their answers.

    Returns the rulings, and by a question's index what is wrong with it.
    """
    if not questions:
        return rule_on_questions(scene, (), name), {}
    verdicts, unanswered = [], {}
    names = question_names(name, len(questions))
    for index, node in enumerate(map(Node, questions, names)):
        try:
            verdicts.append(ask(scene, node))
        except BadInput as error:
            text = str(error)
            unanswered[index] = text if text.startswith(node.name) else f"{node.name}: {text}"
    return tuple(verdicts), unanswered


def rule_on_questions(
    scene: Scene, questions: Sequence[dict[str, Any]], name: str = "question"
) -> tuple[Verdict, ...]:
    """Answer the questions; if there are none, give the range (or distance) of the closest opponents.

    Where nobody asked, the ruling nearest to a line that changes it comes first. `name` says in errors
    where the questions stand.
    """
    if questions:
        nodes = map(Node, questions, question_names(name, len(questions)))
        return tuple(ask(scene, question) for question in nodes)
    kind = "range" if _has_ranges(scene) else "distance"
    pairs = closest_opponents(scene)
    rulings = [ask(scene, {"question": kind, "from": a.id, "to": b.id}) for a, b in pairs]
    return tuple(sorted(rulings, key=lambda ruling: ruling.tightness_mm))


def _has_ranges(scene: Scene) -> bool:
    """Whether the scene has a ruler, and its game reads a range between two by it."""
    question = game_of(scene.game).questions.get("range")
    return bool(scene.range_ruler and question and question.schema["required"] == ["from", "to"])


def closest_opponents(scene: Scene) -> list[PiecePair]:
    """The closest pairs of enemies where players are known, else of pieces in separate groups.

    What may be no piece is left out, and what moved between several photos: nobody asked about it.
    Where many may be none, nobody knows which pieces are the closest, and there are no pairs.
    """
    doubtful = scene.reasons_for_doubt
    if len(doubtful) >= MANY_DOUBTFUL and len(doubtful) > MANY_DOUBTFUL_SHARE * len(scene.pieces):
        return []
    left_out = {*doubtful, *(moved.id for moved in MovedRecord.all_in(scene.extra))}
    pieces = [piece for piece in scene.pieces if piece.id not in left_out]
    sides = group_by_player(pieces) or group_by_cohesion(pieces)
    pairs = [closest_pair(first, second) for first, second in combinations(sides, 2)]
    return sorted(pairs, key=_gap_mm)[:MAX_OPPONENT_PAIRS]


def group_by_player(pieces: Sequence[Piece]) -> list[list[Piece]]:
    """The pieces of each player; empty where fewer than two players are known."""
    names = dict.fromkeys(piece.player for piece in pieces if piece.player)
    if len(names) < 2:
        return []
    return [[piece for piece in pieces if piece.player == name] for name in names]


def group_by_cohesion(pieces: Sequence[Piece]) -> list[list[Piece]]:
    """The pieces in groups in which each stands within `COHESION_MM` of another."""
    groups: list[list[Piece]] = []
    for piece in pieces:
        merged, others = [], []
        for group in groups:
            if any(_gap_mm((piece, member)) <= COHESION_MM for member in group):
                merged += group
            else:
                others.append(group)
        groups = [*others, [*merged, piece]]
    return groups


def side_numbers(pieces: Sequence[Piece]) -> dict[str, int]:
    """A number for the side of each piece: its player's, else its unit's, else its group's.

    Groups count only where no player is known.
    """
    sides = group_by_player(pieces) or group_by_cohesion(pieces)
    numbers = {piece.id: number for number, side in enumerate(sides) for piece in side}
    units: dict[str, int] = {}
    for number, piece in enumerate(pieces, len(sides)):
        fallback = number if piece.unit is None else units.setdefault(piece.unit, number)
        numbers.setdefault(piece.id, fallback)
        if piece.unit is not None:
            numbers[piece.id] = units.setdefault(piece.unit, numbers[piece.id])
    return numbers


def closest_pair(first: Sequence[Piece], second: Sequence[Piece]) -> PiecePair:
    """The closest pair with a piece of each group."""
    return min(((a, b) for a in first for b in second), key=_gap_mm)


def _gap_mm(pair: PiecePair) -> float:
    return gap(pair[0].shape, pair[1].shape).distance_mm
