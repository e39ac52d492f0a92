"""The result of `overruler calibrate board`, for people and for programs."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table
from rich.text import Text

from overruler.apps.calibrate.lens_output import (
    contradict,
    left_out_json,
    new_table,
    print_footer,
)
from overruler.apps.process.console import new_console
from overruler.geometry.pose import wrapped_turn
from overruler.units import SIGMAS_95, format_count
from overruler.vision.calibrators.marker_map import MarkerMapFit


def show_board(fit: MarkerMapFit, left_out: Mapping[str, str], written: Path) -> None:
    """Print where the markers lie, and how sure that is."""
    console = new_console()
    console.print(_marker_table(fit), soft_wrap=False)
    console.print()
    for line in _board_lines(fit):
        console.print(Text(line))
    print_footer(console, left_out, [written])


def _marker_table(fit: MarkerMapFit) -> Table:
    table = new_table("marker", "x mm", "y mm", "turned °", "photos")
    for marker, (x, y, turn) in fit.places.items():
        photos = sum(marker in photo.markers for photo in fit.photos)
        heading = np.degrees(wrapped_turn(turn, 2 * np.pi))
        table.add_row(str(marker), f"{x:.2f}", f"{y:.2f}", f"{heading:.2f}", str(photos))
    return table


def _board_lines(fit: MarkerMapFit) -> Iterator[str]:
    sigmas_mm = fit.distance_sigmas_mm()
    typical_mm = SIGMAS_95 * float(np.median(sigmas_mm))
    worst_mm = SIGMAS_95 * float(sigmas_mm.max())
    yield f"from marker to marker: ± {typical_mm:.2f} mm (95 %) typically, ± {worst_mm:.2f} mm at worst"
    yield f"edges fit to {fit.rms_px:.3f} px in {format_count(len(fit.photos), 'photo')}"
    if contradict(fit.disagreement, fit.rms_px):
        yield (
            "! the photos contradict one another: "
            "do the markers lie flat, and did none move in between?"
        )
    if fit.scale_by_print:
        percent = 100 * SIGMAS_95 * fit.scale_share
        yield (
            f"the scale is that of the print, ± {percent:.2g} %: measure a printed bar with a steel "
            "rule, say so in a board file without places (overruler markers confirm), "
            "and calibrate again with it (--board)"
        )


def board_json(fit: MarkerMapFit, left_out: Mapping[str, str]) -> dict[str, Any]:
    """The result for programs."""
    corners_mm = {str(marker): corners.tolist() for marker, corners in fit.corners_mm.items()}
    return {
        "markers": [_marker_json(marker, *place) for marker, place in fit.places.items()],
        "corners_mm": corners_mm,
        "covariance": fit.covariance.tolist(),
        "scale_share": fit.scale_share,
        "scale_by_print": fit.scale_by_print,
        "rms_px": fit.rms_px,
        "disagreement": fit.disagreement,
        "photos": [
            {"photo": photo.name, "markers": list(photo.markers), "rms_px": photo.rms_px}
            for photo in fit.photos
        ],
        "left_out": left_out_json(left_out),
    }


def _marker_json(marker: int, x_mm: float, y_mm: float, turn_rad: float) -> dict[str, Any]:
    heading_deg = float(np.degrees(turn_rad))
    return {"id": marker, "x_mm": float(x_mm), "y_mm": float(y_mm), "heading_deg": heading_deg}
