"""Games in inches where places are in doubt: probabilities against free draws of discs."""

import json
from functools import partial
from typing import Any

import numpy as np
import pytest

from overruler.errors import BadInput
from overruler.geometry.pose import Array
from overruler.rules import ask
from overruler.scene import Scene
from tests.rules.scenes import disc, scene_of

scene = partial(scene_of, game="inches")
DRAWS = 400_000
RADIUS_MM = 15.0
LINE_MM = 50.8


def in_doubt(pieces: list[dict[str, Any]], seed: int) -> tuple[Scene, Array]:
    """A scene whose places have a joint covariance, and the drawn middles (n, m, 2) of its pieces."""
    random = np.random.default_rng(seed)
    size = 2 * len(pieces)
    root = random.normal(0, 0.5, (size, size))
    covariance = root @ root.T
    places = np.array([[piece["x_mm"], piece["y_mm"]] for piece in pieces])
    moves = random.multivariate_normal(np.zeros(size), covariance, DRAWS)
    return scene(pieces, covariance), places + moves.reshape(DRAWS, -1, 2)


def gaps(middles: Array, i: int, j: int) -> Array:
    apart = middles[:, i] - middles[:, j]
    return np.asarray(np.maximum(np.hypot(apart[:, 0], apart[:, 1]) - 2 * RADIUS_MM, 0))


def test_coherency_is_as_sure_as_draws_say() -> None:
    step = LINE_MM + 2 * RADIUS_MM
    xs = (0, step - 0.5, 2 * step - 1.5, 3 * step - 3)
    found, middles = in_doubt([disc(f"m{k}", x, 0, unit="u") for k, x in enumerate(xs)], seed=3)
    near = [gaps(middles, k, k + 1) <= LINE_MM for k in range(3)]
    expected = float(np.mean(near[0] & near[1] & near[2]))
    verdict = ask(found, {"question": "coherency", "unit": "u"})
    assert verdict.probability is not None
    assert verdict.probability["true"] == pytest.approx(expected, abs=0.005)
    wide = ask(found, {"question": "coherency", "unit": "u", "spread_in": 8.4})
    kept = gaps(middles, 0, 3) <= 8.4 * 25.4
    assert wide.probability is not None
    expected = float(np.mean(near[0] & near[1] & near[2] & kept))
    assert wide.probability["true"] == pytest.approx(expected, abs=0.005)


def test_the_only_player_controls_nothing_from_afar() -> None:
    pieces = [disc("prize", 0, 0, kind="objective"), disc("r1", 500, 0, player="red")]
    for covariance in (None, np.eye(4)):
        verdict = ask(scene(pieces, covariance), {"question": "controls", "objective": "prize"})
        assert verdict.answer["by"] is None
        assert verdict.probability in (None, {"null": 1.0})


@pytest.mark.parametrize(("past_mm", "answer"), [(0, True), (5e-7, True), (2e-6, False)])
def test_a_height_reached_exactly_counts(past_mm: float, answer: bool) -> None:
    pieces = [disc("a", 0, 0, height_mm=30), disc("b", 40, 0, z_mm=30 + 127 + past_mm)]
    assert ask(scene(pieces), {"question": "engaged", "from": "a", "to": "b"}).value is answer


def test_a_sure_piece_bounds_the_distance_to_an_unsure_one() -> None:
    near, sure = 100 + 2 * RADIUS_MM, 105 + 2 * RADIUS_MM
    pieces = [disc("a", 0, 0), disc("u1", near, 0, unit="u"), disc("u2", 0, sure, unit="u")]
    covariance = np.diag([0, 0, 100, 100, 1e-4, 1e-4])
    asked = {"question": "within", "from": "a", "to": "u", "distance_in": 105.5 / 25.4}
    assert ask(scene(pieces, covariance), asked).probability == {"true": 1.0, "false": 0.0}


def test_control_by_fractions_that_may_all_be_away_is_not_certain() -> None:
    reach = 76.2 + 2 * RADIUS_MM
    pieces = [
        disc("prize", 0, 0, kind="objective"),
        disc("r1", reach - 0.5, 0, player="red", stats={"control": 0.1}),
        disc("r2", 0.5 - reach, 0, player="red", stats={"control": 0.2}),
    ]
    found, middles = in_doubt(pieces, seed=4)
    nobody = (gaps(middles, 0, 1) > 76.2) & (gaps(middles, 0, 2) > 76.2)
    verdict = ask(found, {"question": "controls", "objective": "prize"})
    assert verdict.probability is not None
    assert nobody.mean() > 0.02
    assert verdict.probability["null"] == pytest.approx(float(nobody.mean()), abs=0.005)


def test_control_is_as_sure_as_draws_say() -> None:
    line_mm = 76.2
    reach = line_mm + 2 * RADIUS_MM
    pieces = [
        disc("prize", 0, 0, kind="objective"),
        disc("r1", reach - 0.8, 0, player="red", stats={"control": 2}),
        disc("b1", 0, reach + 0.4, player="blue"),
        disc("b2", 0, -reach + 0.3, player="blue"),
    ]
    found, middles = in_doubt(pieces, seed=5)
    near = {k: gaps(middles, 0, k) <= line_mm for k in (1, 2, 3)}
    red, blue = 2 * near[1], near[2].astype(int) + near[3]
    expected = {
        '"red"': float(np.mean(red > blue)),
        '"blue"': float(np.mean(blue > red)),
        "null": float(np.mean(red == blue)),
    }
    verdict = ask(found, {"question": "controls", "objective": "prize"})
    assert verdict.probability == pytest.approx(expected, abs=0.005)


@pytest.mark.parametrize(("kind", "key"), [("within", 0.0), ("wholly_within", 30.0)])
def test_within_is_as_sure_as_draws_say(kind: str, key: float) -> None:
    pieces = [disc("a", 0, 0), disc("b", 0, LINE_MM + 2 * RADIUS_MM - key + 0.4)]
    found, middles = in_doubt(pieces, seed=9)
    expected = float(np.mean(gaps(middles, 0, 1) + key <= LINE_MM))
    asked = {"question": kind, "from": "a", "to": "b", "distance_in": 2}
    verdict = ask(found, asked)
    assert verdict.probability is not None
    assert verdict.probability["true"] == pytest.approx(expected, abs=0.005)


def test_wholly_within_hardly_more_than_the_base_itself_is_as_sure_as_draws_say() -> None:
    """The places from which all of a base is within a short line of its like fill a small circle."""
    pieces = [disc("a", 0, 0, 100), disc("b", 3, 0, 100)]
    found = scene(pieces, 8.0 * np.eye(4))
    shifts_mm = np.random.default_rng(4).normal(size=(1_000_000, 2)) * 4 + [3, 0]
    expected = float(np.mean(np.hypot(*shifts_mm.T) <= 0.197 * 25.4))
    asked = {"question": "wholly_within", "from": "a", "to": "b", "distance_in": 0.197}
    verdict = ask(found, asked)
    assert verdict.probability is not None
    assert verdict.probability["true"] == pytest.approx(expected, abs=0.004)


def test_engaged_is_as_sure_as_draws_say_and_height_settles_it() -> None:
    line_mm = 25.4
    pieces = [
        disc("a", 0, 0),
        disc("b", line_mm + 2 * RADIUS_MM + 0.4, 0, unit="u"),
        disc("c", 0, line_mm + 2 * RADIUS_MM - 0.2, unit="u"),
        disc("up", 0, -30, z_mm=500),
    ]
    found, middles = in_doubt(pieces, seed=11)
    either = (gaps(middles, 0, 1) <= line_mm) | (gaps(middles, 0, 2) <= line_mm)
    verdict = ask(found, {"question": "engaged", "from": "a", "to": "u"})
    assert verdict.probability is not None
    assert verdict.probability["true"] == pytest.approx(float(np.mean(either)), abs=0.005)
    above = ask(found, {"question": "engaged", "from": "a", "to": "up"})
    assert (above.value, above.call) == (False, "certain")


def test_pieces_in_an_area_are_as_sure_as_draws_say() -> None:
    reach = 100 + 2 * RADIUS_MM
    pieces = [
        disc("a", 300, 300),
        disc("b", 300 + reach + 0.3, 300),
        disc("c", 300, 300 + reach - 0.5),
        disc("far", 800, 800),
    ]
    found, middles = in_doubt(pieces, seed=13)
    near = {k: gaps(middles, 0, k) <= 100 for k in (1, 2)}
    verdict = ask(found, {"question": "area", "of": "a", "within_mm": 100})
    expected = {
        json.dumps(["b", "c"]): float(np.mean(near[1] & near[2])),
        json.dumps(["b"]): float(np.mean(near[1] & ~near[2])),
        json.dumps(["c"]): float(np.mean(~near[1] & near[2])),
        json.dumps([]): float(np.mean(~near[1] & ~near[2])),
    }
    assert verdict.probability == pytest.approx(expected, abs=0.005)


def test_pieces_partly_in_two_areas_are_as_sure_as_draws_say() -> None:
    """In a ring round one and outside of another: what decides is the farthest part, and the closest."""
    pieces = [disc("a", 300, 300), disc("b", 500, 300), disc("c", 390.3, 300)]
    found, middles = in_doubt(pieces, seed=17)
    past = gaps(middles, 0, 2) + 2 * RADIUS_MM >= 90
    off = gaps(middles, 1, 2) + 2 * RADIUS_MM > 110
    ring = {"question": "area", "of": "a", "within_mm": [90, 400]}
    outside = {"question": "area", "not": {"question": "area", "of": "b", "within_mm": 110}}
    for area, is_in in ((ring, past), (outside, off)):
        verdict = ask(found, area)
        assert verdict.probability is not None
        listed = sum(share for names, share in verdict.probability.items() if '"c"' in names)
        assert listed == pytest.approx(float(np.mean(is_in)), abs=0.005)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ({"question": "coherency", "unit": "m1"}, "is a piece of the unit 'u'"),
        ({"question": "coherency", "unit": "u", "neighbours": -1}, "must be from 0 to 1000"),
        ({"question": "controls", "objective": "m1", "value": "control"}, "a path such as"),
        ({"question": "area", "of": "m1"}, "exactly one of within_mm, within_in, range"),
        ({"question": "area", "of": "m1", "range": 1}, "the game has no ruler of its own"),
        ({"question": "area", "of": "m1", "within_mm": [9, 3]}, "runs backwards"),
        ({"question": "area", "of": "u", "within_mm": 9, "for": "m1"}, "on both sides"),
        ({"question": "area", "of": "u", "within_mm": 9, "whole": True}, "needs the key 'for'"),
        ({"question": "area", "all": []}, "expected from 1 to 64 areas"),
    ],
)
def test_what_is_wrong_is_said(question: dict[str, Any], said: str) -> None:
    found = scene([disc("m1", 0, 0, unit="u"), disc("m2", 40, 0, unit="u")])
    with pytest.raises(BadInput, match=said):
        ask(found, question)


def test_areas_inside_each_other_end_somewhere() -> None:
    question: dict[str, Any] = {"question": "area", "of": "m1", "within_mm": 9}
    for _ in range(500):
        question = {"question": "area", "not": question}
    with pytest.raises(BadInput, match="lies more than 8 areas deep"):
        ask(scene([disc("m1", 0, 0)]), question)


def claimants(*values: float) -> list[dict[str, Any]]:
    """An objective, and red pieces 10 mm off it with some values, but the last, which is blue."""
    players = ["red"] * (len(values) - 1) + ["blue"]
    pieces = [
        disc(f"p{k}", 300 + 40 * k, 300, player=player, stats={"control": value})
        for k, (player, value) in enumerate(zip(players, values, strict=True))
    ]
    return [disc("prize", 320, 340, 40, kind="objective"), *pieces]


@pytest.mark.parametrize("values", [(0.1, 0.2, 0.3), (0.7, 0.1, 0.8), (0.1, 0.7, 0.8)])
@pytest.mark.parametrize("sigma_mm", [0, 30])
def test_equal_sums_of_fractions_control_nothing(
    values: tuple[float, ...], sigma_mm: float
) -> None:
    covariance = np.diag([0, 0, *[sigma_mm**2] * 6]) if sigma_mm else None
    question = {"question": "controls", "objective": "prize", "distance_in": 12}
    verdict = ask(scene(claimants(*values), covariance), question)
    assert verdict.value is None
    if covariance is not None:
        assert verdict.probability == {"null": 1.0}


def test_the_largest_sums_that_differ_by_one_are_no_tie() -> None:
    question = {"question": "controls", "objective": "prize", "distance_in": 12}
    assert ask(scene(claimants(999_999, 1, 999_999)), question).value == "red"


def test_a_value_that_no_game_gives_is_refused() -> None:
    huge = scene(claimants(1.7e308, 1.7e308, 1), np.eye(8))
    with pytest.raises(BadInput, match=r"pieces\[1\].stats.control: must be 1,000,000 at most"):
        ask(huge, {"question": "controls", "objective": "prize"})
