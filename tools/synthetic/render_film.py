#!/usr/bin/env python3
"""Films of a game with exact truth: a static camera, bases that a hand carries one after another.

    uv run --extra video python tools/synthetic/render_film.py --flat --seed 3 --moves 6 --out out/films
    uv run --group render --extra video python tools/synthetic/render_film.py --seed 3 --moves 5 --out out/films

writes film_003.mkv, its board file (.toml) and its truth (.json), as evaluate/films.py reads them. The picture changes
ten times a second, the film has thirty.

The ray tracer of the sample photos traces the table once without what moves, and anew what is near the carried piece
and the hand. With `--flat` all is drawn flat, which is quick: no soft light, but exact edges, and a hand that hides
what it carries.
"""

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from rich.progress import track

from overruler.geometry.pose import rotation_from_vector
from synthetic.arrays import Array, Floats, Picture, Rng
from synthetic.camera import View, over_board
from synthetic.develop import Style, camera_style, develop
from synthetic.filming import HAND_S, step_of, write
from synthetic.flat_film import flat_pictures
from synthetic.traced.board_file import board_toml
from synthetic.traced.hands import STORIES, Carry, carries
from synthetic.traced.light import STYLES
from synthetic.traced.spec import BOARDS_MM, Spec, draw_spec
from synthetic.traced.table import Table, build

NUDGE_S = 4.0
"""How long nothing else happens round the moment when somebody knocks the camera."""
TILTS_DEG = 15.0, 35.0
"""Least and largest tilt of the cameras beside the first."""
SKINS, SLEEVES = ("#c68863", "#e0ac8c", "#7a4a30"), ("#26324f", "#1c1c1e", "#6d2020", "#8a8578")


def film(seed: int, wish: argparse.Namespace) -> Path:
    """Write one film, its board file and its truth; the film's path."""
    rng = np.random.default_rng([seed, 7])
    spec = _spec(seed, wish, rng)
    views = _views(spec, seed, wish.cameras)
    view, middle = views[0], np.array([*spec.size_mm, 0]) / 2
    table = build(spec, max(0.3, 0.6 * float(view.camera.mm_per_px(middle))))
    moves = carries(table, wish.moves, rng, wish.stories, wish.least_mm, NUDGE_S * wish.nudge)
    habits = camera_style("hd", spec.light in ("low", "lamp"), rng)
    habits = replace(habits, noise=habits.noise * wish.noise)
    steps = step_of(moves[-1].end_s + HAND_S) + 15
    path: Path = wish.out / f"film_{seed:03}.mkv"
    path.with_suffix(".json").write_text(json.dumps(truth(path.name, table, moves), indent=1))
    path.with_suffix(".toml").write_text(board_toml(table, "film"))
    for number, view in enumerate(views, 1):
        if wish.only not in (None, number):
            continue
        own, late = deepcopy(rng), step_of(wish.late_s) * (number - 1)
        if wish.flat:
            pictures = flat_pictures(table, view, moves, steps, own)
        else:
            shown = _traced(table, view, moves, own)
            pictures = _developed(shown, _knock(view, moves, wish.nudge, own), habits, seed)
        part = path.with_stem(path.stem + f"_{number}" * (number > 1))
        shots = track(islice(pictures, late, None), part.name, steps - late, transient=True)
        write(part, view.size_px, shots, wish.crf)
    return path


def _views(spec: Spec, seed: int, count: int) -> list[View]:
    """The cameras: the first as the spec says, the others from round the table."""
    views = [over_board(spec.kind, spec.size_mm, spec.tilt_deg, np.random.default_rng([seed, 3]))]
    for number in range(1, count):
        rng = np.random.default_rng([seed, 3, number])
        towards = 90 + 360 / count * number + float(rng.normal(0, 15))
        tilt = float(rng.uniform(*TILTS_DEG))
        views.append(over_board(spec.kind, spec.size_mm, tilt, rng, towards))
    return views


def _spec(seed: int, wish: argparse.Namespace, rng: Rng) -> Spec:
    """What the film's table is to show."""
    game = str(rng.choice(["inches", "legion"]))
    spec = replace(
        draw_spec(seed, "hd", wish.game or game),
        layout="known",
        size_mm=(914.4, 914.4),
        markers=int(rng.choice([4, 6])),
        tilt_deg=float(rng.uniform(1, 22)),
        marker_mm=60.0,
        dictionary="DICT_4X4_50",
        crowd=0.5,
    )
    if wish.flat:
        return replace(spec, mat="none", table="felt", terrain=0, props=0, rulers=0)
    return replace(spec, light=wish.light or spec.light)


def _traced(table: Table, view: View, moves: Sequence[Carry], rng: Rng) -> Iterator[Floats]:
    """The light of each tenth of a second, traced."""
    from synthetic.traced.stage import Stage, lights

    skin, sleeve = str(rng.choice(SKINS)), str(rng.choice(SLEEVES))
    return lights(Stage(table, view, moves), moves, skin, sleeve)


Knock = Callable[[int, Floats], Floats]


def _knock(view: View, moves: Sequence[Carry], nudge: bool, rng: Rng) -> Knock:
    """What the light of a step becomes where somebody knocks the camera half way through."""
    if not nudge:
        return lambda step, light: light
    moved_at = step_of(moves[len(moves) // 2].start_s - HAND_S - 0.7 * NUDGE_S)
    u, v = np.moveaxis(nudged(view, rng).astype(np.float32), -1, 0)

    def knocked(step: int, light: Floats) -> Floats:
        if step < moved_at:
            return light
        border = cv2.BORDER_REPLICATE
        return np.asarray(cv2.remap(light, u, v, cv2.INTER_CUBIC, borderMode=border), np.float32)

    return knocked


def _developed(
    lights: Iterator[Floats], knock: Knock, habits: Style, seed: int
) -> Iterator[Picture]:
    for step, light in enumerate(lights):
        yield develop(knock(step, light), habits, np.random.default_rng([seed, step % 4]))


def nudged(view: View, rng: Rng) -> Array:
    """Where each pixel of a camera that was turned by some tenths of a degree lies in the picture before (H, W, 2):
    from the same place in space a turn is exact for whatever stands on the table."""
    turn = rotation_from_vector(np.radians(rng.normal(0, 0.35, 3)))
    across, down = (np.arange(size, dtype=float) for size in view.size_px)
    rays = view.camera.undistort(np.stack(np.meshgrid(across, down), -1))
    ways = np.concatenate([rays, np.ones((*rays.shape[:2], 1))], -1) @ turn
    before = view.camera.distort(ways[..., :2] / ways[..., 2:])
    return np.asarray(before * view.camera.matrix[[0, 1], [0, 1]] + view.camera.matrix[:2, 2])


def truth(name: str, table: Table, moves: Sequence[Carry]) -> dict[str, Any]:
    """Where all stood, and each move."""
    did = [move.truth() for move in moves]
    pieces = [
        {
            "id": one.id,
            "shape": one.shape.truth(),
            "x_mm": one.x_mm,
            "y_mm": one.y_mm,
            "z_mm": one.z_mm,
        }
        for one in table.pieces
    ]
    told, other = (
        [one for one, move in zip(did, moves, strict=True) if move.told is told]
        for told in (True, False)
    )
    return {"video": name, "pieces": pieces, "moves": told, "no_moves": other}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--flat", action="store_true", help="draw all flat, which is quick")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=1, help="films, with seeds one after another")
    parser.add_argument("--moves", type=int, default=5)
    parser.add_argument("--out", type=Path, default=Path("out/films"))
    stories = f"of {','.join(STORIES)}: what the hands do, in turn"
    parser.add_argument("--stories", type=_words, default=["carry"], help=stories)
    parser.add_argument("--game", choices=list(BOARDS_MM))
    parser.add_argument("--light", choices=list(STYLES))
    parser.add_argument(
        "--least-mm", type=float, default=0.0, help="smaller pieces stay where they are"
    )
    parser.add_argument("--noise", type=float, default=1.0, help="so many times the camera's noise")
    parser.add_argument("--crf", default="18", help="how coarsely H.264 codes it")
    parser.add_argument(
        "--nudge", action="store_true", help="somebody knocks the camera, half way through"
    )
    cameras = "so many cameras film the game: film_003.mkv, film_003_2.mkv and so on"
    parser.add_argument("--cameras", type=int, default=1, metavar="N", help=cameras)
    only = "film by this one of the cameras alone"
    parser.add_argument("--only", type=int, metavar="NUMBER", help=only)
    late = "how much later each camera begins than the one before"
    parser.add_argument("--late-s", type=float, default=0.0, metavar="SECONDS", help=late)
    wish = parser.parse_args()
    wish.out.mkdir(parents=True, exist_ok=True)
    for seed in range(wish.seed, wish.seed + wish.count):
        print(film(seed, wish))


def _words(text: str) -> list[str]:
    return text.split(",")


if __name__ == "__main__":
    main()
