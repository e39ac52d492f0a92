"""Skirmish: what it refuses, whom it lets a unit aim at, and how sure that is."""

import itertools
import json
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overruler.errors import BadInput
from overruler.geometry.pose import Array
from overruler.rules import ask
from overruler.scene import Scene
from tests.rules.scenes import disc, joint, scene_of
from tests.rules.test_sight import wall

scene = partial(scene_of, game="skirmish")
BOW = {"range_in": 12, "piercing": 3, "injury": 2, "long_reload": False}
AGREED = 0.005


def shooter(**more: Any) -> dict[str, Any]:
    return disc("s", 0, 0, player="one", stats={"ranged_weapon": BOW, "defence": 12} | more)


def foe(name: str, x_mm: float, y_mm: float, z_mm: float = 0, **stats: Any) -> dict[str, Any]:
    return disc(
        name,
        x_mm,
        y_mm,
        z_mm=z_mm,
        player="two",
        stats={"ranged_weapon": None, "defence": 15} | stats,
    )


def question(kind: str, **more: Any) -> dict[str, Any]:
    return {"question": kind, "unit": "s"} | more


ROLLED = question("resolve_shot", target="t", ranged=14, ranged_roll=[15], defence_rolls=[3])
SHOT = question("shot", target="t")

# --- what is wrong ---

WRONG_STATS = [
    (0, {"ranged_weapon": "bow"}, SHOT, "pieces[0].stats.ranged_weapon: expected an object"),
    (0, {"ranged_weapon": [BOW, BOW]}, SHOT, "pieces[0].stats.ranged_weapon: expected an object"),
    (0, {"ranged_weapon": None}, SHOT, "question: unit: 's' has no ranged weapon"),
    (
        0,
        {"ranged_weapon": BOW | {"range_in": 0}},
        SHOT,
        "ranged_weapon.range_in: must be greater than 0",
    ),
    (
        0,
        {"ranged_weapon": BOW | {"range_in": True}},
        SHOT,
        "ranged_weapon.range_in: expected a number",
    ),
    (
        0,
        {"ranged_weapon": BOW | {"range_in": 1e9}},
        SHOT,
        "ranged_weapon.range_in: is more than 10 km",
    ),
    (
        0,
        {"ranged_weapon": BOW | {"piercing": 1.5}},
        SHOT,
        "ranged_weapon.piercing: must be a whole number",
    ),
    (
        0,
        {"ranged_weapon": BOW | {"long_reload": 1}},
        question("may_shoot"),
        "long_reload: expected true or false",
    ),
    (
        0,
        {"ranged_weapon": {"range_in": 3}},
        question("may_shoot"),
        "ranged_weapon.piercing: is missing",
    ),
    (0, {"moved": "yes"}, SHOT, "pieces[0].stats.moved: expected true or false"),
    (1, {"defence": None}, SHOT, "pieces[1].stats.defence: expected a number"),
    (1, {"defence": "15"}, ROLLED, "pieces[1].stats.defence: expected a number"),
    (1, {"large": 1}, question("targets"), "pieces[1].stats.large: expected true or false"),
    (
        1,
        {"in_cover_from": "s"},
        question("targets"),
        "pieces[1].stats.in_cover_from: expected an array",
    ),
    (
        1,
        {"out_of_sight_of": ["x"]},
        question("targets"),
        "stats.out_of_sight_of[0]: unknown name 'x'; known: s, t",
    ),
    (1, {"out_of_sight_of": [1]}, question("targets"), "stats.out_of_sight_of[0]: expected text"),
]


@pytest.mark.parametrize(
    ("index", "stats", "asked", "message"), WRONG_STATS, ids=[case[3] for case in WRONG_STATS]
)
def test_what_is_wrong_in_a_piece_is_named(
    index: int, stats: dict[str, Any], asked: dict[str, Any], message: str
) -> None:
    pieces = [shooter(), foe("t", 100, 0)]
    pieces[index]["stats"] |= stats
    with pytest.raises(BadInput) as error:
        ask(scene(pieces), asked)
    assert message in str(error.value)


WRONG_QUESTIONS = [
    (question("targets", unit="nobody"), "question: unit: unknown name 'nobody'; known: s, t"),
    (question("targets", unit="w"), "question: unit: 'w' is terrain; here the id of a piece"),
    (
        question("targets", unit="squad"),
        "question: unit: 'squad' is a unit; here the id of a piece",
    ),
    (question("shot"), "question: target: is missing"),
    (question("shot", target="s"), "question: target: 's' is the shooter itself"),
    (ROLLED | {"ranged": None}, "question: ranged: expected a number"),
    (ROLLED | {"ranged_roll": "14"}, "question: ranged_roll: expected an array"),
    (ROLLED | {"ranged_roll": []}, "question: ranged_roll: expected one roll or two, found 0"),
    (
        ROLLED | {"ranged_roll": [1, 2, 3]},
        "question: ranged_roll: expected one roll or two, found 3",
    ),
    (ROLLED | {"ranged_roll": [True]}, "question: ranged_roll[0]: expected a number"),
    (ROLLED | {"ranged_roll": [21]}, "question: ranged_roll[0]: a die shows 1 to 20"),
    (ROLLED | {"ranged_roll": [20]}, "question: defence_rolls: 2 needed for this hit, found 1"),
    (ROLLED | {"defence_rolls": []}, "question: defence_rolls: 1 needed for this hit, found 0"),
    (ROLLED | {"defence_rolls": [2.5]}, "question: defence_rolls[0]: must be a whole number"),
]


@pytest.mark.parametrize(
    ("asked", "message"), WRONG_QUESTIONS, ids=[message for _, message in WRONG_QUESTIONS]
)
def test_what_is_wrong_in_a_question_is_named(asked: dict[str, Any], message: str) -> None:
    found = scene(
        [shooter(), foe("t", 100, 0) | {"unit": "squad"}], terrain=[wall("w", 200, 0, 210, 9)]
    )
    with pytest.raises(BadInput) as error:
        ask(found, asked)
    assert message in str(error.value)


def test_a_state_of_the_wrong_type_is_named() -> None:
    with pytest.raises(
        BadInput, match=r"scene: state.first_turn_of_first_player: expected true or false"
    ):
        ask(scene([shooter()], state={"first_turn_of_first_player": 1}), question("may_shoot"))


def test_a_friend_and_a_piece_of_nobody_are_no_targets() -> None:
    mate, stone = foe("t", 100, 0) | {"player": "one"}, disc("stone", 0, 100, stats={"defence": 10})
    found = scene([shooter(), mate, stone])
    assert ask(found, SHOT).answer["valid_target"] is False
    assert ask(found, SHOT | {"target": "stone"}).answer["valid_target"] is False
    assert ask(found, question("targets")).answer == {"valid": [], "why": {}}


# --- whom one can aim at ---

kinds = st.fixed_dictionaries(
    {
        "at": st.integers(1, 4),
        "cover": st.booleans(),
        "seen": st.sampled_from([True, True, False]),
        "mark": st.sampled_from([None, None, "stunned", "dazed", "large", "engaged"]),
        "low": st.sampled_from([False, False, True]),
    }
)


def by_choice(foes: list[dict[str, Any]]) -> set[str]:
    """The valid targets by trying every choice of enemies to ignore, as a player would."""
    open_ = [(k, foe) for k, foe in enumerate(foes) if foe["seen"] and foe["mark"] != "engaged"]
    found = {f"e{k}" for k, foe in open_ if foe["mark"] == "large" or foe["low"]}
    may_ignore = [k for k, foe in open_ if foe["mark"] in ("stunned", "dazed")]
    for count in range(len(may_ignore) + 1):
        for ignored in itertools.combinations(may_ignore, count):
            left = [(k, foe) for k, foe in open_ if k not in ignored]
            closest = [
                (k, foe) for k, foe in left if foe["at"] == min(foe["at"] for _, foe in left)
            ]
            found |= {f"e{k}" for k, _ in closest}
            bare = [(k, foe) for k, foe in left if not foe["cover"]]
            if any(foe["cover"] for _, foe in closest):
                found |= {
                    f"e{k}" for k, foe in bare if foe["at"] == min(foe["at"] for _, foe in bare)
                }
    return found


@settings(max_examples=150)
@given(st.lists(kinds, max_size=6))
def test_valid_targets_are_those_of_some_choice(foes: list[dict[str, Any]]) -> None:
    pieces = [shooter() | {"z_mm": 60}]
    for k, kind in enumerate(foes):
        told = {
            "in_cover_from": ["s"] * kind["cover"],
            "out_of_sight_of": ["s"] * (not kind["seen"]),
        }
        marks = {kind["mark"]: True} if kind["mark"] else {}
        along, across = ((100, 0), (0, 100), (-100, 0), (0, -100))[k % 4]
        pieces.append(
            foe(
                f"e{k}",
                along * kind["at"],
                across * kind["at"],
                0 if kind["low"] else 60,
                **told,
                **marks,
            )
        )
    answer = ask(scene(pieces), question("targets")).answer
    assert set(answer["valid"]) == by_choice(foes)
    order = [foes[int(name[1:])]["at"] for name in answer["valid"]]
    assert order == sorted(order)
    assert set(answer["why"]) == {f"e{k}" for k in range(len(foes))}
    for name in answer["why"]:
        shot = ask(scene(pieces), question("shot", target=name))
        assert shot.answer["valid_target"] is (name in answer["valid"])


@pytest.mark.parametrize(("farther_mm", "valid"), [(5e-7, ["b", "a"]), (2e-6, ["a"])])
def test_enemies_within_a_touch_of_each_other_are_equally_close(
    farther_mm: float, valid: list[str]
) -> None:
    found = scene([shooter(), foe("b", 0, 100 + farther_mm), foe("a", 100, 0)])
    assert ask(found, question("targets")).answer["valid"] == valid


def test_each_list_stands_on_its_own() -> None:
    across = [wall("w", 140, -80, 160, 80)]
    told = scene([shooter(), foe("t", 300, 0, out_of_sight_of=[])], terrain=across)
    assert ask(told, question("targets")).answer["valid"] == ["t"]
    assert ask(told, SHOT).answer["cover"] is True
    bare = scene([shooter(), foe("t", 300, 0, in_cover_from=[])], terrain=across)
    assert ask(bare, question("targets")).answer["valid"] == []
    assert ask(bare, SHOT).answer["cover"] is False


# --- in doubt ---


def places(found: Scene, draws: int = 1_000_000) -> Array:
    """(draws, N, 2), by a generator of their own."""
    assert found.covariance is not None
    root = np.linalg.cholesky(found.covariance.array + 1e-12 * np.eye(2 * len(found.pieces)))
    drawn = np.random.default_rng(11).standard_normal((draws, len(root))) @ root.T
    return np.asarray(
        drawn.reshape(draws, -1, 2) + [(piece.x_mm, piece.y_mm) for piece in found.pieces]
    )


def apart(found: Scene, k: int) -> Array:
    centers = places(found)
    return np.asarray(np.maximum(np.hypot(*(centers[:, k] - centers[:, 0]).T) - 30, 0))


OPEN: dict[str, Any] = {"in_cover_from": [], "out_of_sight_of": []}


def test_the_odds_of_each_choice_of_targets_agree_with_a_million_draws() -> None:
    pieces = [
        shooter(),
        foe("east", 100, 0, **OPEN),
        foe("north", 0, 100.2, **OPEN),
        foe("west", -180, 0, **OPEN),
    ]
    found = scene(pieces, joint(4, 0.4))
    first = float(np.mean(apart(found, 1) < apart(found, 2)))
    verdict = ask(found, question("targets"))
    assert verdict.probability is not None
    assert verdict.probability == pytest.approx(
        {'["east"]': first, '["north"]': 1 - first}, abs=AGREED
    )
    assert json.dumps(verdict.value) in verdict.probability
    shot = ask(found, question("shot", target="north")).answer
    assert shot["valid_target_probability"] == pytest.approx(1 - first, abs=AGREED)
    assert shot["cover_probability"] == 0


def test_the_odds_of_range_agree_with_a_million_draws() -> None:
    pieces = [shooter(), foe("t", 334.9, 0, **OPEN), foe("u", 0, 182.3, **OPEN)]
    found = scene(pieces, joint(3, 0.4))
    share = float(np.mean(apart(found, 1) <= 304.8))
    for asked in (SHOT, ROLLED | {"defence_rolls": [18]}):
        verdict = ask(found, asked)
        assert verdict.probability is not None
        assert verdict.probability["true"] == pytest.approx(share, abs=AGREED)
        assert verdict.margin_mm == pytest.approx(-0.1)
    half = ask(found, SHOT | {"target": "u"}).answer["half_range_probability"]
    assert half == pytest.approx(np.mean(apart(found, 2) <= 152.4), abs=AGREED)
    assert ask(found, ROLLED | {"ranged_roll": [3]}).probability == {"true": 0, "false": 1}


def test_sight_in_doubt_makes_targets_doubtful() -> None:
    edge = [wall("w", 140, -80, 160, 15.1)]
    found = scene([shooter(), foe("t", 300, 0), foe("u", -400, 0)], joint(3, 0.3), terrain=edge)
    verdict = ask(found, question("targets"))
    assert verdict.probability is not None
    seen = ask(found, SHOT).answer["valid_target_probability"]
    # In sight t is in cover, and u, in the open, is a target as well.
    assert verdict.probability == pytest.approx({'["u"]': 1 - seen, '["t", "u"]': seen}, abs=1e-9)
    assert 0.2 < seen < 0.8
    assert ask(found, SHOT).answer["cover_probability"] == 1


@pytest.mark.parametrize("asked", [question("may_shoot"), question("targets"), SHOT, ROLLED])
def test_every_answer_of_a_doubtful_scene_says_how_sure_it_is(asked: dict[str, Any]) -> None:
    pieces = [shooter(), foe("t", 100, 0), foe("u", 0, 200)]
    answer = ask(scene(pieces, joint(3, 0.2)), asked).to_json()
    assert answer["call"] == "certain"
    assert sum(answer["probability"].values()) == pytest.approx(1)
    exact = ask(scene(pieces), asked).to_json()
    assert {"probability", "call", "cover_probability"}.isdisjoint(exact)


NEARLY_ALIKE = ((100, 0), (0, 100.5))
"""Places of two foes, of whom either may be the closer."""


@pytest.mark.parametrize(
    ("stats", "one_alone"),
    [
        ({"in_cover_from": []}, True),
        ({"in_cover_from": ["s"]}, True),  # cover lets nobody past for one in cover
        ({"in_cover_from": [], "stunned": True}, False),
    ],
)
def test_who_may_be_the_closer_shuts_the_other_out(stats: dict[str, Any], one_alone: bool) -> None:
    foes = [foe(name, *at, **stats) for name, at in zip("ab", NEARLY_ALIKE, strict=True)]
    verdict = ask(scene([shooter(), *foes], joint(3, 1.0)), question("targets"))
    assert verdict.probability is not None
    alone = {'["a"]', '["b"]'} if one_alone else {'["a", "b"]', '["b", "a"]'}
    assert sum(verdict.probability.get(key, 0.0) for key in alone) > 0.999
    assert min(verdict.probability[key] for key in alone) > 0.1
