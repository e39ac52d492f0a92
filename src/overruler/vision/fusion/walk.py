"""Which pictures of a walk round the table to measure: those from the most different sides."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from overruler.board import Board
from overruler.calibration import Problem
from overruler.errors import CannotMeasure
from overruler.frame import Frame
from overruler.vision.markers.detect import find_markers
from overruler.vision.markers.marker import Marker

MOST_VIEWS = 6
"""Most pictures of a film that are measured: more sides show little more."""
LEAST_TURN_DEG = 20.0
"""Pictures whose sides differ by less show the same."""
LEAST_MARKERS = 2
"""Least number of markers in a picture that is measured."""
MARKERS_SHARE = 0.6
"""Least number of markers in a picture, as a share of that in the best one."""


@dataclass(frozen=True, slots=True, eq=False)
class Views:
    """The pictures of a film that are measured."""

    frames: Sequence[Frame]
    problems: Sequence[Problem]
    """What is said of those that are not, where one alone is measured."""


def choose_views(pictures: Sequence[Frame], board: Board, most: int = MOST_VIEWS) -> Views:
    """Choose up to `most` pictures from the most different sides, in their order.

    `CannotMeasure` where no picture shows two markers of the board.
    """
    seen = [{one.id: one for one in find_markers(picture, board)} for picture in pictures]
    best = max((len(one) for one in seen), default=0)
    if best < LEAST_MARKERS:
        raise CannotMeasure(
            f"no picture of the film shows {LEAST_MARKERS} markers of the board; "
            "walk slowly, with the markers in sight"
        )
    enough = max(LEAST_MARKERS, MARKERS_SHARE * best)
    able = [k for k, one in enumerate(seen) if len(one) >= enough]
    chosen = [max(able, key=lambda k: len(seen[k]))]
    while len(chosen) < most:
        turns = {k: min(_turn_deg(seen[k], seen[c]) for c in chosen) for k in able}
        farthest = max(able, key=turns.__getitem__)
        if turns[farthest] < LEAST_TURN_DEG:
            break
        chosen.append(farthest)
    problems = []
    if len(chosen) == 1 < most:
        others = len(able) - 1, len(pictures) - len(able)
        problems.append(_say_why_alone(pictures[chosen[0]], *others))
    return Views([pictures[k] for k in sorted(chosen)], problems)


def _say_why_alone(picture: Frame, like_it: int, unable: int) -> Problem:
    """A problem that names the one picture of a film that is measured, and says why no other is."""
    reasons = []
    if like_it:
        reasons.append("the film's other pictures are from the same side and add nothing")
    if unable:
        whose = "others" if like_it else "the film's other pictures"
        reasons.append(f"{whose} show too few of its markers, or another table")
    why = ", and ".join(reasons) or "the film is too short to show another side"
    return Problem("photo_alone", f"{picture.name} is measured alone: {why}")


def _turn_deg(one: Mapping[int, Marker], other: Mapping[int, Marker]) -> float:
    """How far the table is turned between two pictures, by the markers in both, 0 to 180.

    It is measured in the pictures, so roughly; pictures without a common marker are 180 apart.
    """
    turns = [_heading(one[k]) / _heading(other[k]) for k in one.keys() & other.keys()]
    if not turns:
        return 180.0
    return float(np.degrees(abs(np.angle(np.sum(turns)))))


def _heading(marker: Marker) -> complex:
    """The direction of a marker's upper edge in the picture, of length 1."""
    left, right = marker.corners_px[[0, 3]].mean(0), marker.corners_px[[1, 2]].mean(0)
    way = complex(*(right - left))
    return way / abs(way)
