"""The engine round the games: what it refuses and how, ties, settings, and what a new game gets for nothing."""

import math
from typing import Any

import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from overruler import terrain
from overruler.errors import BadInput, UnknownName
from overruler.games import GAMES, facts_of
from overruler.rules import ask, clause_text, game_of
from overruler.scene import Scene

BASE = {"shape": "circle", "diameter_mm": 20}
PIECES = [
    {
        "id": "r1",
        "base": BASE,
        "x_mm": 0,
        "y_mm": 0,
        "player": "r",
        "unit": "rebels",
        "leader": True,
    },
    {"id": "r2", "base": BASE, "x_mm": 0, "y_mm": 50, "player": "r", "unit": "rebels"},
    {"id": "e1", "base": BASE, "x_mm": 120, "y_mm": 0, "player": "e", "unit": "empire"},
    {"id": "e2", "base": BASE, "x_mm": 120, "y_mm": 50, "player": "e", "unit": "empire"},
    {"id": "solo", "base": BASE, "x_mm": 0, "y_mm": 400, "player": "e"},
]
HILL = {"id": "hill", "footprint_mm": [[500, 0], [600, 0], [600, 100], [500, 100]], "top_z_mm": 20}


def scene(**changes: Any) -> Scene:
    document = {
        "schema": "overruler/scene/1",
        "game": "legion",
        "board": {"width_mm": 1800, "height_mm": 900},
    }
    return Scene.from_json(document | {"pieces": PIECES, "terrain": [HILL]} | changes)


REFUSED = [
    ({"from": "r1", "to": "e1"}, "question: question: is missing"),
    ({"question": 3}, "question: question: expected text"),
    (
        {"question": "how_far"},
        "Legion has no question 'how_far'; it answers: area, at, attack_range",
    ),
    ({"question": "may_shoot", "unit": "r1"}, "Legion has no question 'may_shoot'"),
    ({"question": "range", "from": "r1"}, "question: to: is missing"),
    ({"question": "range", "from": 1, "to": "e1"}, "question: from: expected text"),
    (
        {"question": "range", "from": "r1", "to": "x"},
        "question: to: unknown name 'x'; known: e1, e2, empire, hill, r1",
    ),
    ({"question": "range", "from": "r1", "to": "r1"}, "question: to: 'r1' is on both sides"),
    ({"question": "range", "from": "rebels", "to": "r2"}, "question: to: 'r2' is on both sides"),
    (
        {"question": "distance", "from": "hill", "to": "hill"},
        "question: to: 'hill' is on both sides",
    ),
    ({"question": "at", "from": "r1", "to": "e1"}, "question: range: is missing"),
    (
        {"question": "at", "from": "r1", "to": "e1", "range": "2"},
        "question: range: expected an array",
    ),
    (
        {"question": "at", "from": "r1", "to": "e1", "range": []},
        "question: range: expected one number or two, found 0",
    ),
    (
        {"question": "at", "from": "r1", "to": "e1", "range": [1, 2, 3]},
        "question: range: expected one number or two",
    ),
    (
        {"question": "within", "from": "r1", "to": "e1", "range": [3, 2]},
        "question: range: runs backwards",
    ),
    (
        {"question": "within", "from": "r1", "to": "e1", "range": [0]},
        "question: range[0]: the ruler goes from 1 to 5",
    ),
    (
        {"question": "beyond", "from": "r1", "to": "e1", "range": [1, 6]},
        "question: range[1]: the ruler goes from 1 to",
    ),
    (
        {"question": "beyond", "from": "r1", "to": "e1", "range": [1.5]},
        "question: range[0]: must be a whole number",
    ),
    (
        {"question": "attack_range", "attacker": "empire", "defender": "rebels"},
        "attacker: unit 'empire' must have one",
    ),
    (
        {"question": "attack_range", "attacker": "rebels", "defender": "e1"},
        "defender: 'e1' is one piece of unit 'empire'",
    ),
    (
        {"question": "attack_range", "attacker": "rebels", "defender": "hill"},
        "defender: 'hill' is terrain",
    ),
    (
        {"question": "attack_range", "attacker": "rebels", "defender": "rebels"},
        "defender: 'r1' is on both sides",
    ),
    (
        {"question": "weapon", "attacker": "rebels", "defender": "solo"},
        "question: weapon: is missing",
    ),
    (
        {"question": "weapon", "attacker": "rebels", "defender": "solo", "weapon": {}},
        "weapon.range: is missing",
    ),
    (
        {
            "question": "weapon",
            "attacker": "rebels",
            "defender": "solo",
            "weapon": {"range": [4, 2]},
        },
        "runs backwards",
    ),
    (
        {
            "question": "weapon",
            "attacker": "rebels",
            "defender": "solo",
            "weapon": {"range": "far"},
        },
        "expected an array",
    ),
]


@pytest.mark.parametrize(("question", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_a_bad_question_is_refused_by_the_place_of_the_mistake(
    question: dict[str, Any], message: str
) -> None:
    with pytest.raises(BadInput) as error:
        ask(scene(), question)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_two_leaders_are_one_too_many() -> None:
    two = [piece | {"leader": True} for piece in PIECES]
    with pytest.raises(BadInput, match="it has r1, r2"):
        ask(
            scene(pieces=two),
            {"question": "attack_range", "attacker": "rebels", "defender": "empire"},
        )


def test_an_unknown_name_is_a_lookup_error_too() -> None:
    with pytest.raises(UnknownName):
        ask(scene(), {"question": "distance", "from": "r1", "to": "nobody"})


def test_of_equally_close_pairs_the_first_in_the_scene_counts() -> None:
    assert ask(scene(), {"question": "range", "from": "rebels", "to": "empire"}).pair == (
        "r1",
        "e1",
    )
    # 1e-12 mm closer is rounding, not closer.
    nearer = [piece | ({"x_mm": 120 - 1e-12} if piece["id"] == "e2" else {}) for piece in PIECES]
    assert ask(
        scene(pieces=nearer), {"question": "range", "from": "rebels", "to": "empire"}
    ).pair == ("r1", "e1")


def test_keys_that_a_question_does_not_need_are_ignored() -> None:
    question = {"question": "range", "from": "r1", "to": "e1", "colour": "red"}
    assert ask(scene(), question).value == 1


def test_the_scene_s_ruler_goes_before_the_game_s() -> None:
    found = scene(ruler={"segment_mm": 30, "segments": 3})
    assert ask(found, {"question": "range", "from": "r1", "to": "e1"}).value is None
    assert ask(found, {"question": "mark_range_one", "from": "r1", "to": "e1"}).answer[
        "mark_mm"
    ] == [40, 0]
    with pytest.raises(BadInput, match="the ruler goes from 1 to 3"):
        ask(found, {"question": "at", "from": "r1", "to": "e1", "range": [4]})


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        (
            {"ranged_in_contact": "no"},
            "scene: state.settings.ranged_in_contact: expected true or false",
        ),
        (
            {"odd": True},
            "scene: state.settings.odd: Legion has no such setting; "
            "it has: ranged_in_contact, any_part_within",
        ),
        ([], "scene: state.settings: expected an object"),
    ],
)
def test_settings_that_a_game_does_not_have_are_refused(chosen: Any, message: str) -> None:
    with pytest.raises(BadInput) as error:
        ask(scene(state={"settings": chosen}), {"question": "distance", "from": "r1", "to": "e1"})
    assert message in str(error.value)


def test_a_setting_is_named_only_where_the_answer_rests_on_it() -> None:
    touching = [
        piece | ({"x_mm": 20, "y_mm": 0} if piece["id"] == "solo" else {}) for piece in PIECES
    ]
    question = {
        "question": "weapon",
        "attacker": "rebels",
        "defender": "solo",
        "weapon": {"range": [1, 2]},
    }
    assert ask(scene(pieces=touching), question).settings == {"ranged_in_contact": True}
    assert ask(scene(), question).settings == {}
    friends = [piece | {"player": "r"} for piece in touching]
    assert ask(scene(pieces=friends), question).settings == {}


@pytest.mark.parametrize("game", GAMES)
def test_every_game_answers_distances(game: str) -> None:
    verdict = ask(scene(game=game), {"question": "distance", "from": "rebels", "to": "solo"})
    assert verdict.distance_mm == pytest.approx(330)
    assert "any.closest_piece" in verdict.rules
    assert verdict.sentence() == ("12.99 in" if facts_of(game).in_inches else "330.0 mm")


def test_a_distance_in_doubt_is_said_with_its_95_percent() -> None:
    doubtful = [piece | {"covariance_mm2": [[0.04, 0], [0, 0.04]]} for piece in PIECES]
    verdict = ask(scene(pieces=doubtful), {"question": "distance", "from": "r1", "to": "e1"})
    assert verdict.sigma_mm == pytest.approx(0.08**0.5, rel=1e-3)
    assert verdict.sentence() == f"{verdict.distance_mm:.1f} ± 0.6 mm (95 %)"


def test_terrain_of_any_outline_is_measured_to_its_edge() -> None:
    ell = [[300, 0], [400, 0], [400, 400], [350, 400], [350, 100], [300, 100]]
    found = scene(terrain=[HILL | {"footprint_mm": ell}])
    assert ask(
        found, {"question": "distance", "from": "solo", "to": "hill"}
    ).distance_mm == pytest.approx(340)
    inside = scene(
        terrain=[HILL | {"footprint_mm": [[-50, 350], [50, 350], [50, 450], [-50, 450]]}]
    )
    assert ask(inside, {"question": "distance", "from": "hill", "to": "solo"}).distance_mm == 0


@settings(max_examples=40)
@given(
    st.lists(st.integers(60, 200), min_size=5, max_size=12),
    st.integers(-300, 300),
    st.integers(-300, 300),
)
def test_any_terrain_is_as_far_as_its_outline(radii: list[int], x: int, y: int) -> None:
    turns = [2 * math.pi * k / len(radii) for k in range(len(radii))]
    star = [[r * math.cos(turn), r * math.sin(turn)] for r, turn in zip(radii, turns, strict=True)]
    found = scene(
        pieces=[PIECES[0] | {"x_mm": x, "y_mm": y}], terrain=[HILL | {"footprint_mm": star}]
    )
    apart = max(shapely.Polygon(star).distance(shapely.Point(x, y)) - 10, 0)
    verdict = ask(found, {"question": "distance", "from": "hill", "to": "r1"})
    assert verdict.distance_mm == pytest.approx(apart, abs=1e-9)


@pytest.mark.parametrize("game", GAMES)
def test_every_record_is_its_game_s(game: str) -> None:
    record = game_of(game)
    assert record.name == game
    assert all(name.startswith(f"{game}.") for name in record.clauses)
    assert "distance" in record.questions


def test_clauses_say_what_they_say() -> None:
    assert clause_text("any.edge_to_edge").startswith("A distance runs")
    assert clause_text("legion.attack").startswith("An attack is measured")


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ({"unit": "cm"}, r"state\.unit: unknown 'cm'; known: mm, in"),
        ({"zones": {"ours": [[0, 0], [1, 1]]}}, r"state\.zones\.ours: "),
        ({"defaults": {"withn": {}}}, r"defaults\.withn: no game has .* 'within'"),
        ({"defaults": {"within": 6}}, r"defaults\.within: expected an object"),
    ],
)
def test_a_state_that_nobody_can_read_is_refused(state: dict[str, Any], said: str) -> None:
    """Whatever is asked; what is said of another game's questions waits for these."""
    with pytest.raises(BadInput, match=said):
        ask(scene(state=state), "distance r1 e1")
    waits = scene(state={"defaults": {"coherency": {"neighbours": 2}}})
    assert ask(waits, "distance r1 e1").distance_mm == 100


def test_zones_are_read_once_however_much_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether an outline crosses itself takes milliseconds to tell."""
    zone = [[0, 0], [100, 0], [100, 100], [0, 100]]
    asked = scene(state={"zones": {"home": zone, "away": zone}})
    told: list[object] = []
    monkeypatch.setattr(terrain, "first_self_intersection", told.append)
    for question in ("distance r1 e1", "range r1 e1", {"question": "area", "zone": "home"}):
        ask(asked, question)
    assert len(told) == 2
