#!/usr/bin/env python3
"""Are places by several photos as good as they can be, and as sure as they say? Tables are drawn and counted.

    uv run tools/evaluate/bound_of_views.py --tables 40 [--seed 1]

No picture is drawn: each photo's camera errs as its calibration says, and each fit by itself. The bound is Cramér and
Rao's, with all cameras and heights as parameters. One row a number of photos, over distances between all bases:

    error   root mean square error in mm
    bound   what no method can beat
    ratio   error by bound
    in95    share of the errors within 1.96 stated σ: 0.95 is honest
    z       root mean square error of the heights of the raised bases in mm; z95 as in95
"""

import argparse
import sys
from collections.abc import Sequence
from itertools import combinations

import numpy as np
from rich.console import Console
from rich.table import Table

from evaluate.drawn.views import (
    Truth,
    bound_mm2,
    camera_from,
    leave_shared_errors_out,
    placed_bases,
    see,
)
from overruler.geometry.pose import Array
from overruler.vision.fusion.joint_fit import fit_jointly

COUNTS = (1, 2, 3, 5)
BASES: list[Truth] = [
    *[(120.0 + 85 * k, 100.0 + 110 * (k % 4), 0.0, 27.0) for k in range(9)],
    *[(560.0 + 40 * k, 430.0, 55.0, 32.0) for k in range(3)],
]
KNOWN_MM = 0.05
PRIORS_MM = [30.0 if z else KNOWN_MM for _, _, z, _ in BASES]


def outcome(count: int, random: np.random.Generator) -> dict[str, Array]:
    """Errors of one table's distances and heights, with their stated σ and their bound."""
    photos = [see(p, camera_from(360 * p / count), BASES, random) for p in range(count)]
    priors_mm = PRIORS_MM if count > 1 else [KNOWN_MM] * len(BASES)  # one photo measures no height
    fit = fit_jointly(placed_bases(photos, BASES, priors_mm))
    bound = bound_mm2(photos, BASES, priors_mm)
    rows = [_distance_row(i, j) for i, j in combinations(range(len(BASES)), 2)]
    gradients = np.array(rows)
    truth = np.array([[x, y] for x, y, _, _ in BASES])
    high = np.array([z > 0 for _, _, z, _ in BASES])
    heights = np.array([z for _, _, z, _ in BASES])
    return {
        "errors": gradients @ (fit.xy_mm - truth).ravel(),
        "sigma": _sigmas(gradients, fit.rare_mm2),
        "bound": _sigmas(gradients, bound),
        "z": (fit.z_mm - heights)[high],
        "z_sigma": fit.z_sigma_mm[high],
    }


def _distance_row(i: int, j: int) -> Array:
    """(2 N,): how the distance of two bases changes with all places."""
    way = np.array(BASES[j][:2]) - BASES[i][:2]
    way /= np.linalg.norm(way)
    row = np.zeros(2 * len(BASES))
    row[2 * i : 2 * i + 2] = -way
    row[2 * j : 2 * j + 2] = way
    return row


def _sigmas(gradients: Array, covariance: Array) -> Array:
    return np.asarray(np.sqrt(np.einsum("pi,ij,pj->p", gradients, covariance, gradients)))


def row(count: int, tables: int, seed: int) -> Sequence[str]:
    found = [outcome(count, np.random.default_rng([seed, count, k])) for k in range(tables)]
    of = {key: np.concatenate([one[key] for one in found]) for key in found[0]}
    error, bound, z = (float(np.sqrt(np.mean(of[key] ** 2))) for key in ("errors", "bound", "z"))
    in95 = float(np.mean(np.abs(of["errors"]) <= 1.96 * of["sigma"]))
    z95 = float(np.mean(np.abs(of["z"]) <= 1.96 * of["z_sigma"]))
    return [str(count), *(f"{value:.3f}" for value in (error, bound, error / bound, in95, z, z95))]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tables", type=int, default=40, help="tables for each number of photos")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    leave_shared_errors_out(setattr)
    table = Table("photos", "error", "bound", "ratio", "in95", "z", "z95", box=None)
    for count in COUNTS:
        table.add_row(*row(count, options.tables, options.seed))
    Console().print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
