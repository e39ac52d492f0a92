"""Train the finder of plates, ovals and rectangles: writes src/overruler/vision/overview.onnx and its log in shapes/.

python tools/train_shapes.py draw  --tables build/shapes --count 300
python tools/train_shapes.py learn --tables build/shapes --minutes 60
python tools/train_shapes.py learn --tables build/shapes --minutes 8 --device cuda --workers 4 --batch 64

`draw` traces tables; pieces of others are drawn as it learns.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy as np
import torch
from torch import nn

from rims.mats import library
from shapes.crops import Floats, batch, read_sheet
from shapes.drawn import drawn_sheet
from shapes.feeding import Draw, fed, read_all
from shapes.fleet import fleet_sheet
from shapes.lessons import add_options, checked, export, loss, teach
from shapes.network import OverviewNet

HERE = Path(__file__).parent
MODEL = HERE.parent / "src" / "overruler" / "vision" / "overview.onnx"
RATE = 3e-3
HELD_OUT = 10
"""One traced table in so many is kept for the check."""
SAY_EVERY, CHECKS = 1000, 12
TILES, DRAWN = 60, (60, 20)
"""Mats, and drawn tables of each kind that lie on them."""
KINDS = fleet_sheet, drawn_sheet
TRACED, FLEET = 0.4, 0.8
"""The share of batches that are of traced tables, and that of tables with ships among the drawn ones."""


def main(arguments: Sequence[str] | None = None) -> None:
    options = _options(arguments)
    cv2.setNumThreads(1)
    torch.set_num_threads(1)
    torch.manual_seed(options.seed)
    {"draw": draw, "learn": learn}[options.what](options)


def draw(options: argparse.Namespace) -> None:
    from shapes.tables import draw_table

    options.tables.mkdir(parents=True, exist_ok=True)
    for seed in range(options.seed, options.seed + options.count):
        draw_table(seed, options.tables)


def learn(options: argparse.Namespace) -> None:
    tables = read_all(read_sheet, sorted(options.tables.glob("*.json")), options.workers)
    kept, traced = tables[::HELD_OUT], [table for k, table in enumerate(tables) if k % HELD_OUT]
    rng = np.random.default_rng(77)
    checks = [tuple(map(torch.from_numpy, batch(rng, kept, 16))) for _ in range(CHECKS)]
    lines = [f"seed {options.seed}  batch {options.batch}  traced {len(traced)}"]

    def crops(which: int) -> Draw:
        """Batches of traced tables, and of drawn ones, of which one in the place of another is drawn for each."""
        rng, tiles = np.random.default_rng([options.seed, 5, which]), library(1000 * options.seed + which, TILES)
        drawn = [
            [sheet([options.seed, which, k], tiles) for k in range(n)] for sheet, n in zip(KINDS, DRAWN, strict=True)
        ]
        count = max(DRAWN)

        def draw() -> tuple[Floats, Floats]:
            nonlocal count
            kind = int(rng.random() > FLEET)
            drawn[kind][count % DRAWN[kind]] = KINDS[kind]([options.seed, which, count], tiles)
            count += 1
            return batch(rng, traced if rng.random() < TRACED else drawn[kind], options.batch)

        return draw

    def said(steps: int, lost: float, mean: nn.Module) -> None:
        lines.append(f"step {steps:5d}  loss {lost:.4f}  check {checked(mean, checks, loss):.4f}")
        print(lines[-1], flush=True)
        torch.save(mean.state_dict(), options.model.with_suffix(".pt"))

    net = OverviewNet()
    if options.start is not None:
        net.load_state_dict(torch.load(options.start, "cpu"))
    export(teach(net, fed(crops, options.workers), loss, options, SAY_EVERY, said), options.model)
    (HERE / "shapes" / "overview.log.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("draw", "learn"))
    parser.add_argument("--tables", type=Path, required=True, help="folder of the traced tables")
    parser.add_argument("--count", type=int, default=300, help="tables to trace")
    add_options(parser, 60.0, RATE, MODEL)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main(sys.argv[1:])
