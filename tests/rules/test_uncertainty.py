"""How sure an answer is, against drawing the places a million times and counting."""

import json
import math
from functools import partial
from typing import Any

import numpy as np
import pytest

from overruler.geometry.batched.distances import gaps_at_shifts
from overruler.geometry.batched.point_distances import point_distances
from overruler.geometry.batched.vectors import unit_vectors
from overruler.geometry.pose import Array
from overruler.geometry.shapes import gap
from overruler.rules import ask
from overruler.scene import Scene
from overruler.verdict import Verdict
from tests.rules.scenes import disc as disc_of
from tests.rules.scenes import joint, scene_of


def scene(*args: Any, **more: Any) -> Scene:
    return scene_of(*args, **({"game": "legion", "board_mm": (1800, 900)} | more))


disc = partial(disc_of, diameter_mm=27)
DRAWS = 1_000_000
AGREED = 0.005
SEGMENT_MM = 152.4


def two_units(count: int, apart_mm: float) -> list[dict[str, Any]]:
    """Two units of discs in arcs that face each other, so that many pairs are about as close."""
    rebels = [
        disc(f"r{k}", -abs(k - count / 2) * 0.4, 30.0 * k, unit="rebels", player="r", leader=k == 0)
        for k in range(count)
    ]
    empire = [
        disc(f"e{k}", apart_mm + 27, 30.0 * k, unit="empire", player="e", leader=k == 0)
        for k in range(count)
    ]
    return rebels + empire


def drawn_places(scene: Scene) -> Array:
    """(DRAWS, N, 2), by a generator of their own."""
    assert scene.covariance is not None
    root = np.linalg.cholesky(scene.covariance.array + 1e-12 * np.eye(2 * len(scene.pieces)))
    drawn = np.random.default_rng(99).standard_normal((DRAWS, len(root))).astype(
        np.float32
    ) @ root.T.astype(np.float32)
    centers = np.array([(piece.x_mm, piece.y_mm) for piece in scene.pieces])
    return np.asarray(drawn.reshape(DRAWS, -1, 2) + centers, float)


def drawn_gaps(scene: Scene, froms: list[int], tos: list[int]) -> Array:
    """The closest distance (DRAWS,) between two lots of 27 mm discs."""
    places = drawn_places(scene)
    closest = np.full(DRAWS, np.inf)
    for i in froms:
        for j in tos:
            apart = places[:, j] - places[:, i]
            closest = np.minimum(closest, np.hypot(apart[:, 0], apart[:, 1]) - 27)
    return np.asarray(np.maximum(closest, 0))


def counted(distances_mm: Array) -> dict[str, float]:
    bands = np.maximum(np.ceil(distances_mm / SEGMENT_MM), 1)
    return {
        str(k) if k < 6 else "null": float(np.mean(np.minimum(bands, 6) == k)) for k in range(1, 7)
    }


def check(verdict: Verdict, wanted: dict[str, float], sigma_mm: float) -> None:
    assert verdict.probability is not None
    assert sum(verdict.probability.values()) == pytest.approx(1)
    for key, share in wanted.items():
        assert verdict.probability[key] == pytest.approx(share, abs=AGREED)
    # Contact cuts most of a spread off: three standard errors of what 65536 draws leave of it are 1.5 %.
    assert verdict.sigma_mm == pytest.approx(sigma_mm, rel=0.015)


RANGE = {"question": "range", "from": "rebels", "to": "empire"}


@pytest.mark.parametrize(
    ("count", "sigma_mm", "line", "sigmas"),
    [
        (1, 0.2, 0, 0.3),
        (1, 1.5, 1, 0.3),
        (1, 0.3, 5, 2),
        (3, 1.5, 0, 0.3),
        (3, 0.2, 5, 1.5),
        (5, 0.5, 1, 0.3),
    ],
)
def test_ranges_agree_with_a_million_draws(
    count: int, sigma_mm: float, line: int, sigmas: float
) -> None:
    found = scene(
        two_units(count, line * SEGMENT_MM + sigmas * sigma_mm), joint(2 * count, sigma_mm)
    )
    closest = drawn_gaps(found, list(range(count)), list(range(count, 2 * count)))
    verdict = ask(found, RANGE)
    check(verdict, counted(closest), float(closest.std()))
    assert verdict.answer["melee_probability"] == pytest.approx(
        np.mean(closest <= 1e-6), abs=AGREED
    )
    assert ask(found, RANGE | {"question": "distance"}).sigma_mm == pytest.approx(
        verdict.sigma_mm, rel=1e-3
    )


def test_attacks_agree_with_a_million_draws() -> None:
    found = scene(two_units(4, 2 * SEGMENT_MM - 0.1), joint(8, 0.5))
    closest = drawn_gaps(found, [0], [4, 5, 6, 7])
    check(
        ask(found, {"question": "attack_range", "attacker": "rebels", "defender": "empire"}),
        counted(closest),
        closest.std(),
    )


@pytest.mark.parametrize("kind", ["at", "beyond", "weapon"])
def test_answers_of_yes_and_no_agree_with_a_million_draws(kind: str) -> None:
    found = scene(two_units(1, SEGMENT_MM + 0.1), joint(2, 0.4))
    share = float(np.mean(drawn_gaps(found, [0], [1]) > SEGMENT_MM))
    question: dict[str, Any] = {
        "question": kind,
        "from": "r0",
        "to": "e0",
        "range": [2] if kind == "at" else [1],
    }
    if kind == "weapon":
        question = {
            "question": kind,
            "attacker": "rebels",
            "defender": "empire",
            "weapon": {"range": [2, 3]},
        }
    verdict = ask(found, question)
    assert verdict.probability is not None
    assert verdict.probability["true"] == pytest.approx(share, abs=AGREED)
    assert verdict.probability["false"] == pytest.approx(1 - share, abs=AGREED)


@pytest.mark.parametrize(
    ("x_mm", "first"), [(SEGMENT_MM * 2 - 0.2, 2), (SEGMENT_MM + 27.2, 2), (SEGMENT_MM - 0.3, 1)]
)
def test_within_agrees_with_a_million_draws(x_mm: float, first: int) -> None:
    found = scene([disc("a", 0, 0), disc("b", x_mm, 0), disc("c", x_mm, 40)], joint(3, 0.5))
    places = drawn_places(found)
    apart = np.hypot(*(places[:, 1] - places[:, 0]).T)
    wanted = np.mean(
        (apart - 27 > SEGMENT_MM * (first - 1) - (first == 1) * 99)
        & (apart <= SEGMENT_MM * 2 ** (first - 1))
    )
    verdict = ask(found, {"question": "within", "from": "a", "to": "b", "range": [first]})
    assert verdict.probability is not None
    assert verdict.probability["true"] == pytest.approx(wanted, abs=AGREED)


def test_within_for_all_of_a_unit_agrees_with_a_million_draws() -> None:
    pieces = [
        disc("a", 0, 0),
        disc("b", 250, 0, unit="both", leader=True),
        disc("c", 0, 250.2, unit="both"),
    ]
    found = scene(pieces, joint(3, 0.5), ruler={"segment_mm": 250.3, "segments": 5})
    places = drawn_places(found)
    inside = np.all([np.hypot(*(places[:, k] - places[:, 0]).T) <= 250.3 for k in (1, 2)], 0)
    verdict = ask(found, {"question": "within", "from": "a", "to": "both", "range": [1]})
    assert verdict.probability is not None
    assert verdict.probability["true"] == pytest.approx(np.mean(inside), abs=AGREED)


def test_within_of_a_unit_agrees_with_draws() -> None:
    pieces = [disc("l", -150, 0, unit="pair", leader=True), disc("r", 150, 0, unit="pair")]
    pieces.append({"id": "b", "base": {"shape": "circle", "diameter_mm": 60}, "x_mm": 0, "y_mm": 0})
    edge = math.hypot(150, 30) - 13.5
    found = scene(pieces, joint(3, 0.5), ruler={"segment_mm": edge + 0.2, "segments": 5})
    places = drawn_places(found)[:10_000]
    turn = np.radians(
        [*np.linspace(80, 100, 500), *np.linspace(260, 280, 500)]
    )  # where both are about as far
    rim = places[:, 2, None] + 30 * np.stack([np.cos(turn), np.sin(turn)], -1)
    away = np.min([np.linalg.norm(rim - places[:, [k]], axis=-1) - 13.5 for k in (0, 1)], 0).max(1)
    verdict = ask(found, {"question": "within", "from": "pair", "to": "b", "range": [1]})
    assert verdict.probability is not None
    assert verdict.probability["true"] == pytest.approx(np.mean(away <= edge + 0.2), abs=0.02)


@pytest.mark.parametrize(
    ("shape", "first", "draws"),
    [("circle", 1, 8000), ("circle", 2, 8000), ("oval", 1, 1000), ("rectangle", 2, 1000)],
)
def test_within_of_two_units_agrees_with_the_rims_of_drawn_bases(
    shape: str, first: int, draws: int
) -> None:
    """Three bases to two; the far line cuts the farthest rim, the near one the closest."""
    base = {"shape": shape, "width_mm": 30, "length_mm": 44}
    if shape == "circle":
        base = {"shape": shape, "diameter_mm": 30}
    pieces: list[dict[str, Any]] = []
    for k, (x, y) in enumerate([(0, 0), (-8, 55), (3, -50), (200, 20), (195, -28)]):
        own = {"id": f"p{k}", "base": base, "x_mm": x, "y_mm": y, "heading_deg": 40 * k}
        pieces.append(own | {"unit": "ab"[k > 2], "leader": k in (0, 3)})
    bare = scene(pieces)
    closest = min(gap(a, b).distance_mm for a in bare.shapes[:3] for b in bare.shapes[3:])
    covariance = joint(5, 0.5)
    root = np.linalg.cholesky(covariance)
    drawn = (np.random.default_rng(6).standard_normal((draws, 10)) @ root.T).reshape(-1, 5, 2)
    turn = np.radians(np.arange(-70, 70, 1.0))  # the far side
    rims = [bare.shapes[k].support_points(unit_vectors(turn)) for k in (3, 4)]
    away = np.zeros(len(drawn))
    near = np.full(len(drawn), np.inf)
    for k, rim in zip((3, 4), rims, strict=True):
        moved = [rim + (drawn[:, k] - drawn[:, a])[:, None] for a in range(3)]
        by_part = [
            point_distances(bare.shapes[a], points.reshape(-1, 2)).reshape(len(drawn), -1)
            for a, points in enumerate(moved)
        ]
        away = np.maximum(away, np.min(by_part, 0).max(1))
        for a in range(3):
            gaps = gaps_at_shifts(bare.shapes[a], bare.shapes[k], drawn[:, k] - drawn[:, a])
            near = np.minimum(near, gaps)
    far_line = float(np.quantile(away, 0.7))
    lines = [closest, far_line] if first == 2 else [far_line]
    found = scene(pieces, covariance, game="bands", ruler={"lines_mm": lines})
    verdict = ask(found, {"question": "within", "from": "a", "to": "b", "range": [first]})
    expected = np.mean((away <= far_line) & ((near > closest) | (first == 1)))
    assert verdict.probability is not None
    assert verdict.probability["true"] == pytest.approx(expected, abs=1.4 / draws**0.5)


@pytest.mark.parametrize("shape", ["rectangle", "oval"])
@pytest.mark.parametrize("apart_mm", [0.2, SEGMENT_MM - 0.2])
def test_bases_of_other_shapes_agree_with_draws(shape: str, apart_mm: float) -> None:
    base = {"shape": shape, "width_mm": 40, "length_mm": 70}
    a: dict[str, Any] = {
        "id": "a",
        "base": base,
        "x_mm": 0,
        "y_mm": 0,
        "heading_deg": 20,
        "player": "x",
    }
    b: dict[str, Any] = {
        "id": "b",
        "base": base,
        "x_mm": 400,
        "y_mm": 0,
        "heading_deg": 75,
        "player": "y",
    }
    question = {"question": "range", "from": "a", "to": "b"}
    for _ in range(60):  # the gap shrinks by no more than the step along x: close in
        b["x_mm"] -= (ask(scene([a, b]), question).distance_mm or 0) - apart_mm
    found = scene([a, b], joint(2, 0.4))
    closest = gaps_at_shifts(found.shapes[0], found.shapes[1], drawn_differences(found, 40_000))
    verdict = ask(found, question)
    near = float(np.mean(closest <= SEGMENT_MM))
    check(verdict, {"1": near, "2": 1 - near}, float(closest.std()))
    assert verdict.answer["melee_probability"] == pytest.approx(
        np.mean(closest <= 1e-6), abs=AGREED
    )


def drawn_differences(scene: Scene, count: int) -> Array:
    """How much (count, 2) the second piece is displaced against the first."""
    assert scene.covariance is not None
    drawn = (
        np.random.default_rng(4).standard_normal((count, 4))
        @ np.linalg.cholesky(scene.covariance.array).T
    )
    return np.asarray(drawn[:, 2:] - drawn[:, :2])


@pytest.mark.parametrize("shape", ["rectangle", "oval"])
def test_within_of_other_shapes_agrees_with_draws(shape: str) -> None:
    b = {
        "id": "b",
        "base": {"shape": shape, "width_mm": 40, "length_mm": 70},
        "x_mm": 100,
        "y_mm": 30,
    }
    found = scene([disc("a", 0, 0), b], joint(2, 0.4), ruler={"segment_mm": 130, "segments": 5})
    turn = np.linspace(0, 2 * np.pi, 1440)
    rim = found.shapes[1].support_points(np.stack([np.cos(turn), np.sin(turn)], -1))
    drawn = drawn_differences(found, 20_000)
    farthest = np.linalg.norm(rim, axis=-1).argmax()
    # Displaced by half a millimetre, the rim's farthest point moves on by no more than this.
    away = np.linalg.norm(
        rim[np.arange(farthest - 60, farthest + 61) % 1440] + drawn[:, None], axis=-1
    ).max(1)
    line = float(np.quantile(away, 0.7))
    verdict = ask(
        scene(
            [disc("a", 0, 0), b], joint(2, 0.4), ruler={"segment_mm": line - 13.5, "segments": 5}
        ),
        {"question": "within", "from": "a", "to": "b", "range": [1]},
    )
    assert verdict.probability is not None
    assert verdict.probability["true"] == pytest.approx(0.7, abs=0.01)


# --- sigma ---


def test_sigma_is_that_along_the_gap() -> None:
    covariance = np.diag([0.09, 9, 0.16, 16])
    found = scene([disc("a", 0, 0), disc("b", 500, 0)], covariance)
    assert ask(found, {"question": "distance", "from": "a", "to": "b"}).sigma_mm == pytest.approx(
        0.5, abs=1e-3
    )


def test_what_all_pieces_share_makes_no_doubt() -> None:
    shared = np.tile(np.eye(2), (2, 2)) * 25.0
    found = scene([disc("a", 0, 0), disc("b", SEGMENT_MM + 27.01, 0)], shared)
    verdict = ask(found, {"question": "range", "from": "a", "to": "b"})
    assert verdict.sigma_mm == pytest.approx(0, abs=1e-6)
    assert (verdict.value, verdict.call) == (2, "certain")


def test_exact_pieces_in_a_doubtful_scene_are_certain_even_on_a_line() -> None:
    covariance = np.zeros((6, 6))
    covariance[4:, 4:] = np.eye(2)
    found = scene(
        [disc("a", 0, 0), disc("b", SEGMENT_MM + 27 + 5e-7, 0), disc("c", 0, 300)], covariance
    )
    verdict = ask(found, {"question": "range", "from": "a", "to": "b"})
    assert (verdict.value, verdict.call, verdict.sigma_mm) == (1, "certain", 0)
    assert verdict.probability is not None
    assert verdict.probability["1"] == 1


def test_a_deep_overlap_is_certainly_contact() -> None:
    found = scene([disc("a", 0, 0, player="x"), disc("b", 20, 0, player="y")], np.eye(4) * 0.01)
    verdict = ask(found, {"question": "range", "from": "a", "to": "b"})
    assert (verdict.distance_mm, verdict.sigma_mm, verdict.answer["melee_probability"]) == (0, 0, 1)


def test_terrain_is_where_it_is() -> None:
    wall = {
        "id": "wall",
        "footprint_mm": [[500, -90], [520, -90], [520, 90], [500, 90]],
        "top_z_mm": 30,
    }
    found = scene([disc("a", 0, 0)], np.diag([0.25, 4]), terrain=[wall])
    verdict = ask(found, {"question": "range", "from": "a", "to": "wall"})
    assert verdict.sigma_mm == pytest.approx(0.5, abs=1e-3)
    assert verdict.distance_mm == pytest.approx(486.5)


@pytest.mark.parametrize(
    "kind",
    ["range", "distance", "at", "within", "beyond", "mark_range_one", "attack_range", "weapon"],
)
def test_every_answer_of_a_doubtful_scene_says_how_sure_it_is(kind: str) -> None:
    found = scene(two_units(2, 300), joint(4, 0.2))
    question = {
        "question": kind,
        "from": "rebels",
        "to": "empire",
        "range": [1, 2],
        "attacker": "rebels",
    }
    answer = ask(found, question | {"defender": "empire", "weapon": {"range": [2, 3]}}).to_json()
    assert answer["sigma_mm"] > 0.05
    assert ("call" in answer) == ("probability" in answer) == (kind != "distance")
    assert all(
        isinstance(json.loads(key), int | bool | None) for key in answer.get("probability", {})
    )


@pytest.mark.parametrize("count", [1, 2])
def test_any_part_within_is_as_likely_as_draws_say(count: int) -> None:
    pieces = [
        disc("r", 0, 0),
        disc("e0", 152.5, 0, unit="empire", leader=True),
        disc("e1", -331.9, 0, unit="empire"),
    ][: count + 1]
    choice = {"settings": {"any_part_within": True}}
    found = scene(pieces, joint(count + 1, 0.5), state=choice)
    ends = {"from": "r", "to": "empire", "range": [2]}
    odds = ask(found, {"question": "within", **ends}).probability
    none = ask(found, {"question": "not_within", **ends}).probability
    assert odds is not None
    assert none == {"true": odds["false"], "false": odds["true"]}
    gaps = [drawn_gaps(found, [0], [k]) for k in range(1, count + 1)]
    # The far side of a base lies its diameter past its near side.
    inside = [(gap <= 2 * SEGMENT_MM) & (gap + 27 > SEGMENT_MM) for gap in gaps]
    assert odds["true"] == pytest.approx(np.any(inside, 0).mean(), abs=0.005)
    assert 0.2 < odds["true"] < 0.95
