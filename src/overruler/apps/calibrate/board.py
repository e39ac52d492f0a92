"""`overruler calibrate board`: the layout of a table's markers from photos of it."""

import argparse
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from overruler.apps.calibrate.photos import LeftOut, fit_or_explain, most_common, process_photos
from overruler.apps.settings.known_boards import load_board
from overruler.board import AUTO_DICTIONARY, DICTIONARIES, Board
from overruler.errors import BadInput, CannotMeasure, UnknownName
from overruler.lens import Lens
from overruler.reading import Node, read_length

if TYPE_CHECKING:
    from overruler.frame import Frame
    from overruler.vision.calibrators.marker_map import MarkerMapFit
    from overruler.vision.camera.lens_prior import LensPrior
    from overruler.vision.markers.marker import Marker

ORIENTATION_MISMATCH = (
    "was taken at another size or the other way round: hold the camera alike for all photos"
)


def calibrate_board(args: argparse.Namespace) -> int:
    """Run the command."""
    from overruler.apps.markers import check_nothing_measured

    name = args.name or args.out.stem
    board, size_mm = _read_board_without_layout(args), _read_board_size(args)
    check_nothing_measured(args.out, calibrated=name, raised_mm=board.raised_mm)
    lens = Lens.load(args.lens) if args.lens else None
    fit, left_out, dictionary = _fit_layout_to_photos(args.photos, board, lens)
    from overruler.apps.calibrate import board_output

    fit.board(name, board, dictionary, size_mm).save(args.out)
    if args.json:
        print(json.dumps(board_output.board_json(fit, left_out)))
    else:
        board_output.show_board(fit, left_out, args.out)
    return 0


def _read_board_without_layout(args: argparse.Namespace) -> Board:
    if (args.board is None) == (args.marker_mm is None):
        raise BadInput(
            "give either --marker-mm SIZE (the side of the markers' black squares) "
            "or --board BOARD.toml"
        )
    if args.board is None:
        read_length(Node(args.marker_mm, "--marker-mm"))
        if args.dictionary is not None and args.dictionary not in DICTIONARIES:
            raise UnknownName("--dictionary", args.dictionary, DICTIONARIES)
        return Board.free(args.marker_mm, args.dictionary or AUTO_DICTIONARY)
    if args.dictionary is not None:
        raise BadInput("--dictionary goes with --marker-mm; a board file names its own")
    board = load_board(args.board)
    if board.layout_known:
        raise BadInput(
            f"{args.board}: says already where its markers lie; "
            "give one without [markers.corners_mm]"
        )
    return board


def _read_board_size(args: argparse.Namespace) -> tuple[float, float] | None:
    from overruler.apps.markers import parse_board_size

    return parse_board_size(args.board_mm) if args.board_mm else None


def _fit_layout_to_photos(
    paths: Sequence[Path], board: Board, lens: Lens | None
) -> "tuple[MarkerMapFit, LeftOut, str]":
    """Fit the layout to the photos of the most common size and orientation; return the dictionary too."""
    from overruler.vision.calibrators.marker_map import fit_marker_map
    from overruler.vision.camera.lens_prior import lens_prior
    from overruler.vision.markers.detect import find_markers

    dictionary = board.dictionary

    def process(frame: "Frame") -> "tuple[tuple[Marker, ...], LensPrior, tuple[int, ...]]":
        nonlocal dictionary
        markers = find_markers(frame, replace(board, dictionary=dictionary))
        if len(markers) > 1:
            dictionary = markers[0].dictionary  # the other photos need not search for it
        try:
            return markers, lens_prior(frame, lens), (*frame.size_px, frame.orientation)
        except BadInput as reason:
            raise CannotMeasure(str(reason)) from None

    photos, left_out = process_photos(paths, process, "finding the markers")
    usual_format = most_common([photo_format for _, _, photo_format in photos.values()])
    views = {}
    for name, (markers, prior, photo_format) in photos.items():
        if photo_format == usual_format:
            views[name] = (markers, prior)
        else:
            left_out[name] = ORIENTATION_MISMATCH
    fit = fit_or_explain(lambda: fit_marker_map(board, views), left_out)
    return fit, left_out | fit.left_out, dictionary
