#!/usr/bin/env python3
"""How often is a cell of a grid on the mat taken for a base, and what does a grid cost?

    uv run tools/evaluate/printed_grids.py sample_images --form squares --cell-mm 25.4

Every photo of a folder with its truth beside it is measured as it is, and with a grid laid on its mat. One row a
photo: how many bases are found without and with the grid, and how many findings are none.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from evaluate.accuracy import board_of
from overruler.errors import CannotMeasure, OverrulerError
from overruler.geometry.pose import Array
from overruler.referee import Referee
from overruler.report import Report
from overruler.sources.photo import load_photo
from synthetic.from_above.sheet import Truth, apart_px, camera_of
from synthetic.printed_grids import FORMS, lay_grid

NEAR_RADII = 0.5
"""A finding is the base whose middle is nearer than this share of its radius, as the photo shows it."""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, nargs="?", default=Path("sample_images"))
    parser.add_argument("--form", choices=FORMS, default="squares")
    parser.add_argument("--cell-mm", type=float, default=25.4, help="how wide a cell is")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    photos = [one for one in sorted(options.folder.glob("*.jpg")) if _truth(one).exists()]
    if not photos:
        print(f"{options.folder}: holds no NAME.jpg with NAME.json beside it", file=sys.stderr)
        return 2
    table, total = (
        Table("photo", "bases", "found", "with the grid", "false", "with the grid"),
        np.zeros(5, int),
    )
    for number, photo in enumerate(track(photos, "measuring", console=Console(stderr=True))):
        rng = np.random.default_rng([options.seed, number])
        try:
            row = counted(photo, options.form, options.cell_mm, rng)
        except CannotMeasure as error:
            print(f"{photo.name}: {error}", file=sys.stderr)
            continue
        except OverrulerError as error:
            print(error, file=sys.stderr)
            return error.exit_code
        total += row
        table.add_row(photo.stem, *map(str, row))
    table.add_section()
    table.add_row("all", *map(str, total.tolist()))
    Console().print(table)
    return 0


def counted(photo: Path, form: str, cell_mm: float, rng: np.random.Generator) -> list[int]:
    """How many bases there are, are found without and with a grid; and findings that are none."""
    truth = json.loads(_truth(photo).read_text(encoding="utf-8"))
    referee, frame = Referee(board_of(photo, truth)), load_photo(photo)
    camera = camera_of(truth["camera"])
    printed = replace(frame, pixels=lay_grid(frame.pixels, camera, truth, form, cell_mm, rng))
    before, after = (_told(referee.look(one), truth) for one in (frame, printed))
    return [len(truth["pieces"]), before[0], after[0], before[1], after[1]]


def _truth(photo: Path) -> Path:
    return photo.with_suffix(".json")


def _told(report: Report, truth: Truth) -> tuple[int, int]:
    """How many bases are found, and how many findings are none."""
    camera = report.calibration.camera
    places = np.array([[*one.xy_mm, one.z_mm] for one in report.detections]).reshape(-1, 3)
    apart = apart_px(truth, camera.project(places)) < _reach_px(report, truth)
    return int(apart.any(0).sum()), int((~apart.any(1)).sum())


def _reach_px(report: Report, truth: Truth) -> Array:
    """How far (M,) a finding may lie from each base."""
    shapes = [piece["shape"] for piece in truth["pieces"]]
    widths = [one.get("diameter_mm", one.get("width_mm")) for one in shapes]
    board = truth["board"]
    middle = np.array([board["width_mm"] / 2, board["height_mm"] / 2, 0.0])
    scale = float(report.calibration.camera.mm_per_px(middle))
    return np.asarray(NEAR_RADII * np.array(widths) / 2 / scale)


if __name__ == "__main__":
    sys.exit(main())
