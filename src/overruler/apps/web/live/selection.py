"""What the caster wants on air, and what a pair of picks asks of the scene."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from overruler.apps.web.quick_questions import DISTANCE_QUESTION, RANGE_QUESTION, questions_of_game
from overruler.errors import UnknownName
from overruler.rules import game_of
from overruler.scene import Scene

END_BY_ROLE = {"attacker": "from", "defender": "to"}
"""An attack's own names for the two ends of a distance."""


@dataclass(frozen=True, slots=True)
class Selection:
    """What the caster wants on air."""

    pair: tuple[str, str] | None = None
    """Two pieces, or units by their names."""
    bands: tuple[str, ...] = ()
    """The pieces that have range lines round them."""
    arcs: tuple[str, ...] = ()
    """The ships whose arcs are drawn."""
    tap: str = ""
    """What a pair asks, one of `pair_questions` by its label; empty for the game's first."""
    arc: str = "front"
    reach_in: float = 6.0

    def with_renamed_piece(self, old: str, new: str) -> "Selection":
        """The same where a piece goes by another name now."""
        pair, bands, arcs = (
            tuple(new if one == old else one for one in names) for names in self._selected_names()
        )
        return replace(self, pair=(pair[0], pair[1]) if pair else None, bands=bands, arcs=arcs)

    def _selected_names(self) -> tuple[tuple[str, ...], ...]:
        return self.pair or (), self.bands, self.arcs


def pair_questions(game: str) -> list[dict[str, Any]]:
    """What two picks can ask in a game, the usual first: the range, or the distance where the game has no ruler."""
    known = [*questions_of_game(game), DISTANCE_QUESTION]
    return (
        known
        if game_of(game).ruler or RANGE_QUESTION in known
        else [DISTANCE_QUESTION, *known[:-1]]
    )


def find_pair_question(game: str, label: str) -> dict[str, Any]:
    """One of them by its label."""
    known = pair_questions(game)
    for tap in known:
        if tap["label"] == (label or known[0]["label"]):
            return tap
    raise UnknownName("question", label, [tap["label"] for tap in known])


def question_of_pair(scene: Scene, wanted: Selection) -> dict[str, Any]:
    """What the pair asks; attacks of games that know units are the units'."""
    tap, pair = find_pair_question(scene.game, wanted.tap), wanted.pair or ("", "")
    if tap.get("by_unit"):
        pair = (_unit_of_piece(scene, pair[0]), _unit_of_piece(scene, pair[1]))
    values = {"A": pair[0], "B": pair[1], "ARC": wanted.arc, "REACH": wanted.reach_in}
    return {key: values.get(value, value) for key, value in tap["ask"].items()}


def distance_question(asked: dict[str, Any]) -> dict[str, Any]:
    """The distance that a question is drawn on where it rests on none of its own."""
    ends = {
        END_BY_ROLE.get(key, key): value
        for key, value in asked.items()
        if key in (*END_BY_ROLE, *END_BY_ROLE.values())
    }
    return {"question": "distance", **ends}


def _unit_of_piece(scene: Scene, name: str) -> str:
    return next((piece.unit for piece in scene.pieces if piece.id == name and piece.unit), name)


def pieces_named(scene: Scene, names: Iterable[str]) -> set[str]:
    """The pieces that names of pieces or units stand for; a name that nothing goes by stands for itself."""
    found: set[str] = set()
    for name in names:
        found |= {piece.id for piece in scene.pieces if name in (piece.id, piece.unit)} or {name}
    return found
