#!/usr/bin/env python3
"""Is a calibration as good as it can be, and as sure as it says? Tables are drawn, calibrated and counted.

    uv run tools/evaluate/bound.py --tables 100 [--seed 1] [--only four] [--tilts] [--lenses families]

No picture is drawn: markers are seen with the noise that the marker fit states. The tables are those that the
calibration's priors speak of: heights of markers, how much the table is bowed, the print's scale, how many times better
or worse than expected a table's markers are seen, laid and shaped, and the lens are all drawn as the priors have them;
with `--lenses families` the lenses are those that cameras have (see evaluate/drawn/lenses.py), for which the prior
is wider than it need be. One row a case, over distances between places all over the table:

    error   root mean square error in mm, had the print been exact
    bound   what no method can beat with the same priors: Cramér and Rao's bound at the true camera and true noise
    ratio   error by bound
    z²      mean square of that error by its stated σ: 1 is honest
    in95    share of those errors within 1.96 stated σ: 0.95 is honest
    ±       1 σ of the two, by how much they differ from table to table
    z² all, in95 all   the same with the print as it came out and with what the budget says of that
    focal   z² of the focal length
"""

import argparse
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from numpy.random import Generator
from rich.console import Console
from rich.progress import track
from rich.table import Table

from evaluate.drawn.count import COLUMNS, figures, honesty
from evaluate.drawn.markers import as_stated
from evaluate.drawn.tables import CURL_MM, SIZES, TILTS_DEG, Case, Truth, frame_of, measured
from overruler.errors import CannotMeasure
from overruler.geometry.pose import Array
from overruler.vision.markers.marker import Marker

CASES = [
    Case(*names)
    for names in product(("eight", "four", "eight anywhere"), ("file", "EXIF", "none"), SIZES)
]
CASES += [
    Case(layout, "none", "12 MP", trouble)
    for layout in ("eight", "four")
    for trouble in ("badly laid", "curled")
]


@dataclass(frozen=True)
class Outcome:
    """Of one table's distances (P,) in mm: errors, stated σ and bound with an exact print, and both with the print."""

    errors: Array
    sigma: Array
    bound: Array
    errors_all: Array
    sigma_all: Array
    focal_z: float
    """The focal length's error by its σ."""


def outcome(case: Case, random: Generator) -> Outcome:
    truth = Truth.drawn(case, random)
    seen = _seen(case, truth, random)
    one = measured(case, truth, frame_of(case, truth.camera, random), seen, random)
    off_px = one.found.camera.matrix[0, 0] - truth.camera.matrix[0, 0]
    # a print that is larger than meant has all of the table taken for smaller than it is
    printed = one.length * (1 - truth.print_share) - one.true
    sigma_all = np.hypot(one.sigma, one.found.budget.scale_share * one.length)
    focal_z = float(off_px / one.found.covariance[0, 0] ** 0.5)
    return Outcome(one.errors, one.sigma, one.bound, printed, sigma_all, focal_z)


def _seen(case: Case, truth: Truth, random: Generator) -> list[Marker]:
    """The markers as found, with the noise that is stated, or with the trouble that the case is about."""
    corners = {n: truth.lifted(at) for n, at in truth.corners.items()}
    if case.trouble == "curled":
        lift = np.abs(random.normal(0, CURL_MM, (len(corners), 4)))
        up = np.stack([np.zeros_like(lift), np.zeros_like(lift), lift], -1)
        corners = {n: at + rise for (n, at), rise in zip(corners.items(), up, strict=True)}
    own, place, shape = truth.scales
    return as_stated(truth.camera, corners, random, place, own, shape)


# --- all tables of a case ---


def outcomes(case: Case, tables: int, seed: int) -> Iterator[Outcome]:
    for table in range(tables):
        try:
            yield outcome(case, np.random.default_rng([seed, table]))
        except CannotMeasure as error:
            print(f"{case.name}, table {table}: {error}", file=sys.stderr)


HEADS = ("case", *COLUMNS, "z² all", "in95 all", "focal")


def row(case: Case, results: list[Outcome]) -> list[str]:
    def of(name: str) -> list[Array]:
        return [getattr(result, name) for result in results]

    everything = honesty(of("errors_all"), of("sigma_all"))[::2]
    focal = np.mean([result.focal_z**2 for result in results])
    cells = *figures(of("errors"), of("sigma"), of("bound")), *everything, focal
    return [case.name, *(f"{cell:.3f}" for cell in cells)]


def cases(only: str, tilts: bool, families: bool) -> list[Case]:
    some = [replace(case, families=families) for case in CASES if only in case.name]
    return [replace(case, tilt_deg=tilt) for case in some for tilt in TILTS_DEG] if tilts else some


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tables", type=int, default=100, help="tables drawn for each case")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="only cases whose name holds this")
    parser.add_argument("--tilts", action="store_true", help="a row for each tilt")
    parser.add_argument(
        "--lenses", choices=("prior", "families"), default="prior", help="whence lenses are drawn"
    )
    args = parser.parse_args()
    table = Table(box=None)
    for name in HEADS:
        table.add_column(name, no_wrap=True)
    chosen = cases(args.only, args.tilts, args.lenses == "families")
    for case in track(chosen, console=Console(stderr=True)):
        table.add_row(*row(case, list(outcomes(case, args.tables, args.seed))))
    Console(width=max(Console().width, 130)).print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
