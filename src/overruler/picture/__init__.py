"""Reports as pictures: drawn once, in millimetres, as SVG."""

from pathlib import Path
from typing import TYPE_CHECKING

from overruler.errors import BadInput
from overruler.picture.films import FILM_ENDINGS
from overruler.reading.fields import file_path
from overruler.writing import endings_rule, write_atomically

if TYPE_CHECKING:
    from overruler.picture.raster import Pixels
    from overruler.report import Report

ENDINGS = (".jpg", ".jpeg", ".png", ".svg")
"""The endings of file names that an annotated photo can be written to."""
ALL_ENDINGS = (*ENDINGS, *FILM_ENDINGS)
"""The same with those of short films."""


def on_best_photo(report: "Report") -> "Report":
    """The report on the one of its photos that shows the first ruling's gap largest."""
    if len(report.photos) < 2:
        return report
    from overruler.picture.best_photo import index_of_best_photo

    return report.on_photo(index_of_best_photo(report))


def annotated_pixels(report: "Report") -> "Pixels":
    """Return the annotated photo as pixels (H, W, 3), blue green red, no larger than a screen."""
    from overruler.picture import raster, report_drawing

    drawing = report_drawing.draw_on_photo(report)
    pixels = raster.extend_below(report.frame.shown, drawing.strip_px)
    size_px = raster.output_size(drawing.size_px)
    return raster.composite_pixels(drawing.document(), pixels, size_px)


def annotated_bytes(report: "Report", ending: str) -> bytes:
    """Return the annotated photo as the bytes of a file with one of `ALL_ENDINGS`."""
    if ending in FILM_ENDINGS:
        from overruler.picture.films.ruling_film import encode_ruling

        return encode_ruling(report, ending)
    from overruler.picture import raster, report_drawing

    if ending == ".svg":
        return report_drawing.draw_report(report).encode()
    return raster.encode_image(ending, annotated_pixels(report))


def save(report: "Report", path: str | Path) -> None:
    """Write the annotated photo, whole or not at all; raises `BadInput` for other endings."""
    path = file_path(path, "picture.save")
    ending = path.suffix.lower()
    if ending not in ALL_ENDINGS:
        raise BadInput(f"{path}: {endings_rule(ALL_ENDINGS)}")
    write_atomically(path, annotated_bytes(report, ending))


def transparent_png() -> bytes:
    """Return a small picture on which there is nothing."""
    from io import BytesIO

    from PIL import Image

    buffer = BytesIO()
    Image.new("RGBA", (16, 9)).save(buffer, "PNG")
    return buffer.getvalue()
