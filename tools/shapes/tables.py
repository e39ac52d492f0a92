"""Small photos of crowded tables, with the truth of all that stands on them."""

import json
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np

from render.develop import develop, style
from render.expose import ROUGH, expose
from render.lens import over_board
from render.spec import MATS, Spec, draw_spec
from render.table import build
from render.tracer import Tracer
from render.truth import truth

GAMES, SHARES = ("xwing", "ranks", "inches", "legion"), (0.35, 0.2, 0.2, 0.25)
WIDTH_PX = 1000, 2200
"""Of a photo: from a large table filmed to a small one photographed."""
ANY_MAT, HANDS = 0.35, 0.15
"""The shares of tables that lie on another game's mat, and that somebody reaches over."""


def draw_table(seed: int, folder: Path, game: str | None = None) -> None:
    """One photo and its truth, as `rNNNNN.jpg` and `.json`; nothing where they are there already."""
    path = folder / f"r{seed:05d}.json"
    if path.exists():
        return
    spec, rng = table_spec(seed, game), np.random.default_rng([seed, 3])
    view = over_board(spec.kind, spec.size_mm, spec.tilt_deg, rng)
    view = view.shrunk(np.exp(rng.uniform(*np.log(WIDTH_PX))) / view.size_px[0])
    table = build(spec, 0.8)
    tracer, habits = Tracer(table.parts, table.lights), style(spec.kind, spec.light in ("low", "lamp"), rng)
    picture = develop(expose(tracer, view, ROUGH), habits, rng)
    facts = truth(f"r{seed:05d}.jpg", table, view, tracer, habits, 1.0)
    cv2.imwrite(
        str(path.with_suffix(".jpg")), picture[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, int(rng.integers(80, 95))]
    )
    path.write_text(json.dumps(facts), encoding="utf-8")


def table_spec(seed: int, game: str | None = None) -> Spec:
    """What the table of a seed is to show: a game's, or any."""
    rng = np.random.default_rng([seed, 11])
    game = game or str(rng.choice(GAMES, p=SHARES))
    spec = draw_spec(seed, str(rng.choice(["phone", "hd"])) if game in ("xwing", "ranks") else "phone", game)
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
