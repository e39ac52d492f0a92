"""Train the look at plates' whole faces: writes src/overruler/vision/plate_face.onnx.

python tools/train_faces.py --tables build/shapes --minutes 20

The tables are those that train_shapes.py traces; pieces of others are drawn as it learns.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy as np
import torch
from torch import nn

from overruler.vision.plate_face import INPUTS, SIDE_PX
from rims.mats import library
from shapes.crops import Floats, read_sheet
from shapes.drawn import drawn_sheet
from shapes.faces import FaceNet, Faces, batch, faces_of, loss
from shapes.feeding import Draw, Fresh, fed, held_out, read_all
from shapes.fleet import fleet_sheet
from shapes.lessons import add_options, checks_of, export, reporting, teach

HERE = Path(__file__).parent
MODEL = HERE.parent / "src" / "overruler" / "vision" / "plate_face.onnx"
BATCH, RATE = 64, 3e-3
TILES, DRAWN = 60, 40
"""Mats, and drawn tables of each kind that lie on them."""
SAY_EVERY, CHECKS = 1000, 12
SHARES = 0.5, 0.42, 0.08
"""Of traced tables, and of drawn ones with ships or without."""


def main(arguments: Sequence[str] | None = None) -> None:
    options = _options(arguments)
    cv2.setNumThreads(1)
    torch.set_num_threads(1)
    torch.manual_seed(options.seed)
    net = FaceNet()
    if options.start is not None:
        net.load_state_dict(torch.load(options.start, "cpu"))
    example = (4, INPUTS, SIDE_PX, SIDE_PX)
    export(learn(net, options), options.model, example, ("pictures", "odds"), {0: "pictures"})


def learn(net: nn.Module, options: argparse.Namespace) -> nn.Module:
    """The running mean of the weights, after so many minutes."""
    tables = read_all(_read, sorted(options.tables.glob("*.json")), options.workers)
    kept, traced = held_out(tables)
    checks = checks_of(lambda rng: batch(rng, kept, BATCH), CHECKS)

    def faces(which: int) -> Draw:
        """Batches of traced tables, and of drawn ones."""
        rng, tiles = np.random.default_rng([options.seed, 6, which]), library(1000 * options.seed + which, TILES)
        fleets = Fresh(lambda k: faces_of(fleet_sheet([options.seed, which, k], tiles)), DRAWN)
        others = Fresh(lambda k: faces_of(drawn_sheet([options.seed, which, k], tiles)), DRAWN)

        def draw() -> tuple[Floats, Floats]:
            counts = rng.multinomial(options.batch, SHARES)
            kinds = traced, fleets.look(), others.look()
            parts = [batch(rng, some, int(n)) for some, n in zip(kinds, counts, strict=True) if n]
            return np.concatenate([a for a, _ in parts]), np.concatenate([b for _, b in parts])

        return draw

    said = reporting([], checks, loss, options.model)
    return teach(net, fed(faces, options.workers), loss, options, SAY_EVERY, said)


def _read(path: Path) -> Faces:
    return faces_of(read_sheet(path))


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=Path, required=True, help="folder of the tables")
    add_options(parser, 20.0, RATE, MODEL, BATCH)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main(sys.argv[1:])
