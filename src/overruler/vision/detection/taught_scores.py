"""Scores re-weighed by what people's corrections taught of a table."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from overruler.detections import Detection
from overruler.errors import BadInput
from overruler.taught import Taught, Weighing
from overruler.vision.learned.inference import weights_fingerprint

MIN_TAUGHT_SCORE = 0.5
"""Least re-weighed score of a finding that is no round base: it is likelier a base than not."""
MIN_CANDIDATE_SCORE = 0.15
"""Least score of a candidate that corrections may raise to a base."""


def load_taught(path: Path) -> Taught:
    """Read a file; `BadInput` where it is wrong, or other networks scored its findings."""
    taught = Taught.load(path)
    if taught.networks != weights_fingerprint():
        raise BadInput(
            f"{path}: was taught with the networks of another version of this program: "
            "remove it (overruler teach --forget) and teach its photos again"
        )
    return taught


def least_score_before(least: float, taught: Taught | None) -> float:
    """The least score of a round base before it is re-weighed: not above `least`."""
    weighing = taught.scores.get("circle") if taught else None
    if weighing is None:
        return least
    return min(least, max(weighing.score_before(least), MIN_CANDIDATE_SCORE))


def reweigh_scores(detections: Sequence[Detection], taught: Taught | None) -> tuple[Detection, ...]:
    """The detections with re-weighed scores; without those that are likely no bases now.

    Round bases all stay: their caller knows their least score.
    """
    if taught is None:
        return tuple(detections)
    reweighed = [_reweigh(one, taught.scores.get(one.base.shape)) for one in detections]
    return tuple(one for one in reweighed if _stays(one, taught))


def _reweigh(one: Detection, weighing: Weighing | None) -> Detection:
    if weighing is None:
        return one
    clutter_score = one.clutter_score
    if clutter_score is not None:
        clutter_score = weighing.reweigh(clutter_score)
    return replace(one, score=weighing.reweigh(one.score), clutter_score=clutter_score)


def _stays(one: Detection, taught: Taught) -> bool:
    shape = one.base.shape
    return shape == "circle" or shape not in taught.scores or one.score >= MIN_TAUGHT_SCORE
