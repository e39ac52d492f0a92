"""What two taps ask: by hand for the games that have a say, by its examples for any other."""

from typing import Any

import pytest

from overruler.apps.web import quick_questions
from overruler.rules import game_of
from overruler.rules.game import FROM_TO_EXAMPLE, Game
from overruler.scene import GAMES


@pytest.mark.parametrize("name", GAMES)
def test_every_tap_is_a_question_of_its_game(name: str) -> None:
    known = {*game_of(name).questions, "distance"}
    found = next(game for game in quick_questions.games_json() if game["name"] == name)["taps"]
    assert {tap["ask"]["question"] for tap in found} <= known
    assert len({tap["label"] for tap in found}) == len(found)


def test_a_game_without_taps_of_its_own_is_asked_what_its_examples_show(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def rule(*told: Any) -> Any: ...

    kinds = ("range", "spell", "wide_reach", "between", "morale")
    examples: dict[str, dict[str, Any]] = {
        "spell": {"caster": "p01", "target": "p02"},
        "wide_reach": {**FROM_TO_EXAMPLE, "range_in": 9},
        "between": {**FROM_TO_EXAMPLE, "range": [1, 2]},
        "morale": {"unit": "p01"},
    }
    duel = Game("duel", "Duel", dict.fromkeys(kinds, rule), {}, examples=examples)
    monkeypatch.setattr(quick_questions, "game_of", lambda name: duel)
    assert quick_questions.questions_of_game("duel") == [
        {"label": "Range", "ask": {"question": "range", "from": "A", "to": "B"}},
        {"label": "Spell", "ask": {"question": "spell", "caster": "A", "target": "B"}},
        {
            "label": "Wide reach",
            "ask": {"question": "wide_reach", "from": "A", "to": "B", "range_in": "REACH"},
            "reach_in": 9,
        },
    ]
