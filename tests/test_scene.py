"""Scene files: what is read is what is written, unknown keys and all, and every mistake is named by its place."""

import copy
import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overruler.bases import Base
from overruler.errors import BadInput
from overruler.games import GAMES, Ruler
from overruler.geometry.covariance import Covariance
from overruler.geometry.shapes import Disc, Ellipse, Polygon, gap
from overruler.scene import Grid, Piece, Scene, Table, Terrain

Document = dict[str, Any]

FULL: Document = {
    "schema": "overruler/scene/1",
    "game": "legion",
    "board": {"width_mm": 1828.8, "height_mm": 914.4, "mat": "grass"},
    "ruler": {"segment_mm": 100, "segments": 3, "maker": "us"},
    "pieces": [
        {
            "id": "a",
            "base": {"shape": "circle", "diameter_mm": 27, "rim": "black"},
            "x_mm": 100,
            "y_mm": 200.5,
            "z_mm": 3,
            "heading_deg": 90,
            "covariance_mm2": [[0.04, 0.01], [0.01, 0.09]],
            "player": "rebels",
            "unit": "troopers",
            "leader": True,
            "kind": "character",
            "stats": {"size": 2},
            "image": {"center_px": [1, 2]},
        },
        {
            "id": "b",
            "base": {"shape": "rectangle", "width_mm": 40, "length_mm": 60},
            "x_mm": 400,
            "y_mm": 200,
        },
        {"id": "c", "base": {"shape": "oval", "width_mm": 42, "length_mm": 75}, "hex": [2, -1]},
    ],
    "terrain": [
        {
            "id": "hill",
            "footprint_mm": [[600, 600], [700, 600], [700, 700]],
            "base_z_mm": 1,
            "top_z_mm": 50,
            "rough": True,
            "size": 2,
            "paint": "brown",
        }
    ],
    "grid": {
        "type": "hex",
        "orientation": "pointy",
        "size_mm": 30,
        "origin_mm": [5, 7],
        "seen": True,
    },
    "covariance": {"order": ["c", "a"], "mm2": np.diag([1.0, 2, 3, 4]).tolist(), "from": "a photo"},
    "state": {"turn": 3},
    "calibration": {"rms_px": 0.2},
}


def document(**changes: Any) -> Document:
    return copy.deepcopy(FULL) | changes


def without(path: str) -> Document:
    found = document()
    inner: Any = found
    *parents, last = path.split(".")
    for key in parents:
        inner = inner[int(key) if key.isdecimal() else key]
    del inner[int(last) if last.isdecimal() else last]
    return found


def with_(path: str, value: Any) -> Document:
    found = document()
    inner: Any = found
    *parents, last = path.split(".")
    for key in parents:
        inner = inner[int(key) if key.isdecimal() else key]
    inner[int(last) if last.isdecimal() else last] = value
    return found


def test_every_key_is_read() -> None:
    scene = Scene.from_json(FULL)
    assert scene.game == "legion"
    assert scene.board == Table(1828.8, 914.4, {"mat": "grass"})
    assert scene.ruler == Ruler.of_segments(100, 3, {"maker": "us"})
    a, b, c = scene.pieces
    assert (a.x_mm, a.y_mm, a.z_mm, a.heading_deg) == (100, 200.5, 3, 90)
    assert (a.player, a.unit, a.leader, a.kind, a.stats) == (
        "rebels",
        "troopers",
        True,
        "character",
        {"size": 2},
    )
    assert (b.z_mm, b.heading_deg, b.player, b.unit, b.leader, b.stats) == (
        0,
        0,
        None,
        None,
        False,
        {},
    )
    assert c.hex == (2, -1)
    assert scene.terrain[0].footprint_mm == ((600, 600), (700, 600), (700, 700))
    assert (scene.terrain[0].rough, scene.terrain[0].size) == (True, 2)
    assert scene.state == {"turn": 3}
    assert scene.extra == {"calibration": {"rms_px": 0.2}, "covariance": {"from": "a photo"}}


def test_round_trip_keeps_everything() -> None:
    found = Scene.from_json(FULL).to_json()
    assert _holds(found, FULL | {"covariance": {"from": "a photo"}})
    assert Scene.from_json(found).to_json() == found


def _holds(found: Any, wanted: Any) -> bool:
    if isinstance(wanted, dict):
        return isinstance(found, dict) and all(
            key in found and _holds(found[key], wanted[key]) for key in wanted
        )
    if isinstance(wanted, list):
        return len(found) == len(wanted) and all(map(_holds, found, wanted))
    return bool(found == wanted)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2)
    ),
    max_leaves=4,
)
unknown_keys = st.dictionaries(
    st.text(max_size=4).map(lambda key: f"x-{key}"), json_values, max_size=3
)

ROUND_ENDED = {"shape": "rectangle", "width_mm": 25.0, "length_mm": 70.0, "corner_radius_mm": 12.5}
"""A base with round ends in the words that all readers of scenes know."""


@pytest.mark.parametrize(
    "base",
    [
        {"shape": "stadium", "width_mm": 25.0, "length_mm": 70.0},
        ROUND_ENDED,
        {"shape": "hexagon", "width_mm": 30.0},
    ],
)
def test_bikes_and_hexagons_have_shapes_of_their_own(base: Document) -> None:
    scene = Scene.from_json(with_("pieces.2.base", base))
    written = scene.to_json()["pieces"][2]["base"]
    assert written == (base if base["shape"] == "hexagon" else ROUND_ENDED)
    reach_mm = 30 / 3**0.5 if base["shape"] == "hexagon" else 35.0
    piece = scene.pieces[2]
    assert Scene.from_json(scene.to_json()).pieces[2] == piece
    ahead = piece.shape.support_point(1.0, 0.0)
    assert ahead[0] - piece.x_mm == pytest.approx(reach_mm, abs=0.002)


def test_a_rectangle_may_have_rounded_corners() -> None:
    """Two plates corner to corner: each is 1.5 (√2 - 1) mm shorter than with sharp ones."""
    plate = {"shape": "rectangle", "width_mm": 40, "length_mm": 40}
    scenes = []
    for base in (plate, plate | {"corner_radius_mm": 1.5}):
        given_document = document()
        del given_document["covariance"]
        given_document["pieces"] = [
            {"id": name, "base": base, "x_mm": x, "y_mm": 100, "heading_deg": 45}
            for name, x in (("a", 100), ("b", 200))
        ]
        scenes.append(Scene.from_json(given_document))
        assert [piece["base"] for piece in scenes[-1].to_json()["pieces"]] == [base, base]
    sharp, rounded = (gap(*(piece.shape for piece in scene.pieces)).distance_mm for scene in scenes)
    assert rounded - sharp == pytest.approx(2 * 1.5 * (2**0.5 - 1), abs=1e-6)


@pytest.mark.parametrize("radius", [-0.1, 20.1, "1", None, True])
def test_corners_that_no_rectangle_has_are_refused(radius: object) -> None:
    given_document = document()
    base = {"shape": "rectangle", "width_mm": 40, "length_mm": 60, "corner_radius_mm": radius}
    given_document["pieces"][0]["base"] = base
    with pytest.raises(BadInput, match=r"base\.corner_radius_mm"):
        Scene.from_json(given_document)


def test_no_other_base_has_corners() -> None:
    """There, it is a key like any that nobody knows."""
    given_document = document()
    given_document["pieces"][0]["base"] = base = {
        "shape": "circle",
        "diameter_mm": 27,
        "corner_radius_mm": 99,
    }
    read = Scene.from_json(given_document)
    assert read.pieces[0].base.corner_radius_mm == 0
    assert read.to_json()["pieces"][0]["base"] == base


@settings(max_examples=20)
@given(unknown_keys, unknown_keys, unknown_keys, unknown_keys)
def test_unknown_keys_are_kept_at_every_level(
    top: Document, piece: Document, base: Document, hill: Document
) -> None:
    given_document = document(**top)
    given_document["pieces"][0].update(piece)
    given_document["pieces"][0]["base"].update(base)
    given_document["terrain"][0].update(hill)
    del given_document["covariance"]
    assert _holds(Scene.from_json(given_document).to_json(), given_document)


def test_saved_and_loaded_again_it_is_the_same(tmp_path: Path) -> None:
    path = tmp_path / "scene.json"
    scene = Scene.from_json(FULL)
    scene.save(path)
    again = Scene.load(path)
    assert again.to_json() == scene.to_json()
    assert again.covariance is not None
    assert scene.covariance is not None
    assert again.covariance.array == pytest.approx(scene.covariance.array)
    assert [file.name for file in tmp_path.iterdir()] == ["scene.json"]


def test_a_scene_that_cannot_be_written_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "scene.json"
    path.write_text("old")
    scene = Scene("legion", Table(900, 900), (), extra={"calibration": math.nan})
    with pytest.raises(ValueError, match="JSON"):
        scene.save(path)
    assert path.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["scene.json"]


@pytest.mark.parametrize("game", GAMES)
def test_every_game_s_scenes_load(game: str) -> None:
    scene = Scene.from_json(document(game=game))
    assert scene.kind_of(scene.pieces[0]) == "character"
    assert scene.kind_of(scene.pieces[1]) == ("ship" if game == "xwing" else "character")


# --- shapes and places ---


def test_pieces_have_their_exact_outlines() -> None:
    a, b, c = Scene.from_json(FULL).shapes
    assert a == Disc((100, 200.5), 13.5)
    assert isinstance(b, Polygon)
    assert sorted(b.corners) == [(370, 180), (370, 220), (430, 180), (430, 220)]
    assert isinstance(c, Ellipse)
    assert (c.length_mm, c.width_mm) == (75, 42)


@pytest.mark.parametrize(
    ("orientation", "q", "r", "x", "y"),
    [
        ("pointy", 1, 0, 5 + 30 * math.sqrt(3), 7),
        ("pointy", 0, 1, 5 + 15 * math.sqrt(3), 7 + 45),
        ("flat", 1, 0, 5 + 45, 7 + 15 * math.sqrt(3)),
        ("flat", 0, 1, 5, 7 + 30 * math.sqrt(3)),
        ("flat", 0, 0, 5, 7),
    ],
)
def test_a_hex_s_centre(orientation: str, q: int, r: int, x: float, y: float) -> None:
    assert Grid(orientation, 30, (5, 7)).hex_center(q, r) == pytest.approx((x, y))


def test_names_stand_for_pieces_units_and_terrain() -> None:
    scene = Scene.from_json(FULL)
    assert scene.piece_indices == {"a": (0,), "troopers": (0,), "b": (1,), "c": (2,)}
    assert set(scene.terrain_parts) == {"hill"}


def test_a_unit_of_one_may_go_by_its_piece_s_name() -> None:
    scene = Scene.from_json(with_("pieces.0.unit", "a"))
    assert scene.piece_indices["a"] == (0,)


# --- covariance ---


def test_the_joint_covariance_wins_over_the_pieces_and_leaves_the_others() -> None:
    scene = Scene.from_json(with_("pieces.1.covariance_mm2", [[0.5, 0.1], [0.1, 0.6]]))
    assert scene.covariance is not None
    expected = np.diag([3.0, 4, 0.5, 0.6, 1, 2])
    expected[2, 3] = expected[3, 2] = 0.1
    assert scene.covariance.array == pytest.approx(expected)


def test_the_order_of_the_joint_covariance_is_its_own() -> None:
    joint = np.arange(16.0).reshape(4, 4)
    joint = joint @ joint.T
    scene = Scene.from_json(with_("covariance", {"order": ["c", "a"], "mm2": joint.tolist()}))
    assert scene.covariance is not None
    assert scene.covariance.array[np.ix_([4, 5, 0, 1], [4, 5, 0, 1])] == pytest.approx(joint)
    assert not scene.covariance.array[2:4].any()


def test_pieces_alone_make_a_covariance_of_blocks_that_is_not_written_twice() -> None:
    scene = Scene.from_json(without("covariance"))
    assert scene.covariance is not None
    assert scene.covariance.array[:2, :2] == pytest.approx(np.array([[0.04, 0.01], [0.01, 0.09]]))
    assert not scene.covariance.array[2:].any()
    assert "covariance" not in scene.to_json()


def otherwise(probability: Any = 0.2, mm2: Any = None) -> Document:
    given = np.diag([4.0, 8, 12, 16]).tolist() if mm2 is None else mm2
    joint = {"order": ["c", "a"], "mm2": np.diag([1.0, 2, 3, 4]).tolist()}
    return with_("covariance", joint | {"otherwise": {"probability": probability, "mm2": given}})


def test_what_holds_otherwise_is_in_the_order_of_the_joint_covariance_and_kept() -> None:
    document = otherwise()
    scene = Scene.from_json(document)
    assert scene.alternative_scene is not None
    share, other = scene.alternative_scene
    assert share == 0.2
    assert other.covariance is not None
    assert np.diag(other.covariance.array) == pytest.approx([12, 16, 0, 0, 4, 8])
    assert other.alternative_scene is None
    written = scene.to_json()
    assert written["covariance"]["otherwise"]["probability"] == 0.2
    again = Scene.from_json(written)
    assert again.to_json() == written
    assert Scene.from_json(with_("covariance", {"order": [], "mm2": []})).alternative_scene is None


def test_exact_scenes_have_no_covariance() -> None:
    exact = without("covariance")
    del exact["pieces"][0]["covariance_mm2"]
    assert Scene.from_json(exact).covariance is None


def test_a_scene_built_in_code_is_written_whole() -> None:
    joint = np.full((4, 4), 0.01) + np.eye(4) * 0.04
    pieces = tuple(
        Piece(f"p{k}", Base.circle(27), 100.0 * k, 50.0, extra={"score": 0.9}) for k in (1, 2)
    )
    scene = Scene(
        "legion",
        Table(900, 600),
        pieces,
        covariance=Covariance(joint.tolist()),
        extra={"rulers": []},
    )
    again = Scene.from_json(json.loads(json.dumps(scene.to_json())))
    assert again.to_json() == scene.to_json()
    assert again.covariance is not None
    assert again.covariance.array == pytest.approx(joint)
    assert again.pieces == pieces
    assert again.extra == {"rulers": []}


# --- mistakes ---

MISTAKES: list[tuple[Document, str]] = [
    (without("schema"), "scene: schema: is missing"),
    (with_("schema", "overruler/scene/2"), "schema: unknown 'overruler/scene/2'"),
    (without("game"), "game: is missing"),
    (
        with_("board", {"widht_mm": 900, "height_mm": 900}),
        "board.width_mm: is missing; is 'widht_mm' a misspelling of it?",
    ),
    (
        with_("board", {"width": 900, "height_mm": 900}),
        "board.width_mm: is missing; is 'width' a misspelling of it?",
    ),
    (with_("game", "chess"), "game: unknown 'chess'"),
    (with_("game", 5), "game: expected text, found a number 5"),
    (without("board"), "board: is missing"),
    (with_("board.width_mm", 0), "board.width_mm: must be greater than 0"),
    (without("pieces"), "pieces: is missing"),
    (with_("pieces", {}), "pieces: expected an array, found an object"),
    (with_("pieces.1", "b"), "pieces[1]: expected an object, found text"),
    (with_("pieces.1.id", 7), "pieces[1].id: expected text"),
    (with_("pieces.1.id", " "), "pieces[1].id: is empty: give a name"),
    (with_("terrain.0.id", ""), "terrain[0].id: is empty: give a name"),
    (with_("pieces.1.id", "a"), "pieces[1].id: repeats 'a', as pieces[0].id"),
    (with_("terrain.0.id", "b"), "terrain[0].id: repeats 'b', as pieces[1].id"),
    (with_("pieces.0.unit", "b"), "pieces[0].unit: repeats 'b', as pieces[1].id"),
    (with_("pieces.0.unit", "hill"), "pieces[0].unit: repeats 'hill', as terrain[0].id"),
    (
        with_("pieces", [FULL["pieces"][1] | {"id": name, "unit": "d"} for name in "de"]),
        "pieces[0].unit: repeats 'd'",
    ),
    (with_("pieces.0.unit", 3), "pieces[0].unit: expected text"),
    (without("pieces.1.base"), "pieces[1].base: is missing"),
    (with_("pieces.1.base", "circle"), "pieces[1].base: expected an object"),
    (with_("pieces.1.base.shape", "triangle"), "pieces[1].base.shape: unknown 'triangle'"),
    (without("pieces.1.base.length_mm"), "pieces[1].base.length_mm: is missing"),
    (with_("pieces.0.base", {"shape": "circle"}), "pieces[0].base.diameter_mm: is missing"),
    (with_("pieces.0.base.diameter_mm", -27), "pieces[0].base.diameter_mm: must be greater than 0"),
    (
        with_("pieces.0.base.diameter_mm", "27"),
        'pieces[0].base.diameter_mm: expected a number, found text "27"',
    ),
    (without("pieces.1.x_mm"), "pieces[1].x_mm: is missing"),
    (with_("pieces.1.x_mm", True), "pieces[1].x_mm: expected a number, found true"),
    (with_("pieces.1.y_mm", math.inf), "pieces[1].y_mm: is not a finite number"),
    (with_("pieces.1.y_mm", 10**400), "pieces[1].y_mm: is not a finite number"),
    (with_("pieces.1.z_mm", "high"), "pieces[1].z_mm: expected a number"),
    (with_("pieces.1.heading_deg", None), "pieces[1].heading_deg: expected a number, found null"),
    (with_("pieces.1.kind", "tank"), "pieces[1].kind: unknown 'tank'"),
    (with_("pieces.1.leader", "yes"), "pieces[1].leader: expected true or false"),
    (with_("pieces.1.stats", []), "pieces[1].stats: expected an object"),
    (with_("pieces.1.player", 1), "pieces[1].player: expected text"),
    (with_("pieces.2.x_mm", 3), "pieces[2]: has both hex and x_mm"),
    (with_("pieces.2.hex", [0.5, 0]), "pieces[2].hex[0]: must be a whole number"),
    (with_("pieces.2.hex", [0]), "pieces[2].hex: expected 2 numbers, found 1"),
    (without("grid"), "pieces[2].hex: needs a grid"),
    (with_("grid.type", "square"), "grid.type: unknown 'square'"),
    (with_("grid.orientation", "odd"), "grid.orientation: unknown 'odd'"),
    (with_("grid.size_mm", -30), "grid.size_mm: must be greater than 0"),
    (with_("grid.origin_mm", 0), "grid.origin_mm: expected an array"),
    (with_("ruler.segment_mm", -1), "ruler.segment_mm: must be greater than 0"),
    (with_("ruler.segments", 0), "ruler.segments: must be from 1 to 100"),
    (with_("ruler.segments", 10**9), "ruler.segments: must be from 1 to 100"),
    (with_("ruler.segment_mm", 1e300), "ruler.segment_mm: must be from 1e-06 to 1e+07 mm"),
    (with_("pieces.1.x_mm", 1e300), "pieces[1].x_mm: lies more than 10 km away"),
    (with_("pieces.2.hex", [10**9, 0]), "pieces[2].hex: lies more than 10 km away"),
    (
        with_("pieces.2.base", {"shape": "oval", "width_mm": 1e-200, "length_mm": 1}),
        "pieces[2].base.width_mm: must be",
    ),
    (
        with_("pieces.2.base", {"shape": "stadium", "width_mm": 70, "length_mm": 25}),
        "pieces[2].base.width_mm: is more than length_mm",
    ),
    (with_("pieces.2.base", {"shape": "hexagon"}), "pieces[2].base.width_mm: is missing"),
    (
        with_("pieces.0.covariance_mm2", [[1e300, 0], [0, 1]]),
        "pieces[0].covariance_mm2: holds more than 1e+14 mm²",
    ),
    (
        with_("covariance.mm2", (np.eye(4) * 1e20).tolist()),
        "covariance.mm2: holds more than 1e+14 mm²",
    ),
    (
        with_("terrain.0.footprint_mm", [[0, 0], [9, 9], [1e9, 0]]),
        "terrain[0].footprint_mm[2][0]: lies more than",
    ),
    (with_("ruler.segments", 4.5), "ruler.segments: must be a whole number"),
    (with_("terrain.0.footprint_mm", "square"), "terrain[0].footprint_mm: expected an array"),
    (
        with_("terrain.0.footprint_mm", [[0, 0], [1, 0]]),
        "terrain[0].footprint_mm: a footprint needs 3",
    ),
    (
        with_("terrain.0.footprint_mm", [[0, 0], [1, 0], [0, 0]]),
        "terrain[0].footprint_mm: a footprint needs 3",
    ),
    (
        with_("terrain.0.footprint_mm", [[0, 0], [1, 1], [2, 2]]),
        "terrain[0].footprint_mm: its points lie on one line",
    ),
    (
        with_("terrain.0.footprint_mm", [[0, 0], [9, 9], [9, 0], [0, 9]]),
        "terrain[0].footprint_mm: crosses itself",
    ),
    (without("terrain.0.top_z_mm"), "terrain[0].top_z_mm: is missing"),
    (with_("terrain.0.top_z_mm", 0), "terrain[0].top_z_mm: 0 lies below base_z_mm, 1"),
    (with_("terrain.0.rough", "no"), "terrain[0].rough: expected true or false"),
    (with_("terrain.0.size", "big"), "terrain[0].size: expected a number"),
    (with_("state", []), "state: expected an object"),
    (with_("pieces.0.covariance_mm2", "no"), "pieces[0].covariance_mm2: expected an array"),
    (
        with_("pieces.0.covariance_mm2", [[1, 0]]),
        "pieces[0].covariance_mm2: expected 2 rows, found 1",
    ),
    (
        with_("pieces.0.covariance_mm2", [[1, 0.1], [0.2, 1]]),
        "pieces[0].covariance_mm2: is not symmetric",
    ),
    (
        with_("pieces.0.covariance_mm2", [[1, 2], [2, 1]]),
        "pieces[0].covariance_mm2: is not positive semi-definite",
    ),
    (
        with_("pieces.0.covariance_mm2", [[-1, 0], [0, -1]]),
        "pieces[0].covariance_mm2: is not positive semi-definite",
    ),
    (otherwise(1.5), "covariance.otherwise.probability: must lie between 0 and 1, is 1.5"),
    (otherwise("often"), "covariance.otherwise.probability: expected a number"),
    (otherwise(mm2=np.eye(2).tolist()), "covariance.otherwise.mm2[0]: expected 4 numbers, found 2"),
    (
        otherwise(mm2=(-np.eye(4)).tolist()),
        "covariance.otherwise.mm2: is not positive semi-definite",
    ),
    (with_("covariance.otherwise", {"probability": 0.1}), "covariance.otherwise.mm2: is missing"),
    (with_("covariance.order", ["a", "z"]), "covariance.order[1]: unknown name 'z'"),
    (with_("covariance.order", ["a", "a"]), "covariance.order[1]: repeats 'a'"),
    (with_("covariance.mm2", [[1]]), "covariance.mm2[0]: expected 4 numbers, found 1"),
    (with_("covariance.mm2", np.eye(2).tolist()), "covariance.mm2[0]: expected 4 numbers, found 2"),
    (with_("covariance.mm2", np.eye(4).tolist()[:3]), "covariance.mm2: expected 4 rows, found 3"),
    (with_("covariance.mm2.2", [0, 0, "1", 0]), "covariance.mm2[2][2]: expected a number"),
    (with_("covariance.mm2.2", [0, 0, True, 0]), "covariance.mm2[2][2]: expected a number"),
    (
        with_("covariance.mm2.2", [0, 0, math.inf, 0]),
        "covariance.mm2[2][2]: is not a finite number",
    ),
    (with_("covariance.mm2.0", [1, 1, 0, 0]), "covariance.mm2: is not symmetric"),
    (
        with_("covariance.mm2", (-np.eye(4)).tolist()),
        "covariance.mm2: is not positive semi-definite",
    ),
]


@pytest.mark.parametrize(("wrong", "message"), MISTAKES, ids=[message for _, message in MISTAKES])
def test_a_mistake_is_named_by_its_place(wrong: Document, message: str) -> None:
    with pytest.raises(BadInput) as error:
        Scene.from_json(wrong)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_what_is_true_is_told_as_such() -> None:
    with pytest.raises(BadInput, match=r"x_mm: expected a number, found true$"):
        Scene.from_json(with_("pieces.1.x_mm", True))


@pytest.mark.parametrize(
    "number", ["NaN", "-Infinity", "1e999", "-1E+400", "9" * 400 + ".5", "1" + 250 * "0" + "e99"]
)
@pytest.mark.parametrize("place", ["pieces.0.x_mm", "pieces.0.image.center_px.1", "board.mat"])
def test_a_number_that_is_not_finite_is_named_by_its_place_wherever_it_stands(
    tmp_path: Path, number: str, place: str
) -> None:
    path = tmp_path / "scene.json"
    path.write_text(json.dumps(with_(place, "@")).replace('"@"', number))
    named = re.sub(r"\.(\d+)", r"[\1]", place)
    with pytest.raises(BadInput, match=re.escape(f"json: {named}: is not a finite number")):
        Scene.load(path)


@pytest.mark.parametrize("text", ["", "[]", "{", "schema: 1", '{"schema": NaN}', "[" * 100_000])
def test_what_is_no_scene_at_all_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "scene.json"
    path.write_text(text)
    with pytest.raises(BadInput, match=r"scene\.json: "):
        Scene.load(path)


@pytest.mark.parametrize(
    "make", [lambda path: None, Path.mkdir, lambda path: path.write_bytes(b"\xff\xfe{")]
)
def test_what_cannot_be_read_is_refused(tmp_path: Path, make: Callable[[Path], object]) -> None:
    path = tmp_path / "scene.json"
    make(path)
    with pytest.raises(BadInput, match=r"scene\.json: "):
        Scene.load(path)


def test_terrain_falls_into_convex_parts() -> None:
    notch = Terrain("notch", ((0, 0), (30, 0), (30, 30), (20, 30), (20, 10), (0, 10)), 20)
    assert len(notch.parts) > 1
