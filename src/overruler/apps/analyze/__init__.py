"""`overruler analyze`: recorded games to moves, positions, rulings and a page of each film."""

import argparse
from pathlib import Path

from overruler.apps.analyze.engines import ENGINES
from overruler.apps.analyze.film_rulings import read_allowances
from overruler.apps.analyze.turns import read_turns
from overruler.apps.commands import refuse_options
from overruler.apps.measure import add_table_arguments
from overruler.apps.process.log import add_log_arguments
from overruler.apps.settings.table_options import add_camera_lens_argument
from overruler.errors import BadInput
from overruler.writing import check_different, check_folder_name

MAX_CAMERAS = 10
"""Most cameras over one table: as many as photos of one."""
USUAL_ENGINE = "serial"
"""Who does the work unasked: this process."""
USUAL_SEGMENT_S = 300.0
"""Length of a film's segments, in seconds, unless another is told."""
USUAL_WORKERS = 2
"""Processes that `--engine dask` starts unasked."""
MIN_SEGMENT_S = 5
"""Shortest segment of a film, in seconds."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    videos = "films of a game through a camera that stands still, or folders with a photo a turn"
    parser.add_argument("videos", type=Path, nargs="+", metavar="VIDEO", help=videos)
    out = "where each film's folder of results goes"
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help=out)
    _add_camera_arguments(parser)
    add_table_arguments(parser, of_photo=False)
    _add_output_arguments(parser)
    _add_engine_arguments(parser)
    add_log_arguments(parser)


def _add_camera_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("several cameras over one table").add_argument
    together = "the films show one table at the same time, by several cameras: one game out of all"
    add("--together", action="store_true", help=together)
    offset = "how much later a film began than the first, in s (found by what moves, where absent)"
    add("--offset", action="append", default=[], metavar="FILM=SECONDS", help=offset)
    add_camera_lens_argument(add)


def _add_output_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("what comes out").add_argument
    allowance = "how far a piece may move; in or mm"
    add("--allowance", action="append", default=[], metavar="p03=6in", help=allowance)
    video = "the recording with bases, ways and rulings drawn over it"
    add("--video", type=Path, metavar="OUT.mp4", help=video)
    clips = "a short film of each move, with its ruling, to share: gif or webm"
    add("--clips", choices=("gif", "webm"), metavar="gif|webm", help=clips)
    turns = "the game's turns, put right by you; else they are guessed"
    add("--turns", type=Path, metavar="TURNS.csv", help=turns)
    resume = "go on from what is done (the default)"
    add("--resume", action=argparse.BooleanOptionalAction, default=True, help=resume)


def _add_engine_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("who does the work").add_argument
    add("--engine", choices=ENGINES, help="this process (serial, the default), or Dask's workers")
    segment = "how long a segment of a film is (300)"
    add("--segment-s", type=float, metavar="SECONDS", help=segment)
    workers = "processes that --engine dask starts (2)"
    add("--workers", type=int, metavar="N", help=workers)
    scheduler = "a Dask scheduler that is running, tcp://host:8786 say"
    add("--scheduler", metavar="ADDRESS", help=scheduler)


def run(args: argparse.Namespace) -> int:
    check_folder_name("--out", args.out)
    _check_folder_options(args)
    _check_engine_options(args)
    _check_camera_options(args)
    allowances = read_allowances(args.allowance)
    if args.video:
        from overruler.apps.analyze import video

        video.check_output(args.videos, args.video, args.together)
    if args.clips:
        from overruler.apps.analyze import clips

        clips.check_clips(args.videos, args.clips)
    if args.turns and len(args.videos) != 1 and not args.together:
        raise BadInput("--turns: goes with one film; give the films one by one")
    turns = read_turns(args.turns) if args.turns else None
    from overruler.apps.analyze.tables import check_tables

    check_tables()
    from overruler.apps.analyze.pipeline import analyze_films

    return analyze_films(args, allowances, turns)


def _check_folder_options(args: argparse.Namespace) -> None:
    """Refuse what goes with films where there are none: a folder of photos is read as one piece."""
    if all(video.is_dir() for video in args.videos):
        names = [name for name in ("engine", "segment_s") if getattr(args, name) is not None]
        refuse_options(args, names, "goes with films: leave it away with folders of photos")
        if not args.resume:
            raise BadInput("--no-resume goes with films: leave it away with folders of photos")


def _check_camera_options(args: argparse.Namespace) -> None:
    check_different("VIDEO", args.videos)
    if not args.together:
        if args.fix and len(args.videos) > 1:
            raise BadInput("--fix corrects one film: analyze that film alone")
        for option in ("offset", "lens_of_camera"):
            if getattr(args, option):
                name = option.replace("_", "-")
                raise BadInput(f"--{name} goes with --together: give both, or neither")
        return
    if len(args.videos) < 2:
        raise BadInput("--together: give two films or more of one table")
    if len(args.videos) > MAX_CAMERAS:
        raise BadInput(f"--together: {len(args.videos)} films are given, at most {MAX_CAMERAS}")
    folders = [video for video in args.videos if video.is_dir()]
    if folders:
        raise BadInput(f"--together: {folders[0]} is a folder: give films")
    for option in ("fix", "point"):
        if getattr(args, option):
            raise BadInput(f"--{option} goes with one camera: leave it away with --together")


def _check_engine_options(args: argparse.Namespace) -> None:
    for option in ("scheduler", "workers"):
        if args.engine != "dask" and getattr(args, option) is not None:
            raise BadInput(f"--{option} goes with --engine dask: give both, or neither")
    if args.scheduler and args.workers is not None:
        raise BadInput("--workers: the scheduler has its own: leave --workers or --scheduler away")
    args.engine = args.engine or USUAL_ENGINE
    args.segment_s = USUAL_SEGMENT_S if args.segment_s is None else args.segment_s
    args.workers = USUAL_WORKERS if args.workers is None else args.workers
    if args.workers < 1:
        raise BadInput(f"--workers: at least 1 is needed, {args.workers} given")
    if not args.segment_s >= MIN_SEGMENT_S:
        raise BadInput(
            f"--segment-s: at least {MIN_SEGMENT_S} seconds are needed, {args.segment_s:g} given"
        )
