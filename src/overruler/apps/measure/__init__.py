"""`overruler measure`: from photos of the table to a scene, its rulings, and a picture of them."""

import argparse
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from overruler.apps.geojson import add_geojson_argument, geojson_text
from overruler.apps.measure.options import MeasureOptions, load_options, read_options
from overruler.apps.measure.pictures import read_pictures
from overruler.apps.process.progress import progress_display
from overruler.apps.settings.table_options import add_table_arguments
from overruler.writing import write_atomically

if TYPE_CHECKING:
    from overruler.report import Report

__all__ = [
    "MeasureOptions",
    "add_arguments",
    "add_table_arguments",
    "load_options",
    "measure_photo",
    "read_options",
    "run",
]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    photo = (
        "the photo: JPEG, PNG, WebP, TIFF, or - for standard input; several of one table see more; "
        "or a short film of a walk round it"
    )
    parser.add_argument("photo", type=Path, nargs="+", metavar="PHOTO", help=photo)
    add_table_arguments(parser)
    lens = "the lens file of one of several photos, by its number from 1 (as often as wanted)"
    parser.add_argument(
        "--lens-of-photo", action="append", default=[], metavar="N=LENS.toml", help=lens
    )
    beside = (
        "another photo of the table by the same camera, not zoomed: the lens is surer "
        "(as often as wanted)"
    )
    parser.add_argument(
        "--beside", action="append", default=[], type=Path, metavar="PHOTO", help=beside
    )
    output = parser.add_argument_group("what comes out")
    option = output.add_argument
    ask = "a question (JSON or words), as to overruler ask (absent: what the closest opponents' range is)"
    option("--ask", action="append", default=[], metavar="QUESTION", help=ask)
    option("--scene", type=Path, metavar="OUT.json", help="write the scene file")
    picture = "write the annotated photo (.jpg, .png or .svg)"
    option("--picture", type=Path, metavar="OUT.png", help=picture)
    doubt = "draw how sure distances are over the board (.jpg, .png or .svg)"
    option("--doubt", type=Path, metavar="OUT.png", help=doubt)
    add_geojson_argument(output)
    option("--json", action="store_true", help="print the scene and nothing else")


def run(args: argparse.Namespace) -> int:
    options = read_options(args)
    with progress_display() as progress:
        report = measure_photo(options, progress)
        if options.picture or options.doubt:
            progress("drawing")
        outputs = _render_outputs(options, report)
    for path, data in outputs:
        write_atomically(path, data)
    _print_report(options, report)
    return 0


def measure_photo(options: MeasureOptions, progress: Callable[[str], None]) -> "Report":
    """Measure the photo and answer the questions, or the most likely ones where none is asked."""
    progress("reading the photo")
    pictures = read_pictures(options, progress)
    from overruler.apps.rulings import rule_on_questions
    from overruler.referee import Referee
    from overruler.sources.photo import load_photo

    frames = pictures.frames
    referee = Referee(
        board=pictures.board,
        points=options.points,
        lens=options.lens,
        game=options.game,
        bases=options.bases,
        terrain=options.terrain,
        flat=options.flat,
        fixes=options.fixes,
        house=options.house,
        beside=tuple(load_photo(path) for path in options.beside),
        lenses=pictures.lenses,
    )
    report = referee.look(frames if len(frames) > 1 else frames[0], progress)
    return replace(report, verdicts=rule_on_questions(report.scene, options.questions))


def _render_outputs(options: MeasureOptions, report: "Report") -> list[tuple[Path, bytes | str]]:
    """The files to write, complete before the first is touched."""
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
    if options.geojson:
        files.append((options.geojson, geojson_text(report.scene, report.verdicts)))
    return files


def _draw_precision_map(options: MeasureOptions, report: "Report", path: Path) -> bytes | str:
    from overruler.picture.precision_map import encode_map
    from overruler.vision.camera.precision_map import doubt_map
    from overruler.vision.fusion.next_photo import advise_photo

    precision = doubt_map(report.calibration, lens=options.lens is not None)
    photo_advice = advise_photo(report, report.verdicts)
    if photo_advice is not None:
        precision = replace(precision, advice=(photo_advice, *precision.advice))
    return encode_map(report.calibration, precision, report.frame.pixels, path.suffix.lower())


def _print_report(options: MeasureOptions, report: "Report") -> None:
    if options.json:
        values = report.scene.to_json()
        if options.questions:
            values["answers"] = [verdict.to_json() for verdict in report.verdicts]
        print(json.dumps(values))
        return
    from overruler.apps.measure.summary import print_report
    from overruler.vision.fusion.next_photo import advise_photo

    written = (options.scene, options.picture, options.doubt, options.geojson)
    advice = advise_photo(report, report.verdicts)
    print_report(report, [path for path in written if path], advice)
