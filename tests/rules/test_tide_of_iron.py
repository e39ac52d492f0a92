"""Tide of Iron: what it refuses, and how sure it is of hexes where places are doubtful."""

import subprocess
import sys
from itertools import product
from typing import Any

import numpy as np
import pytest

from overruler.errors import BadInput
from overruler.geometry.pose import Array
from overruler.rules import ask
from overruler.scene import Scene
from overruler.verdict import Verdict

DRAWS = 1_000_000
AGREED = 0.005
WIDTH_MM = 30 * 3**0.5
FIGURES = [{"range": {"infantry": 2, "vehicle": 1}}, {"range": 3}, {"range": {"infantry": 4}}]
ATTACK: dict[str, Any] = {"question": "attack_range", "attacker": "us", "target": "them"}


def piece(name: str, place: dict[str, Any], **stats: Any) -> dict[str, Any]:
    return {"id": name, "base": {"shape": "circle", "diameter_mm": 25}, "stats": stats, **place}


def at(x_mm: float, y_mm: float) -> dict[str, Any]:
    return {"x_mm": x_mm, "y_mm": y_mm}


def scene(us: dict[str, Any], them: dict[str, Any], pointy: bool = True, **more: Any) -> Scene:
    grid = {
        "type": "hex",
        "orientation": "pointy" if pointy else "flat",
        "size_mm": 30,
        "origin_mm": [0, 0],
    }
    document = {
        "schema": "overruler/scene/1",
        "game": "tide_of_iron",
        "board": {"width_mm": 900, "height_mm": 900},
    }
    return Scene.from_json(document | {"pieces": [us, them], "grid": grid} | more)


def usual(
    us: dict[str, Any] | None = None, them: dict[str, Any] | None = None, **more: Any
) -> Scene:
    stats, theirs = {"figures": FIGURES} | (us or {}), them or {}
    return scene(
        piece("us", {"hex": [0, 0]}, **stats), piece("them", {"hex": [3, 0]}, **theirs), **more
    )


# --- what is refused ---


@pytest.mark.parametrize(
    ("us", "them", "message"),
    [
        ({"figures": []}, {}, "scene: pieces[0].stats.figures: is empty"),
        ({"figures": {}}, {}, "scene: pieces[0].stats.figures: expected an array, found an object"),
        ({"figures": [3]}, {}, "scene: pieces[0].stats.figures[0]: expected an object"),
        ({"figures": [{}]}, {}, "scene: pieces[0].stats.figures[0].range: is missing"),
        (
            {"figures": [{"range": 3}, {"range": -1}]},
            {},
            "pieces[0].stats.figures[1].range: must be 0 or more, is -1",
        ),
        (
            {"figures": [{"range": 2.5}]},
            {},
            "pieces[0].stats.figures[0].range: must be a whole number",
        ),
        ({"figures": [{"range": True}]}, {}, "pieces[0].stats.figures[0].range: expected a number"),
        (
            {"figures": [{"range": {"infantry": "4"}}]},
            {},
            "pieces[0].stats.figures[0].range.infantry: expected a number",
        ),
        (
            {"figures": [{"range": {"vehicle": -1, "infantry": 2}}]},
            {},
            "figures[0].range.vehicle: must be 0 or more",
        ),
        (
            {},
            {"type": "vehicle"},
            "pieces[0].stats.figures[2].range: has no value against vehicle, and",
        ),
        (
            {},
            {"type": "plane"},
            "scene: pieces[1].stats.type: unknown 'plane'; known: infantry, vehicle",
        ),
        ({"type": 1}, {}, "scene: pieces[0].stats.type: expected text"),
        (
            {},
            {"elevation": 3},
            "scene: pieces[1].stats.elevation: there are the levels 0, 1 and 2, found 3",
        ),
        ({"elevation": -1}, {}, "scene: pieces[0].stats.elevation: there are the levels"),
        ({"elevation": True}, {}, "scene: pieces[0].stats.elevation: expected a number"),
        ({"elevation": 0.5}, {}, "scene: pieces[0].stats.elevation: must be a whole number"),
    ],
)
def test_wrong_stats_are_named(us: dict[str, Any], them: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInput) as error:
        ask(usual(us, them), ATTACK)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (
            {"attacker": "nobody"},
            "question: attacker: unknown name 'nobody'; known: hill, squads, them, us",
        ),
        ({"target": "hill"}, "question: target: 'hill' is terrain; an attack is between pieces"),
        (
            {"target": "squads"},
            "question: target: 'squads' is a unit of several pieces; name one of us, them",
        ),
        ({"target": "us"}, "question: target: 'us' is the attacker itself"),
        ({"target": 1}, "question: target: expected text"),
        ({"figures": []}, "question: figures: is empty"),
        ({"figures": 0}, "question: figures: expected an array"),
        (
            {"figures": [0, 3]},
            "question: figures[1]: no such figure: the squad's are 0 to 2, found 3",
        ),
        ({"figures": [-1]}, "question: figures[0]: no such figure"),
        ({"figures": [True]}, "question: figures[0]: expected a number"),
        ({"figures": [0.5]}, "question: figures[0]: must be a whole number"),
        ({"figures": None}, "question: figures: expected an array, found null"),
        ({"fire_and_movement": "no"}, "question: fire_and_movement: expected true or false"),
        ({"fire_and_movement": 0}, "question: fire_and_movement: expected true or false"),
    ],
)
def test_wrong_questions_are_refused(changed: dict[str, Any], message: str) -> None:
    us = piece("us", {"hex": [0, 0]}, figures=FIGURES) | {"unit": "squads"}
    them = piece("them", {"hex": [3, 0]}) | {"unit": "squads"}
    hill = {"id": "hill", "footprint_mm": [[0, 0], [9, 0], [0, 9]], "top_z_mm": 5}
    with pytest.raises(BadInput) as error:
        ask(scene(us, them, terrain=[hill]), ATTACK | changed)
    assert message in str(error.value)


@pytest.mark.parametrize("missing", ["attacker", "target"])
def test_both_sides_must_be_named(missing: str) -> None:
    with pytest.raises(BadInput, match=f"question: {missing}: is missing"):
        ask(usual(), {key: value for key, value in ATTACK.items() if key != missing})


def test_a_unit_of_one_goes_by_its_name_too() -> None:
    them = piece("them", {"hex": [3, 0]}) | {"unit": "squad"}
    found = scene(piece("us", {"hex": [0, 0]}, figures=FIGURES), them)
    assert ask(found, ATTACK | {"target": "squad"}).answer["hexes"] == 3


def test_a_figure_that_does_not_fire_needs_no_value_against_the_target() -> None:
    assert (
        ask(usual(them={"type": "vehicle"}), ATTACK | {"figures": [0, 1]}).answer["range_value"]
        == 1
    )


def test_hexes_are_counted_on_a_grid_only() -> None:
    document = {
        "schema": "overruler/scene/1",
        "game": "tide_of_iron",
        "board": {"width_mm": 900, "height_mm": 900},
    }
    pieces = [piece("us", at(0, 0), figures=FIGURES), piece("them", at(90, 0))]
    found = Scene.from_json(document | {"pieces": pieces})
    with pytest.raises(BadInput, match="scene: grid: is missing"):
        ask(found, ATTACK)
    assert ask(
        found, {"question": "distance", "from": "us", "to": "them"}
    ).distance_mm == pytest.approx(65)


@pytest.mark.parametrize("past_mm", [0, 9e-7, -9e-7])
def test_an_exact_place_on_a_border_is_no_hex(past_mm: float) -> None:
    found = scene(
        piece("us", at(WIDTH_MM / 2 + past_mm, 3), figures=FIGURES), piece("them", {"hex": [3, 0]})
    )
    with pytest.raises(
        BadInput,
        match=r"pieces\[0\]: stands on the border between hex \[[01], 0\] and hex \[[01], 0\]",
    ):
        ask(found, ATTACK)


@pytest.mark.parametrize(("past_mm", "hexes"), [(-1.1e-6, 3), (1.1e-6, 2)])
def test_an_exact_place_beside_a_border_is(past_mm: float, hexes: int) -> None:
    found = scene(
        piece("us", at(WIDTH_MM / 2 + past_mm, 3), figures=FIGURES), piece("them", {"hex": [3, 0]})
    )
    assert ask(found, ATTACK).answer["hexes"] == hexes


def test_one_hex_is_refused_however_it_is_given() -> None:
    for place in ({"hex": [0, 0]}, at(5, -7)):
        with pytest.raises(BadInput, match="question: target: 'them' is in the attacker's own hex"):
            ask(scene(piece("us", {"hex": [0, 0]}, figures=FIGURES), piece("them", place)), ATTACK)


# --- how sure it is ---


def hexes_of(xy: Array, pointy: bool) -> Array:
    """The hexes (n, 2) that places (n, 2) are in, by the nearest center."""
    middle, best, found = xy.mean(0), np.full(len(xy), np.inf), np.zeros((len(xy), 2), int)
    for q, r in product(range(-3, 8), range(-4, 5)):
        center = (WIDTH_MM * (q + r / 2), 45 * r) if pointy else (45 * q, WIDTH_MM * (r + q / 2))
        if np.hypot(*(middle - center)) < 30 + 15:  # the rest are out of reach
            apart = ((xy - center) ** 2) @ [1, 1]
            found[apart < best] = q, r
            np.minimum(best, apart, out=best)
    return found


def counted(us: Array, them: Array, pointy: bool) -> Array:
    """The number of hexes (n,) between drawn places (n, 2) and (n, 2)."""
    q, r = (hexes_of(us, pointy) - hexes_of(them, pointy)).T
    return np.asarray((np.abs(q) + np.abs(r) + np.abs(q + r)) // 2)


def shares(hexes: Array, value: int) -> dict[str, float]:
    bands = {"null": hexes == 0, '"close"': hexes == 1, '"normal"': (hexes > 1) & (hexes <= value)}
    bands |= {
        '"long"': (hexes > max(value, 1)) & (hexes <= 2 * value),
        '"out"': hexes > max(2 * value, 1),
    }
    return {key: float(np.mean(where)) for key, where in bands.items()}


def check(verdict: Verdict, wanted: dict[str, float]) -> None:
    assert verdict.probability is not None
    assert sum(verdict.probability.values()) == pytest.approx(1)
    assert {'"close"', '"normal"', '"long"', '"out"'} <= set(verdict.probability)
    for key, share in wanted.items():
        assert verdict.probability.get(key, 0) == pytest.approx(share, abs=AGREED)


JOINT = np.array([[4, 1, 3, 0.5], [1, 3, 0.2, 2], [3, 0.2, 5, -1], [0.5, 2, -1, 4.0]])
"""Much in common, as in a photo."""


@pytest.mark.parametrize(("pointy", "scale"), [(True, 1), (False, 0.01)])
@pytest.mark.parametrize(
    ("us", "them", "figures"),
    [
        ((25.5, 3), (78.5, 1), [0]),  # each beside a side, and perhaps in one hex
        ((0, 29), (WIDTH_MM * 2.5, 1), [0]),  # beside a corner, and beside a side
        ((24, -13), (WIDTH_MM * 3.5 - 1, 0.5), [1]),
        ((1, 2), (WIDTH_MM * 4.5 + 0.3, 2), [0]),  # one alone is doubtful
    ],
)
def test_ranges_agree_with_a_million_draws(
    pointy: bool,
    us: tuple[float, float],
    them: tuple[float, float],
    figures: list[int],
    scale: float,
) -> None:
    covariance = {"order": ["us", "them"], "mm2": (JOINT * scale).tolist()}
    found = scene(
        piece("us", at(*us), figures=FIGURES),
        piece("them", at(*them)),
        pointy,
        covariance=covariance,
    )
    standard = np.random.default_rng(7).standard_normal((DRAWS, 4), np.float32)
    drawn = standard @ np.linalg.cholesky(JOINT * scale).T + [*us, *them]
    hexes = counted(drawn[:, :2], drawn[:, 2:], pointy)
    verdict, value = (
        ask(found, ATTACK | {"figures": figures, "fire_and_movement": True}),
        2 + figures[0],
    )
    check(verdict, shares(hexes, value))
    near_enough = float(np.mean((hexes >= 1) & (hexes <= value)))
    assert verdict.answer["eligible_probability"] == pytest.approx(near_enough, abs=AGREED)


def test_on_a_border_both_hexes_are_as_likely() -> None:
    us = piece("us", at(WIDTH_MM / 2, 3), figures=FIGURES) | {
        "covariance_mm2": [[0.01, 0], [0, 0.01]]
    }
    verdict = ask(scene(us, piece("them", {"hex": [3, 0]})), ATTACK | {"figures": [0]})
    assert verdict.probability is not None
    assert verdict.probability['"normal"'] == pytest.approx(0.5, abs=1e-3)
    assert verdict.probability['"long"'] == pytest.approx(0.5, abs=1e-3)
    assert verdict.call == "too close to call"


def test_a_piece_given_by_its_hex_is_there_for_sure() -> None:
    """Only the one that was measured has a doubtful place."""
    us = piece("us", at(3, 4), figures=FIGURES) | {"covariance_mm2": [[0.04, 0], [0, 0.04]]}
    verdict = ask(scene(us, piece("them", {"hex": [3, 0]})), ATTACK)
    assert verdict.probability == {'"close"': 0, '"normal"': 0, '"long"': 1, '"out"': 0}
    assert verdict.call == "certain"
    assert verdict.answer["eligible_probability"] == 1


def test_a_covariance_makes_even_a_given_hex_doubtful() -> None:
    wide = {"order": ["us", "them"], "mm2": (np.diag([900.0, 900, 0, 0])).tolist()}
    verdict = ask(usual(covariance=wide), ATTACK | {"figures": [0]})
    assert verdict.probability is not None
    assert verdict.probability['"normal"'] > 0.05


def test_an_exact_scene_has_no_doubt() -> None:
    verdict = ask(usual(), ATTACK)
    assert verdict.probability is None
    assert verdict.call is None
    assert "eligible_probability" not in verdict.answer
    assert verdict.sentence() == "long range, 3 hexes"


@pytest.mark.parametrize(
    "covariance", ["", ', covariance={"order": ["us"], "mm2": [[0.01, 0], [0, 0.01]]}']
)
def test_what_is_sure_is_said_without_numpy(covariance: str) -> None:
    code = (
        "import sys\nfrom tests.rules.test_tide_of_iron import *\n"
        "for name in [n for n in sys.modules if n.startswith('numpy')]: del sys.modules[name]\n"
        f"ask(scene(piece('us', at(3, 4), figures=FIGURES), piece('them', at(99, 3)){covariance}), ATTACK)\n"
        "assert 'numpy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_moving_the_table_changes_nothing() -> None:
    """A grid of another origin, and both pieces with it."""
    first = scene(piece("us", at(11, 3), figures=FIGURES), piece("them", at(300, 90)))
    moved = scene(
        piece("us", at(1011, -497), figures=FIGURES),
        piece("them", at(1300, -410)),
        grid={"type": "hex", "orientation": "pointy", "size_mm": 30, "origin_mm": [1000, -500]},
    )
    answers = [ask(found, ATTACK) for found in (first, moved)]
    assert answers[0].answer == answers[1].answer
    assert answers[0].margin_mm == pytest.approx(answers[1].margin_mm)


def test_a_given_hex_is_no_border_however_small() -> None:
    tiny = {"type": "hex", "orientation": "flat", "size_mm": 1e-6, "origin_mm": [0, 0]}
    assert ask(usual(grid=tiny), ATTACK).answer["hexes"] == 3
