"""`overruler markers`: sheets of markers to print, their board file, and the measured size of a print."""

import argparse
import json
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from overruler.apps.commands import SubcommandParser, refuse_options
from overruler.apps.print_measurement import confirm
from overruler.board import DICTIONARIES, SCHEMA, Board
from overruler.errors import BadInput, UnknownName
from overruler.marker_card import read_raised
from overruler.picture.sheets.gauge_sheet import KIT, KIT_CARDS, gauge_sheet_pdf
from overruler.picture.sheets.marker_cards import CardSet
from overruler.picture.sheets.marker_sheet import CHECK_BAR_MM, PAPERS_MM, marker_sheet_pdf
from overruler.reading import Node
from overruler.units import format_count, mm_from_inches
from overruler.writing import check_writable, write_all_atomically, write_atomically

MIN_MARKER_MM = 10.0
"""Smallest marker that can be ordered."""
MAX_MARKER_MM = 1000.0
"""Largest marker that can be ordered."""
MIN_BOARD_MM = 100.0
"""No side of a board is smaller: who types 6x3 means feet."""
MAX_BOARD_MM = 1e5
"""A board is smaller than this along either side."""
MIN_BOARD_MARKERS = 4
"""Fewest markers of a board: one in each corner."""
CARD_OPTIONS = ("count", "size_mm", "dictionary")
"""Options of single cards."""
SHEET_OPTIONS = (*CARD_OPTIONS, "paper", "out", "board_mm", "raised_mm", "charuco", "kit")
"""Options of any sheet to print."""
USUAL_PAPER = "a4"
"""The paper that is printed on unless another is named."""
USUAL_OUT = Path("markers.pdf")
"""Where a sheet goes unless a file is named."""
CONFIRM_EXAMPLE = "overruler markers confirm markers.toml --across 99.7 --along 99.8"
MEASURED_KEYS = {
    "print": "the measured print",
    "scale_share": "the calibrated scale",
    "covariance": "the calibrated places",
}
"""What the markers of a board file have where somebody measured them, by its key."""
MEASURED_IN_PHOTOS = ("scale_share", "covariance")
"""Those of them that photos tell anew."""
HEIGHT_TOLERANCE_MM = 0.01
"""Difference of two heights of markers up to which they are the same."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    option = parser.add_argument
    option("--paper", type=str.lower, choices=tuple(PAPERS_MM), help="the paper (a4)")
    count = "how many markers (8: corners and mid-edges)"
    option("--count", type=int, metavar="N", help=count)
    option("--size-mm", type=float, metavar="SIZE", help="side of the black square (60)")
    option("--dictionary", metavar="NAME", help="family of markers (DICT_4X4_50)")
    option("--out", type=Path, metavar="PDF", help="the file (markers.pdf)")
    board_mm = "also write the board file of a board of this size, 1828.8x914.4 say, beside the PDF"
    option("--board-mm", metavar="WxH", help=board_mm)
    raised = "how far the markers lie over the mat, as on thick cards, for the board file (0)"
    option("--raised-mm", type=float, metavar="MM", help=raised)
    charuco = "print the sheet for overruler calibrate lens instead"
    option("--charuco", action="store_true", help=charuco)
    kit = "print a table kit instead, on one page: four cards, a gauge, and what to do"
    option("--kit", action="store_true", help=kit)
    _add_confirm_parser(parser)


def _add_confirm_parser(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(
        dest="action", parser_class=SubcommandParser, metavar="[confirm]"
    )
    confirm = commands.add_parser(
        "confirm",
        help="write into a board file what the print really measures",
        description="Write into a board file what a printed length measures, across and along the page.",
        allow_abbrev=False,
    )
    confirm.example = CONFIRM_EXAMPLE
    confirm.add_argument("board", type=Path, metavar="BOARD.toml", help="the board file")
    length = partial(confirm.add_argument, type=parse_length_mm, metavar="MM")
    length("--across", required=True, help="what the level bar measures: 99.8, or 2.99in")
    length("--along", required=True, help="what the upright bar measures")
    length("--doubt", default=0.2, help="1 σ of either, in mm (0.2)")
    printed = f"what both were meant to be ({CHECK_BAR_MM:g}: the bars)"
    length("--printed", default=CHECK_BAR_MM, help=printed)


def run(args: argparse.Namespace) -> int:
    if args.action == "confirm":
        refuse_options(
            args, SHEET_OPTIONS, "goes with a sheet to print: leave it away with confirm"
        )
        return confirm(args)
    args.paper = args.paper or USUAL_PAPER
    args.out = args.out or USUAL_OUT
    check_pdf_ending(args.out)
    if args.kit:
        return _write_kit(args)
    return _write_chart_sheet(args) if args.charuco else _write_card_sheet(args)


def check_pdf_ending(out: Path) -> None:
    """Raise `BadInput` where the name of a sheet to write is no PDF's."""
    if out.suffix.lower() != ".pdf":
        raise BadInput(f"--out: {out}: the name must end in .pdf")


def _write_card_sheet(args: argparse.Namespace) -> int:
    cards = _read_cards(args)
    if args.board_mm is not None and cards.count < MIN_BOARD_MARKERS:
        needed = f"a board needs {MIN_BOARD_MARKERS} markers, one in each corner"
        raise BadInput(
            f"--count: {needed}, not {cards.count}: leave --board-mm away to print single cards"
        )
    contents = f"{format_count(cards.count, 'marker')} of {cards.size_mm:g} mm, {cards.dictionary}"
    return _write_sheet(args, cards, contents, lambda: marker_sheet_pdf(cards, args.paper))


def _write_kit(args: argparse.Namespace) -> int:
    refuse_options(args, CARD_OPTIONS, "does not go with --kit: its cards have one size")
    if args.charuco:
        raise BadInput("--kit and --charuco are two sheets: print one after the other")
    contents = "a table kit on one page"
    return _write_sheet(args, KIT_CARDS, contents, lambda: gauge_sheet_pdf(args.paper, KIT))


def _write_sheet(
    args: argparse.Namespace, cards: CardSet, contents: str, draw: Callable[[], bytes]
) -> int:
    """Write a sheet of cards and, if asked, the board file of a board with them: both or none."""
    files: list[tuple[Path, bytes | str]] = []
    raised_mm = _raised_mm(args)
    check_writable(args.out)
    if args.board_mm is not None:
        board_path = args.out.with_suffix(".toml")
        check_writable(board_path)
        check_nothing_measured(board_path, raised_mm=raised_mm)
        width_mm, height_mm = parse_board_size(args.board_mm)
        text = board_file(cards, width_mm, height_mm, raised_mm=raised_mm)
        files.append((board_path, text))
    write_all_atomically([(args.out, draw()), *files])
    print(f"{args.out}: {contents}. Print at 100 %, not fit to page.")
    for path, _ in files:
        print(f"{path}: the board file, for overruler measure PHOTO --board {path}")
    return 0


def _raised_mm(args: argparse.Namespace) -> float:
    if args.raised_mm is None:
        return 0.0
    if args.board_mm is None:
        raise BadInput("--raised-mm goes with --board-mm: the board file says it")
    return read_raised(Node(args.raised_mm, "--raised-mm"))


def check_nothing_measured(
    path: Path, calibrated: str | None = None, raised_mm: float = 0.0
) -> None:
    """Raise `BadInput` where a file stands that holds more than the new board file.

    `calibrated` is the name of a board that is written with its calibrated places: those of the same board
    are replaced by it, not lost. The new board's markers lie `raised_mm` over the mat.
    """
    if path.is_file() and path.stat().st_size:
        refuse_loss(path, _what_is_lost(path, calibrated, raised_mm))


def _what_is_lost(path: Path, calibrated: str | None, raised_mm: float) -> list[str]:
    try:
        there, markers = Board.load(path), Node.of_toml(path)["markers"]
    except BadInput:
        return ["what is no board"]
    replaced = MEASURED_IN_PHOTOS if there.name == calibrated else ()
    measured = (key for key in MEASURED_KEYS if markers.has(key) and key not in replaced)
    lost = [MEASURED_KEYS[key] for key in measured]
    if abs(there.markers_z_mm - raised_mm) > HEIGHT_TOLERANCE_MM:
        lost.append("the markers' height")
    return lost


def refuse_loss(path: Path, lost: Sequence[str]) -> None:
    """Raise `BadInput` where a file holds something that would be lost with it."""
    if lost:
        raise BadInput(
            f"{path}: holds {' and '.join(lost)}, which would be lost: "
            "name another file with --out, or remove this one first"
        )


def _write_chart_sheet(args: argparse.Namespace) -> int:
    from overruler.picture.sheets.chart_sheet import chart_for_paper, chart_sheet_pdf

    why = "does not go with --charuco: there is one such sheet a paper"
    refuse_options(args, (*CARD_OPTIONS, "board_mm", "raised_mm"), why)
    check_writable(args.out)
    chart = chart_for_paper(args.paper)
    write_atomically(args.out, chart_sheet_pdf(args.paper))
    squares = f"{chart.columns} × {chart.rows} squares of {chart.square_mm:g} mm"
    advice = "Print at 100 %, not fit to page, and glue it flat on glass or stiff board."
    print(f"{args.out}: a lens sheet of {squares}, {chart.dictionary}. {advice}")
    return 0


def _read_cards(args: argparse.Namespace) -> CardSet:
    default = CardSet()
    count: int = default.count if args.count is None else args.count
    size_mm: float = default.size_mm if args.size_mm is None else args.size_mm
    dictionary: str = default.dictionary if args.dictionary is None else args.dictionary
    if dictionary not in DICTIONARIES:
        raise UnknownName("--dictionary", dictionary, DICTIONARIES)
    if not MIN_MARKER_MM <= size_mm <= MAX_MARKER_MM:
        limits = f"{MIN_MARKER_MM:g} to {MAX_MARKER_MM:g} mm"
        raise BadInput(f"--size-mm: must be {limits}, is {size_mm:g}")
    if count < 1:
        raise BadInput(f"--count: must be at least 1, is {count}")
    return CardSet(count, size_mm, dictionary)


def parse_length_mm(text: str) -> float:
    """Parse a length in mm, or in inches where it ends in `in`."""
    number = text.strip().lower()
    try:
        if number.endswith("in"):
            return mm_from_inches(float(number.removesuffix("in")))
        return float(number.removesuffix("mm"))
    except ValueError:
        problem = f"expected a length in mm, or in inches as 2.99in, found {text!r}"
        raise argparse.ArgumentTypeError(problem) from None


def parse_board_size(text: str) -> tuple[float, float]:
    """Parse the width and height in mm of `--board-mm`."""
    try:
        width, height = (float(side) for side in text.lower().replace("×", "x").split("x"))
    except ValueError:
        raise BadInput(
            f"--board-mm: expected WIDTHxHEIGHT in mm, 1828.8x914.4 say, found {text!r}"
        ) from None
    if not (MIN_BOARD_MM <= width < MAX_BOARD_MM and MIN_BOARD_MM <= height < MAX_BOARD_MM):
        raise BadInput(
            "--board-mm: a board's sides measure 100 mm to 100 m, "
            f"found {text!r}: 6 x 3 ft are 1828.8x914.4 mm"
        )
    return width, height


def board_file(
    cards: CardSet,
    width_mm: float,
    height_mm: float,
    name: str | None = None,
    raised_mm: float = 0.0,
) -> str:
    """The board file (TOML) of a board of this size with cards laid as their sheet says, raised by so much."""
    corners_mm = cards.corners_mm(width_mm, height_mm)
    name = name or f"{width_mm:g} × {height_mm:g} mm"
    lines = [
        f'schema = "{SCHEMA}"',
        f"name = {json.dumps(name, ensure_ascii=False)}",
        f"width_mm = {width_mm}",
        f"height_mm = {height_mm}",
        "",
        "[markers]",
        f'dictionary = "{cards.dictionary}"',
        f"size_mm = {cards.size_mm}",
        *([f"raised_mm = {raised_mm}  # over the mat"] if raised_mm else []),
        "",
        "[markers.corners_mm]  # printed top left, then clockwise; the cards' edges lie flush with the board's",
    ]
    for marker, corners in corners_mm.items():
        lines.append(f"{marker} = {json.dumps(corners)}  # {cards.place_name(marker)}")
    return "\n".join(lines) + "\n"
