"""Render tables photographed from several sides, each photo with its exact truth, and the table's beside it.

    uv run --group render python tools/synthetic/render_views.py --count 2 --seed 700 --out out/views

writes v0700.json, v0700_v1.jpg, v0700_v1.json and so on: the same seed gives the same photos. Hills and roofs bear
pieces, walls and trees hide some. With `--move` a piece moves before the last photo.
"""

import argparse
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

from synthetic.printed_grids import FORMS
from synthetic.traced.spec import BOARDS_MM, Spec
from synthetic.traced.spec_of_views import KINDS, draw_views_spec


def main(argv: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(argv)
    if find_spec("embreex") is None:
        print(
            "rendering needs embreex: `uv run --group render python tools/synthetic/render_views.py …`",
            file=sys.stderr,
        )
        return 2
    from synthetic.traced.views import photograph_from_all_sides

    options.out.mkdir(parents=True, exist_ok=True)
    for seed in range(options.seed, options.seed + options.count):
        spec = draw_views_spec(seed, options.only)
        if options.layout:
            spec = replace(spec, layout=options.layout, markers=max(spec.markers, 6))
        if options.tilt_deg is not None:
            spec = replace(spec, tilt_deg=options.tilt_deg)
        if options.grid:
            spec = replace(spec, lines=(options.grid, options.cell_mm), mat=_cloth_of(spec))
        files = photograph_from_all_sides(
            f"v{seed:04d}", spec, options.kinds, options.scale, options.move, options.close_up_mm
        )
        for name, data in files.items():
            write(options.out / name, data)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=1, help="how many tables")
    parser.add_argument("--seed", type=int, default=1, help="the first table's seed")
    parser.add_argument("--only", choices=sorted(BOARDS_MM), help="the game; else the seed chooses")
    parser.add_argument("--layout", choices=("known", "free"), help="of the markers")
    parser.add_argument(
        "--kinds", nargs="+", default=list(KINDS), help="the camera of each photo, in order"
    )
    parser.add_argument("--scale", type=float, default=0.5, help="below 1: rougher and quicker")
    parser.add_argument("--grid", choices=FORMS, help="what is printed on the mat")
    parser.add_argument("--cell-mm", type=float, default=25.4, help="how wide a cell of it is")
    parser.add_argument(
        "--tilt-deg", type=float, help="of the cameras from straight above; else the seed chooses"
    )
    parser.add_argument("--move", action="store_true", help="a piece moves before the last photo")
    close_up = "how much of the table the last photo shows alone, about some piece"
    parser.add_argument("--close-up-mm", type=float, help=close_up)
    parser.add_argument("--out", type=Path, default=Path("out/views"), help="folder")
    return parser


def _cloth_of(spec: Spec) -> str:
    """The mat, or another one where there is none, or one with a grid."""
    return "grass" if spec.mat in ("none", "hex") else spec.mat


def write(path: Path, data: bytes | str) -> None:
    """Whole or not at all."""
    partial = path.with_name(path.name + ".part")
    partial.write_bytes(data if isinstance(data, bytes) else json.dumps(json.loads(data)).encode())
    os.replace(partial, path)


if __name__ == "__main__":
    sys.exit(main())
