"""One measurement: from the options to the report with its rulings."""

import os
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING

from overruler.apps.measure.options import MeasureOptions
from overruler.apps.measure.pictures import Pictures, read_pictures
from overruler.errors import CannotMeasure, WrongBoard

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor
    from contextlib import AbstractContextManager

    from overruler.board import Board
    from overruler.frame import Frame
    from overruler.referee import Referee
    from overruler.report import Report


def measure_photo(options: MeasureOptions, progress: Callable[[str], None]) -> "Report":
    """Measure the photo and answer the questions, or the most likely ones where none is asked.

    The report says which questions the scene cannot answer: they do not undo the measurement.
    """
    progress("reading the photo")
    with _start_helper(options) as helper:
        pictures = read_pictures(options, progress)
        from overruler.apps.rulings import answer_each
        from overruler.report import with_problems

        frames = pictures.frames
        referee = make_referee(options, pictures)
        try:
            report = referee.look(frames if len(frames) > 1 else frames[0], progress, helper)
        except CannotMeasure:
            check_other_boards(frames[0], options.board, options.other_boards)
            raise
    report = with_problems(report, pictures.problems)
    verdicts, unanswered = answer_each(report.scene, options.questions, "--ask")
    return replace(report, verdicts=verdicts, unanswered=unanswered)


def _start_helper(
    options: MeasureOptions,
) -> "AbstractContextManager[ProcessPoolExecutor | None]":
    """A process for every other photo, where there are several or a film; it loads while they are read."""
    from overruler.sources.picture_kind import is_film_file

    has_several = bool(options.more) or is_film_file(options.photo)
    if not (options.with_helper and has_several and (os.cpu_count() or 1) > 1):
        return nullcontext()
    from overruler.apps.process.worker import load_libraries, start_workers

    helper = start_workers(1)
    helper.submit(load_libraries)
    return helper


def make_referee(options: MeasureOptions, pictures: Pictures) -> "Referee":
    """The referee of some options for the pictures that were read by them."""
    from overruler.referee import Referee
    from overruler.sources.photo import load_photo

    return Referee(
        board=pictures.board,
        points=options.points,
        lens=options.lens,
        game=options.game,
        bases=options.bases,
        terrain=options.terrain,
        flat=options.flat,
        fixes=options.fixes,
        house=options.house,
        taught=options.taught,
        beside=tuple(load_photo(path) for path in options.beside),
        lenses=pictures.lenses,
    )


def check_other_boards(
    frame: "Frame", board: "Board | None", others: "Sequence[Board]" = ()
) -> None:
    """Raise `WrongBoard` where a photo that does not fit its board fits another known one."""
    if board is None or not board.layout_known:
        return
    from overruler.apps.settings.known_boards import known_boards
    from overruler.vision.markers.recognize import fits_board, is_same_layout, recognize_board

    if fits_board(frame, board):
        return  # something else is wrong with the photo
    try:
        fits = recognize_board(frame, (board, *others, *known_boards()))
    except CannotMeasure:
        return
    if not is_same_layout(fits, board):
        text = f"{frame.name}: the markers lie as on the board {fits.name}, not as on {board.name}"
        raise WrongBoard(f"{text}: choose {fits.name}", fits.name)
