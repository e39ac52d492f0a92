"""`overruler markers`: sheets to print, the board file that goes with them, and what a print turned out to measure."""

import argparse
import json
import tomllib
from collections.abc import Sequence
from pathlib import Path

from overruler.apps.commands import Parser
from overruler.board import DICTIONARIES, MAX_PRINT_SCALE_ERROR, SCHEMA, Board, PrintMeasurement
from overruler.errors import BadInput, UnknownName
from overruler.picture.marker_cards import CardSet
from overruler.picture.marker_sheet import CHECK_BAR_MM, PAPERS_MM, marker_sheet_pdf
from overruler.reading import read_text
from overruler.writing import check_writable, write_atomically

MIN_MARKER_MM, MAX_MARKER_MM = 10.0, 1000.0


CONFIRM_EXAMPLE = "overruler markers confirm markers.toml --across 99.7 --along 99.8"
FLUSH_TOLERANCE_MM = 0.05
"""Corners this near to where cards laid flush have them are those of such cards."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--paper", choices=tuple(PAPERS_MM), default="a4", help="the paper (a4)")
    parser.add_argument(
        "--count", type=int, metavar="N", help="how many markers (8: corners and mid-edges)"
    )
    parser.add_argument(
        "--size-mm", type=float, metavar="SIZE", help="side of the black square (60)"
    )
    parser.add_argument("--dictionary", metavar="NAME", help="family of markers (DICT_4X4_50)")
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("markers.pdf"),
        metavar="PDF",
        help="the file (markers.pdf)",
    )
    parser.add_argument(
        "--board-mm",
        metavar="WxH",
        help="also write the board file of a board of this size, 1828.8x914.4 say, beside the PDF",
    )
    parser.add_argument(
        "--charuco",
        action="store_true",
        help="print the sheet for overruler calibrate lens instead",
    )
    _add_confirm_parser(parser)


def _add_confirm_parser(parser: argparse.ArgumentParser) -> None:
    kinds = parser.add_subparsers(dest="action", parser_class=Parser, metavar="[confirm]")
    confirm = kinds.add_parser(
        "confirm",
        help="write into a board file what the print really measures",
        description="Write into a board file what a printed length measures, across and along the page.",
        allow_abbrev=False,
    )
    confirm.example = CONFIRM_EXAMPLE
    confirm.add_argument("board", type=Path, metavar="BOARD.toml", help="the board file")
    confirm.add_argument(
        "--across", type=float, required=True, metavar="MM", help="what the level bar measures"
    )
    confirm.add_argument(
        "--along", type=float, required=True, metavar="MM", help="what the upright bar measures"
    )
    confirm.add_argument(
        "--doubt", type=float, default=0.2, metavar="MM", help="1 σ of either, in mm (0.2)"
    )
    confirm.add_argument(
        "--printed",
        type=float,
        default=CHECK_BAR_MM,
        metavar="MM",
        help=f"what both were meant to be ({CHECK_BAR_MM:g}: the bars)",
    )


def run(args: argparse.Namespace) -> int:
    if args.action == "confirm":
        return confirm(args)
    out: Path = args.out
    if out.suffix.lower() != ".pdf":
        raise BadInput(f"--out: {out}: the name must end in .pdf")
    return _write_chart_sheet(args) if args.charuco else _write_card_sheet(args)


def _write_card_sheet(args: argparse.Namespace) -> int:
    cards, out = _cards(args), args.out
    check_writable(out)
    size = parse_board_size(args.board_mm) if args.board_mm else None
    board = board_file(cards, *size) if size else None
    write_atomically(out, marker_sheet_pdf(cards, args.paper))
    print(
        f"{out}: {cards.count} markers of {cards.size_mm:g} mm, {cards.dictionary}. Print at 100 %, not fit to page."
    )
    if board:
        board_path = out.with_suffix(".toml")
        write_atomically(board_path, board)
        print(f"{board_path}: the board file, for overruler measure PHOTO --board {board_path}")
    return 0


def _write_chart_sheet(args: argparse.Namespace) -> int:
    from overruler.picture.chart_sheet import chart_for_paper, chart_sheet_pdf

    for option in ("count", "size_mm", "dictionary", "board_mm"):
        if getattr(args, option) is not None:
            raise BadInput(
                f"--{option.replace('_', '-')} does not go with --charuco: there is one such sheet a paper"
            )
    check_writable(args.out)
    chart = chart_for_paper(args.paper)
    write_atomically(args.out, chart_sheet_pdf(args.paper))
    what = f"a lens sheet of {chart.columns} × {chart.rows} squares of {chart.square_mm:g} mm, {chart.dictionary}"
    print(
        f"{args.out}: {what}. Print at 100 %, not fit to page, and glue it flat on glass or stiff board."
    )
    return 0


def _cards(args: argparse.Namespace) -> CardSet:
    usual = CardSet()
    count: int = usual.count if args.count is None else args.count
    size_mm: float = usual.size_mm if args.size_mm is None else args.size_mm
    dictionary: str = usual.dictionary if args.dictionary is None else args.dictionary
    if dictionary not in DICTIONARIES:
        raise UnknownName("--dictionary", dictionary, DICTIONARIES)
    if not MIN_MARKER_MM <= size_mm <= MAX_MARKER_MM:
        raise BadInput(
            f"--size-mm: must be {MIN_MARKER_MM:g} to {MAX_MARKER_MM:g} mm, is {size_mm:g}"
        )
    if count < 1:
        raise BadInput(f"--count: must be at least 1, is {count}")
    return CardSet(count, size_mm, dictionary)


def parse_board_size(text: str) -> tuple[float, float]:
    """The width and height in mm that `--board-mm` says."""
    try:
        width, height = (float(side) for side in text.lower().replace("×", "x").split("x"))
    except ValueError:
        raise BadInput(
            f"--board-mm: expected WIDTHxHEIGHT in mm, 1828.8x914.4 say, found {text!r}"
        ) from None
    if not (0 < width < 1e5 and 0 < height < 1e5):
        raise BadInput(
            f"--board-mm: a board measures more than 0 and less than 100 m, found {text!r}"
        )
    return width, height


def board_file(cards: CardSet, width_mm: float, height_mm: float, name: str | None = None) -> str:
    """The board file (TOML) of cards laid as their sheet says on a board of this size."""
    lines = [
        f'schema = "{SCHEMA}"',
        f"name = {json.dumps(name or f'{width_mm:g} × {height_mm:g} mm', ensure_ascii=False)}",
        f"width_mm = {width_mm}",
        f"height_mm = {height_mm}",
        "",
        "[markers]",
        f'dictionary = "{cards.dictionary}"',
        f"size_mm = {cards.size_mm}",
        "",
        "[markers.corners_mm]  # printed top left, then clockwise; the cards' edges lie flush with the board's",
    ]
    corners = cards.corners_mm(width_mm, height_mm)
    return (
        "\n".join([*lines, *(_corner_line(cards, marker, corners[marker]) for marker in corners)])
        + "\n"
    )


def _corner_line(cards: CardSet, marker: int, corners: Sequence[Sequence[float]]) -> str:
    return f"{marker} = {json.dumps(corners)}  # {cards.place_name(marker)}"


# --- what was printed ---


def confirm(args: argparse.Namespace) -> int:
    """Write the table `[markers.print]` into a board file in place of the one that it may have; all else stays."""
    path: Path = args.board
    printed = PrintMeasurement(
        args.printed, args.across, args.along, args.doubt, _cards_lie_flush(path)
    )
    _check_print(printed)
    text = f"{_remove_print_table(read_text(path))}\n{printed.to_toml()}"
    _check_toml(path, text)
    write_atomically(path, text)
    board = Board.load(path)
    across, along = (f"{100 * (share - 1):+.2f} %" for share in printed.scale_factors)
    side = " × ".join(f"{side:.2f}" for side in board.sides_mm or ())
    print(
        f"{path}: printed {across} across and {along} along; the black squares measure {side} mm."
    )
    if board.corners_mm is not None:
        how = (
            "their cards' edges lie flush with the board's"
            if printed.flush
            else "their middles lie where they should"
        )
        print(f"The markers are taken to lie so that {how}.")
    return 0


def _check_print(printed: PrintMeasurement) -> None:
    for option, length in (("--printed", printed.printed_mm), ("--doubt", printed.doubt_mm)):
        if not 0 < length < float("inf"):
            raise BadInput(f"{option}: must be greater than 0 mm, is {length:g}")
    for option, length in (("--across", printed.across_mm), ("--along", printed.along_mm)):
        if not abs(length / printed.printed_mm - 1) <= MAX_PRINT_SCALE_ERROR:
            raise BadInput(
                f"{option}: {length:g} mm is not what {printed.printed_mm:g} mm can have been printed as; "
                "--printed says what the measured length was meant to be"
            )
    if printed.doubt_mm > MAX_PRINT_SCALE_ERROR * printed.printed_mm:
        raise BadInput(
            f"--doubt: {printed.doubt_mm:g} mm of {printed.printed_mm:g} mm says nothing about the print"
        )


def _cards_lie_flush(path: Path) -> bool:
    """Whether a board file's markers lie where cards laid flush with its edges have them, as it was meant."""
    board = Board.load(path, as_meant=True)
    if (
        board.corners_mm is None
        or board.width_mm is None
        or board.height_mm is None
        or board.dictionary == "auto"
    ):
        return False
    cards = CardSet(len(board.corners_mm), board.marker_mm, board.dictionary)
    try:
        laid = cards.corners_mm(board.width_mm, board.height_mm)
    except BadInput:
        return False
    return laid.keys() == board.corners_mm.keys() and all(
        abs(a - b) < FLUSH_TOLERANCE_MM
        for marker, corners in laid.items()
        for meant, found in zip(corners, board.corners_mm[marker].tolist(), strict=True)
        for a, b in zip(meant, found, strict=True)
    )


def _remove_print_table(text: str) -> str:
    """A board file's text without the table `[markers.print]`."""
    lines, kept, inside = text.splitlines(), [], False
    for line in lines:
        if line.lstrip().startswith("["):
            inside = line.split("#")[0].strip() == "[markers.print]"
        if not inside:
            kept.append(line)
    return "\n".join(kept).rstrip() + "\n"


def _check_toml(path: Path, text: str) -> None:
    """The text must be read back with the print in it: a file may say the same in another way than we would."""
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"{path}: [markers.print] cannot be added at its end: {error}") from None
