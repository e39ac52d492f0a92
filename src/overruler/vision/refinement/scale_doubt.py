"""The doubt of a photo's scale: all witnesses are heard, and those that contradict each other are named."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from overruler.board import Board
from overruler.calibration import Calibration, Problem
from overruler.detections import DetectedRuler, Detection
from overruler.frame import Frame
from overruler.geometry.plane_doubt import STRAIN_SIZE
from overruler.units import SIGMAS_95
from overruler.vision.refinement.base_scale import (
    RimMeasurement,
    has_usable_rim,
    keep_consistent_rims,
    measure_rim,
)
from overruler.vision.refinement.scale_estimate import Hypothesis, ScaleEstimate
from overruler.vision.refinement.scale_witnesses import (
    BASES,
    MAT,
    PLACES,
    PRINT,
    estimate_scale,
)

MAX_BASES = 40
"""Largest number of bases heard, those of the highest score: more say little more."""
NAMED_WEIGHT = 0.05
"""Hypotheses of at least this probability are named."""
MAX_NAMED = 2
"""Largest number of hypotheses named."""


def doubt_scale(
    frame: Frame,
    calibration: Calibration,
    board: Board | None,
    detections: Sequence[Detection],
    rulers: Sequence[DetectedRuler],
) -> Calibration:
    """Add the scale's doubt, and a problem if its witnesses contradict each other."""
    rims = _measure_rims(frame, calibration, detections)
    estimate = estimate_scale(board, calibration.contrast, rulers, rims)
    doubt = replace(calibration.doubt, strain_covariance=estimate.second_moment)
    problems = (*calibration.problems, *scale_problems(estimate))
    return replace(calibration, doubt=doubt, problems=problems)


def _measure_rims(
    frame: Frame, calibration: Calibration, detections: Sequence[Detection]
) -> list[RimMeasurement]:
    """The rims of the surest round bases on the table, without outliers."""
    usable = [one for one in detections if has_usable_rim(one)]
    surest = sorted(usable, key=lambda one: -one.score)[:MAX_BASES]
    measured = [measure_rim(frame, calibration, one) for one in surest]
    rims = [rim for rim in measured if rim is not None]
    return keep_consistent_rims(rims, calibration.covariance) if rims else []


def scale_problems(estimate: ScaleEstimate) -> tuple[Problem, ...]:
    """A problem that names what is likely wrong, if the witnesses contradict each other."""
    if not estimate.is_contradictory:
        return ()
    wrong = [one for one in estimate.hypotheses if one.gross]
    named = [one for one in wrong if one.weight >= NAMED_WEIGHT] or wrong[:1]
    causes = [_describe(one, estimate) for one in named[:MAX_NAMED]]
    text = "the scale is in doubt: " + ", or ".join(causes)
    return (Problem("scale_disagrees", text),)


def _describe(hypothesis: Hypothesis, estimate: ScaleEstimate) -> str:
    """What is wrong under a hypothesis, in words with figures."""
    values = {witness.name: float(witness.values[0]) for witness in estimate.witnesses}
    return " and ".join(_accuse(name, hypothesis, values) for name in hypothesis.gross)


def _accuse(name: str, hypothesis: Hypothesis, values: Mapping[str, float]) -> str:
    has_places = PLACES in values
    x, y, _, print_x, print_y, *_ = 100 * hypothesis.mean
    if name == PRINT:
        across, along = (print_x, print_y) if has_places else (x, y)
        start = STRAIN_SIZE if has_places else 0
        share = 100 + (across + along) / 2
        reach = 100 * SIGMAS_95 * _mean_sigma(hypothesis, start)
        return f"the cards look printed at {share:.1f} ± {reach:.1f} %; measure the printed bars"
    if name == PLACES:
        return (
            f"the markers look {_compare(x, 'farther apart', 'closer together')} along x and "
            f"{_compare(y, 'farther apart', 'closer together')} along y than the board file says; "
            "measure the table"
        )
    if name == MAT:
        share = 100 + (x + y) / 2
        return f"the mat and its markers look printed at {share:.1f} %; measure the table"
    size = -(x + y) / 2
    if name == BASES:
        return f"the bases look {_compare(size, 'larger', 'smaller')} than the catalogue's"
    return f"the ruler ({name}) reads {_compare(-100 * values[name], 'long', 'short')}"


def _mean_sigma(hypothesis: Hypothesis, start: int) -> float:
    """1 σ of the mean of two strains, along x and along y."""
    block = hypothesis.covariance[start : start + 2, start : start + 2]
    return float(np.sqrt(block.sum()) / 2)


def _compare(percent: float, more: str, less: str) -> str:
    return f"{abs(percent):.1f} % {more if percent > 0 else less}"
