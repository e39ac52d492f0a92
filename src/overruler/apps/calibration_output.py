"""What `overruler calibrate` found, for people and for programs."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from overruler.picture.lens_coverage import draw_coverage, encode_drawing
from overruler.vision.calibrators.lens_error_map import (
    REFERENCE_TABLE_MM,
    REFERENCE_TILT_DEG,
    LensErrorMap,
    Suggestion,
)
from overruler.vision.calibrators.lens_fit import LensFit
from overruler.vision.calibrators.marker_map import UNMEASURED_SCALE_SHARE, MarkerMapFit

DISAGREEMENT_WARNING = 2.0
"""Photos that scatter this many times more than their corners' noise explains are worth a word."""
BOW_WARNING_MM = 0.5
"""A sheet that stands so much off flat is worth a word."""
LENS_PARAMETERS = ("fx", "fy", "cx", "cy", "k1", "k2", "p1", "p2", "k3")


# --- a lens ---


def show_lens(
    fit: LensFit,
    left_out: Mapping[str, str],
    trust: LensErrorMap,
    helpful: Sequence[Suggestion],
    written: Sequence[Path],
) -> None:
    """Print the photos, the lens, and how far to trust it."""
    console = Console(highlight=False)
    console.print(_photos(fit))
    console.print()
    console.print(_lens(fit))
    console.print()
    for line in _lens_lines(fit, trust, helpful):
        console.print(Text(line))
    _print_footer(console, left_out, written)


def _print_footer(console: Console, left_out: Mapping[str, str], written: Sequence[Path]) -> None:
    for name, reason in left_out.items():
        console.print(Text(f"! left out: {name}: {reason}", style="yellow"))
    for path in written:
        console.print(Text(f"written: {path}", style="dim"))


def _photos(fit: LensFit) -> Table:
    table = Table("photo", box=None, header_style="bold", pad_edge=False)
    for name in ("corners", "leans °", "blur px", "residual px"):
        table.add_column(name, justify="right")
    for photo in fit.photos:
        seen = photo.corners
        numbers = (f"{photo.tilt_deg:.0f}", f"{seen.blur_px:.1f}", f"{photo.rms_px:.3f}")
        table.add_row(Text(photo.name), str(len(seen.xy_px)), *numbers)
    return table


def _lens(fit: LensFit) -> Table:
    table = Table("lens", box=None, header_style="bold", pad_edge=False)
    table.add_column("value", justify="right")
    table.add_column("± (95 %)", justify="right")
    values = np.concatenate([fit.lens.matrix[[0, 1, 0, 1], [0, 1, 2, 2]], fit.lens.distortion])
    for k, (name, value, sigma) in enumerate(
        zip(LENS_PARAMETERS, values, np.sqrt(np.diag(fit.lens.covariance)), strict=True)
    ):
        digits = 2 if k < 4 else 5
        table.add_row(
            f"{name} px" if k < 4 else name, f"{value:.{digits}f}", f"{1.96 * sigma:.{digits}f}"
        )
    return table


def _lens_lines(fit: LensFit, trust: LensErrorMap, helpful: Sequence[Suggestion]) -> list[str]:
    lines = [
        _table_precision_line(trust),
        f"corners fit to {fit.rms_px:.3f} px in {len(fit.photos)} photos",
    ]
    if fit.disagreement > DISAGREEMENT_WARNING:
        lines.append(
            f"! the photos contradict one another {np.sqrt(fit.disagreement):.1f} times more than noise does: "
            "is the sheet flat, and the focus locked? The doubts allow for it"
        )
    if fit.zoom_sigma > 0:
        lines.append(
            f"! the focal length changes by ± {196 * fit.zoom_sigma:.1g} % (95 %) from photo to photo: lock the focus. "
            "The doubts allow for it"
        )
    if abs(fit.bow_mm) > BOW_WARNING_MM:
        lines.append(
            f"! the sheet stands {abs(fit.bow_mm):.1f} mm off flat in its middle: glue it to a board or glass"
        )
    lines += [f"would help: {one.text} (± {1.96 * one.typical_mm:.2f} mm)" for one in helpful]
    return lines


def _table_precision_line(trust: LensErrorMap) -> str:
    return (
        f"places on a table {REFERENCE_TABLE_MM / 1000:g} m wide, seen {REFERENCE_TILT_DEG:.0f}° from above: "
        f"± {1.96 * trust.typical_mm:.2f} mm (95 %) typically, ± {1.96 * trust.worst_mm:.2f} mm at worst"
    )


def lens_json(
    fit: LensFit, left_out: Mapping[str, str], trust: LensErrorMap, helpful: Sequence[Suggestion]
) -> dict[str, Any]:
    """The same for programs."""
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
            "typical_sigma_mm": trust.typical_mm,
            "worst_sigma_mm": trust.worst_mm,
        },
        "photos": [
            {
                "photo": photo.name,
                "corners": len(photo.corners.xy_px),
                "tilt_deg": photo.tilt_deg,
                "blur_px": photo.corners.blur_px,
                "rms_px": photo.rms_px,
            }
            for photo in fit.photos
        ],
        "left_out": [{"photo": name, "reason": reason} for name, reason in left_out.items()],
        "suggestions": [{"text": one.text, "typical_sigma_mm": one.typical_mm} for one in helpful],
    }


def lens_picture(fit: LensFit, trust: LensErrorMap, ending: str) -> bytes:
    """The corners of all photos over the error that the lens leaves, as the bytes of a .png or .svg file."""
    title = (
        f"{len(fit.photos)} photos, {sum(len(photo.corners.xy_px) for photo in fit.photos)} corners (dots)",
        f"1 σ in mm on a table {REFERENCE_TABLE_MM / 1000:g} m wide: {trust.typical_mm:.2f}, at worst {trust.worst_mm:.2f}",
    )
    corners = [photo.corners.xy_px for photo in fit.photos]
    return encode_drawing(
        draw_coverage(fit.lens.size_px, corners, trust.xy_px, trust.error_mm, title), ending
    )


# --- a board ---


def show_board(fit: MarkerMapFit, left_out: Mapping[str, str], written: Path) -> None:
    """Print where the markers lie, and how sure that is."""
    console = Console(highlight=False)
    console.print(_markers(fit))
    console.print()
    for line in _board_lines(fit):
        console.print(Text(line))
    _print_footer(console, left_out, [written])


def _markers(fit: MarkerMapFit) -> Table:
    table = Table("marker", box=None, header_style="bold", pad_edge=False)
    for name in ("x mm", "y mm", "turned °", "photos"):
        table.add_column(name, justify="right")
    for marker, (x, y, turn) in fit.places.items():
        photos = sum(marker in photo.markers for photo in fit.photos)
        heading = np.degrees((turn + np.pi) % (2 * np.pi) - np.pi)
        table.add_row(str(marker), f"{x:.2f}", f"{y:.2f}", f"{heading:.2f}", str(photos))
    return table


def _board_lines(fit: MarkerMapFit) -> list[str]:
    sigmas = fit.distance_sigmas_mm()
    lines = [
        f"from marker to marker: ± {1.96 * float(np.median(sigmas)):.2f} mm (95 %) typically, "
        f"± {1.96 * float(sigmas.max()):.2f} mm at worst",
        f"edges fit to {fit.rms_px:.3f} px in {len(fit.photos)} photos",
    ]
    if fit.disagreement > DISAGREEMENT_WARNING:
        lines.append(
            "! the photos contradict one another: do the markers lie flat, and did none move in between?"
        )
    if fit.scale_share >= UNMEASURED_SCALE_SHARE:
        lines.append(
            f"the scale is that of the print, ± {196 * fit.scale_share:.2g} %: measure a printed bar with a steel rule "
            "and say so with overruler markers confirm"
        )
    return lines


def board_json(fit: MarkerMapFit, left_out: Mapping[str, str]) -> dict[str, Any]:
    """The same for programs."""
    return {
        "markers": [
            {
                "id": marker,
                "x_mm": float(x),
                "y_mm": float(y),
                "heading_deg": float(np.degrees(turn)),
            }
            for marker, (x, y, turn) in fit.places.items()
        ],
        "corners_mm": {str(marker): corners.tolist() for marker, corners in fit.corners_mm.items()},
        "covariance": fit.covariance.tolist(),
        "scale_share": fit.scale_share,
        "rms_px": fit.rms_px,
        "disagreement": fit.disagreement,
        "photos": [
            {"photo": photo.name, "markers": list(photo.markers), "rms_px": photo.rms_px}
            for photo in fit.photos
        ],
        "left_out": [{"photo": name, "reason": reason} for name, reason in left_out.items()],
    }
