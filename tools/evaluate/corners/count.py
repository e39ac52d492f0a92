"""What is counted of corners found, and the table of it."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from rich.table import Table

from evaluate.corners.methods import METHODS, Found
from evaluate.corners.picture import random_look, take
from evaluate.corners.view import LEAST_PX, MOST_PX, MarkerView, random_view
from overruler.geometry.pose import Array

DICTIONARY = "DICT_4X4_50"
SIZES_PX = (LEAST_PX, 70.0, 110.0, MOST_PX)
TILTS_DEG = (0.0, 20.0, 40.0, 60.0)


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """One marker of one picture, as one method has it."""

    soft: bool
    side_px: float
    tilt_deg: float
    errors_px: Array | None
    """(4, 2): corners as found less where they are; None where the marker was missed."""
    outward_px: float = np.nan
    """Mean distance of the corners away from the marker's middle, beyond where they are."""
    z2: float = np.nan
    """Mean square of the eight errors, whitened by their stated joint covariance."""


Trials = dict[str, list[Trial]]
"""All trials of each method."""


def run(indexes: Iterable[int], seed: int) -> Trials:
    """Draw a view for each index, once sharp and once soft, and try every method on it."""
    trials: Trials = {name: [] for name in METHODS}
    for index in indexes:
        for soft in (False, True):
            random = np.random.default_rng([seed, index, soft])
            view = random_view(random)
            frame = take(view, random_look(random, soft=soft), DICTIONARY, random)
            for name, method in METHODS.items():
                found = method(frame, DICTIONARY)
                trials[name] += [
                    trial(view, number, found.get(number), soft) for number in view.corners_mm
                ]
    return trials


def trial(view: MarkerView, number: int, found: Found | None, soft: bool) -> Trial:
    """Hold a marker's corners against the truth."""
    truth = view.corners_px(number)
    side_px = float(np.linalg.norm(truth - np.roll(truth, 1, 0), axis=1).mean())
    if found is None:
        return Trial(soft, side_px, view.tilt_deg, None)
    errors = found.corners_px - truth
    away = truth - truth.mean(0)
    outward = float((errors * away / np.linalg.norm(away, axis=1, keepdims=True)).sum(1).mean())
    if found.covariance_px2 is None:
        return Trial(soft, side_px, view.tilt_deg, errors, outward)
    white = np.linalg.solve(np.linalg.cholesky(found.covariance_px2), errors.ravel())
    return Trial(soft, side_px, view.tilt_deg, errors, outward, float(np.mean(white**2)))


def table(trials: Trials) -> Table:
    """One row a method and a kind of picture; ours by sizes and tilts too."""
    result = Table(
        "corners by", "pictures", "markers", "missed", "RMS px", "bias px", "u, v px", "z²"
    )
    for name, all_of in trials.items():
        for soft in (False, True):
            some, kind = [t for t in all_of if t.soft == soft], "soft" if soft else "sharp"
            result.add_row(name, kind, *_figures(some))
            if name == next(iter(METHODS)):
                for label, part in _parts(some):
                    result.add_row("", f"{kind}, {label}", *_figures(part))
        result.add_section()
    return result


def _parts(trials: list[Trial]) -> Iterable[tuple[str, list[Trial]]]:
    for low, high in pairwise(SIZES_PX):
        yield f"{low:.0f}-{high:.0f} px", [t for t in trials if low <= t.side_px < high + 1e-6]
    for low, high in pairwise(TILTS_DEG):
        yield f"{low:.0f}-{high:.0f}°", [t for t in trials if low <= t.tilt_deg < high]


def _figures(trials: list[Trial]) -> list[str]:
    errors = [t.errors_px for t in trials if t.errors_px is not None]
    counts = [str(len(trials)), str(len(trials) - len(errors))]
    if not errors:
        return [*counts, "-", "-", "-", "-"]
    all_px = np.array(errors)
    outward = np.array([t.outward_px for t in trials if t.errors_px is not None])
    z2 = np.array([t.z2 for t in trials if np.isfinite(t.z2)])
    u, v = all_px.mean((0, 1))
    return [
        *counts,
        f"{np.sqrt(np.mean(all_px**2)):.3f}",
        f"{outward.mean():+.4f} ± {outward.std() / np.sqrt(len(outward)):.4f}",
        f"{u:+.3f}, {v:+.3f}",
        f"{z2.mean():.2f}" if len(z2) else "-",
    ]
