"""Ways to find a marker's corners: ours, and those that OpenCV has."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import cv2
import numpy as np

from overruler.board import Board
from overruler.frame import Frame
from overruler.geometry.pose import Array
from overruler.vision.markers.detect import find_markers


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """A marker's corners as a method has them."""

    corners_px: Array
    """(4, 2)."""
    covariance_px2: Array | None = None
    """(8, 8), where the method states one."""


Method = Callable[[Frame, str], Mapping[int, Found]]


def ours(frame: Frame, dictionary: str) -> dict[int, Found]:
    markers = find_markers(frame, Board.free(60.0, dictionary))
    return {marker.id: Found(marker.corners_px, marker.square.covariance_px2) for marker in markers}


def opencv(refinement: int | None) -> Method:
    """OpenCV's detector at the picture's full size; None leaves all its parameters as they come."""

    def find(frame: Frame, dictionary: str) -> dict[int, Found]:
        parameters = cv2.aruco.DetectorParameters()
        if refinement is not None:
            parameters.cornerRefinementMethod = refinement
        code = cv2.aruco.getPredefinedDictionary(getattr(cv2.aruco, dictionary))
        grey = cv2.cvtColor(frame.pixels, cv2.COLOR_BGR2GRAY)
        corners, ids, _ = cv2.aruco.ArucoDetector(code, parameters).detectMarkers(grey)
        numbers = [] if ids is None else [int(number) for number in np.reshape(ids, -1)]
        return {
            i: Found(np.reshape(quad, (4, 2)).astype(float))
            for i, quad in zip(numbers, corners, strict=True)
        }

    return find


METHODS: dict[str, Method] = {
    "overruler": ours,
    "OpenCV as it comes": opencv(None),
    "OpenCV NONE": opencv(cv2.aruco.CORNER_REFINE_NONE),
    "OpenCV SUBPIX": opencv(cv2.aruco.CORNER_REFINE_SUBPIX),
    "OpenCV CONTOUR": opencv(cv2.aruco.CORNER_REFINE_CONTOUR),
    "OpenCV APRILTAG": opencv(cv2.aruco.CORNER_REFINE_APRILTAG),
}
