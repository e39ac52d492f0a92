"""`overruler analyze`: recorded games to moves, positions, rulings and a page worth reading."""

import argparse
from pathlib import Path

from overruler.apps.analyze.film_rulings import read_allowances
from overruler.apps.analyze.turns import read_turns
from overruler.apps.measure import add_table_arguments
from overruler.errors import BadInput

ENGINES = ("serial", "dask")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    help_ = "films of a game through a camera that stands still, or folders with a photo a turn"
    parser.add_argument("videos", type=Path, nargs="+", metavar="VIDEO", help=help_)
    parser.add_argument(
        "--out",
        type=Path,
        required=True,
        metavar="DIR",
        help="where each film's folder of results goes",
    )
    add_table_arguments(parser)
    out = parser.add_argument_group("what comes out").add_argument
    out(
        "--allowance",
        action="append",
        default=[],
        metavar="p03=6in",
        help="how far a piece may move; in or mm",
    )
    out(
        "--video",
        type=Path,
        metavar="OUT.mp4",
        help="the recording with bases, ways and rulings drawn over it",
    )
    out(
        "--turns",
        type=Path,
        metavar="TURNS.csv",
        help="the game's turns, put right by you; else they are guessed",
    )
    out(
        "--resume",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="go on from what is done (the default)",
    )
    more = parser.add_argument_group("who does the work").add_argument
    more("--engine", choices=ENGINES, default="serial", help="this process, or Dask's workers")
    more(
        "--segment-s",
        type=float,
        default=300.0,
        metavar="SECONDS",
        help="how long a segment of a film is (300)",
    )
    more(
        "--workers",
        type=int,
        default=2,
        metavar="N",
        help="processes that --engine dask starts (2)",
    )
    more(
        "--scheduler",
        metavar="ADDRESS",
        help="a Dask scheduler that is running, tcp://host:8786 say",
    )


def run(args: argparse.Namespace) -> int:
    if args.workers < 1:
        raise BadInput(f"--workers: at least 1 is needed, {args.workers} given")
    if not args.segment_s >= 5:
        raise BadInput(f"--segment-s: at least 5 seconds are needed, {args.segment_s:g} given")
    if args.scheduler and args.engine != "dask":
        raise BadInput("--scheduler goes with --engine dask: give both, or neither")
    allowances = read_allowances(args.allowance)
    if args.video:
        from overruler.apps.analyze import video

        video.check_output(args.videos, args.video)
    if args.turns and len(args.videos) != 1:
        raise BadInput("--turns: goes with one film; give the films one by one")
    turns = read_turns(args.turns) if args.turns else None
    from overruler.apps.analyze.pipeline import analyze_films

    return analyze_films(args, allowances, turns)
