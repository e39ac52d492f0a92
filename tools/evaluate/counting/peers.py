"""Other ways to find round bases, on the same picture from above: OpenCV's circle finders and the nearest size."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from evaluate.counting.tally import LEAST_RIM, Pixels, Tally, Truth, matches, same_size
from overruler.bases import ROUND_DIAMETERS_MM
from overruler.calibration import Calibration
from overruler.frame import Frame
from overruler.vision.detection.detect import rectify_board
from overruler.vision.imaging.orthophoto import Orthophoto

Grey = NDArray[np.uint8]
Circles = NDArray[np.float64]
MM_PER_PX = 1.0
"""Of the picture from above, or the photo's own where that is coarser."""
APART_MM = 20.0
"""Nearer to each other no two circles are looked for."""
LEAST_ROUND, LEAST_SCORE = 0.8, 0.75
"""Of an ellipse: its axes' ratio, and the share of its edge that the detector wants to see."""


def peers() -> dict[str, Callable[[Grey, float], Circles]]:
    """The finders by name: from a grey picture and its mm per pixel to circles (N, 3), x, y and radius in pixels."""
    named: dict[str, Callable[[Grey, float], Circles]] = {
        "Hough": partial(_hough, cv2.HOUGH_GRADIENT, 1, 150, 30),
        "Hough alt": partial(_hough, cv2.HOUGH_GRADIENT_ALT, 1.5, 300, 0.8),
    }
    if "ximgproc" in vars(cv2):
        named["ellipses"] = _ellipses
    return named


def _hough(
    method: int, shrink: float, edge: float, votes: float, grey: Grey, mm_per_px: float
) -> Circles:
    """OpenCV's answer (1, N, 3 or 4) as circles (N, 3)."""
    least, most = (size / 2 / mm_per_px for size in (ROUND_DIAMETERS_MM[0], ROUND_DIAMETERS_MM[-1]))
    found: NDArray[Any] | None = cv2.HoughCircles(
        grey,
        method,
        shrink,
        APART_MM / mm_per_px,
        None,
        edge,
        votes,
        int(0.9 * least),
        int(1.1 * most),
    )
    return (
        np.zeros((0, 3))
        if found is None
        else np.asarray(found, float).reshape(-1, found.shape[-1])[:, :3]
    )


def _ellipses(grey: Grey, mm_per_px: float) -> Circles:
    """EdgeDrawing's ellipses that are nearly round, the larger of those about one middle."""
    drawing = vars(cv2)["ximgproc"].createEdgeDrawing()
    drawing.detectEdges(grey.copy())  # it writes into its input
    found = drawing.detectEllipses()
    rows = np.zeros((0, 6)) if found is None else np.asarray(found, float).reshape(-1, 6)
    axes = np.where(rows[:, 2:3] > 0, rows[:, [2, 2]], rows[:, 3:5])
    sizes = np.array(ROUND_DIAMETERS_MM)[[0, -1]] / 2 / mm_per_px
    fits = (
        (axes.min(1) > LEAST_ROUND * axes.max(1))
        & (axes.mean(1) > 0.9 * sizes[0])
        & (axes.mean(1) < 1.1 * sizes[1])
    )
    circles = np.column_stack([rows[fits, :2], axes[fits].mean(1)])
    kept: list[NDArray[np.float64]] = []
    for circle in circles[np.argsort(-circles[:, 2], kind="stable")]:
        if all(np.hypot(*(circle[:2] - other[:2])) > 0.5 * other[2] for other in kept):
            kept.append(circle)
    return np.array(kept).reshape(-1, 3)


@dataclass(frozen=True, slots=True, eq=False)
class FromAbove:
    """A photo's board as the peers are shown it."""

    view: Orthophoto
    calibration: Calibration

    @classmethod
    def of(cls, frame: Frame, calibration: Calibration) -> "FromAbove":
        return cls(rectify_board(frame, calibration, MM_PER_PX), calibration)

    def tally(self, find: Callable[[Grey, float], Circles], truth: Truth) -> Tally:
        """What one finder finds; the size is the catalogue's nearest."""
        grey = np.asarray(cv2.cvtColor(self.view.pixels, cv2.COLOR_BGR2GRAY), np.uint8)
        circles = find(
            np.asarray(cv2.GaussianBlur(grey, (0, 0), 1.0), np.uint8), self.view.mm_per_px
        )
        xy_mm = self.view.to_mm(circles[:, :2])
        xyz_mm = np.column_stack([xy_mm, np.zeros(len(xy_mm))])
        camera = self.calibration.camera
        scale = camera.mm_per_px(xyz_mm) if len(xyz_mm) else np.zeros(0)
        diameters_mm = np.array([_nearest(2 * r * self.view.mm_per_px) for r in circles[:, 2]])
        centres_px = camera.project(xyz_mm) if len(xyz_mm) else np.zeros((0, 2))
        return _counted(centres_px, diameters_mm, scale, truth)


def _nearest(diameter_mm: float) -> float:
    return min(ROUND_DIAMETERS_MM, key=lambda size: abs(size - diameter_mm))


def _counted(centres_px: Pixels, diameters_mm: Pixels, mm_per_px: Pixels, truth: Truth) -> Tally:
    there: Sequence[Truth] = [p for p in truth["pieces"] if p.get("in_frame", 1) > 0.5]
    pairs = matches(centres_px, diameters_mm / 2 / mm_per_px, there)
    return Tally(
        wanted=sum(p["visible_rim"] >= LEAST_RIM for p in there),
        found=sum(there[i]["visible_rim"] >= LEAST_RIM for i, _ in pairs),
        false=len(centres_px) - len(pairs),
        matched=len(pairs),
        sized=sum(same_size(float(diameters_mm[j]), there[i]["shape"]) for i, j in pairs),
        errors_mm=[
            float(np.hypot(*(centres_px[j] - there[i]["center_px"])) * mm_per_px[j])
            for i, j in pairs
        ],
    )
