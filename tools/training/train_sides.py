"""Train a look along sides: writes plate_edges.onnx, or another --model,, with its log.

python tools/training/train_sides.py draw  --out build/sides --traced build/shapes --blocks 14
python tools/training/train_sides.py learn --out build/sides --minutes 20
python tools/training/train_sides.py learn --out build/sides --minutes 5 --device cuda --workers 2

With --rectangles it draws those of bases under regiments, not of plates under ships.
"""

import argparse
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import cv2
import numpy as np
import torch
from numpy.typing import NDArray

from overruler.vision.learned.inference import WEIGHTS
from overruler.vision.plates.side_net import INPUT_CHANNELS, SAMPLES_ACROSS, SAMPLES_ALONG
from training.feeding import Draw, fed, read_all
from training.lessons.shapes.sides import SidesNet, drawn_block, loss, recoloured, traced_block
from training.loop import add_options, begin, check_of, export, reporting, train
from synthetic.arrays import Rng

HERE = Path(__file__).parent
MODEL = WEIGHTS / "plate_edges.onnx"
BATCH, RATE, TRACED = 192, 3e-3, 2.0
"""Traced strips count for so much more."""
SAY_EVERY, CHECK = 1000, 1500
"""The strips of the first block are kept for the check."""
Block = tuple[NDArray[np.float16], NDArray[np.float32]]
Batch = tuple[NDArray[np.float32], NDArray[np.float32]]


def main(arguments: Sequence[str] | None = None) -> None:
    options = _options(arguments)
    cv2.setNumThreads(1)
    {"draw": draw, "learn": learn}[options.what](options)


def draw(options: argparse.Namespace) -> None:
    """Strips of so many blocks of drawn photos, and of all traced tables of a folder."""
    options.out.mkdir(parents=True, exist_ok=True)
    if options.traced is not None:
        _write(
            options.out / "traced.npz",
            traced_block(sorted(options.traced.glob("r*.json")), not options.rectangles),
        )
    new = [
        path
        for number in range(options.blocks)
        if not (path := options.out / f"drawn_{number:03d}.npz").exists()
    ]
    read_all(partial(_draw_block, plates=not options.rectangles), new, options.workers)


def _draw_block(path: Path, plates: bool) -> None:
    _write(path, drawn_block(int(path.stem[-3:]), plates))


def _write(path: Path, block: Block) -> None:
    np.savez(path, strips=block[0], places=block[1])


def learn(options: argparse.Namespace) -> None:
    (check, *blocks), weights = _blocks(options.out)

    def strips(which: int) -> Draw:
        rng = np.random.default_rng([options.seed, which])
        return lambda: _batch(rng, blocks[int(rng.choice(len(blocks), p=weights))], options.batch)

    few = np.random.default_rng(0).permutation(len(check[1]))[:CHECK]
    pair = tuple(torch.from_numpy(part[few]).float() for part in check)
    head = f"seed {options.seed}  batch {options.batch}  blocks {len(blocks)}"
    log = HERE / "logs" / f"{options.model.stem}.log.txt"
    report = reporting(log, head, check_of([pair], loss), options.model.with_suffix(".pt"))
    net = train(
        begin(SidesNet, options), fed(strips, options.workers), loss, options, SAY_EVERY, report
    )
    export(
        net,
        options.model,
        (12, INPUT_CHANNELS, SAMPLES_ACROSS, SAMPLES_ALONG),
        ("strips", "places"),
        {0: "strips"},
    )


def _blocks(folder: Path) -> tuple[list[Block], NDArray[np.float64]]:
    """All strips, those kept for the check first, and how often each of the other blocks is learnt from."""
    paths = sorted(folder.glob("*.npz"))
    blocks = [(file["strips"], file["places"]) for file in map(np.load, paths)]
    weights = np.array(
        [
            len(places) * (TRACED if path.stem == "traced" else 1.0)
            for path, (_, places) in zip(paths, blocks, strict=True)
        ][1:]
    )
    return blocks, weights / weights.sum()


def _batch(rng: Rng, block: Block, count: int) -> Batch:
    chosen = rng.integers(0, len(block[1]), count)
    return recoloured(rng, block[0][chosen].astype(np.float32)), block[1][chosen]


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("draw", "learn"))
    parser.add_argument("--out", type=Path, required=True, help="folder of the strips")
    parser.add_argument(
        "--traced", type=Path, help="folder of traced tables, as train_shapes.py draws them"
    )
    parser.add_argument(
        "--rectangles", action="store_true", help="of bases under regiments, not of ships' plates"
    )
    parser.add_argument("--blocks", type=int, default=14, help="blocks of drawn photos")
    add_options(parser, 20.0, RATE, MODEL, BATCH)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main(sys.argv[1:])
