"""X-Wing: what it refuses and where, laws of its ranges, and its doubt against a million free draws."""

import json
import math
from functools import lru_cache, partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overruler.errors import BadInput, UnknownName
from overruler.geometry.pose import Array
from overruler.rules import ask
from overruler.scene import Scene
from overruler.verdict import Verdict
from tests.rules.scenes import scene_of

FEW = settings(max_examples=60)
DRAWS = 1_000_000
AGREED = 0.005
MAIN = {"name": "main", "apex_mm": [0, 0], "from_deg": -45, "to_deg": 45}


def ship(name: str, x_mm: float, y_mm: float, side_mm: float = 40, **more: Any) -> dict[str, Any]:
    base = {"shape": "rectangle", "width_mm": side_mm, "length_mm": side_mm}
    return {"id": name, "base": base, "x_mm": x_mm, "y_mm": y_mm, **more}


unsure = partial(scene_of, game="xwing")


def scene(*pieces: dict[str, Any], **more: Any) -> Scene:
    return unsure(list(pieces), **more)


def aim(arc: str = "main") -> dict[str, Any]:
    return {"question": "attack_range", "attacker": "a", "defender": "b", "arc": arc}


def arcs(*each: Any) -> dict[str, Any]:
    return {"stats": {"arcs": list(each)}}


# --- what is refused ---

ROCK: dict[str, Any] = {
    "id": "rock",
    "base": {"shape": "circle", "diameter_mm": 30},
    "x_mm": 0,
    "y_mm": 99,
}
ROCK["kind"] = "obstacle"
MOVE = {"type": "move", "ship": "a", "x_mm": 0, "y_mm": 0, "heading_deg": 0}
PARTIAL = MOVE | {"type": "partial_maneuver", "last_overlapped": "b"}
REFUSED: list[tuple[dict[str, Any], str]] = [
    (
        aim("sideways"),
        "question: arc: 'a' has no arc 'sideways'; it has: full_front, full_rear, front, rear, left, right",
    ),
    ({"question": "attack_range", "attacker": "a", "defender": "b"}, "question: arc: is missing"),
    (aim() | {"arc": 3}, "question: arc: expected text"),
    (aim() | {"defender": "a"}, "question: defender: 'a' is on both sides"),
    (aim() | {"attacker": "pair"}, "question: attacker: 'pair' is no single piece"),
    (aim() | {"attacker": "cloud"}, "question: attacker: 'cloud' is no single piece"),
    (
        aim("front") | {"attacker": "rock"},
        "question: arc: the standard 'front' arc is known on square bases of 40, 60, 80",
    ),
    (aim("front") | {"attacker": "rock"}, "give it in pieces[3].stats.arcs"),
    (
        {"question": "within", "from": "a", "to": "b", "range": [0]},
        "question: range: nothing is within range 0",
    ),
    (
        {"question": "within", "from": "a", "to": "b", "range": [0, 0]},
        "question: range: nothing is within range 0",
    ),
    (
        {"question": "at", "from": "a", "to": "b", "range": [4]},
        "question: range[0]: the ruler goes from 0 to 3",
    ),
    (
        {"question": "at", "from": "a", "to": "b", "range": [-1]},
        "question: range[0]: the ruler goes from 0 to 3",
    ),
    (
        {"question": "beyond", "from": "a", "to": "b", "range": [2, 1]},
        "question: range: runs backwards",
    ),
    ({"question": "range0_after"}, "question: events: is missing"),
    ({"question": "range0_after", "events": {}}, "question: events: expected an array"),
    ({"question": "range0_after", "events": [MOVE, 3]}, "question: events[1]: expected an object"),
    (
        {"question": "range0_after", "events": [MOVE | {"type": "jump"}]},
        "question: events[0].type: unknown 'jump'",
    ),
    (
        {"question": "range0_after", "events": [MOVE | {"ship": "x"}]},
        "question: events[0].ship: unknown name 'x'",
    ),
    (
        {"question": "range0_after", "events": [MOVE | {"ship": "rock"}]},
        "question: events[0].ship: 'rock' is no ship",
    ),
    (
        {"question": "range0_after", "events": [MOVE | {"x_mm": "0"}]},
        "question: events[0].x_mm: expected a number",
    ),
    (
        {"question": "range0_after", "events": [MOVE | {"y_mm": True}]},
        "question: events[0].y_mm: expected a number",
    ),
    (
        {"question": "range0_after", "events": [MOVE | {"heading_deg": None}]},
        "question: events[0].heading_deg: expected",
    ),
    (
        {"question": "range0_after", "events": [MOVE | {"heading_deg": 1e30}]},
        "question: events[0].heading_deg: turns more than 1e+06 degrees",
    ),
    (
        {"question": "range0_after", "events": [MOVE | {"type": "partial_maneuver"}]},
        "events[0].last_overlapped: is miss",
    ),
    (
        {"question": "range0_after", "events": [PARTIAL | {"last_overlapped": "a"}]},
        "a ship does not overlap itself",
    ),
    (
        {"question": "range0_after", "events": [PARTIAL | {"last_overlapped": "rock"}]},
        "last_overlapped: 'rock' is no",
    ),
]


def test_a_plate_whose_front_the_photo_does_not_show_has_no_arcs() -> None:
    found = scene(ship("a", 0, 0, heading_modulo_deg=90, **arcs(MAIN)), ship("b", 200, 0))
    with pytest.raises(
        BadInput, match=r"""pieces\[0\]: 'a' may be turned by 90 degrees.*--fix.*do = "turn\""""
    ):
        ask(found, aim())
    assert ask(found, {"question": "range", "from": "a", "to": "b"}).answer["range"] == 2
    assert ask(
        scene(ship("a", 0, 0, heading_modulo_deg=360, **arcs(MAIN)), ship("b", 200, 0)), aim()
    ).answer["in_arc"]


@pytest.mark.parametrize(("question", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_a_bad_question_is_refused_by_the_place_of_the_mistake(
    question: dict[str, Any], message: str
) -> None:
    cloud = {"id": "cloud", "footprint_mm": [[500, 0], [600, 0], [600, 100]], "top_z_mm": 20}
    pair = [ship("a", 0, 0), ship("b", 150, 0, unit="pair"), ship("c", 250, 0, unit="pair")]
    with pytest.raises(BadInput) as error:
        ask(scene(*pair, ROCK, terrain=[cloud]), question)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("stats", "message"),
    [
        ({"arcs": {}}, "pieces[0].stats.arcs: expected an array"),
        ({"arcs": [3]}, "pieces[0].stats.arcs[0]: expected an object"),
        ({"arcs": [MAIN, {}]}, "pieces[0].stats.arcs[1].name: is missing"),
        ({"arcs": [MAIN, MAIN]}, "pieces[0].stats.arcs[1].name: repeats 'main'"),
        ({"arcs": [MAIN | {"name": 1}]}, "pieces[0].stats.arcs[0].name: expected text"),
        (
            {"arcs": [MAIN | {"apex_mm": [0]}]},
            "pieces[0].stats.arcs[0].apex_mm: expected 2 numbers",
        ),
        (
            {"arcs": [MAIN | {"from_deg": True}]},
            "pieces[0].stats.arcs[0].from_deg: expected a number",
        ),
        (
            {"arcs": [MAIN | {"from_deg": math.nan}]},
            "pieces[0].stats.arcs[0].from_deg: is not a finite number",
        ),
        ({"arcs": [MAIN | {"from_deg": 1e300}]}, "pieces[0].stats.arcs[0].from_deg: is no angle"),
        ({"arcs": [MAIN | {"to_deg": 316}]}, "pieces[0].stats.arcs[0].to_deg: sweeps 361 degrees"),
        (
            {"arcs": [MAIN | {"width_mm": 0}]},
            "pieces[0].stats.arcs[0].width_mm: must be greater than 0",
        ),
        (
            {"arcs": [{"name": "main", "from_deg": 0, "to_deg": 9}]},
            "pieces[0].stats.arcs[0].apex_mm: is missing",
        ),
        (
            {"arcs": [{"name": "main", "apex_mm": [0, 0], "from_deg": 0}]},
            "pieces[0].stats.arcs[0].to_deg: is missing",
        ),
    ],
)
def test_wrong_arcs_are_refused_whichever_is_asked_for(stats: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInput) as error:
        ask(scene(ship("a", 0, 0, stats=stats), ship("b", 150, 0)), aim("front"))
    assert message in str(error.value)


@pytest.mark.parametrize(
    "kind", ["range", "at", "within", "beyond", "attack_range", "range0_after"]
)
@pytest.mark.parametrize(
    ("held", "message"),
    [
        ({}, "state.range0: expected an array"),
        ([["a"]], "state.range0[0]: expected the ids of two pieces, found 1"),
        ([["a", "b"], ["a", 3]], "state.range0[1][1]: expected text"),
        ([["a", "x"]], "state.range0[0][1]: unknown name 'x'"),
        ([["a", "a"]], "state.range0[0]: names 'a' twice"),
    ],
)
def test_a_wrong_list_of_held_pairs_is_refused_by_every_question(
    kind: str, held: Any, message: str
) -> None:
    question = aim("front") | {"question": kind, "from": "a", "to": "b", "range": [1], "events": []}
    with pytest.raises(BadInput) as error:
        ask(scene(ship("a", 0, 0), ship("b", 150, 0), state={"range0": held}), question)
    assert message in str(error.value)


def test_an_unknown_held_piece_is_a_lookup_error_too() -> None:
    with pytest.raises(UnknownName):
        ask(
            scene(ship("a", 0, 0), state={"range0": [["a", "b"]]}),
            {"question": "range0_after", "events": []},
        )


# --- arcs ---


@pytest.mark.parametrize(("side_mm", "half_deg"), [(40, 40.6), (60, 41.4), (80, 41.8)])
@pytest.mark.parametrize(("inward", "expected"), [(1, ("front", "rear")), (-1, ("left", "right"))])
def test_standard_arcs_meet_in_one_line(
    side_mm: float, half_deg: float, inward: int, expected: tuple[str, str]
) -> None:
    for turn, wanted in ((half_deg - inward * 0.1, 0), (half_deg + 180 - inward * 0.1, 1)):
        target = 300 * math.cos(math.radians(turn)), 300 * math.sin(math.radians(turn))
        speck = {
            "id": "b",
            "base": {"shape": "circle", "diameter_mm": 0.1},
            "x_mm": target[0],
            "y_mm": target[1],
        }
        found = [name for name in ("front", "left", "rear", "right") if _sees(side_mm, speck, name)]
        assert found == [expected[wanted]]


def _sees(side_mm: float, target: dict[str, Any], name: str) -> bool:
    return bool(ask(scene(ship("a", 0, 0, side_mm), target), aim(name)).answer["in_arc"])


def test_a_ships_own_arc_comes_before_the_standard_one() -> None:
    backwards = MAIN | {"name": "front", "from_deg": 170, "to_deg": 190}
    found = scene(ship("a", 0, 0, **arcs(backwards)), ship("b", 150, 0))
    assert ask(found, aim("front")).answer["in_arc"] is False
    assert ask(found, aim("bullseye")).answer["in_arc"] is True


@FEW
@given(st.floats(-180, 180), st.floats(-300, 300), st.floats(-300, 300), st.floats(-180, 180))
def test_the_four_arcs_cover_the_table(
    turn: float, x_mm: float, y_mm: float, heading: float
) -> None:
    table = scene(ship("a", 0, 0, heading_deg=turn), ship("b", x_mm, y_mm, 60, heading_deg=heading))
    free = ask(table, {"question": "distance", "from": "a", "to": "b"}).distance_mm
    parts = [ask(table, aim(name)).distance_mm for name in ("front", "rear", "left", "right")]
    assert min(part for part in parts if part is not None) == pytest.approx(free, abs=1e-6)


@FEW
@given(st.floats(-400, 400), st.floats(-400, 400), st.floats(-180, 180))
def test_range_reads_alike_from_both_sides_and_at_agrees(
    x_mm: float, y_mm: float, heading: float
) -> None:
    table = scene(ship("a", 0, 0), ship("b", x_mm, y_mm, 80, heading_deg=heading))
    there, back = ({"question": "range", "from": p, "to": q} for p, q in (("a", "b"), ("b", "a")))
    value = ask(table, there).value
    assert ask(table, back).value == value
    for band in range(4):
        at = ask(table, there | {"question": "at", "range": [band]})
        assert at.value == (value == band)
        beyond = ask(table, there | {"question": "beyond", "range": [band]})
        assert beyond.value == (value is None or value > band)


# --- doubt ---


def joint(count: int, sigma_mm: float, seed: int = 3) -> Array:
    """A covariance (2N, 2N) with much in common, as a photo's has."""
    shared = np.random.default_rng(seed).normal(size=(2 * count, 2)) * sigma_mm
    return np.asarray(shared @ shared.T + np.eye(2 * count) * sigma_mm**2 / 3)


def free_draws(table: Scene) -> Array:
    """(DRAWS, N, 2), by a generator of their own."""
    assert table.covariance is not None
    root = np.linalg.cholesky(
        np.array(table.covariance.rows) + 1e-12 * np.eye(2 * len(table.pieces))
    )
    return np.asarray((standard(len(root)) @ root.T).reshape(DRAWS, -1, 2))


@lru_cache(maxsize=2)
def standard(dimension: int) -> Array:
    return np.random.default_rng(77).standard_normal((DRAWS, dimension))


def in_front(half_deg: float, corner: Array, side_mm: float) -> Array:
    """How far (n,) a 40 mm ship at 0 is from what its front arc holds of a square whose lower left corner is given.

    Infinite where that is nothing; for corners to the right of the ship and above the arc's middle.
    """
    slope = math.tan(math.radians(half_deg))
    low = np.maximum(corner, 0)  # the corner, or where the lower side begins to lie in the arc
    x = np.maximum(low[:, 0], low[:, 1] / slope)
    away = np.hypot(np.maximum(x - 20, 0), np.maximum(low[:, 1] - 20, 0))
    return np.where(x <= corner[:, 0] + side_mm, away, np.inf)


def agrees(verdict: Verdict, away_mm: Array) -> None:
    assert verdict.probability is not None
    assert set(verdict.probability) == {"0", "1", "2", "3", "null"}
    assert sum(verdict.probability.values()) == pytest.approx(1)
    for band in range(1, 4):
        share = float(np.mean((away_mm > 100 * band - 100) & (away_mm <= 100 * band)))
        assert verdict.probability[str(band)] == pytest.approx(share, abs=AGREED)
    assert verdict.probability["null"] == pytest.approx(float(np.mean(away_mm > 300)), abs=AGREED)
    assert verdict.answer["in_arc_probability"] == pytest.approx(
        float(np.mean(np.isfinite(away_mm))), abs=AGREED
    )
    if verdict.sigma_mm is not None:
        assert verdict.sigma_mm == pytest.approx(
            float(away_mm[np.isfinite(away_mm)].std()), rel=0.03
        )


HALF_DEG = 40.6
SLOPE = math.tan(math.radians(HALF_DEG))


@pytest.mark.parametrize("sigma_mm", [0.3, 1.5])
@pytest.mark.parametrize(
    ("right_mm", "up_mm"),
    [
        (
            91.0,
            90.0,
        ),  # the lower right corner near the arc's line and band 1's both: the square ends at x = 131
        (96.2, 116.0),  # in and out of arc
        (80.7, 90.8),  # in arc, near the band's line, along the arc's
        (150.0, 100.0),  # the arc's line cuts the far side, the closest corner is in
        (130.0, 110.0),
        (118.0, 60.0),  # the plain closest corner in arc, near a band's line
    ],
)
def test_attacks_agree_with_a_million_draws(sigma_mm: float, right_mm: float, up_mm: float) -> None:
    table = unsure([ship("a", 0, 0), ship("b", right_mm + 20, up_mm + 20)], joint(2, sigma_mm))
    drawn = free_draws(table)
    away = in_front(HALF_DEG, drawn[:, 1] - drawn[:, 0] + (right_mm, up_mm), 40)
    agrees(ask(table, aim("front")), away)


def test_near_an_arcs_line_and_a_bands_line_at_once() -> None:
    """The corner that is last to leave the arc lies where the arc's line meets the band's."""
    x = next(x for x in np.arange(60, 200, 1e-3) if math.hypot(x - 20, x * SLOPE - 20) >= 100)
    table = unsure([ship("a", 0, 0), ship("b", x - 20, x * SLOPE + 20)], joint(2, 0.5))
    drawn = free_draws(table)
    away = in_front(HALF_DEG, drawn[:, 1] - drawn[:, 0] + (x - 40, x * SLOPE), 40)
    verdict = ask(table, aim("front"))
    agrees(verdict, away)
    assert verdict.call == "too close to call"
    assert all(0.1 < share < 0.9 for share in (verdict.probability or {}).values() if share)


def test_a_held_pair_is_in_doubt_only_about_the_arc() -> None:
    pieces = [ship("a", 0, 0), ship("b", 116.2, 136.0)]
    table = unsure(pieces, joint(2, 1.0), state={"range0": [["b", "a"]]})
    drawn = free_draws(table)
    share = float(
        np.mean(np.isfinite(in_front(HALF_DEG, drawn[:, 1] - drawn[:, 0] + (96.2, 116.0), 40)))
    )
    odds = ask(table, aim("front")).probability
    assert odds is not None
    assert odds["0"] == pytest.approx(share, abs=AGREED)
    assert odds["null"] == pytest.approx(1 - share, abs=AGREED)
    plain = ask(table, {"question": "range", "from": "a", "to": "b"})
    assert plain.probability == {"0": 1.0, "1": 0.0, "2": 0.0, "3": 0.0, "null": 0.0}


@pytest.mark.parametrize(
    ("x_mm", "side_mm", "value"),
    [
        (150, 40, 2),
        (-150, 40, None),
        (270, 280, 2),  # the arc's lines cut it, far from its closest part
        (31, 20, 1),  # near contact, in arc with all of it
    ],
)
def test_far_from_the_lines_of_the_arc_nothing_is_drawn(
    x_mm: float, side_mm: float, value: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr("overruler.rules.games.xwing.arc_uncertainty._sampled_uncertainty")
    table = unsure([ship("a", 0, 0), ship("b", x_mm, 0, side_mm)], joint(2, 0.1))
    verdict = ask(table, aim("front"))
    assert verdict.value == value
    assert max(
        verdict.probability or {}, key=lambda key: (verdict.probability or {})[key]
    ) == json.dumps(verdict.value)
    assert verdict.answer["in_arc_probability"] == pytest.approx(float(value is not None))


def test_answers_of_yes_and_no_list_both() -> None:
    table = unsure([ship("a", 0, 0), ship("b", 150, 0)], joint(2, 0.3))
    for kind in ("at", "within", "beyond"):
        odds = ask(table, {"question": kind, "from": "a", "to": "b", "range": [3]}).probability
        assert odds == {"true": 0.0, "false": 1.0}


def test_pairs_at_range_0_agree_with_a_million_draws() -> None:
    pieces = [ship("a", 0, 0), ship("b", 40.2, 0), ship("c", -40.1, 5), ship("d", 300, 0)]
    table = unsure(pieces, joint(4, 0.4))
    drawn = free_draws(table)
    right, left = drawn[:, 1] - drawn[:, 0] + (40.2, 0), drawn[:, 2] - drawn[:, 0] + (-40.1, 5)
    touch_b, touch_c = (np.abs(apart).max(1) <= 40 for apart in (right, left))
    odds = ask(table, {"question": "range0_after", "events": []}).probability
    assert odds is not None
    for b, c in ((0, 0), (0, 1), (1, 0), (1, 1)):
        key = json.dumps([pair for pair, holds in ((["a", "b"], b), (["a", "c"], c)) if holds])
        assert odds.get(key, 0.0) == pytest.approx(
            np.mean((touch_b == b) & (touch_c == c)), abs=AGREED
        )


def test_a_ship_that_an_event_places_is_placed_exactly() -> None:
    table = unsure([ship("a", 0, 0), ship("b", 40.2, 0)], joint(2, 0.4))
    places = [MOVE | {"ship": name, "x_mm": x_mm} for name, x_mm in (("a", 0), ("b", 40))]
    verdict = ask(table, {"question": "range0_after", "events": places})
    assert verdict.probability == {'[["a", "b"]]': 1.0}


def test_an_exact_scene_has_no_odds() -> None:
    table = scene(ship("a", 0, 0), ship("b", 150, 0))
    for question in (aim("front"), {"question": "range0_after", "events": []}):
        verdict = ask(table, question)
        assert verdict.probability is None
        assert "in_arc_probability" not in verdict.answer


def test_a_ship_far_above_is_never_at_range_0_in_an_arc() -> None:
    above = ship("b", 41, 0, z_mm=100, height_mm=30)
    level = ship("b", 41, 0)
    covariance = np.eye(4)
    for target, touching in ((above, False), (level, True)):
        found = unsure([ship("a", 0, 0, height_mm=30), target], covariance)
        probability = ask(found, aim("front")).probability
        assert probability is not None
        assert (probability["0"] > 0.1) == touching
        assert probability["0"] + probability["1"] == pytest.approx(1, abs=1e-3)


def test_a_held_pair_stays_at_range_0_in_an_arc_however_far_off() -> None:
    for distance_mm in (60, 340, 400):
        pieces = [ship("a", 0, 0), ship("b", distance_mm, 0)]
        found = unsure(pieces, np.eye(4), state={"range0": [["a", "b"]]})
        probability = ask(found, aim("front")).probability
        assert probability == {"0": 1.0, "1": 0.0, "2": 0.0, "3": 0.0, "null": 0.0}


def test_the_closest_corner_may_leave_the_arc_and_its_side_stay() -> None:
    corner = 20 + 100 / math.sqrt(2)
    cx, cy = corner + 0.5, corner - 0.5  # a little inside of the arc's border, 100 mm away
    found = unsure([ship("a", 0, 0, **arcs(MAIN)), ship("b", cx + 20, cy + 20)], np.eye(4))
    ax, ay, bx, by = np.random.default_rng(6).normal(size=(4, DRAWS))
    x, y = cx + bx - ax, cy + by - ay
    within_arc = np.hypot(np.maximum(x, y) - 20, y - 20) <= 100
    free = np.hypot(x - 20, y - 20) <= 100
    probability = ask(found, aim()).probability
    assert probability is not None
    assert abs(free.mean() - within_arc.mean()) > 5 * AGREED
    assert probability["1"] == pytest.approx(float(within_arc.mean()), abs=AGREED)


@pytest.mark.parametrize(("z_mm", "touching"), [(30, True), (30.01, False)])
def test_ships_whose_heights_just_touch_are_at_range_0(z_mm: float, touching: bool) -> None:
    pieces = [ship("a", 0, 0, height_mm=30), ship("b", 40, 0, z_mm=z_mm)]
    verdict = ask(scene(*pieces), {"question": "range0_after", "events": []})
    assert verdict.value == ([["a", "b"]] if touching else [])


def test_objects_that_touch_each_other_are_no_pair_at_range_0() -> None:
    rocks = [ship(name, x, 0, kind="obstacle") for name, x in (("p", 100), ("q", 140))]
    found = scene(ship("a", 60, 0), *rocks)
    verdict = ask(found, {"question": "range0_after", "events": [], "objects": True})
    assert verdict.value == [["a", "p"]]
