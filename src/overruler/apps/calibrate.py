"""`overruler calibrate lens` and `overruler calibrate board`: what is measured once, and then known."""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from overruler.apps.commands import Parser
from overruler.board import DICTIONARIES, Board
from overruler.chart import Chart
from overruler.errors import BadInput, CannotMeasure, UnknownName
from overruler.lens import Lens
from overruler.picture import ENDINGS
from overruler.writing import check_writable, write_atomically

if TYPE_CHECKING:
    from overruler.frame import Frame
    from overruler.vision.calibrators.charuco import ChartCorners
    from overruler.vision.calibrators.lens_fit import LensFit
    from overruler.vision.calibrators.marker_map import MarkerMapFit
    from overruler.vision.camera.lens_prior import LensPrior
    from overruler.vision.markers.marker import Marker

LENS_EXAMPLE = (
    "overruler calibrate lens sheet1.jpg sheet2.jpg sheet3.jpg --out lens.toml --picture lens.png"
)
BOARD_EXAMPLE = (
    "overruler calibrate board left.jpg right.jpg --marker-mm 60 --lens lens.toml --out table.toml"
)
SIZE_MISMATCH = "is {} × {} pixels as the camera stores it, the others are {} × {}: use one camera and one picture size"
ORIENTATION_MISMATCH = (
    "was taken at another size or the other way round: hold the camera alike for all photos"
)

T = TypeVar("T")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    kinds = parser.add_subparsers(
        dest="what", required=True, parser_class=Parser, metavar="lens | board"
    )
    _add_lens_parser(kinds)
    _add_board_parser(kinds)


def _add_lens_parser(kinds: "argparse._SubParsersAction[Parser]") -> None:
    lens = kinds.add_parser(
        "lens",
        help="a lens file from photos of a printed sheet (overruler markers --charuco)",
        description="Measure a lens by three photos of a printed sheet, ten are better: from the front and leaning to "
        "every side, filling the picture and its corners.",
        allow_abbrev=False,
    )
    lens.example = LENS_EXAMPLE
    _add_photo_arguments(lens, Path("lens.toml"), "LENS.toml", "the lens file (lens.toml)")
    sheet = lens.add_argument_group(
        "another sheet than the one that overruler markers --charuco prints"
    ).add_argument
    sheet("--charuco", metavar="COLUMNSxROWS", help="its squares across and down (7x10)")
    sheet(
        "--chessboard",
        metavar="COLUMNSxROWS",
        help="a plain chessboard: its squares across and down",
    )
    sheet("--square-mm", type=float, metavar="SIZE", help="side of a square (25)")
    sheet(
        "--marker-mm",
        type=float,
        metavar="SIZE",
        help="side of the black squares within the white ones (18)",
    )
    sheet("--dictionary", metavar="NAME", help="family of its markers (DICT_5X5_100)")
    lens.add_argument(
        "--picture", type=Path, metavar="OUT.png", help="draw what was covered and how sure it is"
    )


def _add_board_parser(kinds: "argparse._SubParsersAction[Parser]") -> None:
    board = kinds.add_parser(
        "board",
        help="a board file from photos of markers that were laid anywhere",
        description="Measure where a table's markers lie, by a photo of it or several.",
        allow_abbrev=False,
    )
    board.example = BOARD_EXAMPLE
    _add_photo_arguments(board, Path("board.toml"), "BOARD.toml", "the board file (board.toml)")
    known = board.add_argument_group("what is known of the markers (one of the two)").add_argument
    known("--marker-mm", type=float, metavar="SIZE", help="side of the markers' black squares")
    known(
        "--board",
        type=Path,
        metavar="BOARD.toml",
        help="a board file without places, its print confirmed",
    )
    more = board.add_argument_group("what else is known").add_argument
    more(
        "--dictionary",
        metavar="NAME",
        help="family of the markers, with --marker-mm (found where absent)",
    )
    more("--lens", type=Path, metavar="LENS.toml", help="the lens file of the camera")
    more("--board-mm", metavar="WxH", help="the board's size (the box round the markers)")
    more("--name", help="the board's name (the file's)")


def _add_photo_arguments(
    parser: argparse.ArgumentParser, default: Path, metavar: str, words: str
) -> None:
    parser.add_argument(
        "photos", type=Path, nargs="+", metavar="PHOTO", help="photos by one camera at one zoom"
    )
    parser.add_argument("--out", type=Path, default=default, metavar=metavar, help=words)
    parser.add_argument(
        "--json", action="store_true", help="print what was found as JSON and nothing else"
    )


def run(args: argparse.Namespace) -> int:
    check_writable(args.out)
    if len(set(args.photos)) < len(args.photos):
        twice = next(path for path, count in Counter(args.photos).items() if count > 1)
        raise BadInput(f"{twice}: is named twice: name each photo once")
    return calibrate_lens(args) if args.what == "lens" else calibrate_board(args)


# --- the lens ---


def calibrate_lens(args: argparse.Namespace) -> int:
    chart = _read_chart(args)
    if args.picture:
        check_writable(args.picture)
        if args.picture.suffix.lower() not in ENDINGS:
            raise BadInput(
                f"--picture: {args.picture}: the name must end in {' or '.join(ENDINGS)}"
            )
    fit, left_out = _fit_lens_to_photos(args.photos, chart)
    from overruler.apps import calibration_output
    from overruler.vision.calibrators.lens_error_map import map_lens_error, suggest_photos

    trust, helpful = map_lens_error(fit.lens), suggest_photos(fit, chart)
    picture = (
        calibration_output.lens_picture(fit, trust, args.picture.suffix.lower())
        if args.picture
        else None
    )
    fit.lens.save(args.out)
    if picture is not None:
        write_atomically(args.picture, picture)
    if args.json:
        print(json.dumps(calibration_output.lens_json(fit, left_out, trust, helpful)))
    else:
        calibration_output.show_lens(
            fit, left_out, trust, helpful, [path for path in (args.out, args.picture) if path]
        )
    return 0


def _read_chart(args: argparse.Namespace) -> Chart:
    if args.charuco and args.chessboard:
        raise BadInput("--charuco and --chessboard exclude each other: give one")
    if args.chessboard and (args.marker_mm is not None or args.dictionary is not None):
        raise BadInput(
            "--marker-mm and --dictionary go with --charuco: a plain chessboard has no markers"
        )
    usual = Chart()
    size = args.chessboard or args.charuco
    columns, rows = _parse_squares(size) if size else (usual.columns, usual.rows)
    square = usual.square_mm if args.square_mm is None else args.square_mm
    if args.chessboard:
        return Chart(columns, rows, square, None)
    dictionary = args.dictionary or usual.dictionary
    if dictionary not in DICTIONARIES:
        raise UnknownName("--dictionary", dictionary, DICTIONARIES)
    share = (usual.marker_mm or 0.0) / usual.square_mm
    return Chart(
        columns,
        rows,
        square,
        share * square if args.marker_mm is None else args.marker_mm,
        dictionary,
    )


def _parse_squares(text: str) -> tuple[int, int]:
    try:
        columns, rows = (int(count) for count in text.lower().replace("×", "x").split("x"))
    except ValueError:
        raise BadInput(f"expected the squares across and down, 7x10 say, found {text!r}") from None
    return columns, rows


def _fit_lens_to_photos(paths: Sequence[Path], chart: Chart) -> "tuple[LensFit, dict[str, str]]":
    """The lens, and every photo that was left out with the reason."""
    from overruler.vision.calibrators.charuco import find_chart, stored_size_px
    from overruler.vision.calibrators.lens_fit import fit_lens

    def look(frame: "Frame") -> "tuple[ChartCorners, tuple[int, int], float | None]":
        sighting = find_chart(frame, chart).in_stored_pixels(frame)
        return sighting, stored_size_px(frame), frame.focal_px

    found, left_out = _process_photos(paths, look, "looking for the sheet")
    size = _most_common([size for _, size, _ in found.values()])
    others = {
        name: SIZE_MISMATCH.format(*own, *size)
        for name, (_, own, _) in found.items()
        if own != size
    }
    left_out |= others
    sightings = {name: sighting for name, (sighting, own, _) in found.items() if own == size}
    focal = next(
        (focal for name, (_, _, focal) in found.items() if name in sightings and focal), None
    )
    fit = _fit_or_explain(lambda: fit_lens(size, sightings, focal), left_out)
    return fit, left_out | fit.left_out


# --- the board ---


def calibrate_board(args: argparse.Namespace) -> int:
    board, size = _read_board_without_layout(args), _read_board_size(args)
    lens = Lens.load(args.lens) if args.lens else None
    fit, left_out, dictionary = _fit_layout_to_photos(args.photos, board, lens)
    from overruler.apps import calibration_output

    laid = fit.board(args.name or args.out.stem, board.marker_mm, dictionary, size)
    laid.save(args.out)
    if args.json:
        print(json.dumps(calibration_output.board_json(fit, left_out)))
    else:
        calibration_output.show_board(fit, left_out, args.out)
    return 0


def _read_board_without_layout(args: argparse.Namespace) -> Board:
    if (args.board is None) == (args.marker_mm is None):
        raise BadInput(
            "give either --marker-mm SIZE (the side of the markers' black squares) or --board BOARD.toml"
        )
    if args.board is None:
        if not 0 < args.marker_mm < float("inf"):
            raise BadInput(f"--marker-mm: must be greater than 0, is {args.marker_mm:g}")
        if args.dictionary is not None and args.dictionary not in DICTIONARIES:
            raise UnknownName("--dictionary", args.dictionary, DICTIONARIES)
        return Board.free(args.marker_mm, args.dictionary or "auto")
    if args.dictionary is not None:
        raise BadInput("--dictionary goes with --marker-mm; a board file names its own")
    board = Board.load(args.board)
    if board.layout_known:
        raise BadInput(
            f"{args.board}: says already where its markers lie; give one without [markers.corners_mm]"
        )
    return board


def _read_board_size(args: argparse.Namespace) -> tuple[float, float] | None:
    from overruler.apps.markers import parse_board_size

    return parse_board_size(args.board_mm) if args.board_mm else None


def _fit_layout_to_photos(
    paths: Sequence[Path], board: Board, lens: Lens | None
) -> "tuple[MarkerMapFit, dict[str, str], str]":
    """The layout, every photo that was left out with the reason, and the markers' family."""
    from overruler.vision.calibrators.marker_map import fit_marker_map
    from overruler.vision.camera.lens_prior import lens_prior
    from overruler.vision.markers.detect import find_markers

    family = [board.dictionary]

    def look(frame: "Frame") -> "tuple[tuple[Marker, ...], LensPrior, tuple[int, ...]]":
        markers = find_markers(frame, replace(board, dictionary=family[0]))
        if len(markers) > 1:
            family[0] = markers[0].dictionary  # found once, it need not be found again
        try:
            return markers, lens_prior(frame, lens), (*frame.size_px, frame.orientation)
        except BadInput as reason:
            raise CannotMeasure(str(reason)) from None

    found, left_out = _process_photos(paths, look, "finding the markers")
    way = _most_common([own for _, _, own in found.values()])
    left_out |= {name: ORIENTATION_MISMATCH for name, (_, _, own) in found.items() if own != way}
    seen = {name: (markers, prior) for name, (markers, prior, own) in found.items() if own == way}
    fit = _fit_or_explain(lambda: fit_marker_map(board, seen), left_out)
    return fit, left_out | fit.left_out, family[0]


# --- photo after photo ---


def _process_photos(
    paths: Sequence[Path], look: "Callable[[Frame], T]", doing: str
) -> tuple[dict[str, T], dict[str, str]]:
    """What `look` makes of each photo by its name, and the photos that it makes nothing of, each with the reason."""
    from overruler.sources.photo import load_photo

    found: dict[str, T] = {}
    left_out: dict[str, str] = {}
    for path in _with_progress_bar(paths, doing):
        try:
            found[str(path)] = look(load_photo(path))
        except CannotMeasure as reason:
            left_out[str(path)] = str(reason).removeprefix(f"{path}: ")
    if not found:
        raise CannotMeasure("none of the photos can be used" + _join_reasons(left_out))
    return found, left_out


def _with_progress_bar(paths: Sequence[Path], doing: str) -> Iterator[Path]:
    """The photos in turn, with a bar on standard error where a person is watching."""
    if not sys.stderr.isatty():
        yield from paths
        return
    from rich.console import Console
    from rich.progress import track

    yield from track(paths, doing, console=Console(stderr=True), transient=True)


def _most_common(values: Sequence[T]) -> T:
    return Counter(values).most_common(1)[0][0]


def _fit_or_explain(fit: Callable[[], T], left_out: dict[str, str]) -> T:
    """The fit; where too few photos are left for it, the complaint also says why others were no help."""
    try:
        return fit()
    except CannotMeasure as error:
        raise CannotMeasure(f"{error}{_join_reasons(left_out)}") from None


def _join_reasons(left_out: dict[str, str]) -> str:
    return "".join(f"; {name}: {reason}" for name, reason in left_out.items())
