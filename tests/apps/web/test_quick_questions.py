"""What two taps ask, made from the games' own records."""

from typing import Any

import pytest

from overruler.apps.web import quick_questions
from overruler.games import GAMES
from overruler.rules import game_of
from overruler.rules.fields import INCHES, NAME, YES_NO, Field, Question, Tap
from overruler.rules.game import Game


@pytest.mark.parametrize("name", GAMES)
def test_every_tap_is_a_question_of_its_game(name: str) -> None:
    known = {*game_of(name).questions, "distance"}
    found = next(game for game in quick_questions.games_json() if game["name"] == name)["taps"]
    assert {tap["ask"]["question"] for tap in found} <= known
    assert len({tap["label"] for tap in found}) == len(found)


def test_a_tap_fills_the_fields_of_its_question() -> None:
    def rule(*_: Any) -> Any: ...

    fields = (
        Field("caster", NAME, "p01", tap="A"),
        Field("target", NAME, "p02", tap="B"),
        Field("reach_in", INCHES, 9, tap="REACH"),
        Field("loud", YES_NO, required=False),
    )
    question = Question(rule, fields)
    tap = Tap("spell", "Spell", {"loud": True}, reach_in=9, by_unit=True)
    duel = Game("duel", "Duel", {"spell": question}, {}, taps=(tap,))
    assert quick_questions.tap_json(duel, tap) == {
        "label": "Spell",
        "ask": {
            "question": "spell",
            "caster": "A",
            "target": "B",
            "reach_in": "REACH",
            "loud": True,
        },
        "reach_in": 9,
        "by_unit": True,
    }


@pytest.mark.parametrize("name", GAMES)
def test_a_tap_fills_every_required_field(name: str) -> None:
    game = game_of(name)
    for tap in game.taps:
        question = game.questions[tap.question]
        required = {field.name for field in question.fields if field.required}
        assert required <= set(question.tapped(tap))
