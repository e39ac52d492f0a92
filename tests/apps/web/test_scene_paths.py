"""What the page draws lies where the board's millimetres are in the photo."""

import re
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from overruler.apps.settings.game_choice import choose_game, known_presets
from overruler.apps.web import ready_scenes, scene_paths
from overruler.apps.web.piece_names import piece_names
from overruler.apps.web.quick_questions import arc_outlines, games_json
from overruler.errors import BadInput
from overruler.games import GAMES, Ruler
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.geometry.shapes import Disc, gap
from overruler.rules import ask
from overruler.scene import Scene
from tests.apps.web.desk import scene
from tests.reports import camera

RANGE = {"question": "range", "from": "p01", "to": "p03"}


def places_mm(path: str) -> Array:
    """The board points (N, 2) that the points of a path on the photo see."""
    points = np.array([[float(x), float(y)] for x, y in re.findall(r"(-?[\d.]+) (-?[\d.]+)", path)])
    return camera().unproject(points - 0.5)


def test_a_base_is_drawn_round_its_place() -> None:
    for piece, shown in zip(scene().pieces, scene_paths.table_json(scene())["pieces"], strict=True):
        edge = places_mm(shown["d"])
        away = [gap(piece.shape, Disc((x, y), 1e-9)).distance_mm for x, y in edge]
        assert max(away) < 0.05
        assert places_mm("{} {}".format(*shown["center_px"]))[0] == pytest.approx(
            (piece.x_mm, piece.y_mm), abs=0.05
        )


def test_a_ring_lies_at_its_distance_from_the_edge() -> None:
    for piece in scene().pieces:
        (ring,) = scene_paths.band_lines_json(scene(), piece, [100.0])
        away = [gap(piece.shape, Disc((x, y), 1e-9)).distance_mm for x, y in places_mm(ring["d"])]
        assert away == pytest.approx([100.0] * len(away), abs=0.2)


def test_the_line_runs_between_the_closest_points_and_the_doubt_spans_95_percent() -> None:
    verdict = ask(scene(), RANGE)
    told = scene_paths.ruling_json(scene(), verdict)
    ends = places_mm(told["drawing"]["line"])[[0, -1]]
    assert ends == pytest.approx(np.array([verdict.from_point_mm, verdict.to_point_mm]), abs=0.05)
    doubt = places_mm(told["drawing"]["doubt"])[[0, -1]]
    assert np.linalg.norm(doubt[1] - doubt[0]) == pytest.approx(
        2 * 1.96 * (verdict.sigma_mm or 0), abs=0.05
    )


def test_a_second_tap_works_nothing_out_again_but_the_ruling() -> None:
    """Neither the lens at the picture's corners, nor where the photo shows each piece."""
    known = scene()
    with (
        patch.object(Camera, "undistort", autospec=True, side_effect=Camera.undistort) as lens,
        patch.object(ready_scenes, "piece_names", side_effect=piece_names) as names,
    ):
        first = scene_paths.ruling_json(known, ask(known, RANGE))
        assert scene_paths.ruling_json(known, ask(known, RANGE)) == first
        assert (lens.call_count, names.call_count) == (1, 1)


def test_words_say_the_call_and_the_doubt() -> None:
    told = scene_paths.ruling_json(scene(), ask(scene(), RANGE))
    assert told["words"]["headline"] == "range 2"
    assert "certain" in told["words"]["detail"]
    assert "± " in told["words"]["detail"]
    assert told["words"]["between"] == ["p01", "p03"]


def test_the_page_says_that_corrections_of_other_photos_count() -> None:
    plain = scene()
    record = {"photos": 4, "weighings": {"25 mm": {"offset": -2.0, "slope": 1.0}}}
    taught = replace(plain, extra={**plain.extra, "taught": record})
    said = scene_paths.table_json(taught)["problems"]
    assert said[:-1] == scene_paths.table_json(plain)["problems"]
    assert "re-weighed by 4 corrected photos: 25 mm" in said[-1]


@pytest.mark.parametrize("question", ["range", "distance"])
def test_the_page_says_what_may_be_no_piece(question: str) -> None:
    first, *rest = scene().pieces
    first = replace(first, extra={**first.extra, "probability": 0.7})
    table = replace(scene(), pieces=(first, *rest))
    told = scene_paths.ruling_json(table, ask(table, RANGE | {"question": question}))
    doubt = "27 mm (near left) is a piece with a probability of 70 %"
    assert told["words"]["doubts"] == [doubt]
    assert doubt not in told["words"]["detail"]
    shown = scene_paths.table_json(table)["pieces"]
    assert shown[0]["doubt"] == {"probability": 0.7}
    assert not any("doubt" in piece for piece in shown[1:])


@pytest.mark.parametrize(("game", "unit"), [("legion", "mm"), ("skirmish", "in")])
def test_a_bare_distance_is_told_in_the_games_unit(game: str, unit: str) -> None:
    table = replace(scene(), game=game)
    told = scene_paths.ruling_json(table, ask(table, RANGE | {"question": "distance"}))
    assert told["words"]["headline"].endswith(f" {unit}")
    assert told["words"]["detail"].startswith("95 % sure")


def test_arcs_start_at_the_ship_and_reach_as_far_as_the_ruler() -> None:
    table = replace(scene(), game="xwing")
    ship = replace(table.pieces[4], base=type(table.pieces[4].base).rectangle(40, 40))
    table = replace(table, pieces=(*table.pieces[:4], ship))
    found = {arc["name"]: arc["lines"] for arc in arc_outlines(table, ship)}
    assert {"front", "rear", "bullseye"} <= set(found)
    for line in found["front"]:
        places = places_mm(line)
        assert places[0] == pytest.approx((ship.x_mm, ship.y_mm), abs=0.1)
    unsure = replace(ship, extra={"heading_modulo_deg": 90})
    with pytest.raises(BadInput, match="turned by 90"):
        arc_outlines(replace(table, pieces=(*table.pieces[:4], unsure)), unsure)


def profiled(fields: list[dict[str, Any]]) -> Scene:
    """The scene with something said of every field of every base's profile, on hexes."""
    said = {
        "whole": 12,
        "number": 6.5,
        "flag": False,
        "figures": [{"range": 4}, {"range": {"infantry": 3, "vehicle": 1}}],
    }
    stats: dict[str, Any] = {}
    for field in fields:
        part, _, name = field["key"].partition(".")
        value = field["of"][0] if field["type"] == "choice" else said[field["type"]]
        stats[part] = {**stats.get(part, {}), name: value} if name else value
    grid = {"type": "hex", "orientation": "pointy", "size_mm": 30, "origin_mm": [0, 0]}
    told = scene().to_json()
    return Scene.from_json(
        {**told, "grid": grid, "pieces": [{**piece, "stats": stats} for piece in told["pieces"]]}
    )


def test_a_profile_is_all_that_the_questions_ask_for() -> None:
    """Without one the answer names what is missing by its path, which the page puts in words of its own."""
    for game in games_json():
        for tap in (tap for tap in game["taps"] if "needs" in tap):
            question = {
                key: {"A": "p01", "B": "p02"}.get(value, value) for key, value in tap["ask"].items()
            }
            table = replace(profiled(game["profile"]), game=game["name"])
            bare = replace(table, pieces=tuple(replace(piece, stats={}) for piece in table.pieces))
            with pytest.raises(BadInput, match=r"pieces\[\d+\]\.stats\.\w+"):
                ask(bare, question)


def test_every_game_can_be_asked_something_by_two_taps() -> None:
    assert [game["name"] for game in games_json()] == [*GAMES, *known_presets()]
    for game in games_json():
        engine = choose_game(game["name"]).game
        assert engine is not None
        table = replace(profiled(game["profile"]), game=engine)
        table = replace(table, ruler=table.range_ruler or Ruler((50.0, 120.0)))
        values = {"A": "p01", "B": "p02", "REACH": 6, "ARC": "bullseye"}
        for tap in game["taps"]:
            question = {key: values.get(value, value) for key, value in tap["ask"].items()}
            assert ask(table, question).headline
