"""What a program gives to a class is checked as what a file gives; numbers of numpy's are welcome."""

import copy
import pickle
import re
from collections.abc import Callable
from dataclasses import replace
from math import nan
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from overruler.bases import Base
from overruler.board import Board
from overruler.errors import BadInput
from overruler.fixes import load_fixes
from overruler.frame import Frame, Shot
from overruler.lens import Lens
from overruler.presets import program_presets
from overruler.referee import Referee
from overruler.rules import ask, matrix
from overruler.scene import Piece, Scene, Table, Terrain
from overruler.sources.photo import load_photo

ROUND: Any = Base.circle(27)


def scene(*pieces: Any, **more: Any) -> Scene:
    return Scene("legion", Table(900, 600), pieces, **more)


def two(**more: Any) -> Scene:
    return scene(Piece("a", ROUND, 0, 0), Piece("b", ROUND, 100, 0), **more)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda any_: Base.circle(-27), "width_mm: must be greater than 0"),
        (lambda any_: Base.circle(0), "must be greater than 0"),
        (lambda any_: Base.circle(nan), "not a finite number"),
        (lambda any_: Base.circle(any_("27")), 'expected a number, found text "27"'),
        (lambda any_: Base.circle(any_(None)), "expected a number, found null"),
        (lambda any_: Base.hexagon(any_("27")), "expected a number"),
        (lambda any_: Base("triangle", 1, 2), "unknown 'triangle'"),
        (lambda any_: Base("circle", 1, 2), "width and length differ"),
        (lambda any_: Base("hexagon", 30, 30), "width and length differ"),
        (lambda any_: Base.stadium(70, 25), "round"),
        (lambda any_: Base("rectangle", 10, 20, 7), "corner_radius_mm"),
        (lambda any_: Base.parse(any_(27)), "expected text, found a number 27"),
        (lambda any_: Table(0, -1), "width_mm: must be greater than 0"),
        (lambda any_: Board.free(-60), "marker_mm: must be greater than 0"),
        (lambda any_: Board.free(any_("60")), "expected a number"),
        (lambda any_: Board.free(nan), "not a finite number"),
        (lambda any_: Board.free(60, "DICT_9"), "dictionary: unknown 'DICT_9'"),
        (lambda any_: Piece("a", ROUND, nan, 0), "Piece 'a': x_mm: is not a finite number"),
        (lambda any_: Piece("a", any_("27"), 0, 0), "base: expected a Base, found str"),
        (lambda any_: Piece(any_(3), ROUND, 0, 0), "id: expected text"),
        (lambda any_: Piece("a", ROUND, 0, 0, kind="dragon"), "kind: unknown"),
        (lambda any_: Piece("a", ROUND, 0, 0, covariance_mm2=((1, 2), (2, 1))), "semi-definite"),
        (lambda any_: Terrain("t", ((0, 0), (1, 0), (0, nan)), 5), "finite"),
        (lambda any_: scene(Piece("a", ROUND, 0, 0), Piece("a", ROUND, 1, 0)), "repeats 'a'"),
        (lambda any_: Scene("legoin", Table(9, 9), ()), "did you mean 'legion'"),
        (lambda any_: Scene(any_(None), Table(9, 9), ()), "game: expected text, found null"),
        (lambda any_: Scene("legion", any_((9, 9)), ()), "board: expected a Table, found tuple"),
        (lambda any_: Scene("legion", Table(9, 9), any_("ab")), "pieces: expected a sequence"),
        (lambda any_: scene(any_({"id": "a"})), r"pieces\[0\]: expected a Piece, found dict"),
        (
            lambda any_: two(covariance=any_(np.eye(3))),
            r"covariance\[0\]: expected 4 numbers, found 3",
        ),
        (lambda any_: two(covariance=any_(-np.eye(4))), "not positive semi-definite"),
    ],
)
def test_what_cannot_be_is_refused(
    make: Callable[[Callable[[Any], Any]], object], said: str
) -> None:
    with pytest.raises(BadInput, match=said):
        make(lambda value: value)


def test_numbers_of_numpy_are_welcome(tmp_path: Path) -> None:
    eye: Any
    joint: Any
    small: Any
    whole: Any
    eye, joint, small, whole = np.eye(2), np.eye(4), np.float32, np.int64
    one = Piece("a", Base.circle(small(27)), np.float64(3), whole(4), covariance_mm2=eye)
    other = Piece("b", ROUND, small(200), 4, stats={"size": whole(2)})
    for own in (scene(one, other), scene(one, other, covariance=joint)):
        own.save(tmp_path / "scene.json")
        again = Scene.load(tmp_path / "scene.json")
        assert again.pieces[1].stats == {"size": 2}
        assert ask(again, "range a b").answer == ask(own, "range a b").answer
    assert one.covariance_mm2 == ((1, 0), (0, 1))
    node = two().to_json() | {"ruler": {"segment_mm": np.float32(50), "segments": np.int64(3)}}
    node["pieces"] = tuple(node["pieces"])
    assert ask(Scene.from_json(node), "range a b").answer["range"] == 2


def test_a_scene_that_was_asked_is_copied_and_pickled() -> None:
    own = two()
    ruling = ask(own, "range a b")
    for again in (copy.deepcopy(own), pickle.loads(pickle.dumps(own))):
        assert ask(again, "range a b").answer == ruling.answer


def test_what_json_has_not_is_named(tmp_path: Path) -> None:
    for wrong in (nan, {1, 2}):
        own = scene(Piece("a", ROUND, 0, 0, stats={"size": wrong}))
        with pytest.raises(BadInput, match="cannot be written"):
            own.save(tmp_path / "scene.json")


def test_a_referee_takes_games_presets_and_bases_alone() -> None:
    board = Board.free(60)
    with pytest.raises(BadInput, match="did you mean 'legion'"):
        Referee(board, game="legoin")
    named = Referee(board, game="fleets_close_to_long")
    assert (named.game, named.house.preset) == ("bands", program_presets()["fleets_close_to_long"])
    assert named.bases == program_presets()["fleets_close_to_long"].bases
    assert Referee(board, game="Tide of Iron").game == "tide_of_iron"
    wrong: Any = "table.toml"
    with pytest.raises(BadInput, match="board: expected a Board, found str"):
        Referee(wrong)
    with pytest.raises(BadInput, match=r"bases\[0\]: expected a Base, found str"):
        Referee(board, bases=[wrong])


PIXELS = np.zeros((40, 60, 3), np.uint8)


@pytest.mark.parametrize(
    "pixels",
    [
        PIXELS[..., 0],
        PIXELS[..., :1],
        np.zeros((40, 60, 4), np.uint8),
        np.zeros((3, 40, 60), np.uint8),
        PIXELS.astype(np.float32),
        PIXELS.astype(bool),
        PIXELS.astype(np.uint16),
        PIXELS[:0],
        [[1, 2, 3]],
        None,
    ],
)
def test_pixels_are_those_of_a_colour_picture(pixels: Any) -> None:
    with pytest.raises(BadInput, match=r"odd: expected pixels \(H, W, 3\) of uint8"):
        Frame(pixels, "odd")


@pytest.mark.parametrize("wrong", ["table.jpg", PIXELS, None, [PIXELS]])
def test_what_is_no_frame_is_named(wrong: Any) -> None:
    referee = Referee(Board.free(60))
    with pytest.raises(BadInput, match=r"expected a .*Frame"):
        referee.look(wrong)
    if wrong is not None:
        with pytest.raises(BadInput, match="expected a Frame"):
            list(referee.watch(wrong))
    with pytest.raises(BadInput, match="expected a Frame"):
        Shot.of(wrong)


def test_a_covariance_is_that_of_the_pieces() -> None:
    """A scene that loses a piece, but not its rows, would tell one piece's doubt of another."""
    three = scene(
        *(
            Piece(name, ROUND, x, 0, covariance_mm2=((x, 0), (0, x)))
            for name, x in (("a", 1), ("b", 100), ("c", 400))
        )
    )
    for pieces in (three.pieces[1:], ()):
        with pytest.raises(
            BadInput, match=rf"expected {2 * len(pieces)} rows.* found 6: give that"
        ):
            replace(three, pieces=pieces)
    left = replace(three, pieces=three.pieces[1:], covariance=None)
    assert ask(left, "distance b c").sigma_mm == pytest.approx(500**0.5)


def test_rulers_and_grids_are_of_their_classes() -> None:
    wrong: Any = {"segment_mm": 100, "segments": 3}
    with pytest.raises(BadInput, match="ruler: expected a Ruler, found dict"):
        scene(ruler=wrong)
    with pytest.raises(BadInput, match="grid: expected a Grid, found dict"):
        scene(grid=wrong)


def test_what_is_no_scene_is_named(tmp_path: Path) -> None:
    wrong: Any
    for wrong in ("scene.json", {"game": "legion"}, None):
        for do in (lambda it: ask(it, "range a b"), matrix):
            with pytest.raises(BadInput, match="scene: expected a Scene"):
                do(wrong)
    with pytest.raises(BadInput, match="No such file"):
        load_fixes(str(tmp_path / "fix.json"))


@pytest.mark.parametrize("load", [Scene.load, Board.load, Lens.load, load_fixes, load_photo])
def test_what_names_no_file_to_read_is_named(load: Callable[[Any], Any]) -> None:
    where = re.escape(load.__qualname__)
    for wrong, found in ((None, "NoneType"), (3, "int"), (b"table", "bytes")):
        with pytest.raises(BadInput, match=f"{where}: expected the path of a file, found {found}"):
            load(wrong)
    with pytest.raises(BadInput, match=f"{where}: is empty: name a file"):
        load(" ")


def test_what_names_no_file_to_write_is_named() -> None:
    wrong: Any
    for wrong in (None, 3, b"table"):
        for save in (scene().save, Board("a", 60, width_mm=900, height_mm=900).save):
            with pytest.raises(BadInput, match="writing a file: expected the path of a file"):
                save(wrong)
