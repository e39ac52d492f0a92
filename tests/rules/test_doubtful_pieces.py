"""Pieces that may be none: an answer about one says so, and nobody else's answer rests on it."""

from typing import Any

import numpy as np
import pytest

from overruler.apps.rulings import rule_on_questions
from overruler.rules import ask
from tests.rules.scenes import disc, scene_of

IMAGE = {"center_px": [1, 2], "outline_px": [[0, 0], [1, 0], [1, 1]]}


def pair(**doubt: Any) -> list[dict[str, Any]]:
    return [disc("a", 100, 100), disc("b", 200, 100, **doubt)]


RANGE = {"question": "range", "from": "a", "to": "b"}


@pytest.mark.parametrize(
    ("doubt", "reason"),
    [
        ({"probability": 0.989}, {"probability": 0.989}),
        ({"by_hand": True}, {"by_hand": True}),
        ({"by_hand": ["move"], "image": IMAGE, "fitted": False}, {"by_hand": True}),
        ({"by_hand": True, "probability": 0.5}, {"probability": 0.5}),
    ],
)
@pytest.mark.parametrize("covariance", [None, np.eye(4) * 0.01])
def test_an_answer_about_one_says_so(
    doubt: dict[str, Any], reason: dict[str, Any], covariance: np.ndarray | None
) -> None:
    verdict = ask(scene_of(pair(**doubt), covariance, game="legion"), RANGE)
    assert verdict.to_json()["rests_on"] == [{"id": "b", **reason}]
    assert verdict.call == "likely"
    assert "b" in verdict.sentence()


@pytest.mark.parametrize(
    "sure",
    [{}, {"probability": 0.99}, {"by_hand": False}, {"by_hand": True, "image": IMAGE}],
)
def test_an_answer_about_others_does_not(sure: dict[str, Any]) -> None:
    verdict = ask(scene_of(pair(**sure), np.eye(4) * 0.01, game="legion"), RANGE)
    assert "rests_on" not in verdict.to_json()
    assert verdict.call == "certain"


def test_a_ruling_that_is_too_close_says_so_as_well() -> None:
    scene = scene_of(pair(probability=0.7), np.eye(4), game="positioning")
    gap_mm = ask(scene, {"question": "distance", "from": "a", "to": "b"}).distance_mm or 0.0
    on_the_line = {"question": "range", "from": "a", "to": "b", "range_in": gap_mm / 25.4}
    verdict = ask(scene, on_the_line)
    assert verdict.call == "too close to call"
    assert verdict.sentence().endswith("b is a piece with a probability of 70 %")


def test_it_is_the_closest_of_its_unit_only_where_all_may_be_none() -> None:
    pieces = [
        disc("a", 100, 100),
        disc("ghost", 150, 100, unit="u", probability=0.6),
        disc("sure", 300, 100, unit="u"),
        disc("lone", 100, 300, unit="v", probability=0.6),
        disc("lost", 100, 400, unit="v", probability=0.7),
    ]
    scene = scene_of(pieces, game="legion")
    by_unit = ask(scene, {"question": "range", "from": "a", "to": "u"})
    assert by_unit.pair == ("a", "sure")
    assert by_unit.rests_on == ()
    doubtful = ask(scene, {"question": "range", "from": "a", "to": "v"})
    assert [reason["id"] for reason in doubtful.rests_on] == ["lone", "lost"]


def test_what_stands_in_the_way_is_named() -> None:
    pieces = [disc("a", 100, 100), disc("b", 300, 100), disc("m", 200, 100, 60, probability=0.5)]
    verdict = ask(scene_of(pieces, game="positioning"), {"question": "los", "from": "a", "to": "b"})
    assert verdict.answer["blocked_by"] == ["m"]
    assert [reason["id"] for reason in verdict.rests_on] == ["m"]


ARMED = {"ranged_weapon": {"range_in": 20, "piercing": 1, "injury": 1, "long_reload": False}}
SHOT = {"question": "shot", "unit": "a", "target": "b"}
ROLLED = {**SHOT, "question": "resolve_shot", "ranged": 9, "ranged_roll": [15]}
ADVANCE = {"question": "advance", "piece": "a", "target": "b", "direction_deg": 0}


@pytest.mark.parametrize(
    ("game", "at_mm", "question"),
    [
        ("positioning", (200, 100), {"question": "place", "piece": "a", "x_mm": 190, "y_mm": 100}),
        ("positioning", (200, 100), {**ADVANCE, "distance_in": 9}),
        (
            "positioning",
            (60, 100),
            {"question": "retreat", "piece": "a", "target": "b", "distance_in": 3},
        ),
        (
            "positioning",
            (200, 100),
            {"question": "move", "piece": "b", "path_mm": [[210, 100]], "allowance_in": 9},
        ),
        ("skirmish", (200, 115), SHOT),
        ("skirmish", (200, 115), {**ROLLED, "defence_rolls": [9]}),
        ("skirmish", (200, 100), {"question": "targets", "unit": "a"}),
        ("skirmish", (100, 200), SHOT),
        ("inches", (330, 100), {"question": "controls", "objective": "b"}),
        ("inches", (200, 100), {"question": "area", "of": "b", "within_in": 6, "for": "a"}),
    ],
)
@pytest.mark.parametrize("covariance", [None, np.eye(6) * 0.01])
def test_what_an_answer_rests_on_is_named_though_the_answer_does_not(
    game: str, at_mm: tuple[float, float], question: dict[str, Any], covariance: np.ndarray | None
) -> None:
    stats: dict[str, Any] = {"stats": {"defence": 10, **ARMED}}
    pieces = [
        disc("a", 100, 100, player="x", **stats),
        disc("g", *at_mm, player="y", probability=0.5, **stats),
        disc("b", 300, 100, player="y", **stats),
    ]
    verdict = ask(scene_of(pieces, covariance, game=game), question)
    assert [reason["id"] for reason in verdict.rests_on] == ["g"]
    assert verdict.call in ("likely", "too close to call")


@pytest.mark.parametrize(
    ("game", "question"),
    [
        ("positioning", {"question": "place", "piece": "a", "x_mm": 190, "y_mm": 100}),
        ("skirmish", SHOT),
        ("skirmish", {**ROLLED, "ranged_roll": [3], "defence_rolls": []}),
        ("inches", {"question": "controls", "objective": "b"}),
        ("inches", {"question": "area", "of": "b", "within_in": 6, "for": "a"}),
    ],
)
def test_who_stands_aside_is_not_named(game: str, question: dict[str, Any]) -> None:
    stats: dict[str, Any] = {"stats": {"defence": 10, **ARMED}}
    pieces = [
        disc("a", 100, 100, player="x", **stats),
        disc("g", 300, 700, player="y", probability=0.5, **stats),
        disc("b", 300, 100, player="y", **stats),
    ]
    assert ask(scene_of(pieces, game=game), question).rests_on == ()


def test_who_counts_nothing_at_an_objective_is_not_named() -> None:
    pieces = [
        disc("prize", 300, 100),
        disc("a", 330, 100, player="x", stats={"control": 3}),
        disc("g", 300, 140, player="y", probability=0.5, stats={"control": 0}),
    ]
    question = {"question": "controls", "objective": "prize"}
    assert ask(scene_of(pieces, game="inches"), question).rests_on == ()


def test_among_many_that_may_be_none_nothing_is_ruled_unasked() -> None:
    sure = [disc(f"s{k}", 100 + 200 * k, 100) for k in range(9)]
    doubtful = [disc(f"d{k}", 100 + 200 * k, 500, probability=0.9) for k in range(3)]
    for count, ruled in ((2, True), (3, False)):
        scene = scene_of([*sure, *doubtful[:count]], game="legion")
        assert bool(rule_on_questions(scene, ())) == ruled


def test_nothing_is_ruled_on_it_unasked() -> None:
    pieces = [
        disc("a", 100, 100, player="x"),
        disc("ghost", 150, 100, player="y", probability=0.6),
        disc("b", 400, 100, player="y"),
    ]
    (verdict,) = rule_on_questions(scene_of(pieces, game="legion"), ())
    assert verdict.pair == ("a", "b")
