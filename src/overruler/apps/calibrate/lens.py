"""`overruler calibrate lens`: a lens from photos of a printed sheet."""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from overruler.apps.calibrate.photos import LeftOut, fit_or_explain, most_common, process_photos
from overruler.apps.measure.options import check_picture_ending
from overruler.board import DICTIONARIES
from overruler.chart import MIN_SQUARES_PER_SIDE, Chart
from overruler.errors import BadInput, UnknownName
from overruler.lens import SCHEMA
from overruler.reading import Node, read_length
from overruler.writing import check_writable, write_atomically

MAX_SQUARES_PER_SIDE = 100
"""Most squares along a side: a camera resolves no more, and every one is searched for."""

if TYPE_CHECKING:
    from overruler.frame import Frame
    from overruler.vision.calibrators.charuco import ChartCorners
    from overruler.vision.calibrators.lens_fit import LensFit


def calibrate_lens(args: argparse.Namespace) -> int:
    """Run the command."""
    chart = _read_chart(args)
    _check_replaces_lens(args.out)
    if args.picture:
        check_writable(args.picture)
        check_picture_ending("--picture", args.picture)
    fit, left_out = _fit_lens_to_photos(args.photos, chart)
    from overruler.apps.calibrate import lens_output
    from overruler.vision.calibrators.lens_error_map import map_lens_error, suggest_photos

    error_map, suggestions = map_lens_error(fit.lens), suggest_photos(fit, chart)
    picture = None
    if args.picture:
        picture = lens_output.lens_picture(fit, error_map, args.picture.suffix.lower())
    fit.lens.save(args.out)
    if picture is not None:
        write_atomically(args.picture, picture)
    if args.json:
        print(json.dumps(lens_output.lens_json(fit, left_out, error_map, suggestions)))
        return 0
    written = [path for path in (args.out, args.picture) if path]
    lens_output.show_lens(fit, left_out, error_map, suggestions, written)
    return 0


def _check_replaces_lens(path: Path) -> None:
    """Raise `BadInput` where a file stands that is no lens file: a board's, say."""
    from overruler.apps.markers import refuse_loss

    if path.is_file() and path.stat().st_size:
        try:
            Node.of_toml(path)["schema"].choice((SCHEMA,))
        except BadInput:
            refuse_loss(path, ["what is no lens"])


def _read_chart(args: argparse.Namespace) -> Chart:
    if args.charuco and args.chessboard:
        raise BadInput("--charuco and --chessboard exclude each other: give one")
    if args.chessboard and (args.marker_mm is not None or args.dictionary is not None):
        raise BadInput(
            "--marker-mm and --dictionary go with --charuco: a plain chessboard has no markers"
        )
    default = Chart()
    columns, rows = default.columns, default.rows
    if size := args.chessboard or args.charuco:
        columns, rows = _parse_squares("--chessboard" if args.chessboard else "--charuco", size)
    for name in ("square_mm", "marker_mm"):
        if getattr(args, name) is not None:
            read_length(Node(getattr(args, name), f"--{name.replace('_', '-')}"))
    square_mm = default.square_mm if args.square_mm is None else args.square_mm
    if args.chessboard:
        return Chart(columns, rows, square_mm, None)
    dictionary = args.dictionary or default.dictionary
    if dictionary not in DICTIONARIES:
        raise UnknownName("--dictionary", dictionary, DICTIONARIES)
    marker_mm = args.marker_mm
    if marker_mm is None:
        share = (default.marker_mm or 0.0) / default.square_mm
        marker_mm = share * square_mm
    return Chart(columns, rows, square_mm, marker_mm, dictionary)


def _parse_squares(option: str, text: str) -> tuple[int, int]:
    try:
        columns, rows = (int(count) for count in text.lower().replace("×", "x").split("x"))
    except ValueError:
        problem = f"expected the squares across and down, 7x10 say, found {text!r}"
        raise BadInput(f"{option}: {problem}") from None
    if not all(MIN_SQUARES_PER_SIDE <= count <= MAX_SQUARES_PER_SIDE for count in (columns, rows)):
        limits = f"{MIN_SQUARES_PER_SIDE} to {MAX_SQUARES_PER_SIDE} squares a side"
        raise BadInput(f"{option}: a sheet has {limits}, found {text!r}")
    return columns, rows


def _fit_lens_to_photos(paths: Sequence[Path], chart: Chart) -> "tuple[LensFit, LeftOut]":
    """Fit the lens to the photos of the most common size."""
    from overruler.vision.calibrators.charuco import find_chart, stored_size_px
    from overruler.vision.calibrators.check_fit import check_fit
    from overruler.vision.calibrators.lens_fit import fit_lens

    def process(frame: "Frame") -> "tuple[ChartCorners, tuple[int, int], float | None]":
        corners = find_chart(frame, chart).in_stored_pixels(frame)
        return corners, stored_size_px(frame), frame.focal_px

    photos, left_out = process_photos(paths, process, "looking for the sheet")
    size_px = most_common([photo_size_px for _, photo_size_px, _ in photos.values()])
    corners_by_name, focal_px = {}, None
    for name, (corners, photo_size_px, photo_focal_px) in photos.items():
        if photo_size_px != size_px:
            left_out[name] = _size_mismatch(photo_size_px, size_px)
            continue
        corners_by_name[name] = corners
        focal_px = focal_px or photo_focal_px

    def fit_checked() -> "LensFit":
        fit = fit_lens(size_px, corners_by_name, focal_px)
        check_fit(fit, len(corners_by_name), chart.square_mm)
        return fit

    fit = fit_or_explain(fit_checked, left_out)
    return fit, left_out | fit.left_out


def _size_mismatch(size_px: tuple[int, int], expected_px: tuple[int, int]) -> str:
    size, expected = ("{} × {}".format(*pair) for pair in (size_px, expected_px))
    return (
        f"is {size} pixels as the camera stores it, the others are {expected}: "
        "use one camera and one picture size"
    )
