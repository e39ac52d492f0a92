"""The pictures of a measurement: photos, and the views of films of a walk round the table."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from overruler.apps.measure.options import MeasureOptions
from overruler.errors import BadInput, CannotMeasure
from overruler.units import format_count

if TYPE_CHECKING:
    from overruler.board import Board
    from overruler.calibration import Problem
    from overruler.frame import Frame
    from overruler.lens import Lens


LEAST_VIEWS = 2
"""Views of a film below which it tells no more than a photo."""


@dataclass(frozen=True, slots=True, eq=False)
class Pictures:
    """What there is to measure."""

    frames: "tuple[Frame, ...]"
    lenses: "tuple[Lens | None, ...]"
    """The lens of each; empty where one lens file, or none, holds for all."""
    board: "Board | None"
    problems: "tuple[Problem, ...]" = ()
    """What is said of the films."""


def read_pictures(options: MeasureOptions, progress: Callable[[str], None]) -> Pictures:
    """Read the photos and films of the options, and find the board in them where none is named."""
    from concurrent.futures import ThreadPoolExecutor

    # imported here and not in the threads, which would wait for the imports below
    import overruler.sources.photo
    from overruler.sources.picture_kind import is_film_file

    paths = (options.photo, *options.more)
    films = [is_film_file(path) for path in paths]
    _check_films(options, films)
    if not any(films):
        _check_fixes(options, len(paths))
    pool = ThreadPoolExecutor()
    reading = [
        pool.submit(_load_views, path, progress) if film else pool.submit(_load_one, path)
        for path, film in zip(paths, films, strict=True)
    ]  # during the imports that follow
    import overruler.referee  # noqa: F401
    from overruler.vision.imaging.opencv_threads import limit_opencv_to_one_thread
    from overruler.vision.learned.warm_up import warm_up_libraries

    limit_opencv_to_one_thread()  # the finders run side by side
    read = [each.result() for each in reading]
    pool.submit(warm_up_libraries)  # beside the calibration; what is not loaded yet waits for it
    pool.shutdown(wait=False)
    board = _find_board([frame for frames in read for frame in frames], options)
    if not any(films):
        return Pictures(tuple(frame for (frame,) in read), options.lenses, board)
    found = _with_views(options, paths, read, films, board, progress)
    _check_fixes(options, len(found.frames))
    return found


def _load_one(path: Path) -> "list[Frame]":
    from overruler.sources.photo import load_photo

    return [load_photo(path)]


def _load_views(path: Path, progress: Callable[[str], None]) -> "list[Frame]":
    from overruler.sources.walk_round import sharpest_pictures

    return sharpest_pictures(path, progress)


def _check_films(options: MeasureOptions, films: list[bool]) -> None:
    if any(films) and (options.points or options.beside):
        raise BadInput(
            "a film of a walk round the table is measured by its markers: "
            "leave --point and --beside away"
        )


def _check_fixes(options: MeasureOptions, count: int) -> None:
    """Refuse corrections of photos that are not there, before anything is measured."""
    for fix in options.fixes:
        fix.check_photo(count)


def _with_views(
    options: MeasureOptions,
    paths: Sequence[Path],
    read: "list[list[Frame]]",
    films: list[bool],
    board: "Board | None",
    progress: Callable[[str], None],
) -> Pictures:
    """The photos, and of each film the views that differ most."""
    from overruler.report import MAX_PHOTOS
    from overruler.vision.fusion.walk import MOST_VIEWS, Views, choose_views

    assert board is not None
    room = (MAX_PHOTOS - films.count(False)) // films.count(True)
    if room < 1:
        raise BadInput(f"{len(films)} photos and films of a table are given, at most {MAX_PHOTOS}")
    frames: list[Frame] = []
    lenses: list[Lens | None] = []
    problems: list[Problem] = []
    if room < LEAST_VIEWS:
        problems.append(_say_few_views(films.count(False)))
    progress("choosing views of the film")
    for k, (path, pictures, film) in enumerate(zip(paths, read, films, strict=True)):
        chosen = Views(pictures, ())
        if film:
            try:
                chosen = choose_views(pictures, board, min(MOST_VIEWS, room))
            except CannotMeasure as error:
                raise CannotMeasure(f"{path}: {error}") from None
        frames += chosen.frames
        problems += chosen.problems
        lenses += [options.lenses[k] if options.lenses else options.lens] * len(chosen.frames)
    return Pictures(tuple(frames), tuple(lenses), board, tuple(problems))


def _say_few_views(photos: int) -> "Problem":
    """A problem that says how little of each film is measured, where there are so many photos beside them."""
    from overruler.calibration import Problem
    from overruler.report import MAX_PHOTOS

    most = (MAX_PHOTOS - photos) // LEAST_VIEWS
    give = f"give {format_count(most, 'film')} at most" if most else "give fewer photos"
    text = f"only one view of each film is measured, as {MAX_PHOTOS} pictures are the most: {give}"
    return Problem("photo_few_views", text)


def _find_board(frames: "list[Frame]", options: MeasureOptions) -> "Board | None":
    """The board of the options, or the known one that the first possible picture shows."""
    if not options.known_boards:
        return options.board
    from overruler.vision.markers.recognize import recognize_board

    for frame in frames[:-1]:
        try:
            return recognize_board(frame, options.known_boards)
        except CannotMeasure:
            continue
    return recognize_board(frames[-1], options.known_boards)
