#!/usr/bin/env python3
"""How good and how honest is the calibration of whole pictures? Tables with markers are rendered and calibrated.

    uv run tools/evaluate/rendered.py --tables 20 [--seed 1] [--size 1080p] [--exact]

Each picture has nothing but markers on it, drawn exactly, then blurred, toned, sharpened, made noisy and coded as JPEG.
Markers are laid, lifted and the table bowed as the priors expect; with `--exact` they lie where the board file says on
a table that is flat, of which the calibration knows nothing. The print is exact. Every picture is calibrated with eight
markers known, four known and eight anywhere, each with a lens file, metadata and neither. One row a case, then one a
case and tilt; the columns are those of tools/evaluate/bound.py, with `bound` for noise as large as the priors expect.
"""

import argparse
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise, product

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from numpy.random import Generator
from rich.console import Console
from rich.progress import track
from rich.table import Table

from evaluate.corners.picture import random_look, take
from evaluate.corners.view import MarkerView
from evaluate.drawn.count import COLUMNS, figures
from evaluate.drawn.markers import BOARD_MM, EIGHT, MARKER_MM, marker_mm
from evaluate.drawn.tables import SIZES, Case, Truth, frame_of, measured, random_camera
from overruler.board import Board
from overruler.calibration import TableBow
from overruler.errors import CannotMeasure
from overruler.frame import Frame
from overruler.geometry.pose import Array
from overruler.vision.camera.bundle_adjustment import BOW_SIGMA_SHARE
from overruler.vision.camera.marker_layout import MARKER_HEIGHT_SIGMA_MM
from overruler.vision.camera.variance_components import UNIT_SCALES
from overruler.vision.markers.detect import find_markers
from overruler.vision.markers.edge_noise import PLACE_SIGMA_MM
from overruler.vision.markers.marker import Marker
from synthetic.develop import Style

LAYOUTS, LENSES = ("eight", "four", "eight anywhere"), ("file", "EXIF", "none")
SOFT = 0.3
"""The share of soft pictures."""
TILTS_DEG = (0.0, 13.0, 27.0, 40.0)
HEADS = ("case", "tables", *COLUMNS)


@dataclass(frozen=True)
class Counted:
    """One picture calibrated one way: errors, stated σ and bound (P,) in mm of its distances."""

    case: Case
    tilt_deg: float
    errors: Array
    sigma: Array
    bound: Array


Shot = tuple[Truth, Frame, Generator]


def pictures(size: str, tables: int, seed: int, exact: bool) -> Iterator[Shot]:
    """Tables and the pictures of them, lenses as cameras have them."""
    for table in range(tables):
        random = np.random.default_rng([seed, table, SIZES[size][0]])
        camera = random_camera(random, Case("eight", "none", size, families=True))
        corners = {n: marker_mm(*at) for n, at in EIGHT.items()}
        half, errors = np.full(2, BOARD_MM / 2), random.normal(size=26) * (not exact)
        truth = Truth(
            camera,
            corners,
            TableBow(half, half, BOW_SIGMA_SHARE * BOARD_MM * errors[:2]),
            UNIT_SCALES,
            0.0,
        )
        picture = take(_view(truth, errors[2:].reshape(8, 3), SIZES[size]), *_look(random), random)
        yield truth, picture, random


def _look(random: Generator) -> tuple[Style, str]:
    return random_look(random, soft=random.random() < SOFT), "DICT_4X4_50"


def _view(truth: Truth, errors: Array, size_px: tuple[int, int]) -> MarkerView:
    """The table with each marker laid and lifted by its errors (8, 3), in σ."""
    laid = {n: at[:, :2] + PLACE_SIGMA_MM * errors[n, :2] for n, at in truth.corners.items()}
    lifted = {
        n: float(truth.lifted(at)[0, 2] + MARKER_HEIGHT_SIGMA_MM * errors[n, 2])
        for n, at in truth.corners.items()
    }
    return MarkerView(truth.camera, truth.camera.tilt_deg, laid, size_px, lifted)


def counted(size: str, truth: Truth, frame: Frame, random: Generator) -> Iterator[Counted]:
    """The picture calibrated each way."""
    seen = find_markers(frame, Board.free(MARKER_MM, "DICT_4X4_50"))
    for layout, lens in product(LAYOUTS, LENSES):
        case = Case(layout, lens, size, families=True)
        try:
            yield _one(case, truth, frame, [m for m in seen if m.id in case.places], random)
        except CannotMeasure as error:
            print(f"{case.name}: {error}", file=sys.stderr)


def _one(case: Case, truth: Truth, frame: Frame, seen: list[Marker], random: Generator) -> Counted:
    told = frame_of(case, truth.camera, random)
    frame = replace(frame, focal_px=told.focal_px, focal_share=told.focal_share)
    table = replace(truth, corners={marker.id: truth.corners[marker.id] for marker in seen})
    one = measured(case, table, frame, seen, random)
    return Counted(case, truth.camera.tilt_deg, one.errors, one.sigma, one.bound)


def row(name: str, some: list[Counted]) -> list[str]:
    cells = figures(
        *([getattr(one, what) for one in some] for what in ("errors", "sigma", "bound"))
    )
    return [name, str(len(some)), *(f"{cell:.3f}" for cell in cells)]


def rows(everything: list[Counted]) -> Iterator[list[str]]:
    by_case: dict[str, list[Counted]] = {}
    for one in everything:
        by_case.setdefault(one.case.name, []).append(one)
    for name, some in by_case.items():
        yield row(name, some)
    for name, some in by_case.items():
        for low, high in pairwise(TILTS_DEG):
            part = [one for one in some if low <= one.tilt_deg < high]
            if part:
                yield row(f"{name}, {low:.0f}-{high:.0f}°", part)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tables", type=int, default=20, help="pictures of each size")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--size", choices=tuple(SIZES), help="pictures of this size only")
    parser.add_argument(
        "--exact", action="store_true", help="markers exactly in their places, on a flat table"
    )
    args = parser.parse_args()
    table = Table(box=None)
    for name in HEADS:
        table.add_column(name, no_wrap=True)
    for size in [args.size] if args.size else SIZES:
        console = Console(stderr=True)
        drawn = track(
            pictures(size, args.tables, args.seed, args.exact),
            f"{size}",
            total=args.tables,
            console=console,
        )
        everything = [
            one for truth, frame, random in drawn for one in counted(size, truth, frame, random)
        ]
        for cells in rows(everything):
            table.add_row(*cells)
        table.add_section()
    Console(width=max(Console().width, 110)).print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
