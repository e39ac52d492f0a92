"""From where another photo would make a ruling surer, as seen by whoever took the first one."""

import math
from typing import Any

from overruler.report import Report
from overruler.units import SIGMAS_95
from overruler.verdict import Verdict
from overruler.vision.next_photo.advise import CLOSE_BY, SIDES, advise_photo

SETTLING_SIGMAS = 3.3
"""A margin of so many σ settles a ruling: that is more certain than 0.999."""
WAYS = (
    *("from the same side once more", "from a few steps to the right"),
    *("from the side to your right", "from the far corner to your right"),
    *("from the opposite side", "from the far corner to your left"),
    *("from the side to your left", "from a few steps to the left"),
)
"""The ways round the table in eighths of a turn, for somebody who stands where the photo was taken."""


def advice_json(report: Report, verdict: Verdict) -> dict[str, Any] | None:
    """The best place for another photo and what it would do; None where none helps."""
    advice = advise_photo(report, [verdict])
    if advice is None:
        return None
    margin_mm = abs(verdict.margin_mm) if verdict.margin_mm is not None else 0.0
    return {
        "way": _way(report, advice.place),
        "before_mm": round(SIGMAS_95 * advice.before_mm, 2),
        "after_mm": round(SIGMAS_95 * advice.after_mm, 2),
        "settles": margin_mm > SETTLING_SIGMAS * advice.after_mm,
    }


def _way(report: Report, place: str) -> str:
    """How whoever took the report's photo gets to a place that is advised."""
    if place == CLOSE_BY:
        return "of both from close by"
    heading_deg = {name: heading for heading, name in SIDES}[place]
    return WAYS[_eighths_between(_heading_deg(report), heading_deg)]


def _heading_deg(report: Report) -> float:
    """The direction over the board that is up in the photo: whoever took it looked that way."""
    down_x, down_y, _ = report.calibration.camera.T_camera_board.rotation[1]
    return math.degrees(math.atan2(-down_y, -down_x))


def _eighths_between(first_deg: float, second_deg: float) -> int:
    return round((second_deg - first_deg) / 45) % 8
