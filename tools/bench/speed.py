#!/usr/bin/env python3
"""How fast is it? What the program does beside things that everybody knows, in one run.

    uv run tools/bench/speed.py measure sample_images/legion_desert.jpg
    uv run tools/bench/speed.py calibrate sample_images/legion_grass.jpg
    uv run tools/bench/speed.py analyze game.mp4 --minutes 10
    uv run tools/bench/speed.py rules
    uv run tools/bench/speed.py doubt

Seconds are this machine's and its load's; the ratios can be compared. Every row is the median of several rounds
in which all rows take turns.
"""

import argparse
import json
import math
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import shapely
from rich.console import Console
from rich.table import Table

from overruler.bases import catalogue
from overruler.board import Board
from overruler.errors import OverrulerError
from overruler.geometry.shapes import Disc, Ellipse, Polygon, Shape
from overruler.referee import Referee
from overruler.rules import ask, matrix
from overruler.scene import Piece, Scene
from overruler.sources.photo import load_photo
from overruler.vision.camera.calibrate import calibrate
from overruler.vision.detection.detect import detect
from overruler.vision.markers.detect import find_markers

Tasks = dict[str, Callable[[], object]]


def cpu_seconds() -> float:
    """The processor's time that this process and its children have had: a busy machine adds little."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return math.fsum(each.ru_utime + each.ru_stime for each in used)


def side_by_side(
    tasks: Tasks, rounds: int, clock: Callable[[], float] = time.perf_counter
) -> dict[str, float]:
    """The median seconds of each task; the tasks take turns, so that a busy moment hits all of them."""
    seconds: dict[str, list[float]] = {name: [] for name in tasks}
    for _ in range(rounds):
        for name, task in tasks.items():
            begin = clock()
            task()
            seconds[name].append(clock() - begin)
    return {name: float(np.median(values)) for name, values in seconds.items()}


# --- a photo ---

DECODE, HOUGH = "decode the JPEG", "HoughCircles (ALT)"


def measure(photo: Path, rounds: int) -> Table:
    """A photo's stages and the whole program, against decoding its JPEG and against OpenCV's circle detector."""
    board = Board.load(photo.with_suffix(".toml"))
    frame = load_photo(photo)
    calibration = calibrate(frame, board)
    grey = cv2.cvtColor(frame.pixels, cv2.COLOR_BGR2GRAY)
    data = np.frombuffer(photo.read_bytes(), np.uint8)
    told = str(photo), "--board", str(photo.with_suffix(".toml"))
    tasks: Tasks = {
        DECODE: lambda: cv2.imdecode(data, cv2.IMREAD_COLOR),
        HOUGH: lambda: cv2.HoughCircles(
            grey, cv2.HOUGH_GRADIENT_ALT, 1.5, 20, None, 300, 0.8, 8, 300
        ),
        "calibrate": lambda: calibrate(frame, board),
        "detect": lambda: detect(frame, calibration, catalogue()),
        "look (all of it)": lambda: Referee(board).look(load_photo(photo)),
        "overruler measure (a process)": lambda: whole(
            "-m", "overruler", "measure", *told, "--json"
        ),
    }
    seconds = side_by_side(tasks, rounds)
    most_mb = needed_mb("-m", "overruler", "measure", *told, "--json")
    size = " x ".join(map(str, frame.size_px))
    return _against(
        f"{photo.name}, {size}; the process needs {most_mb:.0f} MB", seconds, [DECODE, HOUGH]
    )


def calibration(photo: Path, rounds: int) -> Table:
    """Finding the camera, and what of it is finding the markers, against decoding the photo's JPEG."""
    board, frame = Board.load(photo.with_suffix(".toml")), load_photo(photo)
    data = np.frombuffer(photo.read_bytes(), np.uint8)
    tasks: Tasks = {
        DECODE: lambda: cv2.imdecode(data, cv2.IMREAD_COLOR),
        "markers": lambda: find_markers(frame, board),
        "calibrate": lambda: calibrate(frame, board),
    }
    return _against(
        f"{photo.name}, {frame.size_px[0]} x {frame.size_px[1]}",
        side_by_side(tasks, rounds),
        [DECODE],
    )


def _against(title: str, seconds: dict[str, float], others: Sequence[str]) -> Table:
    table = Table("", "s", *(f"× {name}" for name in others), title=title)
    for name, value in seconds.items():
        table.add_row(name, f"{value:.3f}", *(f"{value / seconds[other]:.2f}" for other in others))
    return table


# --- the range engine ---

PIECES = 200
QUESTION = {"question": "range", "from": "p0", "to": "p1"}
UNIT_PIECES = 40
"""Pieces of the unit whose area is asked."""
AREA_MM = 152.4
AREA = {"question": "area", "of": "u", "within_mm": AREA_MM}
BUFFER_QUARTER = 48
"""Chords of a quarter of a buffer's circles: as near to the curve as the program's own."""


def rules(rounds: int) -> Table:
    """Distances in bulk against a loop over shapely's polygons; one ruling, and one whole process, beside nothing."""
    mixed, discs = crowd(kinds=3), crowd(kinds=1)
    near, far = (ruled(gap_mm) for gap_mm in (152.3, 60.0))
    unit = replace(mixed, covariance=None, pieces=tuple(of_one_unit(mixed.pieces[:UNIT_PIECES])))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scene.json"
        path.write_text(json.dumps(exact()))
        photo = Path(folder) / "photo.json"
        near.save(photo)
        tasks: Tasks = {
            "mixed: shapely, loop": lambda: loop(mixed.shapes),
            "mixed: Scene.distances": mixed.distances,
            "discs: shapely, loop": lambda: loop(discs.shapes),
            "discs: Scene.distances": discs.distances,
            "discs: matrix, with doubt": lambda: matrix(discs),
            "area: shapely, buffers": lambda: buffers(unit.shapes),
            "area of 40 pieces": lambda: ask(unit, AREA),
            "range, settled": lambda: ask(far, QUESTION),
            "range, near a line": lambda: ask(near, QUESTION),
            "python -c pass": lambda: whole("-c", "pass"),
            "overruler --help": lambda: whole("-m", "overruler", "--help"),
            "overruler ask": lambda: whole(
                "-m", "overruler", "ask", str(path), json.dumps(QUESTION)
            ),
            "overruler ask, a photo's scene": lambda: whole(
                "-m", "overruler", "ask", str(photo), json.dumps(QUESTION)
            ),
        }
        for task in tasks.values():
            task()  # imports are not what is timed, but for whole processes
        return _against_others(side_by_side(tasks, rounds, cpu_seconds))


def _against_others(seconds: dict[str, float]) -> Table:
    table = Table(
        "",
        "ms of the processor",
        "against",
        title=f"{PIECES} bases, {PIECES * (PIECES - 1) // 2} pairs",
    )
    against = {
        "mixed: Scene.distances": "mixed: shapely, loop",
        "discs: Scene.distances": "discs: shapely, loop",
        "area of 40 pieces": "area: shapely, buffers",
    }
    for name, value in seconds.items():
        other = seconds.get(against.get(name, ""))
        table.add_row(
            name,
            f"{1000 * value:.2f}",
            f"{other / value:.0f} × faster than the loop" if other else "",
        )
    for name in ("overruler ask", "overruler --help"):
        share = seconds[name] / seconds["python -c pass"]
        table.add_row(f"{name}, in `python -c pass`", f"{share:.1f}", "")
    return table


def crowd(kinds: int) -> Scene:
    """A table full of bases, one kind after the other, as surely placed as a photo tells."""
    draw = np.random.default_rng(1)
    sizes = [25, 27, 32, 40, 50, 60, 70]
    pieces = []
    for k in range(PIECES):
        x, y, heading = draw.uniform((0, 0, 0), (1800, 900, 360)).tolist()
        size = sizes[k % 7]
        both = {"width_mm": size, "length_mm": size + 20}
        shapes: list[dict[str, Any]] = [
            {"shape": "circle", "diameter_mm": size},
            {"shape": "oval"} | both,
            {"shape": "rectangle"} | both,
        ]
        pieces.append(
            {"id": f"p{k}", "base": shapes[k % kinds], "x_mm": x, "y_mm": y, "heading_deg": heading}
        )
    shared = draw.normal(0, 0.5, (2 * PIECES, 2))
    mm2 = shared @ shared.T + 0.01 * np.eye(2 * PIECES)
    order = [piece["id"] for piece in pieces]
    return Scene.from_json(table(pieces) | {"covariance": {"order": order, "mm2": mm2.tolist()}})


def table(pieces: list[dict[str, Any]]) -> dict[str, Any]:
    board = {"width_mm": 1800, "height_mm": 900}
    return {"schema": "overruler/scene/1", "game": "legion", "board": board, "pieces": pieces}


def exact(gap_mm: float = 200.0) -> dict[str, Any]:
    """Two bases that are so far apart."""
    base = {"shape": "circle", "diameter_mm": 27}
    return table(
        [{"id": f"p{k}", "base": base, "x_mm": k * (27 + gap_mm), "y_mm": 0} for k in range(2)]
    )


def ruled(gap_mm: float) -> Scene:
    """The same with doubt."""
    mm2 = [[0.1, 0.01, 0.05, 0], [0.01, 0.1, 0, 0.05], [0.05, 0, 0.1, 0.01], [0, 0.05, 0.01, 0.1]]
    return Scene.from_json(exact(gap_mm) | {"covariance": {"order": ["p0", "p1"], "mm2": mm2}})


def loop(shapes: Sequence[Shape]) -> list[float]:
    """What one writes without another thought: buffered points, and each with each."""
    return [shapely.distance(a, b) for a, b in combinations(polygons(shapes), 2)]


def buffers(shapes: Sequence[Shape]) -> shapely.Geometry:
    """The ground near some bases, by shapely's own buffers."""
    grown = shapely.buffer([*polygons(shapes)], AREA_MM, quad_segs=BUFFER_QUARTER)
    return shapely.union_all(grown)


def of_one_unit(pieces: Sequence[Piece]) -> Iterator[Piece]:
    return (replace(piece, unit="u", covariance_mm2=None) for piece in pieces)


def polygons(shapes: Sequence[Shape]) -> Iterator[shapely.Geometry]:
    for shape in shapes:
        if isinstance(shape, Disc):
            yield shapely.Point(shape.center).buffer(shape.radius_mm)
        elif isinstance(shape, Polygon):
            yield shapely.Polygon(shape.corners)
        else:
            yield oval(shape)


def oval(shape: Ellipse) -> shapely.Geometry:
    turn = math.radians(shape.heading_deg)
    c, s, a, b = math.cos(turn), math.sin(turn), shape.length_mm / 2, shape.width_mm / 2
    turned = np.array([[c * a, s * a], [-s * b, c * b]])
    return shapely.transform(shapely.Point(0, 0).buffer(1), lambda xy: xy @ turned + shape.center)


def whole(*arguments: str) -> None:
    """Run a process as users have it: with its modules compiled, by the first round at the latest."""
    keeping = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True, env=keeping)


def needed_mb(*arguments: str) -> float:
    """The most memory that a process holds. A small one asks for it: a child counts what its parent held, too."""
    asking = (
        "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, capture_output=True); "
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    asked = [sys.executable, "-c", asking, sys.executable, *arguments]
    return float(subprocess.run(asked, check=True, capture_output=True, text=True).stdout) / 1024


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    what = parser.add_subparsers(dest="what", required=True)
    of_photo = what.add_parser("measure", help="a photo's stages")
    of_camera = what.add_parser("calibrate", help="finding the camera")
    for each in (of_photo, of_camera):
        each.add_argument(
            "photo", type=Path, help="NAME.jpg with its board file NAME.toml beside it"
        )
    of_rules = what.add_parser("rules", help="distances in bulk, one ruling, one process")
    of_doubt = what.add_parser("doubt", help="rulings in doubt against loops over draws")
    for each, rounds in ((of_photo, 5), (of_camera, 9), (of_rules, 9), (of_doubt, 5)):
        each.add_argument("--rounds", type=int, default=rounds)
    of_film = what.add_parser("analyze", help="watching a film against decoding it")
    of_film.add_argument("film", type=Path, help="NAME.mp4 with its board file NAME.toml beside it")
    of_film.add_argument(
        "--minutes", type=float, default=2.0, help="how long it is played, over and over"
    )
    of_live = what.add_parser("live", help="a film as if it were a camera")
    of_live.add_argument(
        "film", type=Path, help="NAME.mp4 with NAME.toml and its truth, NAME.json, beside it"
    )
    of_live.add_argument(
        "--minutes", type=float, default=5.0, help="how long it is looked at, over and over"
    )
    of_truth = what.add_parser(
        "truth", help="what is seen in films as if live, against their truth"
    )
    of_truth.add_argument(
        "films", type=Path, nargs="+", help="NAME.mp4 with NAME.toml and NAME.json beside it"
    )
    return parser


def main() -> int:
    args = _parser().parse_args()
    if args.what == "live":
        from bench.live import live

        Console().print(live(args.film, args.minutes))
    elif args.what == "truth":
        from evaluate.live_truth import live_truth

        Console().print(live_truth(args.films))
    elif args.what == "analyze":
        from bench.film import analyze

        Console().print(analyze(args.film, args.minutes))
    elif args.what == "doubt":
        from bench.doubt import doubt_tasks

        table = Table("", "ms of the processor")
        for name, seconds in side_by_side(doubt_tasks(), args.rounds, cpu_seconds).items():
            table.add_row(name, f"{1000 * seconds:.2f}")
        Console().print(table)
    elif args.what == "rules":
        Console().print(rules(args.rounds))
    else:
        Console().print(
            {"measure": measure, "calibrate": calibration}[args.what](args.photo, args.rounds)
        )
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except OverrulerError as error:
        sys.exit(f"bench.py: {error}")
