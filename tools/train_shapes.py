"""Train the finder of plates, ovals and rectangles: writes src/overruler/vision/overview.onnx and its log in shapes/.

python tools/train_shapes.py draw  --out build/shapes --count 36 --drawn 270
python tools/train_shapes.py learn --out build/shapes --steps 2000
"""

import argparse
import copy
import pickle
import sys
import time
from collections import deque
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import torch
from torch import Tensor
from torch.multiprocessing import get_context

from rims.mats import Picture
from shapes.crops import Floats, Sheet, batch, read_sheet
from shapes.lessons import checked, export, follow, loss, share, step
from shapes.network import OverviewNet

HERE = Path(__file__).parent
MODEL = HERE.parent / "src" / "overruler" / "vision" / "overview.onnx"
BATCH, RATE = 16, 3e-3
HELD_OUT = 10
"""One table in so many is kept for the check."""
SAY_EVERY, CHECKS = 100, 6
BLOCK, TILES = 90, 60
"""Drawn sheets in a file, and mats that they lie on."""
FRESH = 5
"""A step in so many draws one table with ships anew, in the place of another: none is learnt by heart."""
TRACED, FLEET = 0.25, 0.6
"""The shares of crops that are of traced tables, and of drawn ones with ships, where there are drawn ones too."""


def main(arguments: Sequence[str] | None = None) -> None:
    options = _options(arguments)
    cv2.setNumThreads(1)
    {"draw": draw, "learn": learn}[options.what](options)


def draw(options: argparse.Namespace) -> None:
    from rims.mats import library
    from shapes.drawn import drawn_sheet
    from shapes.fleet import fleet_sheet
    from shapes.tables import draw_table

    options.out.mkdir(parents=True, exist_ok=True)
    for seed in range(options.seed, options.seed + options.count):
        draw_table(seed, options.out)
    for kind, count, sheet in (("drawn", options.drawn, drawn_sheet), ("fleet", options.fleet, fleet_sheet)):
        for first in range(0, count, BLOCK):
            path = options.out / f"{kind}_{first:05d}.pkl"
            if not path.exists():
                tiles = library(options.seed + first, TILES)
                path.write_bytes(pickle.dumps([sheet([options.seed, first + k], tiles) for k in range(BLOCK)]))


def learn(options: argparse.Namespace) -> None:
    """Teach for so many steps, some processes beside each other on the same weights (Hogwild: Recht et al., 2011)."""
    torch.manual_seed(options.seed)
    net = OverviewNet()
    if options.start is not None:
        net.load_state_dict(torch.load(options.start))
    net, mean = net.share_memory(), copy.deepcopy(net)
    beside = get_context("spawn")
    done = beside.Value("i", 0)
    others = [beside.Process(target=_teach, args=(k, net, mean, done, options)) for k in range(1, options.processes)]
    for other in others:
        other.start()
    lines = _teach(0, net, mean, done, options)
    for other in others:
        other.join()
    export(mean, options.model)
    (HERE / "shapes" / "overview.log.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


class Tables:
    """The tables of a folder; those still being drawn come in as they are ready."""

    def __init__(self, folder: Path, kept: bool = False) -> None:
        self.folder, self.kept, self.known = folder, kept, set[Path]()
        self.sheets: list[Sheet] = []
        self.drawn: list[Sheet] = []
        self.fleet: list[Sheet] = []
        self.refresh()

    def refresh(self) -> None:
        for path in sorted(set(self.folder.glob("*.json")) - self.known):
            self.known.add(path)
            if (int(path.stem[1:]) % HELD_OUT == 0) == self.kept:
                self.sheets.append(read_sheet(path))
        for path in [] if self.kept else sorted(set(self.folder.glob("drawn_*.pkl")) - self.known):
            self.known.add(path)
            self.drawn += pickle.loads(path.read_bytes())
        for path in [] if self.kept else sorted(set(self.folder.glob("fleet_*.pkl")) - self.known):
            self.known.add(path)
            self.fleet += pickle.loads(path.read_bytes())

    def draw_anew(self, seed: Sequence[int]) -> None:
        """One of the drawn tables with ships goes, another comes."""
        from shapes.fleet import fleet_sheet

        if self.fleet:
            self.fleet[seed[-1] // FRESH % len(self.fleet)] = fleet_sheet(seed, _tiles(seed[0]))

    def batch(self, rng: np.random.Generator) -> tuple[Floats, Floats]:
        kind = rng.random()
        kinds = (self.fleet, FLEET), (self.drawn, 1 - TRACED)
        chosen = next((sheets for sheets, most in kinds if sheets and kind < most), self.sheets)
        return batch(rng, chosen, BATCH)


@cache
def _tiles(seed: int) -> Sequence[Picture]:
    """The mats of the tables that are drawn anew."""
    from rims.mats import library

    return library(seed, TILES)


def _teach(which: int, net: OverviewNet, mean: OverviewNet, done: Any, options: argparse.Namespace) -> list[str]:
    """One process' steps; the first one keeps the running mean of the weights, and says how it goes."""
    cv2.setNumThreads(1)
    torch.set_num_threads(1)  # two that wait for each other on a busy machine are slower
    tables, checks = Tables(options.out), [] if which else _checks(Tables(options.out, kept=True).sheets)
    chooser = torch.optim.AdamW(net.parameters(), lr=options.rate, weight_decay=1e-3)
    lines = [f"seed {options.seed}  weights {sum(p.numel() for p in net.parameters())}"]
    begin = time.monotonic()
    rng, losses = np.random.default_rng([options.seed, 5, which]), deque[float](maxlen=SAY_EVERY)
    said, steps = 0, 0
    while (progress := max(done.value / options.steps, (time.monotonic() - begin) / 60 / options.minutes)) < 1:
        for group in chooser.param_groups:
            group["lr"] = options.rate * share(progress)
        losses.append(step(net, tables.batch(rng), chooser, loss))
        with done.get_lock():
            done.value += 1
        if (steps := steps + 1) % FRESH == 0:
            tables.draw_anew([options.seed, 6, which, steps])
        if which == 0:
            follow(mean, net, min(1 - 5 * options.processes / 1000, 1 - 10 / (10 + done.value)))
        if done.value - said >= SAY_EVERY:
            said = done.value
            tables.refresh()
            if which == 0:
                lines.append(
                    f"step {said:5d}  loss {np.mean(losses):.4f}  check {checked(mean, checks, loss):.4f}  "
                    f"tables {len(tables.sheets)} + {len(tables.drawn)} + {len(tables.fleet)}  "
                    f"{time.process_time():.0f} s"
                )
                print(lines[-1], flush=True)
                torch.save(mean.state_dict(), options.out / "overview.pt")
    return lines


def _checks(sheets: Sequence[Sheet]) -> list[tuple[Tensor, Tensor]]:
    rng = np.random.default_rng(77)
    pairs = [batch(rng, sheets, BATCH) for _ in range(CHECKS)] if sheets else []
    return [(torch.from_numpy(blob), torch.from_numpy(truth)) for blob, truth in pairs]


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("draw", "learn"))
    parser.add_argument("--out", type=Path, required=True, help="folder of the tables")
    parser.add_argument("--count", type=int, default=36, help="tables to draw")
    parser.add_argument("--drawn", type=int, default=270, help="drawn pieces of tables besides")
    parser.add_argument("--fleet", type=int, default=900, help="drawn pieces of tables with ships besides")
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--minutes", type=float, default=600.0, help="time it may take, if that is less")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--rate", type=float, default=RATE, help="the highest learning rate")
    parser.add_argument("--start", type=Path, help="weights to start from")
    parser.add_argument("--model", type=Path, default=MODEL, help="the network's file")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main(sys.argv[1:])
