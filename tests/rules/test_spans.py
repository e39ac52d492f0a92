"""Heights: contact, ways, forced moves and sight ask for spans that meet; distances do not."""

from math import erf
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overruler.rules import ask, matrix
from tests.rules.scenes import disc, scene_of

QUESTIONS: list[tuple[str, dict[str, Any]]] = [
    ("positioning", {"question": "b2b", "from": "a", "to": "b"}),
    ("positioning", {"question": "engaged", "piece": "a"}),
    ("positioning", {"question": "los", "from": "a", "to": "c"}),
    ("positioning", {"question": "cover", "from": "a", "to": "c"}),
    ("positioning", {"question": "retreat", "piece": "c", "target": "b", "distance_in": 4}),
    (
        "positioning",
        {"question": "move", "piece": "a", "path_mm": [[300, 150]], "allowance_in": 20},
    ),
    (
        "positioning",
        {"question": "force", "kind": "push", "actor": "a", "target": "b", "distance_in": 4},
    ),
    ("legion", {"question": "range", "from": "a", "to": "b"}),
    ("xwing", {"question": "range", "from": "a", "to": "b"}),
]

THREE_SEGMENTS = {"segment_mm": 100, "segments": 3}


def three(heights: dict[str, tuple[float, float]]) -> list[dict[str, Any]]:
    places = {"a": (100, 150, "one"), "b": (130, 150, "two"), "c": (200, 150, "two")}
    return [
        disc(
            name,
            x,
            y,
            player=player,
            kind="character",
            z_mm=heights[name][0],
            height_mm=heights[name][1],
        )
        for name, (x, y, player) in places.items()
    ]


HEIGHTS = st.tuples(st.integers(0, 90).map(float), st.integers(1, 60).map(float))


@settings(max_examples=40)
@given(a=HEIGHTS, b=HEIGHTS, c=HEIGHTS, lift=st.integers(1, 400).map(float))
@pytest.mark.parametrize(("game", "question"), QUESTIONS)
def test_a_table_lifted_as_a_whole_rules_the_same(
    game: str,
    question: dict[str, Any],
    a: tuple[float, float],
    b: tuple[float, float],
    c: tuple[float, float],
    lift: float,
) -> None:
    low = scene_of(three({"a": a, "b": b, "c": c}), game=game)
    lifted = {name: (z + lift, top) for name, (z, top) in {"a": a, "b": b, "c": c}.items()}
    high = scene_of(three(lifted), game=game)
    assert ask(high, question).answer == ask(low, question).answer


@settings(max_examples=60)
@given(a=HEIGHTS, b=HEIGHTS)
def test_contact_is_that_of_the_spans(a: tuple[float, float], b: tuple[float, float]) -> None:
    meets = a[0] <= b[0] + b[1] and b[0] <= a[0] + a[1]
    pieces = three({"a": a, "b": b, "c": (500.0, 1.0)})
    b2b = ask(scene_of(pieces, game="positioning"), QUESTIONS[0][1])
    legion = ask(scene_of(pieces, game="legion"), QUESTIONS[7][1])
    xwing = ask(scene_of(pieces, game="xwing"), QUESTIONS[8][1])
    assert b2b.answer["answer"] is meets
    assert legion.answer == {"range": 1, "melee": meets}
    assert xwing.answer["range"] == (0 if meets else 1)
    assert b2b.distance_mm == legion.distance_mm == xwing.distance_mm == 0


def test_what_stands_above_is_never_touched_in_doubt() -> None:
    pieces = three({"a": (0.0, 30.0), "b": (31.0, 30.0), "c": (0.0, 30.0)})
    for game, answer in (("positioning", "false"), ("legion", "1"), ("xwing", "1")):
        scene = scene_of(pieces, np.eye(6), game=game)
        question = QUESTIONS[0 if game == "positioning" else 7][1]
        probability = ask(scene, question).probability
        assert probability is not None
        assert probability[answer] == pytest.approx(1)


def test_a_unit_on_two_levels_is_touched_by_those_at_its_height() -> None:
    """The nearest of the unit stands on a roof; the other one touches or not as if it were alone."""
    roof = disc("roof", 128, 150, unit="u", z_mm=100)
    beside = disc("beside", 100, 181, unit="u")
    own = disc("a", 100, 150)
    alone = ask(
        scene_of([own, beside], np.eye(4), game="xwing"),
        {"question": "range", "from": "a", "to": "beside"},
    )
    both = ask(
        scene_of([own, roof, beside], np.eye(6), game="xwing"),
        {"question": "range", "from": "a", "to": "u"},
    )
    assert alone.probability is not None
    assert both.probability is not None
    assert both.probability["0"] == pytest.approx(alone.probability["0"], abs=0.005)


@pytest.mark.parametrize("game", ["xwing", "bands"])
def test_the_matrix_knows_heights_as_single_rulings_do(game: str) -> None:
    pieces = three({"a": (0.0, 30.0), "b": (31.0, 30.0), "c": (0.0, 30.0)})
    for covariance in (None, np.eye(6) * 0.5):
        scene = scene_of(pieces, covariance, game=game, ruler=THREE_SEGMENTS)
        found = matrix(scene)
        assert found.band is not None
        for i, j in ((0, 1), (0, 2), (1, 2)):
            ends = {"from": pieces[i]["id"], "to": pieces[j]["id"]}
            verdict = ask(scene, {"question": "range", **ends})
            assert found.band[i, j] == verdict.answer["range"]
            if verdict.probability is not None and found.probability is not None:
                zero = found.probability[i, j, found.ranges.index(0)]
                assert zero == pytest.approx(verdict.probability.get("0", 0.0), abs=1e-6)


def block(name: str, x_mm: float, **more: Any) -> dict[str, Any]:
    base = {"shape": "rectangle", "width_mm": 40, "length_mm": 40}
    return {"id": name, "base": base, "x_mm": x_mm, "y_mm": 150, **more}


MELEE = {"question": "weapon", "attacker": "a", "defender": "them", "weapon": {"range": "melee"}}


@pytest.mark.parametrize("friend", [{"player": "one"}, {}, {"player": "two", "z_mm": 200}])
def test_how_sure_melee_is_rests_on_the_enemies_that_can_be_touched(friend: dict[str, Any]) -> None:
    gap_mm = 0.5
    pieces = [
        block("a", 400, player="one"),
        block("b", 440, unit="them", leader=True, **friend),
        block("c", 360 - gap_mm, unit="them", player="two"),
    ]
    unsure = scene_of(pieces, np.eye(6), game="legion")
    expected = (1 - erf(gap_mm / 2)) / 2
    weapon = ask(unsure, MELEE).probability
    assert weapon is not None
    assert weapon["true"] == pytest.approx(expected, abs=0.002)
    told = ask(unsure, {"question": "attack_range", "attacker": "a", "defender": "them"}).answer
    assert told["melee_probability"] == pytest.approx(expected, abs=0.002)


def test_to_leave_melee_a_miniature_need_not_come_from_under_another() -> None:
    pieces = [
        block("a", 400, player="one"),
        block("b", 400, unit="them", player="two", leader=True, z_mm=200),
        block("c", 361, unit="them", player="two"),
    ]
    (change,) = ask(scene_of(pieces, game="legion"), MELEE).changes
    assert change.to is False
    assert change.move_mm == pytest.approx(1, abs=1e-5)
