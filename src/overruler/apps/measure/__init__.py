"""`overruler measure`: from photos of the table to a scene, its rulings, and a picture of them."""

import argparse
import json
import logging
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from overruler.apps.geojson import add_geojson_argument
from overruler.apps.measure.measuring import measure_photo
from overruler.apps.measure.options import MeasureOptions, load_options, read_options
from overruler.apps.measure.outputs import json_values, render_outputs
from overruler.apps.measure.photo_paths import (
    NO_PHOTO,
    PER_PHOTO_OUTPUTS,
    expand_patterns,
    named_for,
)
from overruler.apps.process.log import QUIET_HELP, add_log_arguments
from overruler.apps.process.progress import progress_display
from overruler.apps.settings.table_options import add_table_arguments, add_taught_argument
from overruler.errors import BadInput, printable
from overruler.writing import write_all_atomically

if TYPE_CHECKING:
    from collections.abc import Sequence

    from overruler.report import Report

logger = logging.getLogger("overruler.steps")

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
        "the photo (JPEG, HEIC, PNG, WebP, TIFF), or - for standard input. Up to ten photos are taken "
        "for photos of ONE table, and make one scene; a short film of a walk round it, too. A folder, "
        "or --each: every photo shows a table of its own"
    )
    parser.add_argument("photo", type=Path, nargs="*", metavar="PHOTO", help=photo)
    output = parser.add_argument_group("what comes out")
    add_table_arguments(parser)
    add_taught_argument(parser)
    _add_batch_arguments(parser)
    _add_lens_arguments(parser)
    _add_output_arguments(output)
    add_log_arguments(parser, quiet=f"{QUIET_HELP} and, if asked, the answers")


def _add_output_arguments(output: "argparse._ArgumentGroup") -> None:
    option = output.add_argument
    ask = "a question (JSON or words), as to overruler ask (absent: what the closest opponents' range is)"
    option("--ask", action="append", default=[], metavar="QUESTION", help=ask)
    option("--scene", type=Path, metavar="OUT.json", help="write the scene file")
    picture = (
        "write the annotated photo (.jpg, .png or .svg), or a film of the ruling (.gif or .webm)"
    )
    option("--picture", type=Path, metavar="OUT.png", help=picture)
    doubt = (
        "draw how sure places are over the board, without the bases' own doubt (.jpg, .png or .svg)"
    )
    option("--doubt", type=Path, metavar="OUT.png", help=doubt)
    add_geojson_argument(output)
    option("--csv", type=Path, metavar="OUT.csv", help="write the pieces as a table, in mm")
    option("--json", action="store_true", help="print the scene and nothing else")


def _add_lens_arguments(parser: argparse.ArgumentParser) -> None:
    option = parser.add_argument_group("more of the lens (as often as wanted)").add_argument
    lens = "the lens file of one of several photos, by its number from 1"
    option("--lens-of-photo", action="append", default=[], metavar="N=LENS.toml", help=lens)
    beside = "another photo of the table by the same camera, not zoomed: the lens is surer"
    option("--beside", action="append", default=[], type=Path, metavar="PHOTO", help=beside)


def _add_batch_arguments(parser: argparse.ArgumentParser) -> None:
    option = parser.add_argument_group(
        "many tables (each photo shows a table of its own)"
    ).add_argument
    each = (
        "every PHOTO is a table of its own; in the names of files to write, {name} is the photo's "
        "name: --picture 'out/{name}.png'"
    )
    option("--each", action="store_true", help=each)
    watch = "measure each photo that lands in a folder, until Ctrl-C"
    option("--watch", type=Path, metavar="FOLDER", help=watch)
    jobs = "processes that measure (one for each processor, 4 at most)"
    option("--jobs", type=int, metavar="N", help=jobs)


def run(args: argparse.Namespace) -> int:
    if is_batch(args):
        from overruler.apps.measure.batch import run_batch

        return run_batch(args)
    if args.jobs is not None:
        raise BadInput("--jobs goes with many tables: give --each, a folder, or leave it away")
    if not args.photo:
        raise BadInput(NO_PHOTO)
    args.photo = expand_patterns(args.photo)
    for name in PER_PHOTO_OUTPUTS:
        setattr(args, name, named_for(getattr(args, name), args.photo[0]))
    options = replace(read_options(args), with_helper=True)
    with progress_display(args.quiet) as progress:
        report = measure_photo(options, progress)
        if options.picture or options.doubt:
            progress("drawing")
        outputs = render_outputs(options, report)
    write_all_atomically(outputs)
    if logger.isEnabledFor(logging.INFO):
        from overruler.apps.measure.summary import result_line

        logger.info("%s: %s", options.photo, result_line(options, report))
    if args.quiet and not options.json:
        _print_answers(options, report)
    else:
        _print_report(options, report, [path for path, _ in outputs])
    return _tell_unanswered(report)


def _tell_unanswered(report: "Report") -> int:
    """Say on standard error which questions have no answer; the exit status."""
    for problem in report.unanswered.values():
        print(f"overruler: {problem}", file=sys.stderr)
    return BadInput.exit_code if report.unanswered else 0


def is_batch(args: argparse.Namespace) -> bool:
    """Whether each photo shows a table of its own."""
    return bool(args.each or args.watch or any(path.is_dir() for path in args.photo))


def _print_answers(options: MeasureOptions, report: "Report") -> None:
    """Print the answers to what was asked, and nothing else."""
    if options.questions:
        from overruler.apps.measure.summary import ruling_lines

        for line in ruling_lines(report):
            print(printable(line.plain))


def _print_report(options: MeasureOptions, report: "Report", written: "Sequence[Path]") -> None:
    if options.json:
        print(json.dumps(json_values(options, report)))
        return
    from overruler.apps.measure.summary import print_report
    from overruler.vision.next_photo.advise import advise_photo

    advice = advise_photo(report, report.verdicts)
    print_report(report, written, advice)
