#!/usr/bin/env python3
"""Films of a game by the ray tracer that renders the sample photos: a hand carries bases, with exact truth.

    uv run --group render --extra video python tools/render_film.py --seed 3 --moves 5 --out out/films

writes film_003.mkv, its board file (.toml) and its truth (.json), as tools/films.py reads them. The table without what
moves is traced once; round the piece that is carried, and the hand, it is traced anew ten times a second.
"""

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
from numpy.typing import NDArray
from rich.progress import track
from shapely.geometry import LineString, Point, Polygon

from overruler.geometry.pose import Array
from render.board_file import board_toml
from render.develop import develop, style
from render.expose import ROUGH, expose
from render.lens import View, over_board
from render.materials import Part, plain
from render.mesh import limb
from render.pieces import Piece
from render.spec import draw_spec
from render.table import Table, build
from render.tracer import Tracer

FPS, STEPS_PER_S = 30, 10
LIFT_MM, HAND_S = 5.0, 0.6
NEAR_MM = 150.0
"""What stands so near shades, and is shaded."""
SKINS, SLEEVES = ("#c68863", "#e0ac8c", "#7a4a30"), ("#26324f", "#1c1c1e", "#6d2020", "#8a8578")
Light = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Carry:
    """One piece that a hand carries along straight legs."""

    piece: Piece
    """As it stands before."""
    path_mm: Array
    start_s: float
    end_s: float
    turn_deg: float
    away_deg: float
    """Where the arm comes from."""
    grip_mm: Array

    def at(self, time_s: float) -> tuple[Array, float, float]:
        """Where it is, how high, and how far it has turned."""
        q = float(np.clip((time_s - self.start_s) / (self.end_s - self.start_s), 0, 1))
        share, legs = 3 * q * q - 2 * q**3, np.hypot(*np.diff(self.path_mm, axis=0).T)
        along = np.concatenate([[0.0], np.cumsum(legs)])
        place = [np.interp(share * along[-1], along, axis) for axis in self.path_mm.T]
        return np.array(place), LIFT_MM * float(np.sin(np.pi * q)), share * self.turn_deg

    def moved(self, time_s: float) -> Piece:
        (x, y), z, turn = self.at(time_s)
        one = self.piece
        home = [part.moved(-one.x_mm, -one.y_mm) for part in one.figure_parts]
        stand = one.stand.moved(-one.x_mm, -one.y_mm, 0, 0).moved(x, y, z, turn)
        figure = [part.moved(x, y, z, turn) for part in home]
        return replace(
            one, x_mm=x, y_mm=y, z_mm=z, heading_deg=one.heading_deg + turn, stand=stand, figure_parts=figure
        )

    def hand(self, time_s: float, skin: str, sleeve: str) -> list[Part]:
        """Fingers round the piece, and an arm; nothing where the hand is not over the table."""
        gone = max(self.start_s - time_s, time_s - self.end_s, 0.0) / HAND_S
        if gone >= 1:
            return []
        (x, y), z, _ = self.at(time_s)
        angle = np.radians(self.away_deg)
        away, side = np.array([np.cos(angle), np.sin(angle)]), np.array([-np.sin(angle), np.cos(angle)])
        tip = np.array([x, y]) + self.grip_mm + away * 700 * gone**1.5

        def stick(a: tuple[float, float, float], b: tuple[float, float, float], r0: float, r1: float) -> Part:
            start, end = (np.append(tip + away * one[0] + side * one[1], z + one[2]) for one in (a, b))
            return Part(limb(start, end, r0, r1, 16), plain(skin, gloss=0.1))

        fingers = [stick((4 * abs(k), 17 * k, 22), (58, 11 * k, 48), 7.5, 9.5) for k in (-1.5, -0.5, 0.5, 1.5)]
        palm = stick((55, 0, 50), (100, 0, 58), 26, 30)
        wrist = stick((95, 0, 58), (175, 0, 70), 24, 25)
        arm = replace(stick((165, 0, 72), (1500, 0, 160), 36, 48), material=plain(sleeve, gloss=0.05))
        return [*fingers, stick((6, -34, 22), (62, -24, 46), 9, 11), palm, wrist, arm]


def carries(table: Table, count: int, rng: np.random.Generator) -> list[Carry]:
    """Moves one after another of round bases on the board, to free places."""
    stands = {piece.id: piece for piece in table.pieces}
    movable = [piece.id for piece in table.pieces if piece.shape.type == "circle" and piece.z_mm == 0]
    others = [Polygon(one.footprint_mm) for one in table.terrain] + [Polygon(m.card_mm[:, :2]) for m in table.markers]
    others += [Polygon(prop.outline_mm) for prop in table.props] + [
        LineString(r.path_mm).buffer(25) for r in table.rulers
    ]
    found: list[Carry] = []
    now = 1.2
    for _ in range(20_000):
        piece = stands[str(rng.choice(movable))]
        path = [np.array([piece.x_mm, piece.y_mm])]
        for _ in range(int(rng.choice([1, 1, 2, 3]))):
            angle = rng.uniform(0, 2 * np.pi)
            path.append(path[-1] + rng.uniform(35, 170) * np.array([np.cos(angle), np.sin(angle)]))
        foot = Point(path[-1]).buffer(piece.shape.length_mm / 2)
        rest = [
            Point(one.x_mm, one.y_mm).buffer(one.shape.length_mm / 2) for one in stands.values() if one is not piece
        ]
        inside = ((np.array(path) > 60) & (np.array(path) < np.array(table.spec.size_mm) - 60)).all()
        if not inside or any(foot.distance(other) < 5 for other in [*others, *rest]):
            continue
        line = np.array(path)
        long_s = max(0.8, float(np.hypot(*np.diff(line, axis=0).T).sum()) / rng.uniform(90, 150))
        begin, end = round(now + HAND_S, 1), round(now + HAND_S + long_s, 1)
        grip = rng.uniform(0.0, 0.8) * piece.shape.length_mm / 2 * _unit(rng)
        turn = float(rng.choice([0.0, rng.normal(0, 35)]))
        found.append(Carry(piece, line, begin, end, turn, float(rng.uniform(0, 360)), grip))
        stands[piece.id] = found[-1].moved(end)
        now = end + HAND_S + rng.uniform(0.9, 2.0)
        if len(found) == count:
            return found
    raise ValueError(f"seed {table.spec.seed}: no room for {count} moves; take another")


def _unit(rng: np.random.Generator) -> Array:
    angle = rng.uniform(0, 2 * np.pi)
    return np.array([np.cos(angle), np.sin(angle)])


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
    return replace(view, camera=camera, size_px=size), slice(low[1], high[1]), slice(low[0], high[0])


def _near(parts: Sequence[Part], middle: Array) -> list[Part]:
    return [one for one in parts if np.hypot(*(one.mesh.points_mm[..., :2] - middle).reshape(-1, 2).T).min() < NEAR_MM]


class Stage:
    """The table, traced once without what moves; whatever moves is traced into it."""

    def __init__(self, table: Table, view: View, moves: Sequence[Carry]) -> None:
        self.view, self.lights, self._under = view, table.lights, table.scenery
        movers = {move.piece.id for move in moves}
        self.still = replace(table, pieces=[one for one in table.pieces if one.id not in movers])
        self._others = [part for part in self.still.parts if part not in self._under]
        self.empty: Light = expose(Tracer(self.still.parts, table.lights), view, ROUGH)

    def with_pieces(self, light: Light, pieces: Sequence[Piece], hand: Sequence[Part] = ()) -> Light:
        """The light with some pieces, and a hand, traced in."""
        light = light.copy()
        for piece in pieces:
            points = np.concatenate([part.mesh.points_mm.reshape(-1, 3) for part in piece.parts])
            self._trace(light, points, [part for one in pieces for part in one.parts])
        if hand:
            ends = hand[-1].mesh.points_mm.reshape(-1, 3)  # the arm is long, and its mesh has corners only at its ends
            far, near = ends[None, ::-7], ends[None, ::7]
            ends = (near + np.linspace(0, 1, 40)[:, None, None] * (far - near)).reshape(-1, 3)
            points = np.vstack([ends, *(part.mesh.points_mm.reshape(-1, 3) for part in hand)])
            inside = (points[:, :2] > -150).all(1) & (points[:, :2] < np.array(self.still.spec.size_mm) + 150).all(1)
            moving = [part for one in pieces for part in one.parts] + list(hand)
            self._trace(light, points[inside] if inside.any() else points, moving)
        return light

    def _trace(self, light: Light, points: Array, moving: Sequence[Part]) -> None:
        foot = np.vstack([points, points * [1, 1, 0]])
        view, rows, columns = cut(self.view, foot, 14)
        near = _near([*self._others], points.mean(0)[:2])
        light[rows, columns] = expose(Tracer([*self._under, *near, *moving], self.lights), view, ROUGH)


def lights(stage: Stage, moves: Sequence[Carry], skin: str, sleeve: str) -> Iterator[Light]:
    """The light of each tenth of a second."""
    stands = {move.piece.id: move.piece for move in reversed(moves)}
    rest = stage.with_pieces(stage.empty, list(stands.values()))
    without: Light = rest
    for number, move in enumerate([*moves, None]):
        begin = 0 if number == 0 else _step(moves[number - 1].end_s + HAND_S)
        until = _step(move.start_s - HAND_S) if move else begin + 15
        yield from [rest] * (until - begin)
        if move is None:
            return
        others = [piece for name, piece in stands.items() if name != move.piece.id]
        without = stage.with_pieces(stage.empty, others)
        for step in range(until, _step(move.end_s + HAND_S)):
            now = step / STEPS_PER_S
            yield stage.with_pieces(without, [move.moved(now)], move.hand(now, skin, sleeve))
        stands[move.piece.id] = move.moved(move.end_s)
        rest = stage.with_pieces(without, [stands[move.piece.id]])


def _step(time_s: float) -> int:
    return round(time_s * STEPS_PER_S)


def film(seed: int, count: int, out: Path) -> Path:
    """Write one film, its board file and its truth; the film's path."""
    rng = np.random.default_rng([seed, 7])
    game = str(rng.choice(["inches", "legion"]))
    spec = replace(draw_spec(seed, "hd", game), layout="known", size_mm=(914.4, 914.4), markers=int(rng.choice([4, 6])))
    spec = replace(spec, tilt_deg=float(rng.uniform(1, 22)), marker_mm=60.0, dictionary="DICT_4X4_50", crowd=0.5)
    view = over_board(spec.kind, spec.size_mm, spec.tilt_deg, np.random.default_rng([seed, 3]))
    table = build(spec, max(0.3, 0.6 * float(view.camera.mm_per_px(np.array([*spec.size_mm, 0]) / 2))))
    moves = carries(table, count, rng)
    habits = style("hd", spec.light in ("low", "lamp"), rng)
    skin, sleeve = str(rng.choice(SKINS)), str(rng.choice(SLEEVES))
    path = out / f"film_{seed:03}.mkv"
    steps = _step(moves[-1].end_s + HAND_S) + 15
    with av.open(str(path), "w") as container:
        stream: Any = container.add_stream("libx264", rate=FPS, options={"crf": "18", "preset": "veryfast"})
        stream.width, stream.height, stream.pix_fmt = *view.size_px, "yuv420p"
        shown = lights(Stage(table, view, moves), moves, skin, sleeve)
        for step, light in enumerate(track(shown, path.name, steps, transient=True)):
            picture = develop(light, habits, np.random.default_rng([seed, step % 4]))
            for k in range(FPS // STEPS_PER_S):
                shot = av.VideoFrame.from_ndarray(picture, format="rgb24")
                shot.pts, shot.time_base = step * (FPS // STEPS_PER_S) + k, Fraction(1, FPS)
                container.mux(stream.encode(shot))
        container.mux(stream.encode())
    path.with_suffix(".json").write_text(json.dumps(truth(path.name, table, moves), indent=1))
    path.with_suffix(".toml").write_text(board_toml(table, "film"))
    return path


def truth(name: str, table: Table, moves: Sequence[Carry]) -> dict[str, Any]:
    """Where all stood, and each move."""
    told = [
        {
            "piece": move.piece.id,
            "t_start_s": move.start_s,
            "t_end_s": move.end_s,
            "from_mm": move.path_mm[0].tolist(),
            "to_mm": move.path_mm[-1].tolist(),
            "path_length_mm": float(np.hypot(*np.diff(move.path_mm, axis=0).T).sum()),
            "path_mm": move.path_mm.tolist(),
            "hand_from_s": move.start_s - HAND_S,
            "hand_to_s": move.end_s + HAND_S,
        }
        for move in moves
    ]
    pieces = [
        {"id": one.id, "shape": one.shape.truth(), "x_mm": one.x_mm, "y_mm": one.y_mm, "z_mm": one.z_mm}
        for one in table.pieces
    ]
    return {"video": name, "pieces": pieces, "moves": told}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=1, help="films, with seeds one after another")
    parser.add_argument("--moves", type=int, default=5)
    parser.add_argument("--out", type=Path, default=Path("out/films"))
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    for seed in range(args.seed, args.seed + args.count):
        print(film(seed, args.moves, args.out))


if __name__ == "__main__":
    main()
