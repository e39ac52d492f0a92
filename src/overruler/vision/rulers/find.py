"""Range rulers in the photo: an independent word on how large things are.

bars → which ruler may lie where along a bar → measured in the photo's own pixels → what that says about the markers
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from overruler.calibration import Calibration, Problem
from overruler.detections import DetectedRuler
from overruler.frame import Frame
from overruler.games import GAMES, facts_of
from overruler.geometry.pose import Array
from overruler.units import MM_PER_INCH
from overruler.vision.imaging.orthophoto import Orthophoto
from overruler.vision.rulers.bars import StructureTensor, find_bars
from overruler.vision.rulers.fit import contradicts_markers, measure_ruler
from overruler.vision.rulers.hypotheses import find_hypotheses
from overruler.vision.rulers.strip import RulerKind


def _game_rulers() -> Iterator[RulerKind]:
    for facts in map(facts_of, GAMES):
        for printed in facts.printed_rulers:
            assert facts.ruler is not None
            yield RulerKind(
                printed.name,
                facts.ruler.segment_mm,
                printed.segments,
                printed.width_mm,
                printed.top_z_mm,
                printed.min_line_contrast,
                printed.jointed,
            )


KNOWN_RULERS = (*_game_rulers(), RulerKind("inch_stick", MM_PER_INCH, 12, 20.0, 3.0, 4.0))
"""The games' rulers, and a stick of a foot for the games in inches."""
DUPLICATE_SHARE, DUPLICATE_DISTANCE_MM = 0.3, 20.0
"""A ruler of whose line such a share lies so near another's is the same one, or a part of it."""


def find_rulers(
    frame: Frame, calibration: Calibration, view: Orthophoto
) -> tuple[DetectedRuler, ...]:
    """The rulers that lie on the table, each as the markers measure it; `view` is the table from above."""
    slopes = StructureTensor.of(view)
    bars = find_bars(view, slopes, sorted({kind.width_mm for kind in KNOWN_RULERS}))
    measured = [
        measure_ruler(frame, calibration, one.kind, one.path_mm)
        for one in find_hypotheses(view, slopes, bars, KNOWN_RULERS)
    ]
    kept: list[DetectedRuler] = []
    # long ones first: shorter ones may be parts of them
    for one in sorted(
        filter(None, measured), key=lambda one: (-one.nominal_length_mm, -one.line_contrast)
    ):
        kept += [one] if _is_distinct(one.path_mm, kept) else []
    return tuple(kept)


def _is_distinct(path_mm: Array, others: Sequence[DetectedRuler]) -> bool:
    """Whether what is laid along a path is none of the others, nor a part of one."""
    dense = _densify_path(path_mm)[:, None]
    near = [
        np.linalg.norm(dense - _densify_path(other.path_mm), axis=-1).min(1) < DUPLICATE_DISTANCE_MM
        for other in others
    ]
    return all(one.mean() < DUPLICATE_SHARE for one in near)


def _densify_path(path: Array) -> Array:
    """Places along a broken line."""
    return np.concatenate([np.linspace(a, b, 20) for a, b in pairwise(path)])


def ruler_problems(rulers: Sequence[DetectedRuler]) -> tuple[Problem, ...]:
    """That a ruler is not as long as the markers say."""
    wrong = [one for one in rulers if contradicts_markers(one)]
    return tuple(
        Problem(
            "ruler_disagrees",
            f"the ruler reads {one.segment_mm:.2f} ± {1.96 * one.sigma_mm:.2f} mm a segment, not {one.nominal_mm:g}: "
            "check the markers' printed size and places",
        )
        for one in wrong
    )


def ruler_footprints(rulers: Sequence[DetectedRuler]) -> list[Array]:
    """Where rulers lie (4, 2) each, in mm, segment by segment: no base stands there."""
    return [
        _segment_rectangle(a, b, ruler.width_mm)
        for ruler in rulers
        for a, b in pairwise(ruler.path_mm)
    ]


def _segment_rectangle(start: Array, end: Array, width_mm: float) -> Array:
    along = (end - start) / np.linalg.norm(end - start)
    side = np.array([-along[1], along[0]]) * width_mm / 2
    return np.array([start - side, end - side, end + side, start + side])
