"""Many photos, each of a table of its own: measured one after another by a few processes.

A photo that cannot be measured costs one line, and the others are measured all the same.
"""

import argparse
import json
import logging
import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from pathlib import Path
from typing import Any

from overruler.apps.measure import measuring
from overruler.apps.measure.batch_results import Outcome, Results
from overruler.apps.measure.options import CSV_ENDINGS, load_options, read_request
from overruler.apps.measure.photo_paths import (
    NO_PHOTO,
    PER_PHOTO_OUTPUTS,
    FolderWatch,
    PhotoNames,
    check_name_fields,
    named_for,
    photos_of,
)
from overruler.apps.process.log import say
from overruler.apps.process.progress import track_progress
from overruler.apps.process.worker import start_workers
from overruler.apps.settings.measure_request import MeasureRequest
from overruler.errors import BadInput, OverrulerError, printable
from overruler.sources.folder import find_films, find_photos
from overruler.writing import (
    check_ending,
    check_outputs,
    check_writable,
    write_all_atomically,
)

MAX_JOBS = 32
"""Most processes that `--jobs` takes."""
USUAL_JOBS = 4
"""Most processes that are started unasked: each takes half a gigabyte."""
POLL_INTERVAL_S = 0.5
"""Time between two looks into a watched folder."""


logger = logging.getLogger("overruler.batch")


def run_batch(args: argparse.Namespace) -> int:
    """Measure the photos, and those that land in a watched folder; the exit status."""
    check_batch(args)
    watch = FolderWatch(args.watch) if args.watch else None
    photos = photos_of(args.photo) if args.photo else []
    base = read_request(argparse.Namespace(**{**vars(args), "photo": [Path()], "csv": None}))
    check_name_fields([(f"--{name}", getattr(base, name)) for name in PER_PHOTO_OUTPUTS], photos)
    check_fix(args.fix, photos, watch is not None)
    check_files(base, photos, args.csv)
    load_options(request_for(base, photos[0] if photos else Path("photo.jpg")))
    _tell_films([*args.photo, *([args.watch] if args.watch else [])])
    results = Results(args.json, args.csv, bool(args.quiet and args.ask))
    requests = [request_for(base, photo) for photo in photos]
    jobs = job_count(args.jobs, len(requests))
    try:
        for outcome in track_progress(
            measure_all(requests, jobs), len(requests), "measuring", args.quiet
        ):
            results.take(outcome)
        if watch is not None:
            names = PhotoNames([*photos, *find_photos(args.watch)])
            _watch(watch, base, results, names)
    except KeyboardInterrupt:
        if watch is None:
            raise
        named = photos[results.measured + results.failed :]
        results.take_unmeasured(list(dict.fromkeys([*named, *watch.waiting()])))
    return results.finish()


def _tell_films(paths: Sequence[Path]) -> None:
    """Say which films in the folders are not measured: of a folder the photos are."""
    folders = {path.resolve(): path for path in reversed(paths) if path.is_dir()}
    for folder in reversed(folders.values()):
        films = find_films(folder)
        if len(films) == 1:
            logger.warning("%s: left out %s: name the film to measure it", folder, films[0].name)
        elif films:
            logger.warning(
                "%s: left out %d films, %s first: name a film to measure it",
                *(folder, len(films), films[0].name),
            )


def check_batch(args: argparse.Namespace) -> None:
    """Raise `BadInput` for options that do not go with many photos."""
    if not args.photo and not args.watch:
        raise BadInput(NO_PHOTO)
    if any(str(path) == "-" for path in args.photo):
        raise BadInput("-: standard input holds one photo: leave --each and --watch away")
    if args.watch and not args.watch.is_dir():
        raise BadInput(f"--watch: {args.watch} is no folder: make it first, or name another")
    for picture in (args.picture, args.doubt):
        if args.watch and picture and picture.parent.resolve() == args.watch.resolve():
            raise BadInput(
                f"{picture}: would land in the watched folder and be measured: name another folder"
            )
    if args.jobs is not None and not 1 <= args.jobs <= MAX_JOBS:
        raise BadInput(f"--jobs: must be from 1 to {MAX_JOBS}, is {args.jobs}")
    if args.jobs not in (None, 1) and not args.photo:
        raise BadInput(
            "--jobs goes with photos that lie there: those that land in --watch are measured one by one"
        )
    check_ending("--csv", args.csv, CSV_ENDINGS)
    if args.csv:
        check_writable(args.csv)


def check_fix(fix: Path | None, photos: Sequence[Path], watches: bool) -> None:
    """Raise `BadInput` where the corrections of one photo would be made in others."""
    if fix and (watches or len(photos) > 1):
        raise BadInput("--fix corrects one photo: measure that photo alone")


def check_files(base: MeasureRequest, photos: Sequence[Path], csv: Path | None) -> None:
    """Raise `BadInput` where what is written for one photo is another one, or what all are read with."""
    written = [("--csv", csv)]
    for name in PER_PHOTO_OUTPUTS:
        pattern = getattr(base, name)
        written += [(f"--{name}", named_for(pattern, photo)) for photo in photos if pattern]
    check_outputs(written, (*photos, base.board, base.lens, base.terrain, base.fix, base.taught))


def request_for(base: MeasureRequest, photo: Path) -> MeasureRequest:
    """The request for one of the photos."""
    files: dict[str, Any] = {}
    for name in PER_PHOTO_OUTPUTS:
        files[name] = named_for(getattr(base, name), photo)
    return replace(base, photo=photo, **files)


def job_count(wanted: int | None, photos: int) -> int:
    """The number of processes: as wanted, or one for each processor, up to `USUAL_JOBS`."""
    processors = os.cpu_count() or 1
    return max(1, min(wanted or min(processors, USUAL_JOBS), photos))


# --- measuring ---


def measure_all(requests: Sequence[MeasureRequest], jobs: int) -> Iterator[Outcome]:
    """Measure photos in some processes; yield the outcomes in the photos' order."""
    if jobs == 1:
        yield from map(measure_one, requests)
        return
    waiting = list(requests)
    while waiting:
        with start_workers(jobs) as pool:
            futures = [pool.submit(measure_one, request) for request in waiting]
            for future in futures:
                request = waiting.pop(0)
                try:
                    yield future.result()
                except BrokenProcessPool:
                    yield Outcome(
                        request.photo,
                        "the process that measured it ended, for want of memory perhaps: "
                        "measure it alone, or give --jobs 1",
                    )
                    break  # and go on with another pool


def measure_one(request: MeasureRequest) -> Outcome:
    """Measure a photo and write its files; whatever is wrong with it is its outcome."""
    import gc
    import traceback

    try:
        return _measure(request)
    except OverrulerError as error:
        text = str(error).removeprefix(printable(f"{request.photo}: "))
        return Outcome(request.photo, " ".join(text.split()))
    except MemoryError:
        return Outcome(request.photo, "needs more memory than there is: save it smaller")
    except Exception as error:  # one photo must not end the work on all others
        text = f"this should not have happened ({type(error).__name__}): please report it"
        return Outcome(request.photo, text, trace=traceback.format_exc())
    finally:
        gc.collect()


def _measure(request: MeasureRequest) -> Outcome:
    from overruler.apps.measure.outputs import json_values, piece_rows, render_outputs
    from overruler.apps.measure.summary import result_line

    options = load_options(request)
    report = measuring.measure_photo(options, lambda text: None)
    write_all_atomically(render_outputs(options, report))
    scene = ""
    if options.json:
        scene = json.dumps({"file": str(request.photo), **json_values(options, report)})
    rows = piece_rows(report, request.photo)
    line, lacks = result_line(options, report), bool(report.unanswered)
    return Outcome(request.photo, "", line, scene, rows, lacks_answers=lacks)


# --- a folder that photos land in ---


def _watch(watch: FolderWatch, base: MeasureRequest, results: Results, names: PhotoNames) -> None:
    """Measure each photo as it lands, until Ctrl-C."""
    if not results.as_json:
        say(f"watching {watch.folder}; Ctrl-C ends")
    watch_photos(watch, lambda photo: results.take(_measure_landed(photo, base, names)))


def _measure_landed(photo: Path, base: MeasureRequest, names: PhotoNames) -> Outcome:
    """Measure a photo that has landed, unless its files would replace those of another one."""
    if any(getattr(base, name) for name in PER_PHOTO_OUTPUTS):
        try:
            names.take(photo)
        except BadInput as error:
            return Outcome(photo, str(error))
    return measure_one(request_for(base, photo))


def watch_photos(
    watch: FolderWatch,
    handle: Callable[[Path], None],
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Hand each photo on as it lands, and tell each film, for ever."""
    while True:
        for film in watch.new_films():
            logger.warning("%s: is a film, and is left out: name it to measure it", film)
        for photo in watch.poll():
            handle(photo)
            watch.mark_measured(photo)
        sleep(POLL_INTERVAL_S)
