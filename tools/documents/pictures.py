#!/usr/bin/env python3
"""The pictures of the documents, made by the program: the demo's steps, and a ruled table of each game.

    uv run tools/documents/pictures.py

They land in docs/pictures as JPEGs. Games with a sample photo are shown on it; the others on a drawn table.
"""

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from overruler import picture
from overruler.apps.demo.steps import generate_steps
from overruler.apps.rulings import rule_on_questions
from overruler.board import Board
from overruler.calibration import Calibration, Covariances
from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Pose, rotation_from_vector
from overruler.referee import Referee
from overruler.report import Report
from overruler.rules import ask
from overruler.scene import Scene
from overruler.sources.photo import load_photo
from synthetic.flat_table import Plinth, render_table

ROOT = Path(__file__).parents[2]
OUT, PAGES, SAMPLES = ROOT / "docs" / "pictures", ROOT / "docs" / "games", ROOT / "sample_images"
WIDE_PX, QUALITY = 1000, 80
SIZE_PX = (1600, 1000)
DEMO = {
    "2-markers": "markers",
    "4-candidates": "candidates",
    "5-rims": "rims",
    "6-doubt": "doubt",
    "7-ruling": "ruling",
}
PHOTOS = {"legion": "legion_desert", "xwing": "xwing_space", "skirmish": "skirmish_city"}
DRAWN: dict[str, dict[str, Any]] = {
    "tide-of-iron": {"question": "distance", "from": "squad", "to": "panzer"},
    "positioning": {"question": "distance", "from": "knight", "to": "troll"},
}
"""What is asked on the drawn tables: the scene is the one of the game's page."""
AREAS: dict[str, list[dict[str, Any]]] = {
    "areas-shadow": [
        {"question": "area", "of": "guard", "within_in": 4},
        {"question": "area", "hidden_from": "orc"},
    ],
    "areas-hexes": [{"question": "hexes", "from": "orc", "to": "g1"}],
}
"""What is asked on the table of the page on areas, with a wall and a grid of hexes."""
AREAS_MORE: dict[str, Any] = {
    "terrain": [
        {
            "id": "wall",
            "footprint_mm": [[335, 330], [395, 330], [395, 345], [335, 345]],
            "top_z_mm": 60,
        }
    ],
    "grid": {"type": "hex", "orientation": "pointy", "size_mm": 22, "origin_mm": [300, 300]},
}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--areas", action="store_true", help="only those of the page on areas")
    args = parser.parse_args()
    OUT.mkdir(exist_ok=True)
    if not args.areas:
        draw_demo_and_games()
    for name, questions in AREAS.items():
        report = drawn(ROOT / "docs" / "areas.md", questions, AREAS_MORE)
        keep(name, picture.annotated_pixels(report))
    return 0


def draw_demo_and_games() -> None:
    """Draw the demo's steps, and a ruled table of each game."""
    for step in generate_steps(print):
        if name := DEMO.get(Path(step.file).stem):
            keep(f"how-{name}", cv2.imdecode(np.frombuffer(step.data, np.uint8), cv2.IMREAD_COLOR))
    for name, photo in PHOTOS.items():
        keep(name, picture.annotated_pixels(ruled(name, SAMPLES / f"{photo}.jpg")))
    for name, question in DRAWN.items():
        keep(name, picture.annotated_pixels(drawn(PAGES / f"{name}.md", [question])))


def keep(name: str, pixels: Any) -> None:
    """Write a picture, as wide as a page is."""
    height, width = pixels.shape[:2]
    small = cv2.resize(
        pixels, (WIDE_PX, round(height * WIDE_PX / width)), interpolation=cv2.INTER_AREA
    )
    cv2.imwrite(str(OUT / f"{name}.jpg"), small, [cv2.IMWRITE_JPEG_QUALITY, QUALITY])


def ruled(game: str, photo: Path) -> Report:
    """A sample photo with what it raises ruled on."""
    report = Referee(Board.load(photo.with_suffix(".toml")), game=game).look(load_photo(photo))
    return replace(report, verdicts=rule_on_questions(report.scene, ()))


def drawn(
    page: Path, questions: list[dict[str, Any]], more: dict[str, Any] | None = None
) -> Report:
    """The scene of a page on a drawn table, with more in it, and some questions ruled on."""
    text = page.read_text("utf-8")
    known = json.loads(text.split("```json\n")[1].split("```")[0])
    scene = Scene.from_json(known | (more or {}))
    middle = np.array(
        [np.mean([p.x_mm for p in scene.pieces]), np.mean([p.y_mm for p in scene.pieces]), 0.0]
    )
    turn = rotation_from_vector([np.pi - np.radians(25), 0, 0])
    matrix = np.array([[1500, 0, SIZE_PX[0] / 2], [0, 1500, SIZE_PX[1] / 2], [0, 0, 1.0]])
    camera = Camera(matrix, np.zeros(5), Pose(turn, -turn @ (middle - turn[2] * 520)))
    plinths = [Plinth(piece.x_mm, piece.y_mm, piece.base.width_mm) for piece in scene.pieces]
    table = (scene.board.width_mm, scene.board.height_mm)
    pixels = _hexes(render_table(camera, SIZE_PX, table, plinths, noise=2), camera, scene)
    calibration = Calibration(camera, Covariances.same(np.zeros((15, 15))), SIZE_PX, 0.0, (), table)
    verdicts = tuple(ask(scene, question) for question in questions)
    return Report(Frame(pixels, page.stem), calibration, (), scene, verdicts=verdicts)


def _hexes(pixels: NDArray[np.uint8], camera: Camera, scene: Scene) -> NDArray[np.uint8]:
    """The picture with the scene's grid printed on the mat."""
    if scene.grid is None:
        return pixels
    angles = np.radians(np.arange(6) * 60 + (30 if scene.grid.orientation == "pointy" else 0))
    ring = scene.grid.size_mm * np.stack([np.cos(angles), np.sin(angles)], -1)
    for q in range(-4, 16):
        for r in range(12):
            corners = np.column_stack([np.array(scene.grid.hex_center(q, r)) + ring, np.zeros(6)])
            line = np.round(camera.project(corners) * 16).astype(np.int32)
            cv2.polylines(pixels, [line], True, (90, 110, 120), 1, cv2.LINE_AA, 4)
    return pixels


if __name__ == "__main__":
    sys.exit(main())
