#!/usr/bin/env python3
"""Films of a game with exact truth: a static camera, bases that a hand carries one after another.

    uv run tools/synthetic/render_clip.py --seed 3 --moves 6 --out out/clips

writes clip_003.mp4, its board file and its truth. Flat figures and no soft light, but edges where the camera model
puts them, a hand that hides what it carries, a shade under it, a piece that turns in the hand and is lifted by some
millimetres. The picture changes ten times a second, the film has thirty.
"""

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from overruler.board import Board
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array, Pose, rotation_from_vector
from synthetic.arrays import Rng
from synthetic.develop import decode_srgb, encode_srgb
from synthetic.flat_table import render_table
from synthetic.traced.filming import (
    HAND_S,
    STEPS_PER_S,
    Carried,
    ahead,
    any_path,
    films,
    parser_of,
    times,
    write,
)

SIZE_PX, BOARD_MM = (1920, 1080), 914.4
FINE = 4
Canvas = NDArray[np.float32]
MATS = (
    (0.12, 0.3, 0.42),
    (0.08, 0.25, 0.12),
    (0.35, 0.36, 0.4),
    (0.5, 0.52, 0.55),
    (0.16, 0.1, 0.08),
)
SKIN, SLEEVE = (0.28, 0.4, 0.62), ((0.3, 0.12, 0.05), (0.05, 0.05, 0.05), (0.08, 0.08, 0.4))


@dataclass
class Piece:
    """A base with a figure on it."""

    id: str
    diameter_mm: float
    xy_mm: Array
    heading: float
    rim: tuple[float, ...]
    top: tuple[float, ...]
    paint: tuple[float, ...]
    taper_mm: float
    height_mm: float = 3.9
    z_mm: float = 0.0


@dataclass(frozen=True, kw_only=True, eq=False)
class Move(Carried):
    """One piece that a hand carries."""

    piece: Piece
    heading: float
    turn: float
    grip: Array
    """Where the hand is, from the piece's middle."""


def camera_of(random: Rng) -> Camera:
    """A camera over the board, a little to the side."""
    tilt, turn, away = (
        np.radians(random.uniform(2, 16)),
        random.uniform(0, 2 * np.pi),
        random.uniform(1.38, 1.55),
    )
    axis = np.array([np.cos(turn), np.sin(turn), 0]) * tilt
    rotation = (
        rotation_from_vector(axis)
        @ np.diag([1.0, -1.0, -1.0])
        @ rotation_from_vector([0, 0, random.normal(0, 0.05)])
    )
    focal = random.uniform(1350, 1500)
    matrix = np.array(
        [
            [focal, 0, 959.5 + random.normal(0, 4)],
            [0, focal, 539.5 + random.normal(0, 4)],
            [0, 0, 1],
        ]
    )
    aim = rotation @ np.array([BOARD_MM / 2, BOARD_MM / 2, 0.0])
    lens = np.array(
        [random.uniform(-0.18, -0.02), random.uniform(0, 0.02), *random.normal(0, 3e-4, 2), 0.0]
    )
    return Camera(matrix, lens, Pose(rotation, np.array([0, 0, away * BOARD_MM]) - aim))


def corners_of() -> dict[int, Array]:
    """Six markers of 60 mm along two edges."""
    size, low, high = 60.0, 46.0, BOARD_MM - 46.0
    middles = [
        (low, low),
        (high, low),
        (high, high),
        (low, high),
        (BOARD_MM / 2, low),
        (BOARD_MM / 2, high),
    ]
    square = np.array([(-1, 1), (1, 1), (1, -1), (-1, -1)]) * size / 2
    return {k: np.column_stack([square + middle, np.zeros(4)]) for k, middle in enumerate(middles)}


def pieces_of(random: Rng) -> list[Piece]:
    """Bases of two sizes that stand apart."""
    sizes = random.choice([27.0, 32.0, 40.0, 50.0], 2, replace=False)
    rim, paint = random.uniform(0.005, 0.05, (2, 3)), random.uniform(0.05, 0.8, (2, 3))
    places: list[tuple[Array, float]] = []
    while len(places) < 10:
        size = float(sizes[len(places) % 2])
        spot = random.uniform(110, BOARD_MM - 110, 2)
        if all(np.hypot(*(spot - other)) > (size + wide) / 2 + 12 for other, wide in places):
            places.append((spot, size))
    tops = random.uniform(0.03, 0.35, (10, 1)) * random.uniform(0.5, 1.3, (10, 3))
    return [
        Piece(
            f"p{k + 1:02}",
            size,
            spot,
            random.uniform(0, 6.28),
            tuple(rim[k % 2]),
            tuple(tops[k]),
            tuple(paint[k % 2]),
            random.uniform(0, 1.8),
        )
        for k, (spot, size) in enumerate(places)
    ]


def moves_of(random: Rng, pieces: Sequence[Piece], count: int) -> list[Move]:
    """Moves one after another, none through where another base stands."""
    places = {piece.id: (piece.xy_mm, piece.diameter_mm) for piece in pieces}
    found: list[Move] = []
    headings: dict[str, float] = {}
    now = 1.2
    while len(found) < count:
        piece = pieces[int(random.integers(len(pieces)))]
        line = any_path(random, places[piece.id][0])
        others = [(spot, wide) for name, (spot, wide) in places.items() if name != piece.id]
        inside = np.all((line > 60) & (line < BOARD_MM - 60))
        clear = all(
            np.hypot(*(line[-1] - spot)) > (wide + piece.diameter_mm) / 2 + 8
            for spot, wide in others
        )
        cards = all(
            np.hypot(*(line[-1] - corner.mean(0)[:2])) > 80 for corner in corners_of().values()
        )
        if not (inside and clear and cards):
            continue
        start_s, end_s = times(random, now, line)
        grip = (
            random.uniform(0.1, 0.75) * piece.diameter_mm / 2 * ahead(random.uniform(0, 2 * np.pi))
        )
        turn = float(random.choice([0.0, 0.0, random.normal(0, 0.6)]))
        heading = headings.get(piece.id, piece.heading)
        found.append(
            Move(
                path_mm=line,
                start_s=start_s,
                end_s=end_s,
                piece=piece,
                heading=heading,
                turn=turn,
                grip=grip,
            )
        )
        places[piece.id], headings[piece.id] = (line[-1], piece.diameter_mm), heading + turn
        now = end_s + HAND_S + random.uniform(0.9, 2.0)
    return found


# --- drawing ---


def mat_of(random: Rng, camera: Camera) -> Canvas:
    """The empty table in linear light (H, W, 3)."""
    colour = MATS[int(random.integers(len(MATS)))]
    flat = render_table(
        camera, SIZE_PX, (BOARD_MM, BOARD_MM), (), corners_of(), mat=colour, blur_px=0.0
    )
    light = decode_srgb(flat / np.float32(255)).astype(np.float32)
    texture = np.zeros(light.shape[:2], np.float32)
    for scale in (300, 90, 28, 8, 3):
        grid = random.normal(0, 1, (SIZE_PX[1] // scale + 2, SIZE_PX[0] // scale + 2)).astype(
            np.float32
        )
        texture += cv2.resize(grid, SIZE_PX, interpolation=cv2.INTER_CUBIC) * random.uniform(
            0.03, 0.12
        )
    plain = np.all(
        np.abs(flat.astype(int) - np.median(flat[400:700, 700:1200].reshape(-1, 3), axis=0)) < 6,
        axis=-1,
    )
    light[plain] *= np.exp(texture[plain])[:, None]
    return light


def fill(light: Canvas, outline_px: Array, colour: Sequence[float], cover: float = 1.0) -> None:
    """Paint a polygon into a picture in linear light, its edge averaged over 4 × 4 samples a pixel."""
    low = np.clip(np.floor(outline_px.min(0)).astype(int) - 1, 0, None)
    high = np.minimum(np.ceil(outline_px.max(0)).astype(int) + 2, SIZE_PX)
    if (high <= low).any():
        return
    mask = np.zeros(((high[1] - low[1]) * FINE, (high[0] - low[0]) * FINE), np.uint8)
    fine = ((outline_px - low + 0.5) * FINE - 0.5) * 16
    cv2.fillPoly(mask, [np.rint(fine).astype(np.int32)], 255, shift=4)
    share = (
        cv2.resize(mask, (high[0] - low[0], high[1] - low[1]), interpolation=cv2.INTER_AREA)[
            ..., None
        ]
        / 255
        * cover
    )
    part = light[low[1] : high[1], low[0] : high[0]]
    part[:] = part * (1 - share) + np.array(colour, np.float32) * share


def ring(xy: Array, radius: float, z: float, count: int = 120) -> Array:
    angle = np.arange(count) * 2 * np.pi / count
    return np.column_stack(
        [xy[0] + radius * np.cos(angle), xy[1] + radius * np.sin(angle), np.full(count, z)]
    )


def draw_piece(light: Canvas, camera: Camera, piece: Piece) -> None:
    """The cone of the base, its top, a stripe that shows which way it is turned, and a figure."""
    radius, high = piece.diameter_mm / 2, piece.z_mm + piece.height_mm
    lower, upper = (
        ring(piece.xy_mm, radius, piece.z_mm),
        ring(piece.xy_mm, radius - piece.taper_mm, high),
    )
    hull = cv2.convexHull(
        np.vstack([camera.project(lower), camera.project(upper)]).astype(np.float32)
    )[:, 0]
    fill(light, hull.astype(float), piece.rim)
    fill(light, camera.project(ring(piece.xy_mm, radius - piece.taper_mm - 1.2, high)), piece.top)
    front = ahead(piece.heading)
    for step, size, rise, share in (
        (0.25, 0.42, 8.0, 1.0),
        (0.1, 0.28, 22.0, 0.6),
        (0.5, 0.13, 14.0, 1.6),
    ):
        blob = ring(piece.xy_mm + front * radius * step, radius * size, high + rise, 40)
        fill(light, camera.project(blob), [min(value * share, 1.0) for value in piece.paint])


def draw_hand(
    light: Canvas, camera: Camera, xy: Array, away: Array, sleeve: Sequence[float]
) -> None:
    """Fingers over a place, a palm and an arm that leaves the table along `away`."""
    side = np.array([-away[1], away[0]])
    for at, radius in (
        (xy + away * 55 + 14, 60.0),
        (xy + away * 150 + 14, 55.0),
        (xy + away * 260 + 14, 60.0),
    ):
        fill(light, camera.project(ring(at, radius, 0.0)), (0, 0, 0), 0.35)
    for k in (-1, 0, 1):
        _limb(
            light,
            camera,
            xy + side * 20 * k + away * 4 * abs(k),
            xy + away * 60 + side * 14 * k,
            9.5,
            SKIN,
        )
    _limb(light, camera, xy + away * 60, xy + away * 95, 34.0, SKIN)
    _limb(light, camera, xy + away * 90, xy + away * 160, 24.0, SKIN)
    _limb(light, camera, xy + away * 150, xy + away * 1500, 36.0, sleeve)


def _limb(
    light: Canvas, camera: Camera, start: Array, end: Array, radius: float, colour: Sequence[float]
) -> None:
    ends = np.vstack([ring(start, radius, 30.0, 48), ring(end, radius, 45.0, 48)])
    pixels = camera.project(ends)
    fill(
        light,
        cv2.convexHull(pixels[np.isfinite(pixels).all(1)].astype(np.float32))[:, 0].astype(float),
        colour,
    )


def develop(light: Canvas, noise: Canvas) -> NDArray[np.uint8]:
    soft = cv2.GaussianBlur(np.clip(light, 0, 1), (0, 0), 0.6)
    return np.asarray(np.clip(np.rint(encode_srgb(soft) * 255 + noise), 0, 255), np.uint8)


# --- a film ---


def film(seed: int, wish: argparse.Namespace) -> Path:
    """Write one film, its board file and its truth; the film's path."""
    random = np.random.default_rng(seed)
    camera = camera_of(random)
    pieces = pieces_of(random)
    moves = moves_of(random, pieces, wish.moves)
    start = [_truth(piece) for piece in pieces]
    path: Path = wish.out / f"clip_{seed:03}.mp4"
    write(path, SIZE_PX, _pictures(random, camera, pieces, moves), "bgr24")
    truth = {
        "video": path.name,
        "pieces": start,
        "pieces_final": [_truth(piece) for piece in pieces],
        "moves": [move.truth(move.piece.id) for move in moves],
    }
    path.with_suffix(".json").write_text(json.dumps(truth, indent=1))
    Board("clip", 60.0, "DICT_4X4_50", BOARD_MM, BOARD_MM, corners_of()).save(
        path.with_suffix(".toml")
    )
    return path


def _pictures(
    random: Rng, camera: Camera, pieces: Sequence[Piece], moves: Sequence[Move]
) -> Iterator[NDArray[np.uint8]]:
    """The table at each step; the pieces are moved on as it goes."""
    sleeve = SLEEVE[int(random.integers(len(SLEEVE)))]
    mat = mat_of(random, camera)
    noises = [
        random.normal(0, 1.2, (SIZE_PX[1], SIZE_PX[0], 1)).astype(np.float32) for _ in range(4)
    ]
    arms = [ahead(random.uniform(0, 2 * np.pi)) for _ in moves]
    for step in range(int((moves[-1].hand_to_s + 1.5) * STEPS_PER_S)):
        light, now = mat.copy(), step / STEPS_PER_S
        for move in moves:
            if move.start_s <= now:
                move.piece.xy_mm, move.piece.z_mm, share = move.at(now)
                move.piece.heading = move.heading + share * move.turn
        for piece in pieces:
            draw_piece(light, camera, piece)
        for move, away in zip(moves, arms, strict=True):
            if move.hand_from_s <= now < move.hand_to_s:
                spot = move.at(now)[0] + move.grip + away * 700 * move.gone(now) ** 1.5
                draw_hand(light, camera, spot, away, sleeve)
        yield develop(light, noises[step % 4])


def _truth(piece: Piece) -> dict[str, Any]:
    x, y = piece.xy_mm.tolist()
    return {
        "id": piece.id,
        "shape": {"type": "circle", "diameter_mm": piece.diameter_mm},
        "x_mm": x,
        "y_mm": y,
    }


if __name__ == "__main__":
    films(parser_of(__doc__, 6, "out/clips"), film)
