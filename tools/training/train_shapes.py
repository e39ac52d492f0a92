"""Train the finder of plates, ovals and rectangles: writes overview.onnx, with its log.

python tools/training/train_shapes.py draw  --tables build/shapes --count 300
python tools/training/train_shapes.py learn --tables build/shapes --minutes 60
python tools/training/train_shapes.py learn --tables build/shapes --minutes 8 --device cuda --workers 4 --batch 64

`draw` traces tables; pieces of others are drawn as it learns.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy as np

from overruler.vision.learned.inference import WEIGHTS
from synthetic.from_above.fleet import fleet_sheet
from synthetic.from_above.quick_tables import drawn_sheet
from synthetic.mats import library
from training.feeding import Draw, Fresh, fed, held_out, read_all
from training.lessons.shapes.crops import Floats, batch, read_sheet
from training.lessons.shapes.lessons import loss
from training.lessons.shapes.network import OverviewNet
from training.loop import add_options, begin, check_of, checks_of, export, reporting, train

HERE = Path(__file__).parent
MODEL = WEIGHTS / "overview.onnx"
LOG = HERE / "logs" / "overview.log.txt"
RATE = 3e-3
SAY_EVERY, CHECKS = 1000, 12
TILES, FLEETS, OTHERS = 60, 60, 20
"""Mats, and drawn tables with ships and without that lie on them."""
TRACED, FLEET = 0.5, 0.8
"""The share of batches that are of traced tables, and that of tables with ships among the drawn ones."""


def main(arguments: Sequence[str] | None = None) -> None:
    options = _options(arguments)
    cv2.setNumThreads(1)
    {"draw": draw, "learn": learn}[options.what](options)


def draw(options: argparse.Namespace) -> None:
    from synthetic.traced.crowded_tables import draw_table

    options.tables.mkdir(parents=True, exist_ok=True)
    for seed in range(options.seed, options.seed + options.count):
        draw_table(seed, options.tables, options.game)


def learn(options: argparse.Namespace) -> None:
    tables = read_all(read_sheet, sorted(options.tables.glob("*.json")), options.workers)
    kept, traced = held_out(tables)
    checks = checks_of(lambda rng: batch(rng, kept, 16), CHECKS)

    def crops(which: int) -> Draw:
        """Batches of traced tables, and of drawn ones."""
        rng, tiles = (
            np.random.default_rng([options.seed, 5, which]),
            library(1000 * options.seed + which, TILES),
        )
        fleets = Fresh(lambda k: fleet_sheet([options.seed, which, k], tiles), FLEETS)
        others = Fresh(lambda k: drawn_sheet([options.seed, which, k], tiles), OTHERS)

        def draw() -> tuple[Floats, Floats]:
            drawn = fleets if rng.random() < FLEET else others
            return batch(rng, traced if rng.random() < TRACED else drawn.look(), options.batch)

        return draw

    head = f"seed {options.seed}  batch {options.batch}  traced {len(traced)}"
    report = reporting(LOG, head, check_of(checks, loss), options.model.with_suffix(".pt"))
    feed = fed(crops, options.workers)
    net = begin(OverviewNet, options, pictures=checks[0][0])
    export(train(net, feed, loss, options, SAY_EVERY, report), options.model)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("draw", "learn"))
    parser.add_argument("--tables", type=Path, required=True, help="folder of the traced tables")
    parser.add_argument("--count", type=int, default=300, help="tables to trace")
    parser.add_argument(
        "--game", help="trace tables of this game alone: xwing, ranks, inches, legion"
    )
    add_options(parser, 60.0, RATE, MODEL)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main(sys.argv[1:])
