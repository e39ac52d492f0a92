"""Train the look at plates' whole faces: writes src/overruler/vision/plate_face.onnx.

python tools/train_faces.py --tables build/shapes --minutes 20

The tables are those that train_shapes.py draws: traced ones, and drawn ones with ships, ovals and rectangles.
"""

import argparse
import copy
import pickle
import sys
import time
import warnings
from collections import deque
from collections.abc import Sequence
from itertools import count
from pathlib import Path

import cv2
import numpy as np
import torch
from torch import Tensor, nn

from overruler.vision.plate_face import INPUTS, SIDE_PX
from shapes.crops import Floats, read_sheet
from shapes.faces import FaceNet, Faces, batch, faces_of, loss
from shapes.lessons import checked, follow, share, step

HERE = Path(__file__).parent
MODEL = HERE.parent / "src" / "overruler" / "vision" / "plate_face.onnx"
BATCH, RATE = 64, 3e-3
SAY_EVERY, CHECKS = 100, 12
HELD_OUT = 10
"""One table in so many is kept for the check."""
KINDS, SHARES = ("r*.json", "fleet_*.pkl", "drawn_*.pkl"), (0.4, 0.5, 0.1)


def main(arguments: Sequence[str] | None = None) -> None:
    options = _options(arguments)
    cv2.setNumThreads(1)
    torch.set_num_threads(1)
    torch.manual_seed(options.seed)
    net = FaceNet()
    if options.start is not None:
        net.load_state_dict(torch.load(options.start))
    net = net.to(memory_format=torch.channels_last)
    export(learn(net, options), options.model)


def learn(net: nn.Module, options: argparse.Namespace) -> nn.Module:
    """The running mean of the weights, after so many minutes."""
    tables, rng = Tables(options.tables), np.random.default_rng(options.seed)
    checks = _checks(tables.kept)
    mean, chooser = copy.deepcopy(net), torch.optim.AdamW(net.parameters(), lr=options.rate, weight_decay=1e-3)
    losses, begin, steps = deque[float](maxlen=SAY_EVERY), time.monotonic(), 0
    while (progress := (time.monotonic() - begin) / 60 / options.minutes) < 1:
        for group in chooser.param_groups:
            group["lr"] = options.rate * share(progress)
        losses.append(step(net, tables.batch(rng), chooser, loss))
        steps += 1
        follow(mean, net, min(0.995, 1 - 10 / (10 + steps)))
        if steps % SAY_EVERY == 0:
            print(
                f"step {steps:5d}  loss {np.mean(losses):.4f}  check {checked(mean, checks, loss):.4f}  "
                f"tables {[len(kind) for kind in tables.kinds]}",
                flush=True,
            )
            tables.refresh()
            torch.save(mean.state_dict(), options.model.with_suffix(".pt"))
    return mean


class Tables:
    """The tables of a folder, of each kind; those still being drawn come in as they are ready."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.known = folder, set[Path]()
        self.kinds: list[list[Faces]] = [[] for _ in KINDS]
        self.kept: list[Faces] = []
        self.count = count()
        self.refresh()

    def refresh(self) -> None:
        for kind, pattern in zip(self.kinds, KINDS, strict=True):
            for path in sorted(set(self.folder.glob(pattern)) - self.known):
                self.known.add(path)
                sheets = [read_sheet(path)] if path.suffix == ".json" else pickle.loads(path.read_bytes())
                for sheet in sheets:
                    (kind if next(self.count) % HELD_OUT else self.kept).append(faces_of(sheet))

    def batch(self, rng: np.random.Generator) -> tuple[Floats, Floats]:
        chances = np.array(SHARES) * [len(kind) > 0 for kind in self.kinds]
        counts = rng.multinomial(BATCH, chances / chances.sum())
        parts = [batch(rng, kind, int(count)) for kind, count in zip(self.kinds, counts, strict=True) if count]
        return np.concatenate([a for a, _ in parts]), np.concatenate([b for _, b in parts])


def _checks(kept: Sequence[Faces]) -> list[tuple[Tensor, Tensor]]:
    rng = np.random.default_rng(77)
    pairs = [batch(rng, kept, BATCH) for _ in range(CHECKS)]
    return [(torch.from_numpy(pictures), torch.from_numpy(truth)) for pictures, truth in pairs]


def export(net: nn.Module, path: Path) -> None:
    """The network as ONNX, for any number of pictures."""
    net.eval()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the newer exporter needs packages of its own
        torch.onnx.export(
            net, (torch.zeros(4, INPUTS, SIDE_PX, SIDE_PX),), str(path), opset_version=13, input_names=["pictures"],
            output_names=["odds"], dynamic_axes={"pictures": {0: "pictures"}, "odds": {0: "pictures"}}, dynamo=False,
        )  # fmt: skip


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=Path, required=True, help="folder of the tables")
    parser.add_argument("--minutes", type=float, default=20.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rate", type=float, default=RATE, help="the highest learning rate")
    parser.add_argument("--start", type=Path, help="weights to start from")
    parser.add_argument("--model", type=Path, default=MODEL, help="the network's file")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main(sys.argv[1:])
