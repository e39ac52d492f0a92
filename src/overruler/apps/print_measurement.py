"""`overruler markers confirm`: what a print of markers measures, written into their board file."""

import argparse
import tomllib
from collections.abc import Sequence
from pathlib import Path

from overruler.board import AUTO_DICTIONARY, Board
from overruler.errors import BadInput
from overruler.marker_card import MAX_PRINT_SCALE_ERROR, PrintMeasurement
from overruler.picture.sheets.marker_cards import CardSet
from overruler.reading.files import read_text
from overruler.writing import write_atomically

FLUSH_TOLERANCE_MM = 0.05
"""Largest distance between the corners in a board file and those of cards that lie flush."""


def confirm(args: argparse.Namespace) -> int:
    """Write the table `[markers.print]` into a board file, or replace it; the rest stays."""
    path: Path = args.board
    _refuse_calibrated_places(path)
    flush = _cards_lie_flush(path)
    printed = PrintMeasurement(args.printed, args.across, args.along, args.doubt, flush)
    _check_print(printed)
    text = f"{_remove_print_table(read_text(path))}\n{printed.to_toml()}"
    _check_toml(path, text)
    write_atomically(path, text)
    board = Board.load(path)
    across, along = (f"{100 * (factor - 1):+.2f} %" for factor in printed.scale_factors)
    sides = " × ".join(f"{side:.2f}" for side in board.sides_mm or ())
    scale = f"printed {across} across and {along} along"
    print(f"{path}: {scale}; the black squares measure {sides} mm.")
    if board.corners_mm is None:
        return 0
    if flush:
        print("The markers are taken to lie so that their cards' edges lie flush with the board's.")
    else:
        print("The markers are taken to lie so that their middles lie where they should.")
    return 0


def _refuse_calibrated_places(path: Path) -> None:
    """Fail where photos gave the places: their scale is the print's, and would stay as it was."""
    if Board.load(path, as_meant=True).scale_share is not None:
        raise BadInput(
            f"{path}: its places were calibrated by the markers' size, which this would not correct: "
            "confirm a board file without places, and calibrate again with it "
            "(overruler calibrate board PHOTO --board FILE)"
        )


def _check_print(printed: PrintMeasurement) -> None:
    nominal = f"{printed.printed_mm:g} mm"
    for option, length in (("--printed", printed.printed_mm), ("--doubt", printed.doubt_mm)):
        if not 0 < length < float("inf"):
            raise BadInput(f"{option}: must be greater than 0 mm, is {length:g}")
    for option, length in (("--across", printed.across_mm), ("--along", printed.along_mm)):
        if not abs(length / printed.printed_mm - 1) <= MAX_PRINT_SCALE_ERROR:
            raise BadInput(
                f"{option}: {length:g} mm is not what {nominal} can have been printed as; "
                "--printed says what the measured length was meant to be"
            )
    if printed.doubt_mm > MAX_PRINT_SCALE_ERROR * printed.printed_mm:
        raise BadInput(
            f"--doubt: {printed.doubt_mm:g} mm of {nominal} says nothing about the print"
        )


def _cards_lie_flush(path: Path) -> bool:
    """Whether the markers of a board file lie nominally where cards flush with its edges have them."""
    board = Board.load(path, as_meant=True)
    if board.corners_mm is None or board.width_mm is None or board.height_mm is None:
        return False
    if board.dictionary == AUTO_DICTIONARY:
        return False
    cards = CardSet(len(board.corners_mm), board.marker_mm, board.dictionary)
    try:
        flush_mm = cards.corners_mm(board.width_mm, board.height_mm)
    except BadInput:
        return False
    if flush_mm.keys() != board.corners_mm.keys():
        return False
    return all(
        _corners_agree(corners, board.corners_mm[marker].tolist())
        for marker, corners in flush_mm.items()
    )


def _corners_agree(first: Sequence[Sequence[float]], second: Sequence[Sequence[float]]) -> bool:
    for first_corner, second_corner in zip(first, second, strict=True):
        for a, b in zip(first_corner, second_corner, strict=True):
            if not abs(a - b) < FLUSH_TOLERANCE_MM:
                return False
    return True


def _remove_print_table(text: str) -> str:
    """A board file's text without the table `[markers.print]`."""
    kept, inside = [], False
    for line in text.splitlines():
        if line.lstrip().startswith("["):
            inside = line.split("#")[0].strip() == "[markers.print]"
        if not inside:
            kept.append(line)
    return "\n".join(kept).rstrip() + "\n"


def _check_toml(path: Path, text: str) -> None:
    """Fail where the text is not valid TOML: a file may have the table in a form that stays in it."""
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"{path}: [markers.print] cannot be added at its end: {error}") from None
