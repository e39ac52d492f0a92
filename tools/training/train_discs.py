"""Train the look for round and oval bases: writes discs.onnx, with its log.

python tools/training/train_discs.py --traced RENDERS --minutes 30
python tools/training/train_discs.py --traced RENDERS --minutes 8 --device cuda --workers 4 --batch 64

RENDERS holds traced tables with their truth; pieces of other tables are drawn as it learns.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy as np
from torch import nn

from overruler.vision.learned.inference import WEIGHTS
from synthetic.mats import library
from training.feeding import Draw, Fresh, fed, held_out, read_all
from training.lessons.shapes.discs import batch, drawn_discs, loss, read_discs
from training.lessons.shapes.network import OverviewNet
from training.loop import add_options, begin, check_of, checks_of, export, reporting, train

HERE = Path(__file__).parent
MODEL, LOG = (
    WEIGHTS / "discs.onnx",
    HERE / "logs" / "discs.log.txt",
)
RATE, TRACED = 3e-3, 0.4
"""The last: the share of batches that are of traced tables."""
CHANNELS, TILES, DRAWN, SAY_EVERY, CHECKS = 9, 60, 60, 1000, 12


def main(arguments: Sequence[str] | None = None) -> None:
    options = _options(arguments)
    cv2.setNumThreads(1)
    learn(options)


def network() -> OverviewNet:
    net = OverviewNet(channels=CHANNELS)
    nn.init.zeros_(net.net[-1].bias)
    net.net[-1].bias.data[[0, 4]] = -4.0
    return net


def learn(options: argparse.Namespace) -> None:
    tables = read_all(read_discs, sorted(options.traced.glob("*.json")), options.workers)
    kept, traced = held_out(tables)
    checks = checks_of(lambda rng: batch(rng, kept, 16), CHECKS)

    def crops(which: int) -> Draw:
        """Batches of traced tables, and of drawn ones."""
        rng, tiles = (
            np.random.default_rng([options.seed, 5, which]),
            library(1000 * options.seed + which, TILES),
        )
        drawn = Fresh(lambda k: drawn_discs([options.seed, which, k], tiles), DRAWN)
        return lambda: batch(rng, traced if rng.random() < TRACED else drawn.look(), options.batch)

    # another's weights that looks from above will do: only its last layer differs
    net = begin(network, options, alike=False, pictures=checks[0][0])
    head = f"seed {options.seed}  batch {options.batch}  traced {len(traced)}"
    report = reporting(LOG, head, check_of(checks, loss), options.model.with_suffix(".pt"))
    export(train(net, fed(crops, options.workers), loss, options, SAY_EVERY, report), options.model)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--traced", type=Path, required=True, help="folder of traced tables with their truth"
    )
    add_options(parser, 30.0, RATE, MODEL)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main(sys.argv[1:])
