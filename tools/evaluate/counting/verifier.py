"""What the learned look and the fit add to the candidates, and whether a score is a probability."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from rich.table import Table

from evaluate.counting.tally import Pixels, Truth
from overruler.bases import ROUND_DIAMETERS_MM
from overruler.calibration import Calibration
from overruler.frame import Frame
from overruler.vision.detection.detect import rectify_board
from overruler.vision.learned.disc_net import find_discs
from overruler.vision.learned.rim_net import estimate_rims
from overruler.vision.rounds.fit_rounds import fit_rounds
from overruler.vision.rounds.ring_filter import find_candidates
from overruler.vision.rounds.suppression import suppress_overlaps

STEPS = ("candidates", "learned look", "look and fit")
BINS = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 0.97, 0.99, 1.0)
Scored = NDArray[np.float64]
"""(N, 2): what was said of each finding, and 1 where it is a base."""


def judged(
    frame: Frame, calibration: Calibration, hidden: Sequence[Pixels], truth: Truth
) -> tuple[dict[str, Scored], int]:
    """How each step scores what the one before left, and how many round bases there are."""
    camera, radii = calibration.camera, np.array(ROUND_DIAMETERS_MM) / 2
    view = rectify_board(frame, calibration)
    known = find_discs(view, camera).rounds
    candidates = find_candidates(view, radii.tolist(), hidden, known)
    guesses = estimate_rims(
        frame, camera, np.column_stack([candidates.xy_mm, candidates.radius_mm])
    )
    kept = np.array(suppress_overlaps(guesses, radii), int)
    found = fit_rounds(frame, calibration, guesses[kept], radii, 0.0, known)
    there = [
        p for p in truth["pieces"] if p["shape"]["type"] == "circle" and p.get("in_frame", 1) > 0.5
    ]

    def scored(score: Pixels, xy_mm: Pixels, radius_mm: Pixels) -> Scored:
        at = np.column_stack([xy_mm, np.zeros(len(xy_mm))])
        good = _first_hits(score, camera.project(at), radius_mm / camera.mm_per_px(at), there)
        return np.column_stack([score, good])

    fits = (
        np.array([one.score for one in found]),
        np.array([one.xy_mm for one in found]).reshape(-1, 2),
    )
    sizes = np.array([one.base.width_mm / 2 for one in found])
    return {
        STEPS[0]: scored(candidates.response, candidates.xy_mm, candidates.radius_mm),
        STEPS[1]: scored(guesses.score[kept], guesses.xy_mm[kept], guesses.radius_mm[kept]),
        STEPS[2]: scored(*fits, sizes),
    }, len(there)


def _first_hits(score: Pixels, at_px: Pixels, radius_px: Pixels, there: Sequence[Truth]) -> Pixels:
    """1 for the best scored finding within half a radius of each base, 0 for all others."""
    good, taken = np.zeros(len(score)), set[int]()
    centres = np.array([p["center_px"] for p in there], float).reshape(-1, 2)
    for k in np.argsort(-score, kind="stable"):
        away = np.hypot(*(centres - at_px[k]).T)
        i = int(away.argmin()) if len(away) else -1
        if i >= 0 and away[i] < 0.5 * radius_px[k] and i not in taken:
            taken.add(i)
            good[k] = 1
    return good


def gain(scored: dict[str, list[Scored]], there: int) -> Table:
    """A row a step: the area under precision over recall, and the recall where 99 of 100 findings are right."""
    result = Table("verifier", "average precision", "found at precision 0.99")
    for step, parts in scored.items():
        rows = np.concatenate(parts)
        good = rows[np.argsort(-rows[:, 0], kind="stable"), 1]
        hits = np.cumsum(good)
        precision = hits / np.arange(1, len(good) + 1)
        enough = hits[precision >= 0.99]
        area = float((precision * good).sum()) / there
        result.add_row(step, f"{area:.3f}", f"{(enough.max() if len(enough) else 0) / there:.3f}")
    return result


def honesty(rows: Scored) -> Table:
    """A row a range of scores: how many findings, what was said of them, how many are bases."""
    result = Table("score", "findings", "said", "true")
    for low, high in pairwise(BINS):
        some = rows[(rows[:, 0] >= low) & (rows[:, 0] < high + (high == 1.0))]
        if len(some):
            said, true = some.mean(0)
            result.add_row(f"{low:g}-{high:g}", str(len(some)), f"{said:.3f}", f"{true:.3f}")
    return result
