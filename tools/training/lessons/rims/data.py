"""Many scenes' samples in one file each for patches, side input and truth."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import partial
from multiprocessing import Pool
from pathlib import Path

import cv2
import numpy as np

from synthetic.arrays import Picture
from synthetic.mats import library
from synthetic.arrays import Floats
from training.lessons.rims.patches import Samples, samples

BLOCK = 200
"""Scenes in a file."""
LAST = "ring_truth.npy"
"""The file that is written last."""

_tiles: list[Picture] = []


@dataclass(frozen=True, slots=True, eq=False)
class Data:
    """Cutouts, what else the network is told of each, and what is true of it."""

    cutouts: Picture
    side: Floats
    truth: Floats

    def __len__(self) -> int:
        return len(self.truth)


def _start(seed: int) -> None:
    cv2.setNumThreads(1)
    _tiles.extend(library(seed))


def _one(seed: int, scene: int) -> Samples:
    return samples([seed, scene], _tiles)


def generate(folder: Path, seed: int, scenes: Sequence[int], processes: int = 2) -> None:
    """Draw scenes and write them to `folder`, a few hundred at a time; those already there are not drawn again."""
    with Pool(processes, _start, (seed,)) as pool:
        for start in range(0, len(scenes), BLOCK):
            some = scenes[start : start + BLOCK]
            place = folder / f"{some[0]:07d}"
            if not (place / LAST).exists():
                write(place, list(pool.imap(partial(_one, seed), some, chunksize=8)))


def write(folder: Path, drawn: Sequence[Samples]) -> None:
    """Samples into a folder, a file for each of their fields."""
    folder.mkdir(parents=True, exist_ok=True)
    for field in fields(Samples):
        np.save(
            folder / f"{field.name}.npy",
            np.concatenate([getattr(some, field.name) for some in drawn]),
        )


def read(*folders: Path, rings: bool = False) -> Data:
    """All patches, or all rings, in some folders."""
    names = ("rings", "ring_side", "ring_truth") if rings else ("patches", "side", "truth")
    blocks = sorted(path.parent for folder in folders for path in folder.glob(f"*/{LAST}"))
    cutouts, side, truth = (
        [np.load(block / f"{name}.npy") for block in blocks] or [np.empty((0, 5))] for name in names
    )
    return Data(np.concatenate(cutouts), np.concatenate(side), np.concatenate(truth))
