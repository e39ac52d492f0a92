#!/usr/bin/env python3
"""The plot of docs/calibration.md: how far from a line a certain ruling stays, by what was confirmed.

    uv run tools/documents/confirmed.py

It lands in docs/pictures/confirmed.png. The scale's doubt is the program's own, by its witnesses.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from overruler.board import Board
from overruler.detections import DetectedRuler
from overruler.geometry.plane_doubt import MarkerContrast
from overruler.geometry.pose import Array
from overruler.vision.assembly.flag_doubts import RARE_PROBABILITY
from overruler.vision.refinement.scale_witnesses import estimate_scale

PLOT = Path(__file__).parents[2] / "docs" / "pictures" / "confirmed.png"
OWN_SIGMA_MM = 0.35
"""1 σ of the distance of two pieces without the scale's doubt, as usual in a photo."""
CONTRAST_SIGMA = 1e-3
"""1 σ of the markers' size against their spacing, as a photo measures it."""
CONFIRMED_SIGMA = 3e-4
"""1 σ of a scale that was measured."""
MOST_SHOWN_MM = 20.0
"""Upper end of the plot."""
CERTAIN = 0.999
"""Probability of a certain answer."""
SQUARE_MM = np.array([[0, 60, 0], [60, 60, 0], [60, 0, 0], [0, 0, 0.0]])
"""A marker's corners."""
KNOWN = Board("plot", 60.0, "DICT_4X4_50", 900.0, 900.0, {0: SQUARE_MM, 1: SQUARE_MM + 800})
"""A table whose markers' places are known; nobody measured it."""
FREE = Board.free(60.0)
"""A table with markers anywhere; nobody measured them."""
RULER = DetectedRuler("legion", 152.4, 152.4, 0.15, np.array([[0, 0], [762, 0.0]]), 25.0, 20.0)
"""A ruler that lies along x, as a photo shows it."""
SITUATIONS: Mapping[str, tuple[Board, Sequence[DetectedRuler]]] = {
    "places known, confirmed": (replace(KNOWN, scale_share=CONFIRMED_SIGMA), ()),
    "places known, unconfirmed, a ruler in sight": (KNOWN, (RULER,)),
    "places known, unconfirmed": (KNOWN, ()),
    "markers anywhere, confirmed": (replace(FREE, scale_share=CONFIRMED_SIGMA), ()),
    "markers anywhere, unconfirmed, a ruler in sight": (FREE, (RULER,)),
    "markers anywhere, unconfirmed": (FREE, ()),
}
"""What may be known of a table."""


def main() -> int:
    """Draw the plot."""
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(9.6, 3.6), dpi=80, layout="constrained")
    distance_mm = np.linspace(0, 800, 81)
    for name, (board, rulers) in SITUATIONS.items():
        sigma = scale_sigma(board, rulers)
        margin_mm = [needed_margin_mm(sigma * one) for one in distance_mm]
        style = ":" if rulers else "--" if "unconfirmed" in name else "-"
        axes.plot(distance_mm, margin_mm, style, label=f"{name}: scale ± {100 * sigma:.2f} %")
    axes.set(
        xlabel="distance of two pieces, mm",
        ylabel="distance from the line, mm",
        title="A ruling is certain from here on",
        ylim=(0, MOST_SHOWN_MM),
    )
    axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1.01, 0.5))
    axes.grid(alpha=0.25)
    figure.savefig(PLOT)
    return 0


def scale_sigma(board: Board, rulers: Sequence[DetectedRuler]) -> float:
    """1 σ of the scale along x, as a share, by the print, the places and rulers."""
    contrast = None
    if board.layout_known:
        contrast = MarkerContrast(np.zeros(3), np.eye(3) * CONTRAST_SIGMA**2)
    moment: Array = estimate_scale(board, contrast, rulers, ()).second_moment
    return float(np.sqrt(moment[0, 0]))


def needed_margin_mm(scale_mm: float) -> float:
    """The least distance from a line of a certain ruling; `scale_mm` is the scale's 1 σ."""
    from scipy.optimize import brentq
    from scipy.stats import norm

    rare_mm = float(np.hypot(OWN_SIGMA_MM, scale_mm))

    def excess(margin_mm: float) -> float:
        usual, rare = norm.sf(margin_mm / OWN_SIGMA_MM), norm.sf(margin_mm / rare_mm)
        return float((1 - RARE_PROBABILITY) * usual + RARE_PROBABILITY * rare - (1 - CERTAIN))

    return float(brentq(excess, 0, 10 * rare_mm))


if __name__ == "__main__":
    sys.exit(main())
