"""Tables whose findings teach a score: painted ones, and traced ones with their truth."""

import argparse
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.marker_card import card_about
from overruler.vision.imaging.orthophoto import Orthophoto
from overruler.vision.learned.coefficients import load_coefficients
from overruler.vision.learned.inference import OVERVIEW_MM_PER_PX, WEIGHTS
from synthetic.arrays import Picture
from synthetic.from_above.sheet import Truth, read_truth, traced_tables, traced_view
from synthetic.painted.wardrobe import Wardrobe, wardrobe_of
from synthetic.printed_mats import any_angular, print_on_mat
from synthetic.tiles import library
from training.feeding import read_all


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """A table in a photo."""

    photo: Picture
    camera: Camera
    view: Orthophoto
    bases: Array
    """(M, K): the bases on it, as the score's lesson describes them."""
    cards: Sequence[Array] = ()
    """Squares (4, 2) of markers' cards, where nothing is looked for."""


def read_options(
    about: str | None, seed: int, arguments: Sequence[str] | None
) -> argparse.Namespace:
    """The options of a program that fits a score on such tables."""
    parser = argparse.ArgumentParser(
        description=about, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--painted", type=int, default=60, help="how many tables to paint")
    parser.add_argument("--tables", type=Path, help="folder of traced tables with their truth")
    parser.add_argument("--seed", type=int, default=seed)
    parser.add_argument("--sprites", type=Path, help="file of figures on painted bases (.npz)")
    parser.add_argument("--rows", type=Path, help="file that keeps what was seen (.npz)")
    parser.add_argument("--write", action="store_true", help="write the weights")
    return parser.parse_args(arguments)


Rows = list[list[float]]
Look = Callable[[int, tuple[int, Path]], Rows]
"""What a photo's findings say, by the seed, and by its number and the file of its truth."""


def read_photo_options(about: str | None, arguments: Sequence[str] | None) -> argparse.Namespace:
    """The options of a program that fits a score on whole rendered photos."""
    parser = folder_parser(about)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=0, help="processes that look at photos")
    return parser.parse_args(arguments)


def folder_parser(about: str | None) -> argparse.ArgumentParser:
    """The options of a program that fits a score on rendered tables in folders."""
    parser = argparse.ArgumentParser(
        description=about, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tables", type=Path, nargs="+")
    parser.add_argument("--rows", type=Path, help="file that keeps what was seen (.npz)")
    parser.add_argument("--write", action="store_true", help="write the file, too")
    return parser


def rows_of_photos(options: argparse.Namespace, look: Look) -> tuple[Array, int]:
    """A row a finding in the photos of `options`, and how many photos there are."""
    paths = traced_tables(*options.tables)

    def looked_at() -> Array:
        found = read_all(partial(look, options.seed), list(enumerate(paths)), options.workers)
        return np.array([row for some in found for row in some])

    return kept_rows(options.rows, looked_at), len(paths)


def kept_rows(path: Path | None, make: Callable[[], Array]) -> Array:
    """What the file holds; else what is made, which it then holds."""
    if path is not None and path.exists():
        return np.asarray(np.load(path)["rows"], float)
    rows = make()
    if path is not None:
        np.savez(path, rows=rows)
    return rows


def judged_rows(
    tables: Iterable[Table], judge: Callable[[Table], Iterable[Sequence[float]]], things: str
) -> Array:
    """A row a thing on the tables: the table's number, then what `judge` says of it."""
    found: list[list[float]] = []
    for number, table in enumerate(tables):
        found += [[number, *row] for row in judge(table)]
        print(f"table {number}: {len(found)} {things}", flush=True)
    return np.array(found)


def teaching_tables(
    options: argparse.Namespace,
    stream: int,
    paint: Callable[[Sequence[int], Sequence[Picture], Wardrobe | None], Table],
    bases_of: Callable[[Any, Camera], Array],
    *,
    mats: int,
    prints: int = 0,
) -> Iterator[Table]:
    """The painted tables, each by a seed of its own in the `stream`, then the traced ones.

    Painted tables lie on one of so many `mats`. Every second traced table has up to so many printed squares on
    its mat.
    """
    tiles = library(options.seed, mats) if options.painted else []
    wardrobe = wardrobe_of(options.sprites)
    for number in range(options.painted):
        yield paint([options.seed, stream, number], tiles, wardrobe)
    for number, path in enumerate(traced_tables(options.tables) if options.tables else ()):
        truth, camera, photo = read_truth(path)
        if prints and number % 2:
            rng = np.random.default_rng([options.seed, stream, number, 1])
            photo, _ = print_on_mat(rng, photo, camera, truth, prints, any_angular(rng))
        view = traced_view(photo, camera, truth, OVERVIEW_MM_PER_PX)
        yield Table(photo, camera, view, bases_of(truth, camera), cards_of(truth))


def cards_of(truth: Truth) -> list[Array]:
    """The cards (4, 2) of a table's markers in mm, as the program takes them to be."""
    return [card_about(np.array(one["corners_mm"])[:, :2]) for one in truth["markers"]["items"]]


def tell_weights(
    options: argparse.Namespace, file: str, weights: Array, data: str, program: str
) -> None:
    """Print the text of the weights' file, with their origin, and write it where that is asked for."""
    command = f"--painted {options.painted} --sprites SPRITES --seed {options.seed} --write"
    features, program = list(load_coefficients(file)), f"{program} {command}"
    text = weights_text(features, weights, f"logistic regression on {data}", program)
    print(text, end="")
    if options.write:
        (WEIGHTS / f"{file}.json").write_text(text, encoding="utf-8")


def weights_text(features: Sequence[str], weights: Array, data: str, program: str) -> str:
    """The text of a file of weights, with their origin; `program` has its arguments."""
    origin = {
        "coefficients": (weights.round(3) + 0.0).tolist(),  # no -0.0
        "features": list(features),
        "date": date.today().isoformat(),
        "data": data,
        "command": f"python tools/training/{program}",
    }
    lines = [f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in origin.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"
