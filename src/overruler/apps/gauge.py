"""`overruler gauge`: a printed page that tells how accurate the program is with one's own camera."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from overruler.apps.commands import SubcommandParser, refuse_options
from overruler.apps.markers import check_pdf_ending
from overruler.errors import CannotMeasure
from overruler.picture.sheets.gauge_sheet import (
    COLUMNS,
    GAUGE,
    KIT,
    Layout,
    Place,
    gauge_board,
    gauge_places,
    gauge_sheet_pdf,
)
from overruler.picture.sheets.marker_sheet import PAPERS_MM
from overruler.units import format_count
from overruler.writing import check_writable, write_atomically

if TYPE_CHECKING:
    from overruler.report import Report

CHECK_EXAMPLE = "overruler gauge check photo.jpg"
MAX_OFF_MM = 8.0
"""A base farther from every place of its size belongs to none, in mm."""
MAX_SIZE_OFF_MM = 3.0
"""Largest difference between a base's measured size and its place's, in mm."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A base on its place: how far off it was measured, and how far it may be."""

    place: Place
    dx_mm: float
    dy_mm: float
    reach_mm: float
    """Half-width of the stated 95 % interval."""

    @property
    def off_mm(self) -> float:
        """Distance of the measured from the printed place."""
        return hypot(self.dx_mm, self.dy_mm)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    option = parser.add_argument
    option("--paper", type=str.lower, choices=tuple(PAPERS_MM), default="a4", help="the paper (a4)")
    option("--out", type=Path, metavar="PDF", help="the page to print (gauge.pdf)")
    commands = parser.add_subparsers(
        dest="action", parser_class=SubcommandParser, metavar="[check]"
    )
    check = commands.add_parser(
        "check",
        help="read the error from a photo of the page with bases on it",
        description="Read from a photo of the page how far each base is measured from its printed place.",
        allow_abbrev=False,
    )
    check.example = CHECK_EXAMPLE
    check.add_argument("photo", type=Path, metavar="PHOTO", help="the photo of the page")
    papers = tuple(PAPERS_MM)
    check.add_argument(
        "--paper",
        type=str.lower,
        choices=papers,
        default=argparse.SUPPRESS,  # what stands before `check` counts too
        help="the paper (a4)",
    )
    kit = "the page is a table kit (overruler markers --kit)"
    check.add_argument("--kit", action="store_true", help=kit)
    check.add_argument("--lens", type=Path, metavar="LENS.toml", help="a lens file")


def run(args: argparse.Namespace) -> int:
    if args.action == "check":
        refuse_options(args, ["out"], "is where the page to print goes: leave it away with check")
        return _print_readings(args)
    out: Path = args.out or Path("gauge.pdf")
    check_pdf_ending(out)
    check_writable(out)
    write_atomically(out, gauge_sheet_pdf(args.paper))
    sizes = ", ".join(f"{size:g}" for size in GAUGE.sizes_mm)
    print(f"{out}: {COLUMNS} places each for bases of {sizes} mm. Print at 100 %, not fit to page.")
    print(f"Stand bases on it, take a photo, and run: {CHECK_EXAMPLE}")
    return 0


def read_errors(report: "Report", places: Sequence[Place]) -> list[Reading]:
    """Match the pieces of a report with the places that they stand on."""
    covariance = report.scene.covariance
    readings = []
    for place in places:
        offsets = {
            index: (piece.x_mm - place.x_mm, piece.y_mm - place.y_mm)
            for index, piece in enumerate(report.scene.pieces)
            if abs(piece.base.width_mm - place.diameter_mm) < MAX_SIZE_OFF_MM
        }
        index = min(offsets, key=lambda k: hypot(*offsets[k]), default=None)
        if index is None or hypot(*offsets[index]) > MAX_OFF_MM:
            continue
        reach_mm = covariance.max_relative_shift_mm(None, index) if covariance else 0.0
        readings.append(Reading(place, *offsets[index], reach_mm))
    return readings


def _print_readings(args: argparse.Namespace) -> int:
    from rich.console import Console
    from rich.table import Table

    layout = KIT if args.kit else GAUGE
    readings = read_errors(_measure(args, layout), gauge_places(args.paper, layout))
    if not readings:
        sizes = " or ".join(f"{size:g}" for size in layout.sizes_mm)
        raise CannotMeasure(
            f"{args.photo}: no base stands on a place of the page: put bases of {sizes} mm there"
        )
    table = Table("place", "base", box=None, header_style="bold", pad_edge=False)
    for name in ("right mm", "up mm", "off mm", "stated ± mm"):
        table.add_column(name, justify="right")
    for reading in readings:
        numbers = (reading.dx_mm, reading.dy_mm, reading.off_mm, reading.reach_mm)
        base = f"{reading.place.diameter_mm:g} mm"
        table.add_row(reading.place.name, base, *(f"{number:.2f}" for number in numbers))
    console = Console(highlight=False, markup=False)
    console.print(table)
    console.print("\n".join(summary_lines(readings)), soft_wrap=True)
    return 0


def summary_lines(readings: Sequence[Reading]) -> list[str]:
    """The errors in three sentences: their size, what is common to all, and what was stated."""
    off = [reading.off_mm for reading in readings]
    dx_mm = sum(reading.dx_mm for reading in readings) / len(readings)
    dy_mm = sum(reading.dy_mm for reading in readings) / len(readings)
    inside = sum(reading.off_mm <= reading.reach_mm for reading in readings)
    bases = format_count(len(readings), "base")
    return [
        f"{bases}: half are within {median(off):.2f} mm, the worst is {max(off):.2f} mm off.",
        f"All together lie {dx_mm:+.2f} mm to the right and {dy_mm:+.2f} mm up.",
        f"{inside} of {len(readings)} lie within the stated 95 % interval. "
        "A hand stands a base about 0.3 mm off, and that is in these figures.",
    ]


def _measure(args: argparse.Namespace, layout: Layout) -> "Report":
    from overruler.bases import Base
    from overruler.lens import Lens
    from overruler.referee import Referee
    from overruler.sources.photo import load_photo

    bases = tuple(Base.parse(f"{size:g}") for size in layout.sizes_mm)
    lens = Lens.load(args.lens) if args.lens else None
    referee = Referee(gauge_board(args.paper, layout), lens=lens, bases=bases)
    photo = load_photo(args.photo)
    try:
        return referee.look(photo)
    except CannotMeasure as error:
        other = (
            "leave --kit away for the page of overruler gauge" if args.kit else "--kit for a kit"
        )
        raise CannotMeasure(
            f"{args.photo}: is not read as the page on {args.paper} paper: {error}; "
            f"name another --paper if it is another, and {other}"
        ) from None
