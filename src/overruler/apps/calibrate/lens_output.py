"""The result of `overruler calibrate lens`, for people and for programs."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from overruler.apps.process.console import new_console
from overruler.errors import printable
from overruler.picture.lens_coverage import draw_coverage, encode_drawing
from overruler.units import SIGMAS_95, format_count
from overruler.vision.calibrators.lens_error_map import (
    REFERENCE_TABLE_MM,
    REFERENCE_TILT_DEG,
    LensErrorMap,
    Suggestion,
)
from overruler.vision.calibrators.lens_fit import LensFit, PhotoFit

DISAGREEMENT_WARNING = 2.0
"""Variance ratio above which the output warns that the photos contradict one another.

It compares the scatter between photos with what the noise of their corners explains."""
DISAGREEMENT_WARNING_PX = 0.05
"""Contradiction below which there is no warning: it moves no place on a table by 0.05 mm."""
BOW_WARNING_MM = 0.5
"""Bow of the sheet above which the output warns."""
LENS_PARAMETERS = ("fx", "fy", "cx", "cy", "k1", "k2", "p1", "p2", "k3")
PIXEL_PARAMETERS = 4
"""The first parameters are in pixels, the others have no unit."""


def show_lens(
    fit: LensFit,
    left_out: Mapping[str, str],
    error_map: LensErrorMap,
    suggestions: Sequence[Suggestion],
    written: Sequence[Path],
) -> None:
    """Print the photos, the lens, and how far to trust it."""
    console = new_console()
    console.print(_photo_table(fit), soft_wrap=False)
    console.print()
    console.print(_lens_table(fit), soft_wrap=False)
    console.print()
    for line in _lens_lines(fit, error_map, suggestions):
        console.print(Text(line))
    print_footer(console, left_out, written)


def contradict(disagreement: float, rms_px: float) -> bool:
    """Whether photos contradict one another by more than their noise, and by enough to matter."""
    scatter_px = np.sqrt(disagreement) * rms_px
    return bool(disagreement > DISAGREEMENT_WARNING and scatter_px > DISAGREEMENT_WARNING_PX)


def print_footer(console: Console, left_out: Mapping[str, str], written: Sequence[Path]) -> None:
    """Print which photos were left out, and the files that were written."""
    for name, reason in left_out.items():
        console.print(Text(printable(f"! left out: {name}: {reason}"), style="yellow"))
    for path in written:
        console.print(Text(printable(f"written: {path}"), style="dim"))


def new_table(first: str, *others: str) -> Table:
    """A table without a frame; all columns but the first are numbers."""
    table = Table(first, box=None, header_style="bold", pad_edge=False)
    for name in others:
        table.add_column(name, justify="right")
    return table


def _photo_table(fit: LensFit) -> Table:
    table = new_table("photo", "corners", "leans °", "blur px", "residual px")
    for photo in fit.photos:
        count = len(photo.corners.xy_px)
        numbers = (f"{photo.tilt_deg:.0f}", f"{photo.corners.blur_px:.1f}", f"{photo.rms_px:.3f}")
        table.add_row(Text(printable(photo.name)), str(count), *numbers)
    return table


def _lens_table(fit: LensFit) -> Table:
    table = new_table("lens", "value", "± (95 %)")
    values = np.concatenate([fit.lens.matrix[[0, 1, 0, 1], [0, 1, 2, 2]], fit.lens.distortion])
    sigmas = np.sqrt(np.diag(fit.lens.covariance))
    for k, (name, value, sigma) in enumerate(zip(LENS_PARAMETERS, values, sigmas, strict=True)):
        digits = 5
        if k < PIXEL_PARAMETERS:
            name, digits = f"{name} px", 2
        table.add_row(name, f"{value:.{digits}f}", f"{SIGMAS_95 * sigma:.{digits}f}")
    return table


def _lens_lines(
    fit: LensFit, error_map: LensErrorMap, suggestions: Sequence[Suggestion]
) -> Iterator[str]:
    yield _table_precision_line(error_map)
    yield f"corners fit to {fit.rms_px:.3f} px in {format_count(len(fit.photos), 'photo')}"
    if contradict(fit.disagreement, fit.rms_px):
        ratio = np.sqrt(fit.disagreement)
        yield (
            f"! the photos contradict one another {ratio:.1f} times more than noise does: "
            "is the sheet flat, and the focus locked? The doubts allow for it"
        )
    if fit.zoom_sigma > 0:
        percent = 100 * SIGMAS_95 * fit.zoom_sigma
        yield (
            f"! the focal length changes by ± {percent:.1g} % (95 %) from photo to photo: "
            "lock the focus. The doubts allow for it"
        )
    if abs(fit.bow_mm) > BOW_WARNING_MM:
        yield (
            f"! the sheet stands {abs(fit.bow_mm):.1f} mm off flat in its middle: "
            "glue it to a board or glass"
        )
    for suggestion in suggestions:
        yield f"would help: {suggestion.text} (± {SIGMAS_95 * suggestion.typical_mm:.2f} mm)"


def _table_precision_line(error_map: LensErrorMap) -> str:
    table = (
        f"a table {REFERENCE_TABLE_MM / 1000:g} m wide, seen {REFERENCE_TILT_DEG:.0f}° from above"
    )
    typical_mm, worst_mm = SIGMAS_95 * error_map.typical_mm, SIGMAS_95 * error_map.worst_mm
    return (
        f"places on {table}: ± {typical_mm:.2f} mm (95 %) typically, ± {worst_mm:.2f} mm at worst"
    )


def lens_json(
    fit: LensFit,
    left_out: Mapping[str, str],
    error_map: LensErrorMap,
    suggestions: Sequence[Suggestion],
) -> dict[str, Any]:
    """The result for programs."""
    return {
        "lens": {
            "size_px": list(fit.lens.size_px),
            "matrix": fit.lens.matrix.tolist(),
            "distortion": fit.lens.distortion.tolist(),
            "covariance": fit.lens.covariance.tolist(),
        },
        "rms_px": fit.rms_px,
        "disagreement": fit.disagreement,
        "zoom_sigma_share": fit.zoom_sigma,
        "sheet": {"stretch_share": fit.stretch_share, "bow_mm": fit.bow_mm},
        "table": {
            "width_mm": REFERENCE_TABLE_MM,
            "tilt_deg": REFERENCE_TILT_DEG,
            "typical_sigma_mm": error_map.typical_mm,
            "worst_sigma_mm": error_map.worst_mm,
        },
        "photos": [_photo_json(photo) for photo in fit.photos],
        "left_out": left_out_json(left_out),
        "suggestions": [
            {"text": suggestion.text, "typical_sigma_mm": suggestion.typical_mm}
            for suggestion in suggestions
        ],
    }


def _photo_json(photo: PhotoFit) -> dict[str, Any]:
    return {
        "photo": photo.name,
        "corners": len(photo.corners.xy_px),
        "tilt_deg": photo.tilt_deg,
        "blur_px": photo.corners.blur_px,
        "rms_px": photo.rms_px,
    }


def left_out_json(left_out: Mapping[str, str]) -> list[dict[str, str]]:
    """The photos that were left out, for programs."""
    return [{"photo": name, "reason": reason} for name, reason in left_out.items()]


def lens_picture(fit: LensFit, error_map: LensErrorMap, ending: str) -> bytes:
    """Draw the corners of all photos over the error map, as the bytes of a .png or .svg file."""
    corners_px = [photo.corners.xy_px for photo in fit.photos]
    count = sum(len(xy_px) for xy_px in corners_px)
    title = (
        f"{format_count(len(fit.photos), 'photo')}, {count} corners (dots)",
        f"± mm (95 %) on a table {REFERENCE_TABLE_MM / 1000:g} m wide: "
        f"{SIGMAS_95 * error_map.typical_mm:.2f}, at worst {SIGMAS_95 * error_map.worst_mm:.2f}",
    )
    drawing = draw_coverage(
        fit.lens.size_px, corners_px, error_map.xy_px, SIGMAS_95 * error_map.error_mm, title
    )
    return encode_drawing(drawing, ending)
