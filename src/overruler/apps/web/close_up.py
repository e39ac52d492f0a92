"""The gap of a ruling from near, on the photo of the table that shows it largest."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from overruler.geometry.pose import Array
from overruler.picture.drawable_ruling import DrawableRuling
from overruler.picture.painters import base_outline
from overruler.picture.svg import path_data
from overruler.picture.view import View
from overruler.units import SIGMAS_95

SAMPLES = 5
"""Points on the measured line at which its size in a photo is taken."""


def close_up_json(views: Sequence[View], ruling: DrawableRuling) -> dict[str, Any]:
    """The gap and the bases on both sides of it, on the photo that shows it largest."""
    photo = best_photo(views, ruling)
    outlines = [base_outline(views[photo], piece) for piece in ruling.pieces]
    return {
        "photo": photo,
        **measured_line_json(views[photo], ruling),
        "outlines": [path_data(edge, closed=True) for edge in outlines],
    }


def best_photo(views: Sequence[View], ruling: DrawableRuling) -> int:
    """The photo in which a millimetre of the measured line is largest, of those that show it all."""
    sizes = [_smallest_px_per_mm(view, ruling) for view in views]
    return int(np.argmax(sizes))


def _smallest_px_per_mm(view: View, ruling: DrawableRuling) -> float:
    share = np.linspace(0, 1, SAMPLES)[:, None]
    points = ruling.from_mm * (1 - share) + ruling.to_mm * share
    if not view.contains_all(view.to_px(points, ruling.z_mm)):
        return 0.0
    return min(view.px_per_mm(point, ruling.z_mm) for point in points)


def measured_line_json(view: View, ruling: DrawableRuling) -> dict[str, Any]:
    """The measured line, its ends, and the 95 % interval of its length at its far end."""
    line = view.line_px(ruling.from_mm, ruling.to_mm, ruling.z_mm)
    margin_mm = SIGMAS_95 * ruling.sigma_mm * _line_direction(ruling)
    doubt = view.line_px(ruling.to_mm - margin_mm, ruling.to_mm + margin_mm, ruling.z_mm)
    return {
        "line": path_data(line),
        "ends_px": round_px(line[[0, -1]]),
        "doubt": path_data(doubt),
        "px_per_mm": float(view.px_per_mm(ruling.to_mm, ruling.z_mm)),
    }


def _line_direction(ruling: DrawableRuling) -> Array:
    """Unit vector (2,) along the measured line."""
    delta = ruling.to_mm - ruling.from_mm
    return np.asarray(delta / max(float(np.hypot(*delta)), 1e-9))


def round_px(values: Any) -> Any:
    """Places in pixels as JSON; None for one that is not in the picture."""
    places = np.asarray(values, float)
    return np.round(places, 2).tolist() if np.isfinite(places).all() else None
