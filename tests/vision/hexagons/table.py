"""A painted table with hexagons and round bases, found as round ones."""

from collections.abc import Sequence

import cv2
import numpy as np

from evaluate.drawn.markers import camera_over
from overruler.bases import Base
from overruler.detections import Detection
from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.contours.outlines import project_silhouette
from overruler.vision.contours.silhouette import USUAL_PROFILE

SIZE_PX = (900, 700)
FINE = 4
SPACING_MM = 55.0
Placed = tuple[Base, Array, float]
"""A base, its place (2,) in mm, and its heading in rad."""


def over(tilt_deg: float = 30.0, focal_px: float = 1500.0, turn_deg: float = 2.0) -> Camera:
    return camera_over(
        tilt_deg,
        size_px=SIZE_PX,
        height_mm=700.0,
        focal_px=focal_px,
        turn_deg=turn_deg,
        aim_mm=(170.0, 130.0),
    )


def row_of(bases: Sequence[Base], seed: int = 1) -> list[Placed]:
    """Bases side by side in rows of five, turned anyhow."""
    rng = np.random.default_rng(seed)
    places = [np.array([60 + SPACING_MM * (k % 5), 60 + SPACING_MM * (k // 5)]) for k in range(20)]
    return [
        (base, xy + rng.uniform(-2, 2, 2), float(rng.uniform(0, 2 * np.pi)))
        for base, xy in zip(bases, places, strict=False)
    ]


def painted(camera: Camera, placed: Sequence[Placed], seed: int = 1) -> Frame:
    """The photo of light bases with dark sides on a mat with some grain."""
    rng = np.random.default_rng(seed)
    fine = np.full((SIZE_PX[1] * FINE, SIZE_PX[0] * FINE, 3), (70, 95, 80), np.uint8)
    for base, xy_mm, turn in placed:
        for upper, colour in ((False, (35, 30, 30)), (True, (120, 160, 190))):
            outline = project_silhouette(camera, base, xy_mm, turn, 0.0, USUAL_PROFILE, upper, 0.3)
            ring = camera.project(np.column_stack([outline.at_mm, np.zeros(len(outline.at_mm))]))
            cv2.fillConvexPoly(fine, np.rint((ring + 0.5) * FINE).astype(np.int32), colour)
    picture = cv2.resize(fine, SIZE_PX, interpolation=cv2.INTER_AREA)
    noise = rng.normal(0, 12, (*SIZE_PX[::-1], 3))
    grain = cv2.GaussianBlur(noise, (0, 0), 1.0)
    return Frame(np.clip(picture + grain, 0, 255).astype(np.uint8), "painted")


def as_round(placed: Sequence[Placed], seed: int = 1) -> list[Detection]:
    """What the networks make of them: round bases, a little off."""
    rng = np.random.default_rng(seed)
    found = []
    for base, xy_mm, _ in placed:
        seen = base.as_round if base.shape == "hexagon" else base
        radius_mm = seen.width_mm / 2
        found.append(
            Detection(
                base=Base.circle(2 * radius_mm * float(np.exp(rng.normal(0, 0.02)))),
                xy_mm=xy_mm + rng.normal(0, 0.3, 2),
                z_mm=0.0,
                heading_deg=0.0,
                covariance_mm2=0.1 * np.eye(2),
                d_xy_d_camera=np.zeros((2, 15)),
                score=0.99,
                visible=1.0,
                learned_radius_mm=(radius_mm, 0.3),
            )
        )
    return found
