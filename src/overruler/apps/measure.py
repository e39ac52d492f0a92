"""`overruler measure`: a photo of the table to a scene, its rulings, and a picture of them."""

import argparse
import json
import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from overruler.apps.house_options import (
    add_house_arguments,
    read_house,
    read_own_bases,
    select_bases,
)
from overruler.bases import Base
from overruler.board import DICTIONARIES, Board
from overruler.declared_terrain import DeclaredTerrain, load_terrain
from overruler.errors import BadInput, UnknownName
from overruler.fixes import Fix, load_fixes
from overruler.games import DEFAULT_GAME, GAMES
from overruler.house_rules import HouseRules
from overruler.lens import Lens
from overruler.picture import ENDINGS
from overruler.reading import Node
from overruler.rules import game_of
from overruler.writing import check_writable, write_atomically

if TYPE_CHECKING:
    from overruler.report import Report

MIN_POINTS = 4

PointCorrespondence = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True, eq=False)
class MeasureOptions:
    """What the command line asks for, read and checked before the slow work begins."""

    photo: Path
    beside: tuple[Path, ...]
    """Other photos by the same camera."""
    board: Board | None
    points: tuple[PointCorrespondence, ...]
    """Each (u_px, v_px, x_mm, y_mm)."""
    lens: Lens | None
    game: str | None
    bases: tuple[Base, ...] | None
    terrain: tuple[DeclaredTerrain, ...]
    fixes: tuple[Fix, ...]
    house: HouseRules
    questions: tuple[dict[str, Any], ...]
    scene: Path | None
    picture: Path | None
    doubt: Path | None
    json: bool


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "photo", type=Path, metavar="PHOTO", help="the photo: JPEG, PNG, WebP or TIFF"
    )
    add_table_arguments(parser)
    beside = "another photo of the table by the same camera, not zoomed: the lens is surer (as often as wanted)"
    parser.add_argument(
        "--beside", action="append", default=[], type=Path, metavar="PHOTO", help=beside
    )
    out = parser.add_argument_group("what comes out").add_argument
    asked = "a question (JSON), as to overruler ask (absent: what the closest opponents' range is)"
    out("--ask", action="append", default=[], metavar="QUESTION", help=asked)
    out("--scene", type=Path, metavar="OUT.json", help="write the scene file")
    out("--picture", type=Path, metavar="OUT.png", help="write the annotated photo (.png or .svg)")
    out(
        "--doubt",
        type=Path,
        metavar="OUT.png",
        help="draw how sure distances are over the board (.png or .svg)",
    )
    out("--json", action="store_true", help="print the scene and nothing else")


def add_table_arguments(parser: argparse.ArgumentParser) -> None:
    """What is known of the table, for photos and films alike."""
    known = parser.add_argument_group("what is known of the table (one of the three)").add_argument
    known(
        "--board",
        type=Path,
        metavar="BOARD.toml",
        help="a board file: markers whose places are known",
    )
    known(
        "--marker-mm",
        type=float,
        metavar="SIZE",
        help="side of the markers' black squares; they may lie anywhere",
    )
    point = (
        "a pixel = its place on the board in mm, four times or more: for a photo without markers"
    )
    known("--point", action="append", default=[], metavar="U,V=X,Y", help=point)
    more = parser.add_argument_group("what else is known").add_argument
    more(
        "--dictionary",
        metavar="NAME",
        help="family of the markers, with --marker-mm (found where absent)",
    )
    more(
        "--lens",
        type=Path,
        metavar="LENS.toml",
        help="a lens file (found from the photo where absent)",
    )
    more("--game", metavar="NAME", help=f"the game: {', '.join(GAMES)}")
    more(
        "--terrain",
        type=Path,
        metavar="TERRAIN.toml",
        help="a terrain file: hills, how high they are",
    )
    more(
        "--fix",
        type=Path,
        metavar="FIX.toml",
        help="a fix file: what to correct in what is found (.toml or .json)",
    )
    more(
        "--bases",
        metavar="27,50x25,75x42o",
        help="the bases to look for, in mm: round, rectangle, oval",
    )
    add_house_arguments(parser)


def run(args: argparse.Namespace) -> int:
    options = read_options(args)
    with progress_display() as say:
        report = measure_photo(options, say)
        if options.picture or options.doubt:
            say("drawing")
        written = _render_outputs(options, report)
    for path, data in written:
        write_atomically(path, data)
    _print_report(options, report)
    return 0


def measure_photo(options: MeasureOptions, say: Callable[[str], None]) -> "Report":
    """Measure the photo and rule on what is asked, or on what is likely to be."""
    from concurrent.futures import ThreadPoolExecutor

    from overruler.sources.photo import load_photo
    from overruler.vision.learned.warm_up import warm_up_libraries

    say("reading the photo")
    pool = ThreadPoolExecutor()
    reading = pool.submit(load_photo, options.photo)  # while all that looks at it is imported
    pool.submit(
        warm_up_libraries
    )  # nobody waits for that: what it has not come to is made ready where it is used
    from overruler.apps.rulings import rule_on_questions
    from overruler.referee import Referee

    frame = reading.result()
    pool.shutdown(wait=False)
    known = (options.board, options.points, options.lens, options.game, options.bases)
    others = tuple(map(load_photo, options.beside))
    referee = Referee(
        *known, terrain=options.terrain, fixes=options.fixes, house=options.house, beside=others
    )
    report = referee.look(frame, say)
    return replace(report, verdicts=rule_on_questions(report.scene, options.questions))


def _render_outputs(options: MeasureOptions, report: "Report") -> list[tuple[Path, bytes | str]]:
    """What is to be written, complete before the first file is touched."""
    files: list[tuple[Path, bytes | str]] = []
    if options.scene:
        files.append((options.scene, json.dumps(report.scene.to_json(), indent=1) + "\n"))
    if options.picture:
        from overruler import picture

        files.append(
            (options.picture, picture.annotated_bytes(report, options.picture.suffix.lower()))
        )
    if options.doubt:
        from overruler.picture import precision_map
        from overruler.vision.camera.precision_map import doubt_map

        doubt = doubt_map(report.calibration, lens=options.lens is not None)
        ending = options.doubt.suffix.lower()
        files.append(
            (
                options.doubt,
                precision_map.encode_map(report.calibration, doubt, report.frame.pixels, ending),
            )
        )
    return files


def _print_report(options: MeasureOptions, report: "Report") -> None:
    if options.json:
        print(json.dumps(report.scene.to_json()))
        return
    from overruler.apps.summary import print_report

    print_report(report, [path for path in (options.scene, options.picture, options.doubt) if path])


@contextmanager
def progress_display() -> Iterator[Callable[[str], None]]:
    """Says on standard error what is being done, where a person is watching."""
    if not sys.stderr.isatty():
        yield lambda text: None
        return
    from rich.console import Console

    with Console(stderr=True).status("starting") as status:
        yield lambda text: status.update(f"{text} …")


# --- options ---


def read_options(args: argparse.Namespace) -> MeasureOptions:
    """Everything that can be wrong with the options is, before the photo is looked at."""
    _check_scale_options(args)
    for path in (args.scene, args.picture, args.doubt):
        if path:
            check_writable(path)
    _check_outputs(args)
    return MeasureOptions(
        photo=args.photo,
        beside=tuple(args.beside),
        board=_read_board(args),
        points=tuple(_parse_point(text) for text in args.point),
        lens=Lens.load(args.lens) if args.lens else None,
        game=_check_game(args.game),
        bases=select_bases(args.bases, read_own_bases(args.own_base), args.game),
        terrain=load_terrain(args.terrain) if args.terrain else (),
        fixes=load_fixes(args.fix) if args.fix else (),
        house=read_house(args),
        questions=tuple(
            _parse_question(text, number, args.game) for number, text in enumerate(args.ask, 1)
        ),
        scene=args.scene,
        picture=args.picture,
        doubt=args.doubt,
        json=args.json,
    )


def _check_scale_options(args: argparse.Namespace) -> None:
    given = [
        option
        for option, value in (
            ("--board", args.board),
            ("--marker-mm", args.marker_mm),
            ("--point", args.point or None),
        )
        if value is not None
    ]
    if not given:
        raise BadInput(
            "nothing says how large things are: give --board BOARD.toml, or --marker-mm SIZE (the side of the markers' "
            "black squares), or --point U,V=X,Y four times"
        )
    if len(given) > 1:
        raise BadInput(f"{' and '.join(given)} exclude each other: give one")
    if args.beside and args.point:
        raise BadInput(
            "--beside goes with markers, by which photos share their lens: leave --point away"
        )
    if args.dictionary is not None and args.marker_mm is None:
        raise BadInput("--dictionary goes with --marker-mm; a board file names its own")
    if args.point and len(args.point) < MIN_POINTS:
        raise BadInput(f"--point: {MIN_POINTS} points or more are needed, {len(args.point)} given")


def _check_outputs(args: argparse.Namespace) -> None:
    for option, path in (("--picture", args.picture), ("--doubt", args.doubt)):
        if path and path.suffix.lower() not in ENDINGS:
            raise BadInput(f"{option}: {path}: the name must end in {' or '.join(ENDINGS)}")
    given = (args.photo, *args.beside, args.scene, args.picture, args.doubt)
    places = [path.resolve() for path in given if path]
    if len(set(places)) < len(places):
        raise BadInput("PHOTO, --beside, --scene, --picture and --doubt must be different files")


def _read_board(args: argparse.Namespace) -> Board | None:
    if args.board:
        return Board.load(args.board)
    if args.marker_mm is None:
        return None
    if not 0 < args.marker_mm < math.inf:
        raise BadInput(f"--marker-mm: must be greater than 0, is {args.marker_mm:g}")
    dictionary = args.dictionary or "auto"
    if dictionary not in ("auto", *DICTIONARIES):
        raise UnknownName("--dictionary", dictionary, ("auto", *DICTIONARIES))
    return Board.free(args.marker_mm, dictionary)


def _parse_point(text: str) -> PointCorrespondence:
    try:
        pixel, place = text.split("=")
        u, v = (float(value) for value in pixel.split(","))
        x, y = (float(value) for value in place.split(","))
    except ValueError:
        raise BadInput(
            f"--point: expected U,V=X,Y (a pixel = its place in mm), found {text!r}"
        ) from None
    if not all(map(math.isfinite, (u, v, x, y))):
        raise BadInput(f"--point: {text!r} holds a number that is not finite")
    return u, v, x, y


def _check_game(name: str | None) -> str | None:
    if name is not None and name not in GAMES:
        raise UnknownName("--game", name, GAMES)
    return name


def _parse_question(text: str, number: int, game: str | None) -> dict[str, Any]:
    node = Node.of_json(text, f"--ask {number}")
    known = game_of(game or DEFAULT_GAME).questions
    if node["question"].text() not in known:
        raise UnknownName(f"--ask {number}: question", node["question"].text(), known)
    question: dict[str, Any] = node.value
    return question
