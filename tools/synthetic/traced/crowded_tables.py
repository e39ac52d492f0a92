"""Small photos of crowded tables, with the truth of all that stands on them."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from synthetic.arrays import Rng
from synthetic.camera import View, over_board
from synthetic.develop import camera_style, develop
from synthetic.things.figures import any_colour, figure, palette
from synthetic.things.materials import Material, Part
from synthetic.things.pieces import Piece
from synthetic.things.ships import any_ship
from synthetic.things.terrain import Terrain
from synthetic.traced.expose import ROUGH, expose
from synthetic.traced.spec import MATS, Spec, draw_spec
from synthetic.traced.table import Table, build
from synthetic.traced.tracer import Tracer
from synthetic.traced.truth import truth

GAMES, SHARES = ("xwing", "ranks", "inches", "legion"), (0.35, 0.2, 0.2, 0.25)
WIDTH_PX = 1000, 2200
"""Of a photo: from a large table filmed to a small one photographed."""
ANY_MAT, HANDS = 0.35, 0.15
"""The shares of tables that lie on another game's mat, and that somebody reaches over."""
ANYTHING, ANY_HILLS = 0.65, 0.6
"""The share of tables whose bases carry ships and figures of any kind and size, which hide more of what stands below;
and that of hills that are made of any stuff."""
GROWN = 0.0, 0.6
"""How long such ships usually are: the logarithm of their share of a plate's side."""


CLOSE_WIDTH_PX = 1400, 3200
"""Of a photo of which only what lies near bases is traced."""
CLOSE = 1.5
"""How far from a base's middle is near, in lengths of the base: ships and figures reach beyond theirs."""


def draw_table(
    seed: int, folder: Path, game: str | None = None, lookalikes: int = 0, close: bool = False
) -> None:
    """One photo and its truth, as `rNNNNN.jpg` and `.json`; nothing where they are there already.

    `lookalikes` round things that are no bases lie about. With `close` only what lies near bases is traced.
    """
    path = folder / f"r{seed:05d}.json"
    if path.exists():
        return
    spec, rng = table_spec(seed, game), np.random.default_rng([seed, 3])
    spec = replace(spec, lookalikes=lookalikes)
    view = over_board(spec.kind, spec.size_mm, spec.tilt_deg, rng)
    widths = CLOSE_WIDTH_PX if close else WIDTH_PX
    view = view.resized(np.exp(rng.uniform(*np.log(widths))) / view.size_px[0])
    table = build(spec, 0.8)
    if spec.game != "stands" and rng.random() < ANYTHING:
        table = _with_anything(table, rng)
    hills = [_any_hill(one, rng) if one.kind == "hill" else one for one in table.terrain]
    table = replace(table, terrain=hills)
    tracer = Tracer(table.parts, table.lights)
    habits = camera_style(spec.kind, spec.light in ("low", "lamp"), rng)
    near = near_bases(table.pieces, view) if close else None
    picture = develop(expose(tracer, view, ROUGH, where=near), habits, rng)
    facts = truth(f"r{seed:05d}.jpg", table, view, tracer, habits, 1.0)
    quality = [cv2.IMWRITE_JPEG_QUALITY, int(rng.integers(80, 95))]
    cv2.imwrite(str(path.with_suffix(".jpg")), picture[..., ::-1], quality)
    path.write_text(json.dumps(facts), encoding="utf-8")


def near_bases(pieces: Sequence[Piece], view: View) -> NDArray[np.bool_]:
    """The pixels (H, W) in which bases and their surroundings are seen."""
    angles = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    circle, near = np.column_stack([np.cos(angles), np.sin(angles)]), view.blank()
    for piece in pieces:
        around = [piece.x_mm, piece.y_mm] + CLOSE * piece.shape.length_mm * circle
        seen = view.pixels(around, piece.z_mm)
        if np.isfinite(seen).all():
            cv2.fillPoly(near, [np.round(seen).astype(np.int32)], 1)
    return near > 0


def table_spec(seed: int, game: str | None = None) -> Spec:
    """What the table of a seed is to show: a game's, or any."""
    rng = np.random.default_rng([seed, 11])
    game = game or str(rng.choice(GAMES, p=SHARES))
    spec = draw_spec(
        seed, str(rng.choice(["phone", "hd"])) if game in ("xwing", "ranks") else "phone", game
    )
    mats = sorted({mat for some in MATS.values() for mat in some} - {"hex"})
    return replace(
        spec,
        mat=str(rng.choice(mats)) if rng.random() < ANY_MAT else spec.mat,
        crowd=float(rng.uniform(1, 3 if game == "xwing" else 1.8)),
        tilt_deg=float(rng.uniform(0, 42)) if rng.random() < 0.5 else spec.tilt_deg,
        props=int(rng.integers(0, 9)),
        size_mm=(914.4, 914.4) if game == "legion" and rng.random() < 0.7 else spec.size_mm,
        hand=bool(rng.random() < HANDS),
    )


def _with_anything(table: Table, rng: Rng) -> Table:
    """The table with any ships over its plates, or any figures on its bases."""
    grown, paints = float(rng.uniform(*GROWN)), [palette(rng) for _ in range(4)]

    def parts(piece: Piece) -> list[Part]:
        foot = np.array([piece.x_mm, piece.y_mm, piece.z_mm + piece.stand.height_mm])
        turn, long = float(np.radians(piece.heading_deg)), piece.shape.length_mm
        some = paints[int(rng.integers(len(paints)))]
        if piece.figure == "ship":
            solids = any_ship(rng, foot[:2], turn, long, grown)
        else:
            solids = figure(rng, foot, piece.shape.width_mm / 2, some)
        return [solid.part(float(rng.uniform(0.0, 0.5))) for solid in solids]

    pieces = [replace(piece, figure_parts=parts(piece)) for piece in table.pieces]
    return replace(table, pieces=pieces)


def _any_hill(hill: Terrain, rng: Rng) -> Terrain:
    """The hill, often of other stuff; half of the time its sides are of the stuff of its top."""
    if rng.random() > ANY_HILLS:
        return hill
    top, side = (_any_stuff(rng) for _ in range(2))
    stuff = [top if rng.random() < 0.5 else side, top]
    return replace(
        hill,
        parts=[replace(part, material=one) for part, one in zip(hill.parts, stuff, strict=True)],
    )


def _any_stuff(rng: Rng) -> Material:
    colour = any_colour(rng)[::-1]
    second = colour * np.exp(rng.normal(-0.3, 0.3) + rng.normal(0, 0.1, 3))
    return Material(
        (float(colour[0]), float(colour[1]), float(colour[2])),
        (float(second[0]), float(second[1]), float(second[2])),
        grain=str(rng.choice(["fine", "sand", "cloud", "stone", "blades"])),
        grain_mm=float(rng.uniform(30, 150)),
        gloss=float(rng.uniform(0, 0.2)),
    )
