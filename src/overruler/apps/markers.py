"""`overruler markers`: a sheet of markers to print, and the board file that goes with them."""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from overruler.board import DICTIONARIES, SCHEMA
from overruler.errors import BadInput, UnknownName
from overruler.picture.markercard import Cards
from overruler.picture.sheet import PAPERS_MM, sheet
from overruler.writing import check_writable, write_whole

SMALLEST_MM, LARGEST_MM = 10.0, 1000.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--paper", choices=tuple(PAPERS_MM), default="a4", help="the paper (a4)")
    parser.add_argument("--count", type=int, default=8, metavar="N", help="how many markers (8: corners and mid-edges)")
    parser.add_argument("--size-mm", type=float, default=60.0, metavar="SIZE", help="side of the black square (60)")
    parser.add_argument("--dictionary", default="DICT_4X4_50", metavar="NAME", help="family of markers (DICT_4X4_50)")
    parser.add_argument("--out", type=Path, default=Path("markers.pdf"), metavar="PDF", help="the file (markers.pdf)")
    parser.add_argument(
        "--board-mm",
        metavar="WxH",
        help="also write the board file of a board of this size, 1828.8x914.4 say, beside the PDF",
    )


def run(args: argparse.Namespace) -> int:
    cards = _cards(args)
    out: Path = args.out
    if out.suffix.lower() != ".pdf":
        raise BadInput(f"--out: {out}: the name must end in .pdf")
    check_writable(out)
    size = _board_size(args.board_mm) if args.board_mm else None
    board = board_file(cards, *size) if size else None
    write_whole(out, sheet(cards, args.paper))
    print(f"{out}: {cards.count} markers of {cards.size_mm:g} mm, {cards.dictionary}. Print at 100 %, not fit to page.")
    if board:
        board_path = out.with_suffix(".toml")
        write_whole(board_path, board)
        print(f"{board_path}: the board file, for overruler measure PHOTO --board {board_path}")
    return 0


def _cards(args: argparse.Namespace) -> Cards:
    if args.dictionary not in DICTIONARIES:
        raise UnknownName("--dictionary", args.dictionary, DICTIONARIES)
    if not SMALLEST_MM <= args.size_mm <= LARGEST_MM:
        raise BadInput(f"--size-mm: must be {SMALLEST_MM:g} to {LARGEST_MM:g} mm, is {args.size_mm:g}")
    if args.count < 1:
        raise BadInput(f"--count: must be at least 1, is {args.count}")
    return Cards(args.count, args.size_mm, args.dictionary)


def _board_size(text: str) -> tuple[float, float]:
    try:
        width, height = (float(side) for side in text.lower().replace("×", "x").split("x"))
    except ValueError:
        raise BadInput(f"--board-mm: expected WIDTHxHEIGHT in mm, 1828.8x914.4 say, found {text!r}") from None
    if not (0 < width < 1e5 and 0 < height < 1e5):
        raise BadInput(f"--board-mm: a board measures more than 0 and less than 100 m, found {text!r}")
    return width, height


def board_file(cards: Cards, width_mm: float, height_mm: float, name: str | None = None) -> str:
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
    return "\n".join([*lines, *(_corner_line(cards, marker, corners[marker]) for marker in corners)]) + "\n"


def _corner_line(cards: Cards, marker: int, corners: Sequence[Sequence[float]]) -> str:
    return f"{marker} = {json.dumps(corners)}  # {cards.place(marker)}"
