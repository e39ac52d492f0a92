#!/usr/bin/env python3
"""How accurate is it? Measure photos whose truth is known and count.

    uv run tools/accuracy.py sample_images

A folder holds NAME.jpg, NAME.toml (the board file) and NAME.json (the truth, as tools/render_samples.py writes it).
Each photo is measured as a user would measure it, without a lens file and without naming a game or sizes. One row a
photo:

    found     round and square bases found, of those with a quarter of their rim in sight or more
    false     findings that are no base at all
    size      found bases whose diameter is right
    mm50 mm95 median and 95th percentile of |error| of the distance edge to edge, over all pairs
    in95      share of those distances whose truth lies within 1.96 stated σ: 0.95 is honest
    wrong     rulings called certain that are false, of all rulings (range bands of 152.4 mm)

    uv run tools/accuracy.py markers

Draws pictures of markers whose corners are known exactly, 40 to 160 px large, at tilts up to 60°, sharp and soft, and
finds them by our own way and by OpenCV's:

    RMS       of the corners' errors, along u and along v alike
    bias      mean distance of corners outwards from their marker's middle (negative: towards it), ± its 1 σ
    u, v      mean error
    z²        mean square of a marker's eight errors in units of their stated joint doubt: 1 is honest
"""

import argparse
import json
import math
import sys
from dataclasses import dataclass, field, fields
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table
from scipy.optimize import linear_sum_assignment

from overruler.board import Board
from overruler.referee import Referee
from overruler.rules import ask
from overruler.scene import Piece, Scene
from overruler.sources.photo import load_photo

SEGMENT_MM, SEGMENTS = 152.4, 5
LEAST_RIM = 0.25
SOUGHT = ("circle", "rectangle")
"""The shapes that the program looks for."""


@dataclass
class Tally:
    """What was counted on one photo or on several."""

    wanted: int = 0
    found: int = 0
    false: int = 0
    sized: int = 0
    errors_mm: list[float] = field(default_factory=list)
    z: list[float] = field(default_factory=list)
    rulings: int = 0
    wrong: int = 0

    def add(self, other: "Tally") -> None:
        for item in fields(self):
            setattr(self, item.name, getattr(self, item.name) + getattr(other, item.name))


def tally(scene: Scene, truth: dict[str, Any]) -> Tally:
    """Hold a measured scene against the truth."""
    there = [p for p in truth["pieces"] if p.get("in_frame", 1) > 0.5]
    pairs = matches(scene, there)
    names = {scene.pieces[j].id: there[i] for i, j in pairs}
    sought = [p for p in there if p["shape"]["type"] in SOUGHT]
    hits = [p for p in names.values() if p["shape"]["type"] in SOUGHT]
    right = {
        piece.id: names[piece.id]["id"]
        for piece in scene.pieces
        if piece.id in names and _same_size(piece, names[piece.id]["shape"])
    }
    result = Tally(
        wanted=sum(p["visible_rim"] >= LEAST_RIM for p in sought),
        found=sum(p["visible_rim"] >= LEAST_RIM for p in hits),
        false=len(scene.pieces) - len(pairs),
        sized=len(right),
    )
    _distances(scene, truth, right, result)
    return result


def _same_size(piece: Piece, shape: dict[str, Any]) -> bool:
    width_mm = shape.get("diameter_mm") or shape["width_mm"]
    return bool(piece.base.shape == shape["type"] and abs(width_mm - piece.base.width_mm) < 0.6)


def matches(scene: Scene, there: list[dict[str, Any]]) -> list[tuple[int, int]]:
    """Pairs (truth, piece), one to one, whose centres in the photo lie within half a radius of each other."""
    if not there or not scene.pieces:
        return []
    want = np.array([p["center_px"] for p in there], float)
    got = np.array([piece.extra["image"]["center_px"] for piece in scene.pieces], float)
    radius = np.array([_radius_px(piece) for piece in scene.pieces])
    cost = np.linalg.norm(want[:, None] - got[None], axis=2) / radius[None]
    rows, columns = linear_sum_assignment(np.minimum(cost, 5))
    return [(int(i), int(j)) for i, j in zip(rows, columns, strict=True) if cost[i, j] < 0.5]


def _radius_px(piece: Piece) -> float:
    image = piece.extra["image"]
    away = np.array(image["outline_px"]) - np.array(image["center_px"])
    return float(np.median(np.linalg.norm(away, axis=1)))


def _distances(scene: Scene, truth: dict[str, Any], right: dict[str, str], result: Tally) -> None:
    known = {frozenset((d["a"], d["b"])): d["mm"] for d in truth["distances"]}
    for a, b in combinations(right, 2):
        mm = known[frozenset((right[a], right[b]))]
        answer = ask(scene, {"question": "range", "from": a, "to": b}).to_json()
        error = answer["distance_mm"] - mm
        result.errors_mm.append(abs(error))
        result.z.append(error / max(answer["sigma_mm"], 1e-9))
        result.rulings += 1
        result.wrong += answer["call"] == "certain" and answer["range"] != _range(mm)


def _range(distance_mm: float) -> int | None:
    segment = max(1, math.ceil(distance_mm / SEGMENT_MM - 1e-6))
    return segment if segment <= SEGMENTS else None


def row(name: str, counted: Tally) -> list[str]:
    errors = np.array(counted.errors_mm or [np.nan])
    found = counted.found or 1
    return [
        name,
        f"{counted.found}/{counted.wanted}",
        str(counted.false),
        f"{counted.sized / found:.3f}" if counted.found else "-",
        f"{np.median(errors):.2f}",
        f"{np.percentile(errors, 95):.2f}",
        f"{np.mean(np.abs(counted.z) <= 1.96):.3f}" if counted.z else "-",
        f"{counted.wrong}/{counted.rulings}",
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = "a folder of photos with their truth, or `markers`"
    parser.add_argument("folder", type=Path, nargs="?", default=Path("sample_images"), help=what)
    parser.add_argument("--pictures", type=int, default=30, help="with `markers`: how many, each sharp and soft")
    parser.add_argument("--seed", type=int, default=2026, help="with `markers`: other pictures")
    args = parser.parse_args()
    if args.folder == Path("markers"):
        return markers(args.pictures, args.seed)
    return photos_in(args.folder)


def markers(pictures: int, seed: int) -> int:
    """Print how accurate markers' corners are."""
    from corners.count import run, table

    trials = run(track(range(pictures), "drawing and finding", console=Console(stderr=True)), seed)
    Console(width=max(Console().width, 110)).print(table(trials))
    return 0


def photos_in(folder: Path) -> int:
    """Print how well the photos of a folder are measured."""
    photos = sorted(path for path in folder.glob("*.jpg") if path.with_suffix(".json").exists())
    if not photos:
        print(f"{folder}: holds no NAME.jpg with NAME.json beside it", file=sys.stderr)
        return 2
    table = Table("photo", "found", "false", "size", "mm50", "mm95", "in95", "wrong")
    everything = Tally()
    for photo in track(photos, "measuring", console=Console(stderr=True)):
        truth = json.loads(photo.with_suffix(".json").read_text())
        report = Referee(Board.load(photo.with_suffix(".toml"))).look(load_photo(photo))
        counted = tally(report.scene, truth)
        everything.add(counted)
        table.add_row(*row(photo.stem, counted))
    table.add_section()
    table.add_row(*row("all", everything))
    Console().print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
