"""Train the look at plates' whole faces: writes src/overruler/vision/plate_face.onnx.

python tools/train_faces.py --tables build/shapes --minutes 20

The tables are those that train_shapes.py draws: traced ones, and drawn ones with ships, ovals and rectangles.
"""

import argparse
import pickle
import sys
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
from shapes.lessons import add_options, checked, export, teach

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
    example = (4, INPUTS, SIDE_PX, SIDE_PX)
    export(learn(net, options), options.model, example, ("pictures", "odds"), {0: "pictures"})


def learn(net: nn.Module, options: argparse.Namespace) -> nn.Module:
    """The running mean of the weights, after so many minutes."""
    tables, rng = Tables(options.tables), np.random.default_rng(options.seed)
    checks = _checks(tables.kept)

    def said(steps: int, lost: float, mean: nn.Module) -> None:
        check, known = checked(mean, checks, loss), [len(kind) for kind in tables.kinds]
        print(f"step {steps:5d}  loss {lost:.4f}  check {check:.4f}  tables {known}", flush=True)
        tables.refresh()
        torch.save(mean.state_dict(), options.model.with_suffix(".pt"))

    return teach(net, lambda: tables.batch(rng), loss, options, SAY_EVERY, said)


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


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=Path, required=True, help="folder of the tables")
    add_options(parser, 20.0, RATE, MODEL)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main(sys.argv[1:])
