"""Train the look for round and oval bases: writes src/overruler/vision/discs.onnx and its log in shapes/.

python tools/train_discs.py --traced RENDERS --minutes 30
python tools/train_discs.py --traced RENDERS --minutes 8 --device cuda --workers 4 --batch 64

RENDERS holds traced tables with their truth; pieces of other tables are drawn as it learns.
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
from shapes.discs import batch, drawn_discs, loss, read_discs
from shapes.feeding import Draw, Fresh, fed, held_out, read_all
from shapes.lessons import add_options, checks_of, export, reporting, teach
from shapes.network import OverviewNet

HERE = Path(__file__).parent
MODEL = HERE.parent / "src" / "overruler" / "vision" / "discs.onnx"
RATE, TRACED = 3e-3, 0.4
"""The last: the share of batches that are of traced tables."""
CHANNELS, TILES, DRAWN, SAY_EVERY, CHECKS = 9, 60, 60, 1000, 12


def main(arguments: Sequence[str] | None = None) -> None:
    options = _options(arguments)
    cv2.setNumThreads(1)
    torch.set_num_threads(1)
    torch.manual_seed(options.seed)
    learn(options)


def network(start: Path | None) -> OverviewNet:
    """A new one; its eyes those of another that looks from above, where that is given."""
    net = OverviewNet(channels=CHANNELS)
    nn.init.zeros_(net.net[-1].bias)
    net.net[-1].bias.data[[0, 4]] = -4.0
    if start is not None:
        known, new = torch.load(start, "cpu"), net.state_dict()
        net.load_state_dict({name: known[name] if known[name].shape == new[name].shape else new[name] for name in new})
    return net


def learn(options: argparse.Namespace) -> None:
    tables = read_all(read_discs, sorted(options.traced.glob("*.json")), options.workers)
    kept, traced = held_out(tables)
    checks = checks_of(lambda rng: batch(rng, kept, 16), CHECKS)
    lines = [f"seed {options.seed}  batch {options.batch}  traced {len(traced)}"]

    def crops(which: int) -> Draw:
        """Batches of traced tables, and of drawn ones."""
        rng, tiles = np.random.default_rng([options.seed, 5, which]), library(1000 * options.seed + which, TILES)
        drawn = Fresh(lambda k: drawn_discs([options.seed, which, k], tiles), DRAWN)
        return lambda: batch(rng, traced if rng.random() < TRACED else drawn.look(), options.batch)

    said = reporting(lines, checks, loss, options.model)
    feed = fed(crops, options.workers)
    export(teach(network(options.start), feed, loss, options, SAY_EVERY, said), options.model)
    (HERE / "shapes" / "discs.log.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--traced", type=Path, required=True, help="folder of traced tables with their truth")
    add_options(parser, 30.0, RATE, MODEL)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main(sys.argv[1:])
