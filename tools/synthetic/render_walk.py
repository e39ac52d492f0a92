"""Render a film of a walk round a table, with the table's truth beside it.

    uv run --group render --extra video python tools/synthetic/render_walk.py --seed 740 --out out/walks

writes w0740_v1.mp4, w0740_v1.json and w0740.json: as `render_views.py` for one view, the film in place
of the photo. The camera halts on each side and shakes on its way to the next: in every other picture all
is smeared.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import cv2
import numpy as np

from synthetic.arrays import Picture, Rng
from synthetic.camera import View, over_board
from synthetic.develop import camera_style, develop
from synthetic.filming import write as write_film
from synthetic.render_views import write
from synthetic.traced.spec import BOARDS_MM, Spec
from synthetic.traced.spec_of_views import draw_views_spec

KIND = "hd"
SMEAR_PX = 15
"""Length of the smear of a shaken picture, in px."""


def main(argv: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(argv)
    if find_spec("embreex") is None:
        print("rendering needs embreex: `uv run --group render python …`", file=sys.stderr)
        return 2
    options.out.mkdir(parents=True, exist_ok=True)
    name = f"w{options.seed:04d}"
    spec = draw_views_spec(options.seed, options.only)
    files, pictures, size_px = _walk(name, spec, options.sides, options.scale)
    for file, data in files.items():
        write(options.out / file, data)
    write_film(options.out / f"{name}_v1.mp4", size_px, pictures)
    return 0


def _walk(
    name: str, spec: Spec, sides: int, scale: float
) -> tuple[dict[str, str], Iterator[Picture], tuple[int, int]]:
    """The files beside the film, and its pictures."""
    from synthetic.traced.table import build
    from synthetic.traced.tracer import Tracer
    from synthetic.traced.truth import truth
    from synthetic.traced.views import TEXEL_MM, whole

    table = build(spec, TEXEL_MM)
    rng = np.random.default_rng([spec.seed, 8])
    tracer = Tracer(table.parts, table.lights)
    habits = camera_style(KIND, spec.light in ("low", "lamp"), rng)
    views = _views(spec, sides, rng)
    facts = [
        truth(f"{name}_v1.mp4", table, view, tracer, habits, scale) for view in views[:: sides // 3]
    ]
    summary = {**whole(name, spec, facts, []), "views": [f"{name}_v1.mp4"]}
    files = {f"{name}.json": json.dumps(summary), f"{name}_v1.json": json.dumps(facts[0])}
    return files, _pictures(tracer, views, rng, scale), views[0].size_px


def _views(spec: Spec, sides: int, rng: Rng) -> list[View]:
    """The camera on each side; its lens stays."""
    first_deg = float(rng.uniform(0, 360))
    views: list[View] = []
    for k in range(sides):
        view = over_board(KIND, spec.size_mm, spec.tilt_deg, rng, first_deg + k * 360 / sides)
        lens = (views or [view])[0].camera
        views.append(replace(view, camera=view.camera.with_lens(lens.matrix, lens.distortion)))
    return views


def _pictures(tracer: "object", views: Sequence[View], rng: Rng, scale: float) -> Iterator[Picture]:
    """A smeared picture and a sharp one from each side, each shown for three tenths of a second."""
    from synthetic.traced.expose import ROUGH, expose
    from synthetic.traced.tracer import Tracer
    from synthetic.traced.views import enlarge

    assert isinstance(tracer, Tracer)
    habits = camera_style(KIND, False, rng)
    smear = np.full((1, SMEAR_PX), 1 / SMEAR_PX, np.float32)
    for view in views:
        light = enlarge(expose(tracer, view.resized(scale), ROUGH), view.size_px)
        for shaken in (True, False):
            shown = np.asarray(cv2.filter2D(light, -1, smear), np.float32) if shaken else light
            picture = develop(shown, habits, rng)
            yield from [picture] * 3


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=sorted(BOARDS_MM), help="the game; else the seed chooses")
    parser.add_argument("--sides", type=int, default=9, help="from how many sides")
    parser.add_argument("--scale", type=float, default=0.5, help="below 1: rougher and quicker")
    parser.add_argument("--out", type=Path, default=Path("out/walks"), help="folder")
    return parser


if __name__ == "__main__":
    sys.exit(main())
