"""Places that are seldom far less sure: probabilities are the mean of both cases, all else is the usual one's."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overruler.rules import ask
from overruler.scene import Scene
from tests.rules.scenes import disc

SEGMENT_MM = 152.4
WEAPON = {"range_in": 12, "piercing": -1, "injury": 0, "long_reload": False}
DOUBT = np.eye(8) * 0.5 + 0.3
RARELY = 9 * DOUBT + np.diag(np.arange(8.0))


def scene(game: str, probability: float | None, usual: Any = DOUBT, **more: Any) -> Scene:
    """Two against two, r1 near a line of each game's ruler against e1."""
    far = {"legion": SEGMENT_MM, "xwing": 100.0, "tide_of_iron": 61.0}.get(game, 152.4)
    stats: dict[str, Any] = {"size": 1, "ranged_weapon": WEAPON, "defence": 12}
    if game == "tide_of_iron":
        stats = {"figures": [{"range": 4}]}
    pieces = [
        disc("r1", 0, 0, unit="rebels", player="r", leader=True, stats=stats),
        disc("r2", -40, 60, unit="rebels", player="r", stats=stats),
        disc("e1", far + 30.5, 0, unit="empire", player="e", leader=True, stats=stats),
        disc("e2", far + 80, 50, unit="empire", player="e", stats=stats),
    ]
    joint: dict[str, Any] = {"order": [piece["id"] for piece in pieces], "mm2": usual.tolist()}
    if probability is not None:
        joint["otherwise"] = {"probability": probability, "mm2": RARELY.tolist()}
    grid = {"type": "hex", "orientation": "pointy", "size_mm": 35, "origin_mm": [0, 0]}
    frame = {
        "schema": "overruler/scene/1",
        "game": game,
        "board": {"width_mm": 900, "height_mm": 900},
        "grid": grid,
    }
    return Scene.from_json(frame | {"pieces": pieces, "covariance": joint} | more)


QUESTIONS = [
    ("legion", {"question": "range", "from": "r1", "to": "e1"}),
    ("legion", {"question": "range", "from": "rebels", "to": "empire"}),
    ("legion", {"question": "within", "from": "r1", "to": "e1", "range": [1, 2]}),
    ("legion", {"question": "attack_range", "attacker": "rebels", "defender": "empire"}),
    ("xwing", {"question": "range", "from": "r1", "to": "e1"}),
    (
        "tide_of_iron",
        {"question": "attack_range", "attacker": "r1", "target": "e1", "fire_and_movement": False},
    ),
    ("skirmish", {"question": "shot", "unit": "r1", "target": "e1"}),
    ("skirmish", {"question": "targets", "unit": "r1"}),
    ("positioning", {"question": "range", "from": "r1", "to": "e1", "range_in": 6}),
    ("positioning", {"question": "cover", "from": "r1", "to": "e2"}),
    (
        "positioning",
        {
            "question": "force",
            "kind": "push",
            "actor": "r1",
            "target": "e1",
            "distance_in": 2,
            "direction_deg": 45,
        },
    ),
]


@pytest.mark.parametrize(("game", "question"), QUESTIONS)
def test_every_probability_is_the_mean_of_both_cases(game: str, question: dict[str, Any]) -> None:
    both, usual, rare = (
        ask(one, question)
        for one in (scene(game, 0.3), scene(game, None), scene(game, None, RARELY))
    )
    assert both.probability
    assert usual.probability
    assert rare.probability
    for key, chance in both.probability.items():
        expected = 0.7 * usual.probability.get(key, 0.0) + 0.3 * rare.probability.get(key, 0.0)
        assert chance == pytest.approx(expected, abs=1e-9)
    assert sum(both.probability.values()) == pytest.approx(1)
    assert set(both.probability) == {*usual.probability, *rare.probability}
    for key, value in both.answer.items():
        if key.endswith("_probability"):
            assert value == pytest.approx(0.7 * usual.answer[key] + 0.3 * rare.answer[key])
        else:
            assert value == usual.answer[key]
    assert both.sigma_mm == usual.sigma_mm
    assert (both.distance_mm, both.margin_mm, both.headline) == (
        usual.distance_mm,
        usual.margin_mm,
        usual.headline,
    )


def test_what_is_certain_by_the_usual_doubt_alone_is_not_where_the_other_leaves_it_open() -> None:
    question, exact = {"question": "range", "from": "r1", "to": "e1"}, np.eye(8) * 1e-4
    assert ask(scene("legion", None, exact), question).call == "certain"
    assert ask(scene("legion", 0.3, exact), question).call != "certain"
    assert ask(scene("legion", 0.0, exact), question).call == "certain"


@given(st.floats(0, 1))
def test_the_likelier_the_other_case_the_less_sure_is_the_answer(probability: float) -> None:
    question = {"question": "range", "from": "r1", "to": "e1"}
    sure, some, unsure = (
        ask(scene("legion", share, np.eye(8) * 0.01), question) for share in (0.0, probability, 1.0)
    )
    assert sure.probability
    assert some.probability
    assert unsure.probability
    key = sure.likeliest
    assert key is not None
    assert unsure.probability[key] - 1e-9 <= some.probability[key] <= sure.probability[key] + 1e-9


def test_an_answer_without_probability_has_none_either_way() -> None:
    answer = ask(scene("legion", 0.3), {"question": "distance", "from": "r1", "to": "e1"}).to_json()
    assert "probability" not in answer
    assert answer["sigma_mm"] > 0
