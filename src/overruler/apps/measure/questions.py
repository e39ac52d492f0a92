"""The questions of `overruler measure`, read and checked before there is a scene to ask."""

from collections.abc import Sequence
from typing import Any

from overruler.apps.rulings import question_names
from overruler.errors import BadInput, UnknownName
from overruler.games import DEFAULT_GAME
from overruler.house_rules import HouseRules
from overruler.rules import check_question, game_of, read_question
from overruler.scene import Scene, Table


def read_questions(
    texts: Sequence[str], game: str | None, house: HouseRules
) -> tuple[dict[str, Any], ...]:
    """Read questions to a game; `BadInput` where one is unknown, or lacks what the house does not say."""
    asked = game or DEFAULT_GAME
    known = game_of(asked).questions if texts else {}
    empty = house.apply_to(Scene(asked, Table(1.0, 1.0), ()))
    questions = []
    for text, where in zip(texts, question_names("--ask", len(texts)), strict=True):
        node = read_question(asked, text, where)
        name = node["question"].text()
        if name not in known:
            raise UnknownName(f"{where}: question", name, known)
        check_question(empty, node)
        questions.append(node.value)
    return tuple(questions)


def check_asks_for_area(game: str | None, questions: Sequence[dict[str, Any]]) -> None:
    """Raise `BadInput` where no question is answered by an area, for `--geojson`."""
    known = game_of(game or DEFAULT_GAME).questions
    if not any(known[question["question"]].is_area for question in questions):
        raise BadInput("--geojson: no question asks for an area: give --ask one, area or hexes")
