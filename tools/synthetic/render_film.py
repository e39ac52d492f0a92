#!/usr/bin/env python3
"""Films of a game by the ray tracer that renders the sample photos: a hand carries bases, with exact truth.

    uv run --group render --extra video python tools/synthetic/render_film.py --seed 3 --moves 5 --out out/films

writes film_003.mkv, its board file (.toml) and its truth (.json), as evaluate/films.py reads them.

The table is traced once without what moves. Around the carried piece and the hand it is traced anew ten times a second.
"""

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray
from rich.progress import track

from overruler.geometry.pose import Array, rotation_from_vector
from synthetic.arrays import Rng
from synthetic.camera import View, over_board
from synthetic.develop import camera_style, develop
from synthetic.things.materials import Part
from synthetic.things.pieces import Piece
from synthetic.traced.board_file import board_toml
from synthetic.traced.expose import ROUGH, Effort, expose
from synthetic.traced.filming import HAND_S, STEPS_PER_S, films, parser_of, write
from synthetic.traced.hands import STORIES, Carry, carries
from synthetic.traced.light import STYLES
from synthetic.traced.spec import BOARDS_MM, draw_spec
from synthetic.traced.table import Table, build
from synthetic.traced.tracer import Tracer

NUDGE_S = 4.0
HASTY = Effort(1, 3, 2)
"""Rays for what moves: nobody measures it."""
NEAR_MM = 150.0
"""What stands so near shades, and is shaded."""
SEEN_MM = 600.0
"""Nothing is seen that lies so far beyond the board."""
SKINS, SLEEVES = ("#c68863", "#e0ac8c", "#7a4a30"), ("#26324f", "#1c1c1e", "#6d2020", "#8a8578")
Light = NDArray[np.float32]


# --- pictures ---


def cut(view: View, points_mm: Array, margin_px: int) -> tuple[View, slice, slice]:
    """The part of a view round some points (N, 3), and where it lies, as rows and columns."""
    pixels = view.camera.project(points_mm)
    width, height = view.size_px
    low = np.clip(np.floor(np.nanmin(pixels, 0)) - margin_px, 0, None).astype(int)
    high = np.clip(np.ceil(np.nanmax(pixels, 0)) + margin_px, low + 8, (width, height)).astype(int)
    low = np.minimum(low, high - 8)
    matrix = view.camera.matrix.copy()
    matrix[:2, 2] -= low
    camera = view.camera.with_lens(matrix, view.camera.distortion)
    size = int(high[0] - low[0]), int(high[1] - low[1])
    return (
        replace(view, camera=camera, size_px=size),
        slice(low[1], high[1]),
        slice(low[0], high[0]),
    )


def _near(parts: Sequence[Part], points_mm: Array) -> list[Part]:
    """The parts that stand near the box round some points (N, 3), on the board: an arm is long."""
    low, high = points_mm[:, :2].min(0) - NEAR_MM, points_mm[:, :2].max(0) + NEAR_MM
    feet = [one.mesh.points_mm[..., :2].reshape(-1, 2) for one in parts]
    return [
        one for one, xy in zip(parts, feet, strict=True) if ((xy > low) & (xy < high)).all(1).any()
    ]


class Stage:
    """The table, traced once without what moves; whatever moves is traced into it."""

    def __init__(self, table: Table, view: View, moves: Sequence[Carry]) -> None:
        self.view, self.lights, self._under = view, table.lights, table.scenery
        movers = {move.piece.id for move in moves}
        self.still = replace(table, pieces=[one for one in table.pieces if one.id not in movers])
        self._others = [part for part in self.still.parts if part not in self._under]
        self.empty: Light = expose(Tracer(self.still.parts, table.lights), view, ROUGH)

    def with_pieces(
        self,
        light: Light,
        pieces: Sequence[Piece],
        hand: Sequence[Part] = (),
        standing: Sequence[Piece] = (),
    ) -> Light:
        """The light with some pieces, and a hand, traced in; others that move at other times are `standing` there."""
        light = light.copy()
        moving = [part for one in [*pieces, *standing] for part in one.parts]
        for piece in pieces:
            self._trace(
                light,
                np.concatenate([part.mesh.points_mm.reshape(-1, 3) for part in piece.parts]),
                moving,
            )
        if hand:
            ends = hand[-1].mesh.points_mm.reshape(
                -1, 3
            )  # the arm is long, and its mesh has corners only at its ends
            far, near = ends[None, ::-7], ends[None, ::7]
            ends = (near + np.linspace(0, 1, 40)[:, None, None] * (far - near)).reshape(-1, 3)
            points = np.vstack([ends, *(part.mesh.points_mm.reshape(-1, 3) for part in hand)])
            high = np.array(self.still.spec.size_mm) + SEEN_MM
            inside = ((points[:, :2] > -SEEN_MM) & (points[:, :2] < high)).all(1)
            self._trace(light, points[inside] if inside.any() else points, [*moving, *hand], HASTY)
        return light

    def _trace(
        self, light: Light, points: Array, moving: Sequence[Part], effort: Effort = ROUGH
    ) -> None:
        foot = np.vstack([points, points * [1, 1, 0]])
        view, rows, columns = cut(self.view, foot, 14)
        near = _near(self._others, points)
        light[rows, columns] = expose(
            Tracer([*self._under, *near, *moving], self.lights), view, effort
        )


def lights(stage: Stage, moves: Sequence[Carry], skin: str, sleeve: str) -> Iterator[Light]:
    """The light of each tenth of a second."""
    stands = {move.piece.id: move.piece for move in reversed(moves)}
    rest = stage.with_pieces(stage.empty, list(stands.values()))
    without = light = rest
    for number, move in enumerate([*moves, None]):
        begin = 0 if number == 0 else _step(moves[number - 1].end_s + HAND_S)
        until = _step(move.start_s - HAND_S) if move else begin + 15
        yield from [rest] * (until - begin)
        if move is None:
            return
        others = [piece for name, piece in stands.items() if name != move.piece.id]
        without = stage.with_pieces(stage.empty, others)
        seen: tuple[float, ...] = ()
        for step in range(until, _step(move.end_s + HAND_S)):
            now = step / STEPS_PER_S
            before, seen = seen, (*move.at(now)[0], move.gone(now))
            if seen != before:
                light = stage.with_pieces(
                    without, [move.moved(now)], move.hand(now, skin, sleeve), others
                )
            yield light
        stands[move.piece.id] = move.moved(move.end_s)
        rest = stage.with_pieces(without, [stands[move.piece.id]], standing=others)


def _step(time_s: float) -> int:
    return round(time_s * STEPS_PER_S)


def nudged(view: View, rng: Rng) -> Array:
    """Where each pixel of a camera that was turned by some tenths of a degree lies in the picture before (H, W, 2):
    from the same place in space a turn is exact for whatever stands on the table."""
    turn = rotation_from_vector(np.radians(rng.normal(0, 0.35, 3)))
    across, down = (np.arange(size, dtype=float) for size in view.size_px)
    rays = view.camera.undistort(np.stack(np.meshgrid(across, down), -1))
    ways = np.concatenate([rays, np.ones((*rays.shape[:2], 1))], -1) @ turn
    before = view.camera.distort(ways[..., :2] / ways[..., 2:])
    return np.asarray(before * view.camera.matrix[[0, 1], [0, 1]] + view.camera.matrix[:2, 2])


def film(seed: int, wish: argparse.Namespace) -> Path:
    """Write one film, its board file and its truth; the film's path."""
    rng = np.random.default_rng([seed, 7])
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
    spec = replace(spec, light=wish.light or spec.light)
    view = over_board(spec.kind, spec.size_mm, spec.tilt_deg, np.random.default_rng([seed, 3]))
    table = build(
        spec, max(0.3, 0.6 * float(view.camera.mm_per_px(np.array([*spec.size_mm, 0]) / 2)))
    )
    moves = carries(table, wish.moves, rng, wish.stories, wish.least_mm, NUDGE_S * wish.nudge)
    habits = camera_style("hd", spec.light in ("low", "lamp"), rng)
    habits = replace(habits, noise=habits.noise * wish.noise)
    skin, sleeve = str(rng.choice(SKINS)), str(rng.choice(SLEEVES))
    moved_at = (
        _step(moves[len(moves) // 2].start_s - HAND_S - 0.7 * NUDGE_S) if wish.nudge else None
    )
    u, v = np.moveaxis(nudged(view, rng).astype(np.float32), -1, 0)
    path: Path = wish.out / f"film_{seed:03}.mkv"

    def pictures() -> Iterator[NDArray[np.uint8]]:
        shown = lights(Stage(table, view, moves), moves, skin, sleeve)
        steps = _step(moves[-1].end_s + HAND_S) + 15
        for step, light in enumerate(track(shown, path.name, steps, transient=True)):
            if moved_at is not None and step >= moved_at:
                light = np.asarray(
                    cv2.remap(light, u, v, cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)
                )
            yield develop(light, habits, np.random.default_rng([seed, step % 4]))

    write(path, view.size_px, pictures(), "rgb24", wish.crf)
    path.with_suffix(".json").write_text(json.dumps(truth(path.name, table, moves), indent=1))
    path.with_suffix(".toml").write_text(board_toml(table, "film"))
    return path


def truth(name: str, table: Table, moves: Sequence[Carry]) -> dict[str, Any]:
    """Where all stood, and each move."""
    did = [move.truth(move.piece.id) | {"story": move.story} for move in moves]
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
    parser = parser_of(__doc__, 5, "out/films")
    parser.add_argument(
        "--stories",
        type=lambda text: text.split(","),
        default=["carry"],
        help=f"of {','.join(STORIES)}: what the hands do, in turn",
    )
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
    films(parser, film)


if __name__ == "__main__":
    main()
