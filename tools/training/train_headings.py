"""Train the look at which way ships face: writes plate_heading.onnx, with its log.

python tools/training/train_headings.py --minutes 30 --workers 1

Tables with ships are drawn as it learns; none is traced.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy as np
from torch import nn

from overruler.vision.learned.inference import WEIGHTS
from synthetic.from_above.fleet import fleet_sheet
from synthetic.arrays import Picture
from synthetic.mats import library
from training.feeding import Draw, Fresh, fed
from training.lessons.shapes.faces import FaceNet, export_face
from training.lessons.shapes.headings import Plates, Turned, batch, loss, plates_of
from training.loop import add_options, begin, check_of, checks_of, reporting, train

HERE = Path(__file__).parent
MODEL = WEIGHTS / "plate_heading.onnx"
LOG = HERE / "logs" / "plate_heading.log.txt"
BATCH, RATE = 32, 2e-3
TILES, DRAWN, KEPT = 60, 90, 60
"""Mats, drawn tables that are learnt from at a time, and others that are kept for the check."""
PLATES = 12, 30
"""So many on each table: what they have around them matters less than how many there are."""
PHOTOS_MM, FINE_MM = (0.45, 1.4), 1.0
"""What a pixel shows of the photos, and of the pictures from above."""
SAY_EVERY, CHECKS = 250, 12


def main(arguments: Sequence[str] | None = None) -> None:
    options = _options(arguments)
    cv2.setNumThreads(1)
    export_face(learn(options), options.model)


def learn(options: argparse.Namespace) -> nn.Module:
    """The running mean of the weights, after so many minutes."""
    mats = library(99, TILES)
    kept = [_drawn([options.seed, 10**6, k], mats) for k in range(KEPT)]
    checks = checks_of(lambda rng: batch(rng, kept, BATCH), CHECKS)

    def headings(which: int) -> Draw:
        rng, tiles = (
            np.random.default_rng([options.seed, 8, which]),
            library(1000 * options.seed + which, TILES),
        )
        fleets = Fresh(lambda k: _drawn([options.seed, which, k], tiles), DRAWN)
        return lambda: batch(rng, fleets.look(), options.batch)

    head = f"seed {options.seed}  batch {options.batch}"
    report = reporting(LOG, head, check_of(checks, loss), options.model.with_suffix(".pt"))
    feed = fed(headings, options.workers)
    net = Turned(begin(FaceNet, options, pictures=checks[0][0]))
    return train(net, feed, loss, options, SAY_EVERY, report).net


def _drawn(seed: Sequence[int], tiles: Sequence[Picture]) -> Plates:
    return plates_of(fleet_sheet(seed, tiles, PHOTOS_MM, FINE_MM, PLATES), FINE_MM)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_options(parser, 30.0, RATE, MODEL, BATCH)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main(sys.argv[1:])
