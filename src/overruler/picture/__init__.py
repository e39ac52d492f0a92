"""Reports as pictures: drawn once, in millimetres, as SVG."""

from pathlib import Path
from typing import TYPE_CHECKING

from overruler.errors import BadInput
from overruler.writing import write_whole

if TYPE_CHECKING:
    from overruler.picture.raster import Pixels
    from overruler.report import Report

ENDINGS = (".png", ".svg")


def draw(report: "Report") -> str:
    """The annotated photo as SVG text."""
    from overruler.picture import drawing

    return drawing.draw(report)


def shown(report: "Report") -> "Pixels":
    """The annotated photo as pixels (H, W, 3), blue green red, no larger than a screen."""
    from overruler.picture import drawing, raster

    pixels = report.frame.pixels
    return raster.blended(drawing.overlay(report), pixels, raster.output_size((pixels.shape[1], pixels.shape[0])))


def encoded(report: "Report", ending: str) -> bytes:
    """The annotated photo as the bytes of a file whose name ends in one of `ENDINGS`."""
    from overruler.picture import drawing, raster

    if ending == ".svg":
        return drawing.draw(report).encode()
    return raster.composited(drawing.overlay(report), report.frame.pixels)


def save(report: "Report", path: str | Path) -> None:
    """Write the annotated photo, whole or not at all; `BadInput` where the name's ending is not one of `ENDINGS`."""
    ending = Path(path).suffix.lower()
    if ending not in ENDINGS:
        raise BadInput(f"{path}: the name must end in {' or '.join(ENDINGS)}")
    write_whole(path, encoded(report, ending))
