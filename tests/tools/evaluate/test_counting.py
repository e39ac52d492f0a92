"""The program that counts: what is found, what is false, what its scores are worth, and what its peers see."""

import json
import math
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from evaluate.accuracy import board_of
from evaluate.counting import peers, tags, verifier
from evaluate.counting.rulers import Rulers, rulers
from evaluate.counting.tally import Tally, calls, matches, pairing_of, right_size, tally
from overruler.bases import Base
from overruler.board import Board
from overruler.calibration import Calibration, Covariances
from overruler.detections import DetectedRuler
from overruler.frame import Frame
from overruler.report import Report
from overruler.scene import Piece, Scene
from synthetic.flat_table import Plinth
from tests.tables import BOARD_MM, camera_over, exact, photo

CIRCLE = {"type": "circle", "diameter_mm": 32.0}


def truth_of(xy_mm: list[tuple[float, float]], visible: float = 0.9) -> dict[str, Any]:
    """Ten pixels a millimetre, y down: enough for what is counted."""
    pieces: list[dict[str, Any]] = [
        {
            "id": f"t{k}",
            "shape": CIRCLE,
            "x_mm": x,
            "y_mm": y,
            "center_px": [10 * x, -10 * y],
            "visible_rim": visible,
        }
        for k, (x, y) in enumerate(xy_mm)
    ]
    pairs = [(a, b) for a in pieces for b in pieces if a["id"] < b["id"]]
    gaps = [math.dist((a["x_mm"], a["y_mm"]), (b["x_mm"], b["y_mm"])) - 32 for a, b in pairs]
    distances = [
        {"a": a["id"], "b": b["id"], "mm": gap} for (a, b), gap in zip(pairs, gaps, strict=True)
    ]
    return {"pieces": pieces, "distances": distances}


def scene_of(
    xy_mm: list[tuple[float, float]], diameter_mm: float = 32.0, sigma_mm: float = 0.1
) -> Scene:
    turn = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    pieces = []
    for k, (x, y) in enumerate(xy_mm):
        ring = np.stack([10 * x + 160 * np.cos(turn), -10 * y + 160 * np.sin(turn)], -1)
        pieces.append(
            {
                "id": f"p{k}",
                "base": {"shape": "circle", "diameter_mm": diameter_mm},
                "x_mm": x,
                "y_mm": y,
                "covariance_mm2": [[sigma_mm**2, 0], [0, sigma_mm**2]],
                "image": {"center_px": [10 * x, -10 * y], "outline_px": ring.tolist()},
            }
        )
    board = {"width_mm": 900, "height_mm": 900}
    return Scene.from_json(
        {"schema": "overruler/scene/1", "game": "legion", "board": board, "pieces": pieces}
    )


HERE = [(100.0, 100.0), (300.0, 120.0), (500.0, 400.0)]


def test_what_is_right_is_counted_as_right() -> None:
    counted = tally(scene_of(HERE), truth_of(HERE))
    assert (counted.wanted, counted.found, counted.false, counted.sized, counted.wrong) == (
        3,
        3,
        0,
        3,
        0,
    )
    assert max(counted.errors_mm) < 1e-9
    assert (counted.recall, counted.precision, counted.size, counted.within) == (1, 1, 1, 1)


def test_what_is_missed_false_or_of_another_size_is_counted_so() -> None:
    counted = tally(scene_of([*HERE[:2], (700.0, 700.0)]), truth_of(HERE))
    assert (counted.found, counted.false) == (2, 1)
    assert counted.precision == 2 / 3
    assert tally(scene_of(HERE, diameter_mm=30.0), truth_of(HERE)).sized == 0
    assert tally(scene_of(HERE), truth_of(HERE, visible=0.1)).wanted == 0


def test_a_certain_ruling_that_is_false_is_wrong() -> None:
    off = [(100.0, 100.0), (100.0 + 152.4 + 32 - 1.0, 100.0)]
    true = [
        off[0],
        (off[1][0] + 2.0, 100.0),
    ]  # a millimetre past the line, measured a millimetre before it
    assert tally(scene_of(off, sigma_mm=0.05), truth_of(true)).wrong == 1
    doubtful = tally(scene_of(off, sigma_mm=2.0), truth_of(true))
    assert (doubtful.wrong, doubtful.within) == (0, 1)


def test_each_call_is_counted_with_how_often_it_is_right() -> None:
    off = [(100.0, 100.0), (100.0 + 152.4 + 32 - 1.0, 100.0), (100.0, 200.0)]
    true = [off[0], (off[1][0] + 2.0, 100.0), off[2]]
    counted = tally(scene_of(off, sigma_mm=0.5), truth_of(true))
    assert len(counted.said) == counted.rulings == 3
    assert sorted(counted.held) == [False, True, True]
    lines = calls(counted)
    assert [line.split(":")[0] for line in lines] == [
        "2 of 3 rulings are certain",
        "1 of 3 rulings are likely",
    ]
    assert lines[0].endswith("100.00% of them right, 100.00% as they say")
    assert ": 0.00% of them right, 92." in lines[1]


def test_nobody_is_matched_twice() -> None:
    there = truth_of(HERE)["pieces"]
    centres = np.array([[1000.0, -1000.0], [1010.0, -1000.0]])
    assert matches(centres, np.array([160.0, 160.0]), there) == [(0, 0)]
    assert matches(centres + 90, np.array([160.0, 160.0]), there) == []
    assert matches(np.zeros((0, 2)), np.zeros(0), there) == []


def test_tags_say_what_hangs_on_what() -> None:
    truth, scene = truth_of(HERE), scene_of(HERE[:2])
    truth["pieces"][2]["visible_rim"] = 0.3
    counts: tags.Counts = {}
    tags.add_pieces(counts, scene, pairing_of(scene, truth))
    assert {tag: by[tags.OURS].recall for tag, by in counts.items()} == {
        "shape circle": 2 / 3,
        "rim 75%-100%": 1.0,
        "rim 25%-50%": 0.0,
    }
    photo_of = {
        "camera": {"tilt_deg": 29.9, "kind": "hd"},
        "board": {"mat": "snow"},
        "tags": ["", "", "", "lamp"],
    }
    assert tags.photo_tags(photo_of) == ["mat snow", "light lamp", "tilt 20-30°", "camera hd"]


def test_a_base_counts_once_in_the_verifiers_gain() -> None:
    scored = np.array([[0.9, 1], [0.8, 0], [0.7, 1], [0.2, 0]])
    rows = verifier.gain({"step": [scored[:2], scored[2:]]}, there=4)
    assert [list(column.cells) for column in rows.columns][1:] == [["0.417"], ["0.250"]]
    hits = verifier._first_hits(
        np.array([0.5, 0.9, 0.8]), np.array([[1000.0, -1000], [1010, -1000], [9, 9]]), np.full(3, 160.0),
        truth_of(HERE)["pieces"],
    )  # fmt: skip
    assert hits.tolist() == [0, 1, 0]


def test_peers_see_plain_discs() -> None:
    camera = camera_over(5.0)
    places = [(150.0, 150.0), (350.0, 250.0), (550.0, 350.0)]
    frame = photo(
        camera,
        [
            Plinth(x, y, 60.0, height_mm=0.1, taper_mm=0, rim=(0.7, 0.7, 0.7), top=(0.7, 0.7, 0.7))
            for x, y in places
        ],
    )
    pieces = [
        {
            "shape": {"type": "circle", "diameter_mm": 60.0},
            "visible_rim": 1.0,
            "center_px": camera.project([x, y, 0.0]).tolist(),
        }
        for x, y in places
    ]
    above = peers.FromAbove.of(frame, exact(camera))
    for find in peers.peers().values():
        counted = above.tally(find, {"pieces": pieces})
        assert counted.found == 3
        assert counted.sized == 3
        assert max(counted.errors_mm) < 3
    nothing = peers.FromAbove.of(photo(camera, []), exact(camera))
    assert nothing.tally(lambda grey, scale: np.zeros((0, 3)), {"pieces": pieces}) == Tally(
        wanted=3
    )
    assert above.view.mm_per_px < 1.2
    assert (
        BOARD_MM[0] < cv2.boundingRect(above.view.seen.astype(np.uint8))[2] * above.view.mm_per_px
    )


def test_without_a_board_file_the_board_is_what_the_truth_says_of_its_markers() -> None:
    sample = Path(__file__).parents[3] / "sample_images" / "legion_desert.jpg"
    truth = json.loads(sample.with_suffix(".json").read_text())
    told, beside = board_of(Path("elsewhere.jpg"), truth), board_of(sample, truth)
    assert beside.name == Board.load(sample.with_suffix(".toml")).name
    assert (told.marker_mm, told.dictionary) == (beside.marker_mm, beside.dictionary)
    assert told.corners_mm is not None
    assert beside.corners_mm is not None
    assert told.corners_mm.keys() == beside.corners_mm.keys()
    for number, corners in told.corners_mm.items():
        assert np.allclose(corners, beside.corners_mm[number], atol=1e-3)
    truth["markers"]["layout"] = "free"
    assert board_of(Path("elsewhere.jpg"), truth).corners_mm is None


def test_rulers_are_held_against_the_truth() -> None:
    """One is read right, one wrong by a per cent, one not at all; one is none, and one leaves the photo."""
    camera = camera_over(10.0)
    size = (1200, 900)

    def lain(kind: str, x_mm: float, y_mm: float, nominal_mm: float = 100.0) -> dict[str, Any]:
        path = np.column_stack(
            [x_mm + nominal_mm * np.arange(4), np.full(4, y_mm), np.full(4, 2.0)]
        )
        px = camera.project(path)
        ends = {"start_px": px[0], "joints_px": px[1:-1], "end_px": px[-1]}
        return {"kind": kind, "segment_mm": nominal_mm, "z_mm": 2.0} | {
            key: at.tolist() for key, at in ends.items()
        }

    def read(x_mm: float, y_mm: float, segment_mm: float) -> DetectedRuler:
        path = np.column_stack([x_mm + segment_mm * np.arange(4), np.full(4, y_mm)])
        return DetectedRuler("xwing", 100.0, segment_mm, 0.1, path, 20.0, 30.0)

    there = [
        lain("xwing", 300, 300),
        lain("xwing", 300, 500),
        lain("inch_stick", 300, 100),
        lain("xwing", 600, 300),
    ]
    seen = (read(300, 300, 100.02), read(300, 500, 101.0), read(300, 100, 100.0))
    calibration = Calibration(camera, Covariances.same(np.zeros((15, 15))), size, 0.1, (), BOARD_MM)
    frame = Frame(np.zeros((*size[::-1], 3), np.uint8), "drawn")
    counted = Rulers()
    counted.add(
        rulers(Report(frame, calibration, (), scene_of(HERE), rulers=seen), {"rulers": there})
    )
    assert (counted.there, counted.false) == (3, 1)
    assert counted.errors == pytest.approx([0.0002, 0.01])
    assert counted.z == pytest.approx([0.2, 10.0])
    assert str(counted) == (
        "of 3 rulers 2 are read, 1 false: 1 to 0.1%, half of them to 0.51%, the worst to 1.00%, in95 0.50"
    )


@pytest.mark.parametrize(
    ("shape", "right", "wrong"),
    [
        ({"type": "circle", "diameter_mm": 32.0}, Base.circle(32.0), Base.circle(30.0)),
        ({"type": "hexagon", "width_mm": 30.0}, Base.hexagon(30.0), Base.circle(30.0)),
        (
            {"type": "stadium", "width_mm": 25.0, "length_mm": 70.0},
            Base.stadium(25.0, 70.0),
            Base.oval(25.0, 70.0),
        ),
        (
            {"type": "rectangle", "width_mm": 50.0, "length_mm": 25.0, "corner_radius_mm": 1.5},
            Base.rectangle(25.0, 50.0),
            Base.rectangle(25.0, 25.0),
        ),
    ],
)
def test_a_size_is_right_if_the_shape_is(shape: Any, right: Base, wrong: Base) -> None:
    def piece(base: Base) -> Piece:
        return Piece("p", base, 0.0, 0.0)

    assert right_size(piece(right), {"shape": shape})
    assert not right_size(piece(wrong), {"shape": shape})
