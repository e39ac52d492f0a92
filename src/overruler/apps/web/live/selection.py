"""The caster's selection, and the question that a pair of picks asks of the scene."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from overruler.apps.web.quick_questions import DISTANCE_QUESTION, RANGE_QUESTION, questions_of_game
from overruler.errors import UnknownName
from overruler.rules import game_of
from overruler.scene import Scene

END_BY_ROLE = {"attacker": "from", "defender": "to"}
"""The ends of a distance by the names that an attack gives them."""


LISTS = ("bands", "arcs", "grounds", "shadows")
"""What is drawn round pieces, each a list of their names."""


@dataclass(frozen=True, slots=True)
class Selection:
    """What the caster wants on air."""

    pair: tuple[str, str] | None = None
    """Ids of two pieces, or names of two units."""
    bands: tuple[str, ...] = ()
    """Pieces with range lines round them."""
    arcs: tuple[str, ...] = ()
    """Ships whose arcs are drawn."""
    grounds: tuple[str, ...] = ()
    """Pieces with the ground shaded that lies within `reach_in` of them."""
    shadows: tuple[str, ...] = ()
    """Pieces with the ground shaded that they do not see past terrain."""
    tap: str = ""
    """Label of the question that a pair asks, one of `pair_questions`; empty for the game's first."""
    arc: str = "front"
    """The arc that the question is about."""
    reach_in: float = 6.0
    """The distance that the question is about, in inches."""

    def with_renamed_piece(self, old: str, new: str) -> "Selection":
        """The same selection after a piece was renamed."""

        def renamed(names: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(new if name == old else name for name in names)

        pair = None
        if self.pair is not None:
            first, second = renamed(self.pair)
            pair = (first, second)
        lists: dict[str, Any] = {key: renamed(getattr(self, key)) for key in LISTS}
        return replace(self, pair=pair, **lists)

    def with_toggled(self, what: str, name: str, reach_in: float | None = None) -> "Selection":
        """The same with a piece added to one of `LISTS`, or removed if it is there.

        Another reach than before shows the ground of a piece again.
        """
        names = getattr(self, what)
        reach = self.reach_in if reach_in is None else reach_in
        if reach != self.reach_in:
            names = tuple(other for other in names if other != name)
        changed: dict[str, Any] = {what: toggled(names, name), "reach_in": reach}
        return replace(self, **changed)

    def without_areas(self) -> "Selection":
        """The same without what is drawn round pieces and may be impossible to draw."""
        return replace(self, arcs=(), grounds=(), shadows=())

    @property
    def areas(self) -> list[tuple[str, dict[str, Any]]]:
        """The areas that are shaded: each piece with the question."""
        asked = [(name, {"of": name, "within_in": self.reach_in}) for name in self.grounds]
        asked += [(name, {"hidden_from": name}) for name in self.shadows]
        return [(name, {"question": "area", **area}) for name, area in asked]


def toggled(names: tuple[str, ...], name: str) -> tuple[str, ...]:
    """Add a name, or remove it if it is there."""
    if name not in names:
        return (*names, name)
    return tuple(other for other in names if other != name)


def pair_questions(game: str) -> list[dict[str, Any]]:
    """Questions that two picks can ask, the usual first: the range, or without a ruler the distance."""
    known = [*questions_of_game(game), DISTANCE_QUESTION]
    if game_of(game).ruler or RANGE_QUESTION in known:
        return known
    return [DISTANCE_QUESTION, *known[:-1]]


def find_pair_question(game: str, label: str) -> dict[str, Any]:
    """One of `pair_questions` by its label; the first for an empty label."""
    known = pair_questions(game)
    label = label or known[0]["label"]
    for question in known:
        if question["label"] == label:
            return question
    raise UnknownName("question", label, [question["label"] for question in known])


def question_of_pair(scene: Scene, selection: Selection) -> dict[str, Any]:
    """The question that the pair asks; attacks in games with units are asked of the units."""
    tap = find_pair_question(scene.game, selection.tap)
    first, second = selection.pair or ("", "")
    if tap.get("by_unit"):
        first = _unit_of_piece(scene, first)
        second = _unit_of_piece(scene, second)
    values = {"A": first, "B": second, "ARC": selection.arc, "REACH": selection.reach_in}
    return {key: values.get(value, value) for key, value in tap["ask"].items()}


def distance_question(question: dict[str, Any]) -> dict[str, Any]:
    """The distance between the ends of a question, for an answer that rests on no distance."""
    ends = {}
    for key, value in question.items():
        end = END_BY_ROLE.get(key, key)
        if end in END_BY_ROLE.values():
            ends[end] = value
    return {"question": "distance", **ends}


def _unit_of_piece(scene: Scene, name: str) -> str:
    """The unit of a piece; the name itself if it names no piece with a unit."""
    for piece in scene.pieces:
        if piece.id == name and piece.unit:
            return piece.unit
    return name


def pieces_named(scene: Scene, names: Iterable[str]) -> set[str]:
    """Ids of the pieces that names of pieces or units stand for; an unknown name stands for itself."""
    ids: set[str] = set()
    for name in names:
        ids |= {piece.id for piece in scene.pieces if name in (piece.id, piece.unit)} or {name}
    return ids
