"""The pipeline from films to folders of results: segments are analysed, stored and merged."""

import argparse
import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from overruler.apps import measure
from overruler.apps.analyze import page, photo_folder, tables
from overruler.apps.analyze.companions import (
    CLIPS_FOLDER,
    NO_COMPANIONS,
    Companions,
    film_addresses,
    remove_clips,
)
from overruler.apps.analyze.engines import Engine, dask_engine, serial_engine
from overruler.apps.analyze.film_rulings import check_allowances, find_contacts, rule_all_pairs
from overruler.apps.analyze.merge import Data, FilmResults, merge_segments
from overruler.apps.analyze.offsets import films_beside, find_offsets, find_readable, tell_apart
from overruler.apps.analyze.remarks import remarks_on
from overruler.apps.analyze.result_folders import (
    SEGMENTS_FOLDER,
    check_nothing_lost,
    folder_names,
    result_folder,
    write_source,
)
from overruler.apps.analyze.segment import BesideFilm, load_segment, split_film
from overruler.apps.analyze.segment_task import SegmentTask, prepare_process, show_progress
from overruler.apps.analyze.turns import Turn, guess_turns, turn_rows
from overruler.apps.measure.options import check_given_table_options, read_lenses
from overruler.apps.process.log import say
from overruler.apps.settings.measure_request import MeasureRequest
from overruler.errors import BadInput, CannotMeasure, OverrulerError
from overruler.referee import Referee
from overruler.scene import Scene
from overruler.units import (
    MILLIMETRES,
    SIGMAS_95,
    UNITS,
    format_count,
    format_length,
    format_nominal,
    format_number,
)
from overruler.writing import WriteFailed, make_folder, write_parts_atomically

MAX_NOTES_SHOWN = 8
"""Notes on a film that the terminal shows."""
CHANGED_TEXT = "the film changed while it was read: analyze it again when it is whole"
"""What is said of a film that is still being recorded or copied, say."""
logger = logging.getLogger("overruler.steps")


def analyze_films(
    args: argparse.Namespace, allowances: Mapping[str, float], turns: Sequence[Turn] | None
) -> int:
    """Analyse the films; return the exit status, 0 if something of every film could be measured."""
    referee = make_referee(args, len(args.videos) if args.together else 1)
    engine = serial_engine if args.engine == "serial" else dask_engine(args.workers, args.scheduler)
    tables = [args.videos] if args.together else [[video] for video in args.videos]
    folders = [args.out / name for name in folder_names(tables)]
    for films, folder in zip(tables, folders, strict=True):
        check_nothing_lost(folder, films)
    status = 0
    for films, folder in zip(tables, folders, strict=True):
        try:
            with result_folder(folder) as out:
                film = _analyze_table(films, out, referee, engine, args)
                _check_pieces_known(film, allowances)
                write_source(out, films)
                beside = _write_clips(films[0], film, out, args)
                write_results(film, out, args.game is not None, allowances, turns, beside)
            if args.video:
                _write_overlay_video(films[0], film, args.video)
        except CannotMeasure as error:
            logger.warning("%s", " ".join(str(error).split()))
            status = error.exit_code
    return status


def _write_overlay_video(video: Path, film: FilmResults, out: Path) -> None:
    from overruler.apps.analyze.video import write_video

    say(f"  {write_video(video, film, out)}")


def _write_clips(video: Path, film: FilmResults, out: Path, args: argparse.Namespace) -> Companions:
    """Write the clips that were asked for; return what lies beside the page."""
    names: tuple[str, ...] = ()
    if args.clips:
        from overruler.apps.analyze.clips import write_clips

        names = write_clips(video, film, make_folder("--out", out / CLIPS_FOLDER), args.clips)
    remove_clips(out, names)
    if video.is_dir():
        return NO_COMPANIONS
    films = film_addresses(out, [path for path in (video, args.video) if path])
    return Companions(films, tuple(name and f"{CLIPS_FOLDER}/{name}" for name in names), video)


def make_referee(args: argparse.Namespace, cameras: int = 1) -> Referee:
    """Make a referee of the options about the table, read as `measure` reads them."""
    check_given_table_options(args)
    options = measure.load_options(MeasureRequest.from_namespace(args))
    if options.known_boards:
        raise BadInput("--board auto is for photos: name the board of a film or a camera")
    return Referee(
        options.board,
        options.points,
        options.lens,
        options.game,
        options.bases,
        terrain=options.terrain,
        flat=options.flat,
        fixes=options.fixes,
        house=options.house,
        lenses=read_lenses("camera", args.lens_of_camera, args.lens, cameras),
    )


# --- a film ---


def _analyze_table(
    films: Sequence[Path], out: Path, referee: Referee, engine: Engine, args: argparse.Namespace
) -> FilmResults:
    """Analyse a film, or several of one table."""
    if films[0].is_dir():
        return photo_folder.analyze_folder(films[0], referee)
    before = [_file_state(film) for film in films]
    readable, problems = list(films), list[str]()
    beside: list[BesideFilm] = []
    if len(films) > 1:
        prepare_process()
        readable, problems = find_readable(films)
        referee = _with_lenses_of(referee, films, readable)
        offsets_s = find_offsets(films, args.offset, readable)
        problems += tell_apart(readable, offsets_s)
        beside = films_beside(readable, offsets_s)
    tasks = _make_tasks(readable[0], out, referee, args.segment_s, beside)
    problems += _run_tasks(tasks, engine, out.name, args)
    done = [task.path for task in tasks if task.is_done]
    if not done:
        raise CannotMeasure(f"{films[0]}: {problems[0] if problems else 'nothing could be read'}")
    film = merge_segments(out.name, map(load_segment, done))
    film.problems += problems
    if [_file_state(one) for one in films] != before:
        film.problems.append(CHANGED_TEXT)
    return film


def _file_state(path: Path) -> tuple[int, int] | None:
    """A file's size and the time of its last change in ns; None where it is gone."""
    try:
        state = path.stat()
    except OSError:
        return None
    return state.st_size, state.st_mtime_ns


def _with_lenses_of(referee: Referee, films: Sequence[Path], readable: Sequence[Path]) -> Referee:
    """The referee with the lenses of the readable films, where they have lenses of their own."""
    pairs = zip(films, referee.lenses, strict=False)  # there are none, or one a film
    lenses = [lens for film, lens in pairs if film in readable]
    return replace(referee, lenses=lenses, lens=lenses[0]) if lenses else referee


def _make_tasks(
    video: Path, out: Path, referee: Referee, segment_s: float, beside: Sequence[BesideFilm]
) -> list[SegmentTask]:
    segments = split_film(video, referee, segment_s, beside)
    folder = make_folder("--out", out / SEGMENTS_FOLDER)
    return [SegmentTask(segment, folder / f"{segment.key}.json") for segment in segments]


def _run_tasks(
    tasks: Sequence[SegmentTask], engine: Engine, name: str, args: argparse.Namespace
) -> list[str]:
    """Analyse the segments that have no result yet; return a sentence for each that failed.

    Raises `WriteFailed`: what the disk has no room for is no fault of the film.
    """
    waiting = [task for task in tasks if not (args.resume and task.is_done)]
    problems = []
    logger.info("%s: %d of %d segments are to be done", name, len(waiting), len(tasks))
    with show_progress(name, tasks, waiting, args) as (work, on_done):
        for task, error in engine(work, waiting):
            on_done(task)
            if isinstance(error, WriteFailed):
                raise error
            if isinstance(error, OverrulerError):
                problems.append(str(error))
            elif isinstance(error, Exception):
                start = f"from {task.segment.from_s:.0f} s on"
                problems.append(f"{start}: its worker failed ({type(error).__name__})")
    return problems


# --- results ---


def _check_pieces_known(film: FilmResults, allowances: Mapping[str, float]) -> None:
    unknown = sorted(set(allowances) - set(film.bases))
    if unknown:
        known = ", ".join(sorted(film.bases))
        raise BadInput(f"--allowance: {film.name} has no piece {unknown[0]}; it has {known}")


def write_results(
    film: FilmResults,
    out: Path,
    game: bool,
    allowances: Mapping[str, float],
    turns: Sequence[Turn] | None = None,
    beside: Companions = NO_COMPANIONS,
) -> None:
    """Write all tables and the page; guess the turns if none are given."""
    rulings = rule_all_pairs(film) if game else None
    too_long = check_allowances(film, allowances) if allowances else None
    contacts = find_contacts(film)
    rows = turn_rows(film, turns or guess_turns(film))
    tables.write_tables(film, out, rulings, too_long, contacts, rows, beside.media)
    text = page.render_page(film, rulings, too_long, contacts, rows, beside)
    write_parts_atomically(out / "report.html", text)
    _print_summary(film, out, too_long, beside)


def _print_summary(
    film: FilmResults, out: Path, too_long: Sequence[Data] | None, beside: Companions
) -> None:
    pieces, moves = format_count(len(film.bases), "piece"), format_count(len(film.moves), "move")
    rests = format_count(len(film.rests), "moment")
    say(f"{film.name}: {film.read_to_s:.1f} s, {pieces}, {moves}, {rests} of rest")
    unit = Scene.from_json(film.rests[0]["scene"]).unit if film.rests else MILLIMETRES
    for move in film.moves:
        say(f"  {move['start_s']:8.1f} s  {move['piece']}  {_describe_path(move, unit)}")
    for row in too_long or ():
        if row["probability"] > 0.5:
            say(f"  {row['start_s']:8.1f} s  {row['piece']}  {_describe_excess(row, unit)}")
    say(f"  {out / 'report.html'}")
    for clip in filter(None, beside.clips):
        say(f"  {out / clip}")
    for problem in [*film.problems, *_shortened_remarks(film)]:
        logger.warning("%s: %s", film.name, " ".join(problem.split()))


def _shortened_remarks(film: FilmResults) -> list[str]:
    """The remarks that the terminal shows; the page has them all."""
    told = remarks_on(film)
    unshown = len(told) - MAX_NOTES_SHOWN
    if unshown <= 0:
        return told
    return [*told[:MAX_NOTES_SHOWN], f"{unshown} more notes are in the report"]


def _describe_path(move: Data, unit: str) -> str:
    """The length of a path; if it was not seen, the distance between its ends."""
    other = next(one for one in UNITS if one != unit)
    if not move["way_seen"]:
        length = _length(move["distance_mm"], move["sigma_mm"], unit)
        also = format_length(move["distance_mm"], 0.0, other)
        return f"{length} straight ({also}); its way was not seen"
    length = _length(move["path_mm"], move["path_sigma_mm"], unit)
    return f"{length} along its way ({format_length(move['path_mm'], 0.0, other)})"


def _describe_excess(row: Data, unit: str) -> str:
    """How much farther a piece moved than it may, and how sure that is."""
    length = f"at least {format_length(row['path_mm'], 0.0, unit)}, its way was not seen"
    if row["way_seen"]:
        length = _length(row["path_mm"], row["sigma_mm"], unit)
    allowed = format_nominal(row["allowance_mm"], unit)
    probability = f"with probability {row['probability']:.2f}"
    return f"moved farther than it may: {length}, {allowed} allowed, {probability}"


def _length(length_mm: float, sigma_mm: float, unit: str) -> str:
    """A length with the half-width of its 95 % interval."""
    length, doubt = (format_number(mm, unit) for mm in (length_mm, SIGMAS_95 * sigma_mm))
    return f"{length} ± {doubt} {unit}"
