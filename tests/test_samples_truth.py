"""The sample photos and their truth agree: with each other, with the camera, and with what is seen in the pictures."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from PIL import Image
from scipy.spatial import cKDTree

from overruler.board import Board
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array, Pose

FOLDER = Path(__file__).parents[1] / "sample_images"
NAMES = sorted(path.stem for path in FOLDER.glob("*.json"))
EXIF_DETAIL, FOCAL_35MM = 0x8769, 0xA405


@cache
def truth(name: str) -> Any:
    return json.loads((FOLDER / f"{name}.json").read_text())


@cache
def camera(name: str) -> Camera:
    c = truth(name)["camera"]
    pose = Pose(np.array(c["rotation"]), np.array(c["translation_mm"]))
    return Camera(np.array(c["matrix"]), np.array(c["distortion"]), pose)


@cache
def grey(name: str) -> Array:
    return np.asarray(cv2.imread(str(FOLDER / f"{name}.jpg"), cv2.IMREAD_GRAYSCALE), np.float64)


def place(piece: Any) -> Array:
    return np.array([piece["x_mm"], piece["y_mm"], piece["z_mm"]])


def outline(piece: Any, share: float = 1, count: int = 3000) -> Array:
    """A base's lower edge (count, 3) in the board frame, built from the truth's numbers alone."""
    shape, turn = piece["shape"], np.radians(piece["heading_deg"])
    t = np.linspace(0, 2 * np.pi, count, endpoint=False)
    if shape["type"] == "rectangle":
        corner = shape["corner_radius_mm"]
        half = np.array([shape["length_mm"], shape["width_mm"]]) / 2
        square = np.clip(np.stack([np.cos(t), np.sin(t)], 1) * 1e6, -(half - corner), half - corner)
        side = np.linspace(-1, 1, count // 4)[:, None]
        edges = [
            np.hstack([side * (half - corner)[0], np.full_like(side, s * half[1])]) for s in (1, -1)
        ]
        edges += [
            np.hstack([np.full_like(side, s * half[0]), side * (half - corner)[1]]) for s in (1, -1)
        ]
        flat = np.concatenate([square + corner * np.stack([np.cos(t), np.sin(t)], 1), *edges])
    else:
        size = [
            shape.get("diameter_mm", shape.get("length_mm")),
            shape.get("diameter_mm", shape.get("width_mm")),
        ]
        flat = np.stack([np.cos(t), np.sin(t)], 1) * size / np.array(2)
    ahead, left = np.array([np.cos(turn), np.sin(turn)]), np.array([-np.sin(turn), np.cos(turn)])
    xy = place(piece)[:2] + share * (flat[:, :1] * ahead + flat[:, 1:] * left)
    return np.column_stack([xy, np.full(len(xy), piece["z_mm"])])


def test_there_are_samples_of_every_game_and_every_size() -> None:
    assert {piece["game"] for name in NAMES for piece in truth(name)["pieces"]} == {
        "legion",
        "inches",
        "xwing",
    }
    assert {"phone", "4k"} <= {truth(name)["camera"]["kind"] for name in NAMES}
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 12e6


@pytest.mark.parametrize("name", NAMES)
def test_the_photo_has_the_size_and_the_focal_length_of_the_truth(name: str) -> None:
    facts = truth(name)
    with Image.open(FOLDER / f"{name}.jpg") as photo:
        assert photo.size == (facts["width"], facts["height"])
        assert facts["image"] == f"{name}.jpg"
        if facts["camera"]["kind"] == "phone":
            claimed = photo.getexif().get_ifd(EXIF_DETAIL)[FOCAL_35MM] / 36 * facts["width"]
            assert claimed == pytest.approx(facts["camera"]["matrix"][0][0], rel=0.03)


@pytest.mark.parametrize("name", NAMES)
def test_the_board_file_says_where_the_markers_are(name: str) -> None:
    board, markers = Board.load(FOLDER / f"{name}.toml"), truth(name)["markers"]
    assert (board.dictionary, board.marker_mm) == (markers["dictionary"], markers["size_mm"])
    assert (board.width_mm, board.height_mm) == (
        truth(name)["board"]["width_mm"],
        truth(name)["board"]["height_mm"],
    )
    assert board.corners_mm is not None
    assert set(board.corners_mm) == {item["id"] for item in markers["items"]}
    for item in markers["items"]:
        np.testing.assert_allclose(board.corners_mm[item["id"]], item["corners_mm"], atol=1e-3)


@pytest.mark.parametrize("name", NAMES)
def test_everything_is_where_the_camera_sees_it(name: str) -> None:
    facts, size = truth(name), [truth(name)["width"], truth(name)["height"]]
    for piece in facts["pieces"]:
        centre = camera(name).project(place(piece))
        np.testing.assert_allclose(piece["center_px"], centre, atol=1e-3)
        assert np.all((centre > 0) & (centre < size))
    for item in facts["markers"]["items"]:
        np.testing.assert_allclose(
            item["corners_px"], camera(name).project(np.array(item["corners_mm"])), atol=2e-3
        )
    for ruler in facts["rulers"]:
        path = np.array([ruler["start_mm"], *ruler["joints_mm"], ruler["end_mm"]])
        pixels = camera(name).project(np.column_stack([path, np.full(len(path), ruler["z_mm"])]))
        np.testing.assert_allclose(
            [ruler["start_px"], *ruler["joints_px"], ruler["end_px"]], pixels, atol=2e-3
        )
        np.testing.assert_allclose(
            np.linalg.norm(np.diff(path, axis=0), axis=1), ruler["segment_mm"], atol=1e-3
        )
    assert facts["camera"]["height_mm"] == pytest.approx(camera(name).center_mm[2], abs=0.01)


@pytest.mark.parametrize("name", NAMES)
def test_the_markers_are_found_where_the_truth_has_them(name: str) -> None:
    markers = truth(name)["markers"]
    book = cv2.aruco.getPredefinedDictionary(getattr(cv2.aruco, markers["dictionary"]))
    settings = cv2.aruco.DetectorParameters()
    settings.cornerRefinementMethod = cv2.aruco.CORNER_REFINE_SUBPIX
    corners, ids, _ = cv2.aruco.ArucoDetector(book, settings).detectMarkers(
        grey(name).astype(np.uint8)
    )
    found = {int(i): c.reshape(4, 2) for i, c in zip(ids.ravel(), corners, strict=True)}
    whole = [item for item in markers["items"] if item["quiet_visible_fraction"] == 1]
    assert len(whole) >= 4
    for item in whole:
        corners_px = np.array(item["corners_px"])
        off, arms = found[item["id"]] - corners_px, corners_px - corners_px.mean(0)
        shrunk = (
            (off * arms).sum() / (arms * arms).sum() * arms
        )  # dark squares shrink in a photo, evenly on all sides
        assert np.abs(off.mean(0)).max() < 0.15
        assert np.abs(off - shrunk).max() < 0.3
        assert np.abs(shrunk).max() < 1.2


@pytest.mark.parametrize("name", NAMES)
def test_bases_are_where_the_truth_has_them(name: str) -> None:
    """The photo changes more across the lower edges that are in sight than a little farther out."""
    rim, beyond = [], []
    for piece in truth(name)["pieces"]:
        if piece["visible_rim_total"] > 0.6:
            inside, on, outside, far = (
                sample(grey(name), camera(name).project(outline(piece, share, 200)))
                for share in (0.94, 1, 1.06, 1.12)
            )
            rim.append(np.abs(outside - inside).mean())
            beyond.append(np.abs(far - outside).mean())
            assert np.isfinite(on).all()
    assert len(rim) >= 4
    assert np.median(rim) > 1.5 * np.median(beyond)


def sample(picture: Array, xy_px: Array) -> Array:
    x, y = xy_px.astype(np.float32).T
    return np.asarray(
        cv2.remap(picture.astype(np.float32), x, y, cv2.INTER_LINEAR), np.float64
    ).ravel()


@pytest.mark.parametrize("name", NAMES)
def test_distances_are_those_between_the_outlines(name: str) -> None:
    facts = truth(name)
    pieces = {piece["id"]: piece for piece in facts["pieces"]}
    assert len(facts["distances"]) == len(pieces) * (len(pieces) - 1) // 2
    trees = {
        key: cKDTree(outline(piece)[:, :2])
        for key, piece in pieces.items()
        if piece["shape"]["type"] != "circle"
    }
    for row in facts["distances"]:
        a, b = pieces[row["a"]], pieces[row["b"]]
        apart = float(np.linalg.norm(place(a)[:2] - place(b)[:2]))
        if a["shape"]["type"] == b["shape"]["type"] == "circle":
            radii = (a["shape"]["diameter_mm"] + b["shape"]["diameter_mm"]) / 2
            assert row["mm"] == pytest.approx(apart - radii, abs=3e-4)
        else:
            tree, other = (trees[a["id"]], b) if a["id"] in trees else (trees[b["id"]], a)
            nearest = np.min(tree.query(outline(other)[:, :2])[0])
            assert row["mm"] == pytest.approx(nearest, abs=0.02 if row["mm"] > 1 else 0.15)


@pytest.mark.parametrize("name", NAMES)
def test_critical_pairs_lie_close_to_a_line_of_the_ruler(name: str) -> None:
    facts = truth(name)
    known = {(row["a"], row["b"]): row["mm"] for row in facts["distances"]}
    step = {"legion": 152.4, "xwing": 100.0}.get(facts["pieces"][0]["game"])
    for pair in facts["critical_pairs"]:
        assert pair["mm"] == known[pair["a"], pair["b"]]
        assert 0.29 < abs(pair["mm"] - pair["boundary_mm"]) < 2.01
        assert step is not None
        assert pair["boundary_mm"] / step == pytest.approx(round(pair["boundary_mm"] / step))


@pytest.mark.parametrize("name", NAMES)
def test_what_is_seen_of_a_rim_is_a_share(name: str) -> None:
    facts = truth(name)
    seen = np.array(
        [[p["visible_rim_total"], p["visible_rim"], p["in_frame"]] for p in facts["pieces"]]
    )
    assert ((seen >= 0) & (seen <= 1)).all()
    assert (seen[:, 0] <= seen[:, 1] + 1e-9).all()  # the lone base hides some of its own rim
    assert seen[:, 1].max() > 0.9
    leaders: dict[tuple[str, str], list[bool]] = {}
    for piece in facts["pieces"]:
        leaders.setdefault((piece["player"], piece["unit"]), []).append(piece["leader"])
    assert all(sum(unit) == 1 for unit in leaders.values())
