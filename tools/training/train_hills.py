"""Train the finder of hills: writes hills.onnx, with its log.

python tools/training/train_hills.py draw  --out build/hills --blocks 40
python tools/training/train_hills.py learn --out build/hills --minutes 25 --traced build/shapes
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from torch import nn

from overruler.vision.learned.inference import WEIGHTS
from synthetic.from_above.hills.scene import Sample
from training.feeding import Draw, fed, held_out, mixed, read_all
from training.lessons.hills.learn import batch, begun, figures, lesson, loss, put_right, read
from training.lessons.hills.traced import read_traced
from training.loop import add_options, export, reporting, train

HERE = Path(__file__).parent
MODEL = WEIGHTS / "hills.onnx"
LOG = HERE / "logs" / "hills.log.txt"
SIZE_PX, BLOCK, TILES = 256, 200, 150
CHECK = 10**6
"""Tables from this number on are kept for the check."""
BATCH, RATE = 8, 4e-3
SAY_EVERY = 200
TRACED = 0.4
"""The share of lessons that are of traced tables, where there are such."""


def main(arguments: Sequence[str] | None = None) -> None:
    options = _options(arguments)
    cv2.setNumThreads(1)
    {"draw": draw, "learn": learn}[options.what](options)


def draw(options: argparse.Namespace) -> None:
    from synthetic.from_above.hills.mats import tiles

    options.out.mkdir(parents=True, exist_ok=True)
    stuff = tiles(options.seed, TILES)
    _draw_block(options, stuff, CHECK, "check")
    for first in range(0, options.blocks * BLOCK, BLOCK):
        _draw_block(options, stuff, first, "train")


def _draw_block(
    options: argparse.Namespace, stuff: Sequence[np.ndarray], first: int, kind: str
) -> None:
    from synthetic.from_above.hills.scene import sample

    path = options.out / f"{kind}{options.seed}_{first:07d}.npz"
    if path.exists():
        return
    some = [sample([options.seed, first + k], stuff, SIZE_PX) for k in range(BLOCK)]
    columns: dict[str, Any] = {
        field.name: np.stack([getattr(one, field.name) for one in some]) for field in fields(Sample)
    }
    partly = path.with_suffix(".part")
    with partly.open("wb") as file:
        np.savez(file, **columns)
    partly.rename(path)


def learn(options: argparse.Namespace) -> None:
    drawn, checks = (
        _together(read_all(read, sorted(options.out.glob(f"{kind}*.npz")), options.workers))
        for kind in ("train", "check")
    )
    paths = sorted(options.traced.glob("*.json")) if options.traced else []
    kept, traced = map(
        _together, held_out(read_all(partial(read_traced, size_px=SIZE_PX), paths, options.workers))
    )
    shares = np.array([1 - TRACED, TRACED]) * [len(drawn) > 0, len(traced) > 0]

    def tables(which: int) -> Draw:
        rng = np.random.default_rng([options.seed, 5, which])
        kinds = [partial(batch, some, rng) for some in (drawn, traced)]
        return lambda: mixed(rng, options.batch, shares / shares.sum(), kinds)

    def check(net: nn.Module) -> str:
        return "  ".join(
            f"{kind}: {figures(net, some)}"
            for kind, some in (("drawn", checks), ("traced", kept))
            if some
        )

    head = (
        f"seed {options.seed}  batch {options.batch}  pieces of tables {len(drawn)} + {len(traced)}"
    )
    report = reporting(LOG, head, check, options.model.with_suffix(".pt"))
    net = begun(options, np.stack([lesson(one, None)[0] for one in checks[::4]]))
    export(
        put_right(train(net, fed(tables, options.workers), loss, options, SAY_EVERY, report)),
        options.model,
    )


def _together(tables: Sequence[Sequence[Sample]]) -> list[Sample]:
    return [one for some in tables for one in some]


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("draw", "learn"))
    parser.add_argument("--out", type=Path, required=True, help="folder of the drawn tables")
    parser.add_argument("--traced", type=Path, help="folder of traced tables with their truth")
    parser.add_argument("--blocks", type=int, default=40, help=f"blocks of {BLOCK} tables to draw")
    add_options(parser, 25.0, RATE, MODEL, BATCH)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main(sys.argv[1:])
