"""`overruler calibrate lens` and `overruler calibrate board`: what is measured once and then known."""

import argparse
from pathlib import Path

from overruler.apps.commands import SubcommandParser
from overruler.errors import BadInput
from overruler.writing import check_different, check_ending, check_outputs, check_writable

LENS_EXAMPLE = (
    "overruler calibrate lens sheet1.jpg sheet2.jpg sheet3.jpg --out lens.toml --picture lens.png"
)
BOARD_EXAMPLE = (
    "overruler calibrate board left.jpg right.jpg --marker-mm 60 --lens lens.toml --out table.toml"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(
        dest="what", required=True, parser_class=SubcommandParser, metavar="lens | board"
    )
    _add_lens_parser(commands)
    _add_board_parser(commands)


def _add_lens_parser(commands: "argparse._SubParsersAction[SubcommandParser]") -> None:
    parser = commands.add_parser(
        "lens",
        help="a lens file from photos of a printed sheet (overruler markers --charuco)",
        description="Measure a lens by three photos of a printed sheet, ten are better: from the front and leaning to "
        "every side, filling the picture and its corners.",
        allow_abbrev=False,
    )
    parser.example = LENS_EXAMPLE
    _add_photo_arguments(parser, Path("lens.toml"), "LENS.toml", "the lens file (lens.toml)")
    option = parser.add_argument_group(
        "another sheet than the one that overruler markers --charuco prints"
    ).add_argument
    option("--charuco", metavar="COLUMNSxROWS", help="its squares across and down (7x10)")
    chessboard = "a plain chessboard: its squares across and down"
    option("--chessboard", metavar="COLUMNSxROWS", help=chessboard)
    option("--square-mm", type=float, metavar="SIZE", help="side of a square (25)")
    marker_mm = "side of the black squares within the white ones (18)"
    option("--marker-mm", type=float, metavar="SIZE", help=marker_mm)
    option("--dictionary", metavar="NAME", help="family of its markers (DICT_5X5_100)")
    picture = "draw what was covered and how sure it is"
    parser.add_argument("--picture", type=Path, metavar="OUT.png", help=picture)


def _add_board_parser(commands: "argparse._SubParsersAction[SubcommandParser]") -> None:
    parser = commands.add_parser(
        "board",
        help="a board file from photos of markers that were laid anywhere",
        description="Measure where a table's markers lie, by a photo of it or several.",
        allow_abbrev=False,
    )
    parser.example = BOARD_EXAMPLE
    _add_photo_arguments(parser, Path("board.toml"), "BOARD.toml", "the board file (board.toml)")
    option = parser.add_argument_group("what is known of the markers (one of the two)").add_argument
    marker_mm = "side of the markers' black squares"
    option("--marker-mm", type=float, metavar="SIZE", help=marker_mm)
    board = "a board file without places, its print confirmed, or one of your own by name"
    option("--board", type=Path, metavar="BOARD", help=board)
    option = parser.add_argument_group("what else is known").add_argument
    dictionary = "family of the markers, with --marker-mm (found where absent)"
    option("--dictionary", metavar="NAME", help=dictionary)
    option(
        "--lens",
        type=Path,
        metavar="LENS.toml",
        help="the camera's lens file (found from the photos where absent)",
    )
    option("--board-mm", metavar="WxH", help="the board's size (the box round the markers)")
    option("--name", help="the board's name (the file's)")


def _add_photo_arguments(
    parser: argparse.ArgumentParser, default: Path, metavar: str, text: str
) -> None:
    photos = "photos by one camera at one zoom"
    parser.add_argument("photos", type=Path, nargs="+", metavar="PHOTO", help=photos)
    parser.add_argument("--out", type=Path, default=default, metavar=metavar, help=text)
    json = "print what was found as JSON and nothing else"
    parser.add_argument("--json", action="store_true", help=json)


def run(args: argparse.Namespace) -> int:
    check_ending("--out", args.out, (".toml",))
    check_writable(args.out)
    check_different("PHOTO", args.photos)
    if args.what == "board" and args.name == "":
        raise BadInput("--name: is empty: give the board's name, or leave --name away")
    read = (*args.photos, *(getattr(args, name, None) for name in ("board", "lens")))
    check_outputs([("--out", args.out), ("--picture", getattr(args, "picture", None))], read)
    if args.what == "lens":
        from overruler.apps.calibrate.lens import calibrate_lens

        return calibrate_lens(args)
    from overruler.apps.calibrate.board import calibrate_board

    return calibrate_board(args)
