"""Lens and board files that no camera or table can have, texts with a mark, absurd covariances."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overruler.board import Board
from overruler.errors import BadInput
from overruler.lens import Lens
from overruler.reading import Node, parse_json
from overruler.reading.files import BYTE_ORDER_MARK
from overruler.rules import ask
from overruler.scene import Scene
from tests.tables import BOARD_MM, eight_markers

SIZE = (1600, 1200)


def lens_text(**changes: object) -> str:
    matrix = [[1300.0, 0, 790.0], [0, 1310.0, 610.0], [0, 0, 1]]
    values: dict[str, object] = {
        "schema": "overruler/lens/1",
        "size_px": list(SIZE),
        "matrix": matrix,
    }
    values |= {"distortion": [-0.1, 0.03, 0.0, 0.0, 0.0], **changes}
    return "".join(f"{key} = {json.dumps(value)}\n" for key, value in values.items())


def intrinsics(fx: float, fy: float, cx: float, cy: float) -> list[list[float]]:
    return [[fx, 0, cx], [0, fy, cy], [0, 0, 1]]


def load_lens(tmp_path: Path, text: str) -> Lens:
    (tmp_path / "l.toml").write_text(text, encoding="utf-8")
    return Lens.load(tmp_path / "l.toml")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"matrix": intrinsics(1e9, 1e9, 800, 600)}, r"matrix: a focal length of 1e\+09 pixels"),
        ({"matrix": intrinsics(20, 20, 800, 600)}, "matrix: a focal length of 20 pixels"),
        ({"matrix": intrinsics(1300, 200, 800, 600)}, "matrix: fx 1300 and fy 200 differ"),
        ({"matrix": intrinsics(1300, 1300, -5, 600)}, "principal point .* outside the picture"),
        ({"matrix": intrinsics(1300, 1300, 800, 9000)}, "principal point .* outside the picture"),
        ({"distortion": [0, 0, 0, 0, 1e7]}, "distortion: no camera has"),
        ({"size_px": [1600.5, 1200]}, r"size_px\[0\]: must be a whole number"),
        ({"size_px": [1600, 10_000_000]}, "size_px: a picture's sides have 1 to"),
    ],
)
def test_a_lens_that_no_camera_has_is_refused(
    tmp_path: Path, changes: dict[str, object], words: str
) -> None:
    with pytest.raises(BadInput, match=words):
        load_lens(tmp_path, lens_text(**changes))


@pytest.mark.parametrize("focal_px", [480.0, 1300.0, 28_000.0])
def test_fisheyes_and_long_lenses_are_read(tmp_path: Path, focal_px: float) -> None:
    text = lens_text(matrix=intrinsics(focal_px, focal_px, 800, 600))
    assert load_lens(tmp_path, text).matrix[0, 0] == focal_px


def board_with(change: Callable[[dict[int, np.ndarray]], None]) -> Board:
    corners = eight_markers()
    change(corners)
    return Board("test", 45.0, "DICT_4X4_50", *BOARD_MM, corners)


def move_onto(corners: dict[int, np.ndarray]) -> None:
    corners[5] = corners[2] + 3.0 * np.array([1, 0, 0])


def move_away(corners: dict[int, np.ndarray]) -> None:
    corners[5] = corners[5] + np.array([3000.0, 0, 0])


@pytest.mark.parametrize(
    ("change", "words"),
    [(move_onto, "corners_mm.5: lies on marker 2"), (move_away, r"5: lies \d+ mm off the board")],
)
def test_a_board_with_markers_where_none_can_lie_is_refused(
    tmp_path: Path, change: Callable[[dict[int, np.ndarray]], None], words: str
) -> None:
    board_with(change).save(tmp_path / "b.toml")
    with pytest.raises(BadInput, match=words):
        Board.load(tmp_path / "b.toml")


def test_a_board_in_centimetres_is_suspected(tmp_path: Path) -> None:
    corners = {number: points / 10 for number, points in eight_markers().items()}
    Board("test", 4.5, "DICT_4X4_50", 70.0, 50.0, corners).save(tmp_path / "b.toml")
    with pytest.raises(BadInput, match="70 × 50 mm is no table: are these centimetres"):
        Board.load(tmp_path / "b.toml")


def test_texts_with_a_byte_order_mark_are_read_as_without(tmp_path: Path) -> None:
    board_with(lambda corners: None).save(tmp_path / "b.toml")
    text = (tmp_path / "b.toml").read_text(encoding="utf-8")
    (tmp_path / "m.toml").write_text(text, encoding="utf-8-sig")
    assert Board.load(tmp_path / "m.toml").to_toml() == text
    scene = scene_json(4.0)
    (tmp_path / "s.json").write_text(json.dumps(scene), encoding="utf-8-sig")
    plain = Scene.load(written(tmp_path, scene))
    assert Scene.load(tmp_path / "s.json").to_json() == plain.to_json()
    assert parse_json(BYTE_ORDER_MARK + "[1]", "x") == [1]


def written(tmp_path: Path, scene: object) -> Path:
    (tmp_path / "plain.json").write_text(json.dumps(scene), encoding="utf-8")
    return tmp_path / "plain.json"


def scene_json(variance_mm2: float, game: str = "legion") -> dict[str, object]:
    base = {"shape": "circle", "diameter_mm": 27.0}
    covariance = [[variance_mm2, 0.0], [0.0, variance_mm2]]
    pieces = [
        {"id": name, "base": base, "x_mm": x, "y_mm": 100.0, "covariance_mm2": covariance}
        for name, x in (("a", 100.0), ("b", 220.0))
    ]
    board = {"width_mm": 900.0, "height_mm": 900.0}
    return {"schema": "overruler/scene/1", "game": game, "board": board, "pieces": pieces}


@given(st.floats(5.0, 13.9))
def test_an_absurd_covariance_is_never_certain(exponent: float) -> None:
    scene = Scene.from_json(Node(scene_json(10**exponent), "scene"))
    verdict = ask(scene, {"question": "range", "from": "a", "to": "b"})
    assert verdict.call == "too close to call"
    assert verdict.to_json()["call"] == "too close to call"


def test_a_usual_covariance_is_certain_as_ever() -> None:
    scene = Scene.from_json(Node(scene_json(0.01), "scene"))
    assert ask(scene, {"question": "range", "from": "a", "to": "b"}).call == "certain"
