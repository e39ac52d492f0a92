"""Which of several photos shows a ruling best."""

import numpy as np

from overruler.geometry.pose import Array
from overruler.picture.drawable_ruling import drawable_rulings
from overruler.report import Report, TablePhoto

SAMPLES = 5
"""Points on the measured line at which its size in a photo is taken."""


def index_of_best_photo(report: Report) -> int:
    """The photo in which a millimetre across the first ruling's gap is largest, of those that show it.

    Without a ruling it is the photo that shows most pieces.
    """
    claims = drawable_rulings(report.scene, report.verdicts)
    if not claims:
        return int(np.argmax([_count_pieces(report, photo) for photo in report.photos]))
    line = np.linspace(claims[0].from_mm, claims[0].to_mm, SAMPLES)
    points = np.column_stack([line, np.full(len(line), claims[0].z_mm)])
    sizes = [_smallest_px_per_mm(photo, points) for photo in report.photos]
    return int(np.argmax(sizes))


def _smallest_px_per_mm(photo: TablePhoto, points_mm: Array) -> float:
    """Pixels for a millimetre at the worst of some points (N, 3); 0 where one is not in the picture."""
    pixels = photo.calibration.camera.project(points_mm)
    width, height = photo.frame.size_px
    inside = np.isfinite(pixels).all() and (pixels >= 0).all() and (pixels < [width, height]).all()
    if not inside:
        return 0.0
    return float(1 / photo.calibration.camera.mm_per_px(points_mm).max())


def _count_pieces(report: Report, photo: TablePhoto) -> int:
    places = [[piece.x_mm, piece.y_mm, piece.z_mm] for piece in report.scene.pieces]
    if not places:
        return 0
    pixels = photo.calibration.camera.project(np.array(places))
    inside = (pixels >= 0) & (pixels < np.array(photo.frame.size_px))
    return int(inside.all(1).sum())
