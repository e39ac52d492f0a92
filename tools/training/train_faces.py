"""Train the look at plates' whole faces: writes plate_face.onnx, with its log.

python tools/training/train_faces.py --tables build/shapes --minutes 20

The tables are those that train_shapes.py traces; pieces of others are drawn as it learns.
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
from synthetic.from_above.quick_tables import drawn_sheet
from synthetic.mats import library
from training.feeding import Draw, Fresh, fed, held_out, mixed, read_all
from training.lessons.shapes.crops import read_sheet
from training.lessons.shapes.faces import FaceNet, Faces, batch, export_face, faces_of, loss
from training.loop import add_options, begin, check_of, checks_of, reporting, train

HERE = Path(__file__).parent
MODEL = WEIGHTS / "plate_face.onnx"
LOG = HERE / "logs" / "plate_face.log.txt"
BATCH, RATE = 64, 3e-3
TILES, DRAWN = 60, 40
"""Mats, and drawn tables of each kind that lie on them."""
SAY_EVERY, CHECKS = 1000, 12
SHARES = 0.5, 0.42, 0.08
"""Of traced tables, and of drawn ones with ships or without."""


def main(arguments: Sequence[str] | None = None) -> None:
    options = _options(arguments)
    cv2.setNumThreads(1)
    export_face(learn(options), options.model)


def learn(options: argparse.Namespace) -> nn.Module:
    """The running mean of the weights, after so many minutes."""
    tables = read_all(_read, sorted(options.tables.glob("*.json")), options.workers)
    kept, traced = held_out(tables)
    checks = checks_of(lambda rng: batch(rng, kept, BATCH), CHECKS)

    def faces(which: int) -> Draw:
        """Batches of traced tables, and of drawn ones."""
        rng, tiles = (
            np.random.default_rng([options.seed, 6, which]),
            library(1000 * options.seed + which, TILES),
        )
        fleets = Fresh(lambda k: faces_of(fleet_sheet([options.seed, which, k], tiles)), DRAWN)
        others = Fresh(lambda k: faces_of(drawn_sheet([options.seed, which, k], tiles)), DRAWN)

        looks = (lambda: traced), fleets.look, others.look
        kinds = [lambda n, look=look: batch(rng, look(), n) for look in looks]
        return lambda: mixed(rng, options.batch, SHARES, kinds)

    head = f"seed {options.seed}  batch {options.batch}  traced {len(traced)}"
    report = reporting(LOG, head, check_of(checks, loss), options.model.with_suffix(".pt"))
    feed = fed(faces, options.workers)
    return train(
        begin(FaceNet, options, pictures=checks[0][0]), feed, loss, options, SAY_EVERY, report
    )


def _read(path: Path) -> Faces:
    return faces_of(read_sheet(path))


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tables", type=Path, required=True, help="folder of the tables")
    add_options(parser, 20.0, RATE, MODEL, BATCH)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main(sys.argv[1:])
