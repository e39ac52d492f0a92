"""The files that `overruler measure` writes: complete before the first is touched."""

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from overruler.apps.geojson import geojson_text
from overruler.apps.measure.options import MeasureOptions

if TYPE_CHECKING:
    from overruler.report import Report

CSV_COLUMNS = (
    *("photo", "id", "base", "x_mm", "y_mm"),
    *("reach_mm", "player", "probability"),
)
"""The columns of a CSV file: the photo, and what `Measurement.rows` has of a piece."""


def render_outputs(options: MeasureOptions, report: "Report") -> list[tuple[Path, bytes | str]]:
    """The files to write with their contents."""
    files: list[tuple[Path, bytes | str]] = []
    if options.scene:
        files.append((options.scene, json.dumps(report.scene.to_json(), indent=1) + "\n"))
    if options.picture:
        from overruler import picture

        ending = options.picture.suffix.lower()
        shown = picture.on_best_photo(report)
        files.append((options.picture, picture.annotated_bytes(shown, ending)))
    if options.doubt:
        files.append((options.doubt, _draw_precision_map(options, report, options.doubt)))
    has_areas = any(verdict.shades for verdict in report.verdicts)
    if options.geojson and (has_areas or not report.unanswered):
        files.append((options.geojson, geojson_text(report.scene, report.verdicts)))
    if options.csv:
        files.append((options.csv, csv_text(piece_rows(report, options.photo))))
    return files


def _draw_precision_map(options: MeasureOptions, report: "Report", path: Path) -> bytes | str:
    import numpy as np

    from overruler.picture.precision_map import encode_map
    from overruler.vision.camera.precision_map import precision_map
    from overruler.vision.next_photo.advise import advise_photo

    precision = precision_map(report.calibration, has_lens_file=options.lens is not None)
    precision = replace(precision, unit=report.scene.unit)
    photo_advice = advise_photo(report, report.verdicts)
    if photo_advice is not None:
        precision = replace(precision, advice=(photo_advice, *precision.advice))
    ends = [(verdict.from_point_mm, verdict.to_point_mm) for verdict in report.verdicts]
    gaps_mm = [np.array(pair) for pair in ends if all(pair)]
    pixels, ending = report.frame.shown, path.suffix.lower()
    return encode_map(report.calibration, precision, pixels, ending, gaps_mm)


def piece_rows(report: "Report", photo: Path) -> list[dict[str, Any]]:
    """A row of a CSV file for each piece of a photo."""
    from overruler.apps.measure.measurement import Measurement

    return [{"photo": str(photo), **row} for row in Measurement(report).rows()]


def csv_text(rows: Iterable[Mapping[str, Any]]) -> str:
    """The rows as CSV (RFC 4180), a header first; what is not known is empty."""
    text = io.StringIO(newline="")
    table = csv.DictWriter(text, CSV_COLUMNS)
    table.writeheader()
    table.writerows(rows)
    return text.getvalue()


def json_values(options: MeasureOptions, report: "Report") -> dict[str, Any]:
    """What `--json` prints: the scene, with the answers where questions were asked."""
    values = report.scene.to_json()
    if options.questions:
        values["answers"] = list(_answers(options, report))
    return values


def _answers(options: MeasureOptions, report: "Report") -> Iterator[dict[str, Any]]:
    """The answer to each question in order, or as `overruler ask -` has it the error."""
    verdicts = iter(report.verdicts)
    for index in range(len(options.questions)):
        if index in report.unanswered:
            yield {"error": report.unanswered[index]}
        else:
            yield next(verdicts).to_json()
