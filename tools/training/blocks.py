"""Samples that are drawn before anything is learnt: blocks of them, a file each."""

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from synthetic.from_above.sheet import traced_tables
from synthetic.painted.wardrobe import Wardrobe, wardrobe_of
from training.feeding import HELD_OUT, read_all

Arrays = dict[str, NDArray[Any]]
"""The fields of samples, a row each."""
CHECK = 10**6
"""Blocks from this number on are kept for the check."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """How the samples of a lesson are drawn."""

    block: Callable[[int, int, Wardrobe | None], Arrays]
    """Those of the block of a number, by the seed, with bodies on bases where there are such."""
    traced: Callable[[Path], Arrays]
    """Those of one traced table, by the file of its truth."""
    checks: int = 1
    """Blocks that are kept for the check."""


def draw_blocks(options: argparse.Namespace, drawing: Drawing) -> None:
    """Draw all blocks that are not there yet, and the samples of traced tables: one in ten of those is kept."""
    options.samples.mkdir(parents=True, exist_ok=True)
    numbers = [*range(CHECK, CHECK + drawing.checks), *range(options.count)]
    new = [path for n in numbers if not (path := _path(options.samples, n)).exists()]
    wardrobe_of(options.sprites)  # before there are other processes: they share it
    read_all(partial(_draw_block, drawing, options.seed, options.sprites), new, options.workers)
    tables = traced_tables(options.tables) if options.tables else []
    draw_table = partial(_draw_table, drawing, options.samples)
    read_all(draw_table, list(enumerate(tables)), options.workers)


def _draw_table(drawing: Drawing, samples: Path, numbered: tuple[int, Path]) -> None:
    number, table = numbered
    kind = "traced" if number % HELD_OUT else "traced-check"
    path = samples / f"{kind}_{table.stem}.npz"
    if not path.exists():
        _write(path, drawing.traced(table))


def _path(folder: Path, number: int) -> Path:
    return folder / f"{'check' if number >= CHECK else 'drawn'}_{number:07d}.npz"


def _draw_block(drawing: Drawing, seed: int, sprites: Path | None, path: Path) -> None:
    number = int(path.stem.split("_")[1])
    _write(path, drawing.block(seed, number, wardrobe_of(sprites)))


def _write(path: Path, arrays: Arrays) -> None:
    """Whole or not at all."""
    partly = path.with_suffix(".part")
    with partly.open("wb") as file:
        np.savez(file, **arrays)  # type: ignore[arg-type]
    partly.rename(path)


def read_blocks(folder: Path, kind: str, fields: Mapping[str, str]) -> Arrays:
    """All samples of a kind, the fields that are named under their new names; empty where there are none."""
    found: dict[str, list[NDArray[Any]]] = {}
    for path in sorted(folder.glob(f"{kind}_*.npz")):
        with np.load(path) as file:
            for name in fields or file.files:
                found.setdefault(fields.get(name, name), []).append(file[name])
    joined = {name: np.concatenate(parts) for name, parts in found.items()}
    return joined if all(map(len, joined.values())) else {}
