"""Range rulers in the photo: an independent check of the scale that the markers give.

Bars in the orthophoto → hypotheses of which ruler lies where along a bar → measurement in the
photo's own pixels → problems where a ruler contradicts the markers.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from overruler.calibration import Calibration, Problem
from overruler.detections import DetectedRuler
from overruler.frame import Frame
from overruler.games import GAMES, facts_of
from overruler.geometry.pose import Array
from overruler.units import MM_PER_INCH, SIGMAS_95
from overruler.vision.imaging.orthophoto import Orthophoto
from overruler.vision.rulers.bars import find_bars
from overruler.vision.rulers.fit import contradicts_markers, measure_ruler
from overruler.vision.rulers.hypotheses import find_hypotheses
from overruler.vision.rulers.strip import RulerKind
from overruler.vision.rulers.structure_tensor import StructureTensor


def _game_rulers() -> Iterator[RulerKind]:
    """The rulers that games print, each as its own kind."""
    for facts in map(facts_of, GAMES):
        for printed in facts.printed_rulers:
            assert facts.ruler is not None
            yield RulerKind(
                printed.name,
                facts.ruler.lines_mm[0],
                printed.segments,
                printed.width_mm,
                printed.top_z_mm,
                printed.min_line_contrast,
                printed.jointed,
            )


KNOWN_RULERS = (*_game_rulers(), RulerKind("inch_stick", MM_PER_INCH, 12, 20.0, 3.0, 4.0))
"""The games' rulers, and a stick of a foot for the games in inches."""
DUPLICATE_SHARE = 0.3
"""A ruler is a part of another if this share of its centre line lies near the other's."""
DUPLICATE_DISTANCE_MM = 20.0
"""How near that is, in mm."""
SAMPLES_PER_SEGMENT = 20
"""Samples of a segment for that comparison."""


def find_rulers(
    frame: Frame, calibration: Calibration, view: Orthophoto
) -> tuple[DetectedRuler, ...]:
    """Find the rulers on the table and measure them in the markers' scale."""
    slopes = StructureTensor.of(view)
    bars = find_bars(view, slopes, sorted({kind.width_mm for kind in KNOWN_RULERS}))
    measured = []
    for hypothesis in find_hypotheses(view, slopes, bars, KNOWN_RULERS):
        ruler = measure_ruler(frame, calibration, hypothesis.kind, hypothesis.path_mm)
        if ruler is not None:
            measured.append(ruler)
    # long ones first: shorter ones may be parts of them
    measured.sort(key=lambda ruler: (-ruler.nominal_length_mm, -ruler.line_contrast))
    kept: list[DetectedRuler] = []
    for ruler in measured:
        if not any(is_part_of(ruler.path_mm, other) for other in kept):
            kept.append(ruler)
    return tuple(kept)


def is_part_of(path_mm: Array, other: DetectedRuler) -> bool:
    """Whether a path is another ruler's, or a part of it."""
    points, others = _densify_path(path_mm), _densify_path(other.path_mm)
    distance = np.linalg.norm(points[:, None] - others, axis=-1).min(1)
    return bool((distance < DUPLICATE_DISTANCE_MM).mean() >= DUPLICATE_SHARE)


def _densify_path(path: Array) -> Array:
    """Points (N, 2) along a polyline."""
    segments = [np.linspace(a, b, SAMPLES_PER_SEGMENT) for a, b in pairwise(path)]
    return np.concatenate(segments)


def ruler_problems(rulers: Sequence[DetectedRuler]) -> tuple[Problem, ...]:
    """A problem for each ruler whose length contradicts the markers."""
    return tuple(_disagreement(ruler) for ruler in rulers if contradicts_markers(ruler))


def _disagreement(ruler: DetectedRuler) -> Problem:
    """It is told as a share: whoever plays in inches reads it like whoever plays in millimetres."""
    percent_per_mm = 100 / ruler.nominal_mm
    off = percent_per_mm * (ruler.segment_mm - ruler.nominal_mm)
    doubt = percent_per_mm * SIGMAS_95 * ruler.sigma_mm
    text = (
        f"the ruler reads {abs(off):.2f} ± {doubt:.2f} % too {'long' if off > 0 else 'short'} "
        "(95 %): check the markers' printed size and places"
    )
    return Problem("ruler_disagrees", text)


def ruler_footprints(rulers: Sequence[DetectedRuler]) -> list[Array]:
    """The rectangles (4, 2) that rulers cover, in mm, one a segment: no base stands there."""
    footprints = []
    for ruler in rulers:
        for start, end in pairwise(ruler.path_mm):
            footprints.append(_segment_rectangle(start, end, ruler.width_mm))
    return footprints


def _segment_rectangle(start: Array, end: Array, width_mm: float) -> Array:
    along = (end - start) / np.linalg.norm(end - start)
    side = np.array([-along[1], along[0]]) * width_mm / 2
    right, left = (start - side, end - side), (end + side, start + side)
    return np.array([*right, *left])
