"""Train the finder of hills: writes src/overruler/vision/hills.onnx and its log in hills/.

python tools/train_hills.py draw  --out build/hills --blocks 40
python tools/train_hills.py learn --out build/hills --minutes 25
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from hills.learn import batch, figures, loss, put_right, read
from hills.network import HillNet
from hills.scene import Sample
from training.feeding import Draw, fed, read_all
from training.loop import add_options, begin, export, reporting, train

HERE = Path(__file__).parent
MODEL = HERE.parent / "src" / "overruler" / "vision" / "hills.onnx"
LOG = HERE / "hills" / "hills.log.txt"
SIZE_PX, BLOCK, TILES = 256, 200, 150
CHECK = 10**6
"""Tables from this number on are kept for the check."""
BATCH, RATE = 8, 4e-3
SAY_EVERY = 200


def main(arguments: Sequence[str] | None = None) -> None:
    options = _options(arguments)
    cv2.setNumThreads(1)
    {"draw": draw, "learn": learn}[options.what](options)


def draw(options: argparse.Namespace) -> None:
    from hills.mats import tiles

    options.out.mkdir(parents=True, exist_ok=True)
    stuff = tiles(options.seed, TILES)
    _draw_block(options, stuff, CHECK, "check")
    for first in range(0, options.blocks * BLOCK, BLOCK):
        _draw_block(options, stuff, first, "train")


def _draw_block(options: argparse.Namespace, stuff: Sequence[np.ndarray], first: int, kind: str) -> None:
    from hills.scene import sample

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
        [table for tables in read_all(read, sorted(options.out.glob(names)), options.workers) for table in tables]
        for names in ("train*.npz", "check*.npz")
    )

    def tables(which: int) -> Draw:
        rng = np.random.default_rng([options.seed, 5, which])
        return lambda: batch(drawn, rng, options.batch)

    head = f"seed {options.seed}  batch {options.batch}  tables {len(drawn)}"
    report = reporting(LOG, head, lambda net: figures(net, checks), options.model.with_suffix(".pt"))
    feed = fed(tables, options.workers)
    export(put_right(train(begin(HillNet, options), feed, loss, options, SAY_EVERY, report)), options.model)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("draw", "learn"))
    parser.add_argument("--out", type=Path, required=True, help="folder of the drawn tables")
    parser.add_argument("--blocks", type=int, default=40, help=f"blocks of {BLOCK} tables to draw")
    add_options(parser, 25.0, RATE, MODEL, BATCH)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main(sys.argv[1:])
