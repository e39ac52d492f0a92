"""All pairs at once are answered as each pair is when it is asked about alone."""

import json
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from overruler.bases import Base
from overruler.errors import BadInput
from overruler.rules import ask, matrix
from overruler.rules.pair_ranges import PAST_RULER, Matrix
from overruler.scene import Piece, Ruler, Scene, Table

GRID = {"type": "hex", "orientation": "pointy", "size_mm": 60, "origin_mm": [3, 5]}
LINE_MM = {"legion": 152.4, "xwing": 100.0}


def pieces(count: int, span_mm: float, seed: int) -> list[dict[str, Any]]:
    draw = np.random.default_rng(seed)
    found: list[dict[str, Any]] = []
    for k in range(count):
        x, y, heading = draw.uniform(0, span_mm, 3).round(1).tolist()
        sizes = {"width_mm": 20 + k, "length_mm": 40 + 2 * k}
        base = [
            {"shape": "circle", "diameter_mm": 30 + k},
            {"shape": "oval"} | sizes,
            {"shape": "rectangle"} | sizes,
        ][k % 3]
        found.append(
            {
                "id": f"p{k}",
                "base": base,
                "x_mm": x,
                "y_mm": y,
                "heading_deg": heading,
                "player": "ab"[k % 2],
            }
        )
    return found


def shared_error(count: int, seed: int) -> dict[str, Any]:
    """A joint covariance: what all share, and a little of each piece's own."""
    draw = np.random.default_rng(seed)
    root = np.concatenate(
        [draw.normal(0, 1.5, (2 * count, 3)), np.diag(draw.uniform(0.1, 2, 2 * count))], 1
    )
    return {"order": [f"p{k}" for k in range(count)], "mm2": (root @ root.T).tolist()}


def scene(game: str, some: list[dict[str, Any]], **more: Any) -> Scene:
    frame = {
        "schema": "overruler/scene/1",
        "game": game,
        "board": {"width_mm": 900, "height_mm": 900},
        "grid": GRID,
    }
    return Scene.from_json(frame | {"pieces": some} | more)


def asked(found: Scene, i: int, j: int) -> dict[str, Any]:
    question = {"question": "range", "from": f"p{i}", "to": f"p{j}"}
    return ask(found, question).to_json()


def checked(game: str, found: Scene, all_pairs: Matrix) -> int:
    """Every pair against its own answer; how many of them are in doubt."""
    doubtful = 0
    for i in range(len(found.pieces)):
        for j in (j for j in range(len(found.pieces)) if j != i):
            answer = asked(found, i, j)
            assert all_pairs.distance_mm[i, j] == pytest.approx(answer["distance_mm"], abs=1e-9)
            assert all_pairs.sigma_mm[i, j] == pytest.approx(answer["sigma_mm"], rel=1e-5, abs=1e-9)
            assert all_pairs.band is not None
            assert int(all_pairs.band[i, j]) == (
                PAST_RULER if answer["range"] is None else answer["range"]
            )
            if all_pairs.probability is not None:
                odds = [
                    answer["probability"][json.dumps(None if r == PAST_RULER else r)]
                    for r in all_pairs.ranges
                ]
                assert all_pairs.probability[i, j] == pytest.approx(odds, abs=2e-3)
                doubtful += max(odds) < 0.999
    return doubtful


@pytest.mark.parametrize("game", ["legion", "xwing", "tide_of_iron"])
def test_pairs_that_may_be_far_less_sure_are_what_ask_says(game: str) -> None:
    doubt, span_mm = shared_error(10, seed=1), 180.0 if game == "xwing" else 500.0
    far = {"probability": 0.25, "mm2": (9 * np.array(doubt["mm2"])).tolist()}
    found = scene(game, pieces(10, span_mm, seed=3), covariance=doubt | {"otherwise": far})
    every = matrix(found)
    assert every.probability is not None
    off_diagonal = every.probability.sum(2)[~np.eye(10, dtype=bool)]
    assert off_diagonal == pytest.approx(np.ones(90))
    parts = []
    for mm2, share in ((doubt["mm2"], 0.75), (far["mm2"], 0.25)):
        one = matrix(scene(game, pieces(10, span_mm, seed=3), covariance={**doubt, "mm2": mm2}))
        assert one.probability is not None
        parts.append((share, one, one.probability))
    assert every.sigma_mm == pytest.approx(parts[0][1].sigma_mm)
    for k, number in enumerate(every.ranges):
        chances = [
            share * odds[..., one.ranges.index(number)]
            for share, one, odds in parts
            if number in one.ranges
        ]
        assert every.probability[..., k] == pytest.approx(sum(chances))
    if game != "tide_of_iron":
        assert checked(game, found, every) > 3


@pytest.mark.parametrize("game", ["legion", "xwing"])
@pytest.mark.parametrize("span_mm", [150.0, 900.0])
def test_exact_pairs_are_what_ask_says(game: str, span_mm: float) -> None:
    found = scene(game, pieces(12, span_mm, seed=3))
    all_pairs = matrix(found)
    assert all_pairs.probability is None
    assert not all_pairs.sigma_mm.any()
    assert all_pairs.ids == tuple(f"p{k}" for k in range(12))
    checked(game, found, all_pairs)


@pytest.mark.parametrize(
    ("game", "span_mm"), [("legion", 500.0), ("legion", 900.0), ("xwing", 180.0), ("xwing", 900.0)]
)
def test_doubtful_pairs_are_what_ask_says(game: str, span_mm: float) -> None:
    found = scene(game, pieces(10, span_mm, seed=3), covariance=shared_error(10, seed=1))
    assert checked(game, found, matrix(found)) >= 4  # else the test would prove nothing


@pytest.mark.parametrize("game", ["legion", "xwing"])
def test_on_the_line(game: str) -> None:
    disc = {"shape": "circle", "diameter_mm": 20}
    at = [0.0, 20 + LINE_MM[game] + 5e-7, 20 + LINE_MM[game] + 1e-5, 20 + 5e-7, 5000.0]
    some = [{"id": f"p{k}", "base": disc, "x_mm": x, "y_mm": 0} for k, x in enumerate(at)]
    band = matrix(scene(game, some)).band
    assert band is not None
    assert band[0].tolist() == [PAST_RULER, 1, 2, {"legion": 1, "xwing": 0}[game], PAST_RULER]


def test_held_pairs_are_at_range_0() -> None:
    some = pieces(4, 900, seed=5)
    for doubt in ({}, {"covariance": shared_error(4, seed=2)}):
        found = scene("xwing", some, state={"range0": [["p0", "p3"]]}, **doubt)
        all_pairs = matrix(found)
        assert all_pairs.band is not None
        assert all_pairs.band[0, 3] == all_pairs.band[3, 0] == 0
        assert all_pairs.distance_mm[0, 3] > 0
        checked("xwing", found, all_pairs)


def test_the_line_belongs_where_the_table_says() -> None:
    disc = {"shape": "circle", "diameter_mm": 20}
    some = [{"id": f"p{k}", "base": disc, "x_mm": x, "y_mm": 0} for k, x in enumerate((0, 120))]
    for nearer in (True, False):
        band = matrix(scene("xwing", some, state={"settings": {"nearer_band": nearer}})).band
        assert band is not None
        assert band[0, 1] == (1 if nearer else 2)


def test_the_scene_s_own_ruler_counts() -> None:
    found = scene("legion", pieces(6, 400, seed=7), ruler={"segment_mm": 40, "segments": 3})
    all_pairs = matrix(found)
    assert all_pairs.ranges == (1, 2, 3, PAST_RULER)
    checked("legion", found, all_pairs)


# --- hexes ---


def hex_answer(found: Scene, i: int, j: int) -> int:
    verdict = ask(found, {"question": "attack_range", "attacker": f"p{i}", "target": f"p{j}"})
    return int(verdict.answer["hexes"])


def squads(hexes: list[tuple[int, int]]) -> list[dict[str, Any]]:
    disc = {"shape": "circle", "diameter_mm": 20}
    stats = {"figures": [{"range": 4}]}
    return [
        {"id": f"p{k}", "base": disc, "hex": list(place), "stats": stats}
        for k, place in enumerate(hexes)
    ]


def test_hexes_are_counted_as_ask_counts_them() -> None:
    places = [(0, 0), (1, 0), (-2, 3), (4, -4), (5, 5)]
    found = scene("tide_of_iron", squads(places))
    all_pairs = matrix(found)
    assert all_pairs.band is not None
    for i in range(5):
        assert [all_pairs.band[i, j] for j in range(5) if j != i] == [
            hex_answer(found, i, j) for j in range(5) if j != i
        ]
    assert all_pairs.ranges == tuple(range(int(all_pairs.band.max()) + 1))


def test_a_piece_near_a_border_may_be_in_either_hex() -> None:
    border = 60 * np.sqrt(3) / 2
    doubt = [[1.0, 0.0], [0.0, 1.0]]
    near = squads([(0, 0), (3, 0)])
    near[0] = {k: v for k, v in near[0].items() if k != "hex"} | {
        "x_mm": 3 + border - 0.5,
        "y_mm": 5,
    }
    found = scene("tide_of_iron", [near[0] | {"covariance_mm2": doubt}, near[1]])
    all_pairs = matrix(found)
    assert all_pairs.probability is not None
    # It stands half a σ before the border: Φ(0.5) = 0.6915.
    assert all_pairs.probability[0, 1].tolist() == pytest.approx([0, 0, 0.3085, 0.6915], abs=0.005)
    assert all_pairs.probability[0, 0].tolist() == [0, 0, 0, 0]


# --- everything else ---


@pytest.mark.parametrize("game", ["skirmish", "positioning"])
def test_games_in_inches_have_distances(game: str) -> None:
    found = scene(game, pieces(5, 300, seed=2), covariance=shared_error(5, seed=2))
    all_pairs = matrix(found)
    assert (all_pairs.band, all_pairs.ranges, all_pairs.probability) == (None, (), None)
    assert np.allclose(all_pairs.distance_in * 25.4, all_pairs.distance_mm, rtol=0, atol=1e-12)
    answer = ask(found, {"question": "distance", "from": "p0", "to": "p3"})
    assert all_pairs.sigma_mm[0, 3] == pytest.approx(answer.sigma_mm, rel=1e-5)


def test_another_game_can_be_asked_for() -> None:
    found = scene("legion", pieces(4, 300, seed=2))
    assert matrix(found, "xwing").ranges == (0, 1, 2, 3, PAST_RULER)


def test_what_a_game_finds_wrong_is_refused() -> None:
    with pytest.raises(BadInput, match="range0"):
        matrix(scene("xwing", pieces(2, 300, seed=2), state={"range0": [["p0", "nobody"]]}))
    with pytest.raises(BadInput, match="settings"):
        matrix(scene("legion", pieces(2, 300, seed=2), state={"settings": {"odd": True}}))


NO_DOUBT: tuple[dict[str, Any], ...] = ({}, {"covariance": {"order": [], "mm2": []}})


def test_few_pieces_make_small_matrices() -> None:
    for count in (0, 1):
        for doubt in NO_DOUBT:
            assert matrix(
                scene("legion", pieces(count, 300, seed=2), **doubt)
            ).distance_mm.shape == (count, count)


def test_the_function_stays_a_function_once_its_module_is_loaded() -> None:
    """A module of the same name in the package would take its place."""
    code = "from overruler import rules; import overruler.rules.pair_matrix; assert callable(rules.matrix)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_game_that_is_named_brings_its_ruler() -> None:
    two = (Piece("a", Base.circle(27), 0, 0), Piece("b", Base.circle(27), 127, 0))
    own = Scene("bands", Table(900, 600), two, ruler=Ruler((10.0, 20.0)))
    band = matrix(own, "legion").band
    assert band is not None
    assert band.tolist() == [[PAST_RULER, 1], [1, PAST_RULER]]
