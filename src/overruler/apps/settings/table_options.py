"""The options that describe a table, for every command that measures one."""

import argparse
from collections.abc import Callable
from functools import partial
from pathlib import Path

from overruler.apps.settings.house_options import add_house_arguments
from overruler.games import GAMES


def add_table_arguments(parser: argparse.ArgumentParser, of_photo: bool = True) -> None:
    """Add the options that say what is known of the table, of a photo or else of a film or a camera."""
    add_finding_arguments(parser, of_photo)
    add_house_arguments(parser)


def add_finding_arguments(parser: argparse.ArgumentParser, of_photo: bool = True) -> None:
    """Add those of the options by which bases are found and measured."""
    _add_scale_arguments(parser, of_photo)
    option = parser.add_argument_group("what else is known").add_argument
    file_option = partial(option, type=Path)
    dictionary = "family of the markers, with --marker-mm (found where absent)"
    option("--dictionary", metavar="NAME", help=dictionary)
    lens = "a lens file (found from the photo where absent)"
    file_option("--lens", metavar="LENS.toml", help=lens)
    games = f"the game: {', '.join(GAMES)}, or a preset of overruler games"
    option("--game", metavar="NAME", help=games)
    terrain = "a terrain file: hills, how high they are"
    file_option("--terrain", metavar="TERRAIN.toml", help=terrain)
    flat = "the table is flat: look for no hills (those of --terrain still count)"
    option("--flat", action="store_true", help=flat)
    fix = "a fix file: what to correct in what is found (.toml or .json)"
    file_option("--fix", metavar="FIX.toml", help=fix)
    bases = "the bases to look for, in mm: round, rectangle, oval, with round ends, hexagon"
    option("--bases", metavar="27,50x25,75x42o,70x25s,30h", help=bases)


def add_taught_argument(parser: argparse.ArgumentParser) -> None:
    """Add `--taught`, for a command that uses or makes what corrections taught."""
    group = parser.add_argument_group("what corrections taught (overruler teach)")
    about = "the file that says how likely findings are pieces, as corrected photos taught"
    group.add_argument("--taught", type=Path, metavar="TAUGHT.json", help=about)


def _add_scale_arguments(parser: argparse.ArgumentParser, of_photo: bool) -> None:
    group = parser.add_argument_group("what is known of the table (one of the three)")
    board = "a board by name (3x3, 6x3, one of your own) or a board file: markers whose places are known"
    if of_photo:
        board += "; auto, which holds where none of the three is given, finds it by the markers"
    group.add_argument("--board", type=Path, metavar="BOARD", help=board)
    marker_mm = "side of the markers' black squares; they may lie anywhere"
    group.add_argument("--marker-mm", type=float, metavar="SIZE", help=marker_mm)
    point = (
        "a pixel = its place on the board in mm, four times or more: for a table without markers"
    )
    group.add_argument("--point", action="append", default=[], metavar="U,V=X,Y", help=point)


def add_camera_lens_argument(add: Callable[..., object]) -> None:
    """Add the option that gives cameras over one table lens files of their own."""
    lens = (
        "the lens file of the Nth camera, where there are several; the others take that of --lens"
    )
    add("--lens-of-camera", action="append", default=[], metavar="N=LENS.toml", help=lens)
