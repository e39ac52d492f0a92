"""Train the look for round and oval bases: writes src/overruler/vision/discs.onnx and its log in shapes/.

python tools/train_discs.py draw  --out build/discs --sheets 400
python tools/train_discs.py learn --out build/discs --traced RENDERS --minutes 30
"""

import argparse
import pickle
import sys
from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy as np
import torch
from torch import nn

from shapes.crops import Floats, Sheet
from shapes.discs import batch, drawn_discs, loss, read_discs
from shapes.lessons import add_options, checked, export, teach
from shapes.network import OverviewNet

HERE = Path(__file__).parent
MODEL = HERE.parent / "src" / "overruler" / "vision" / "discs.onnx"
BATCH, RATE, TRACED = 16, 3e-3, 0.3
"""The last: the share of crops that are of traced tables."""
CHANNELS, BLOCK, TILES, SAY_EVERY, CHECKS = 9, 50, 50, 100, 6


def main(arguments: Sequence[str] | None = None) -> None:
    options = _options(arguments)
    cv2.setNumThreads(1)
    torch.set_num_threads(1)
    {"draw": draw, "learn": learn}[options.what](options)


def draw(options: argparse.Namespace) -> None:
    """Pieces of tables, drawn."""
    from rims.mats import library

    options.out.mkdir(parents=True, exist_ok=True)
    for first in range(0, options.sheets, BLOCK):
        path = options.out / f"discs_{first:05d}.pkl"
        if not path.exists():
            tiles = library(options.seed + first, TILES)
            path.write_bytes(pickle.dumps([drawn_discs([options.seed, first + k], tiles) for k in range(BLOCK)]))


def network(start: Path | None) -> OverviewNet:
    """A new one; its eyes those of another that looks from above, where that is given."""
    net = OverviewNet(channels=CHANNELS)
    nn.init.zeros_(net.net[-1].bias)
    net.net[-1].bias.data[[0, 4]] = -4.0
    if start is not None:
        known, new = torch.load(start), net.state_dict()
        net.load_state_dict({name: known[name] if known[name].shape == new[name].shape else new[name] for name in new})
    return net


def learn(options: argparse.Namespace) -> None:
    torch.manual_seed(options.seed)
    net = network(options.start)
    drawn, traced = _drawn(options.out), [read_discs(path) for path in sorted(options.traced.glob("*.json"))]
    kept, drawn = drawn[:BLOCK], drawn[BLOCK:]
    rng = np.random.default_rng(77)
    checks = [tuple(map(torch.from_numpy, batch(rng, kept, BATCH))) for _ in range(CHECKS)]
    rng, lines = np.random.default_rng([options.seed, 5]), [f"seed {options.seed}"]

    def crops() -> tuple[Floats, Floats]:
        return batch(rng, traced if traced and rng.random() < TRACED else drawn, BATCH)

    def said(steps: int, lost: float, mean: nn.Module) -> None:
        drawn[:] = _drawn(options.out)[BLOCK:]
        check = f"check {checked(mean, checks, loss):.4f}  sheets {len(drawn)} + {len(traced)}"
        lines.append(f"step {steps:5d}  loss {lost:.4f}  {check}")
        print(lines[-1], flush=True)
        torch.save(mean.state_dict(), options.out / "discs.pt")

    export(teach(net, crops, loss, options, SAY_EVERY, said), options.model)
    (HERE / "shapes" / "discs.log.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _drawn(folder: Path) -> list[Sheet]:
    return [sheet for path in sorted(folder.glob("discs_*.pkl")) for sheet in pickle.loads(path.read_bytes())]


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("draw", "learn"))
    parser.add_argument("--out", type=Path, required=True, help="folder of the drawn pieces")
    parser.add_argument("--sheets", type=int, default=400, help="pieces of tables to draw")
    parser.add_argument("--traced", type=Path, help="folder of traced tables with their truth")
    add_options(parser, 30.0, RATE, MODEL)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main(sys.argv[1:])
