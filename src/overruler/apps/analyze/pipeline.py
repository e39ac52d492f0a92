"""Films in, folders of results out: segments are worked on, kept under names made of their content, and joined."""

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from overruler.apps import measure
from overruler.apps.analyze import page, photo_folder, tables
from overruler.apps.analyze.contacts import find_contacts
from overruler.apps.analyze.engines import Engine, dask_engine, serial_engine
from overruler.apps.analyze.film_rulings import check_allowances, rule_all_pairs
from overruler.apps.analyze.merge import Data, FilmResults, merge_segments
from overruler.apps.analyze.segment import (
    LEAD_S,
    Segment,
    analyze_segment,
    encode_json,
    load_segment,
    split_film,
)
from overruler.apps.analyze.turns import Turn, guess_turns, turn_rows
from overruler.apps.memory import give_back_memory, limit_malloc_arenas
from overruler.errors import BadInput, CannotMeasure, OverrulerError
from overruler.referee import Referee
from overruler.vision.imaging.opencv_threads import limit_opencv_to_one_thread
from overruler.writing import write_atomically, write_parts_atomically

SEGMENTS_FOLDER = ".segments"
"""The folder in a film's own where finished segments are kept."""


@dataclass(frozen=True)
class SegmentTask:
    """A segment, and the file that its result goes to."""

    segment: Segment
    path: Path


def analyze_films(
    args: argparse.Namespace, allowances: Mapping[str, float], turns: Sequence[Turn] | None
) -> int:
    """The exit status: 0 where of every film something could be measured."""
    referee = make_referee(args)
    engine = serial_engine if args.engine == "serial" else dask_engine(args.workers, args.scheduler)
    names = _folder_names(args.videos)
    status = 0
    for video, name in zip(args.videos, names, strict=True):
        try:
            film = _analyze_film(video, _make_folder(args.out / name), referee, engine, args)
            write_results(film, args.out / name, args.game is not None, allowances, turns)
            if args.video:
                _write_overlay_video(video, film, args.video)
        except CannotMeasure as error:
            _print_problem(str(error))
            status = error.exit_code
    return status


def _write_overlay_video(video: Path, film: FilmResults, out: Path) -> None:
    from overruler.apps.analyze.video import write_video

    print(f"  {write_video(video, film, out)}")


def make_referee(args: argparse.Namespace) -> Referee:
    """What the options say of the table, read as `measure` reads them."""
    parser = argparse.ArgumentParser()
    measure.add_arguments(parser)
    known = vars(parser.parse_args(["film"]))
    known |= {key: value for key, value in vars(args).items() if key in known}
    options = measure.read_options(argparse.Namespace(**known))
    table = (options.board, options.points, options.lens, options.game, options.bases)
    return Referee(*table, terrain=options.terrain, fixes=options.fixes, house=options.house)


def _folder_names(videos: Sequence[Path]) -> list[str]:
    """A folder's name for each film: its own without the ending, numbered where two are the same."""
    names: list[str] = []
    for video in videos:
        stem = video.resolve().stem or "film"
        count = sum(name == stem or name.rpartition("-")[0] == stem for name in names)
        names.append(stem if not count else f"{stem}-{count + 1}")
    return names


def _make_folder(path: Path) -> Path:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"--out: {path}: cannot be made: {error.strerror or error}") from None
    return path


# --- a film ---


def _analyze_film(
    video: Path, out: Path, referee: Referee, engine: Engine, args: argparse.Namespace
) -> FilmResults:
    if video.is_dir():
        return photo_folder.analyze_folder(video, referee)
    tasks = _make_tasks(video, out, referee, args)
    failed = _run_tasks(tasks, engine, video.name, args.resume)
    done = [task.path for task in tasks if task.path.exists()]
    if not done:
        raise CannotMeasure(f"{video}: {failed[0] if failed else 'nothing could be read'}")
    film = merge_segments(out.name, map(load_segment, done))
    film.problems += failed
    return film


def _make_tasks(
    video: Path, out: Path, referee: Referee, args: argparse.Namespace
) -> list[SegmentTask]:
    into = _make_folder(out / SEGMENTS_FOLDER)
    return [
        SegmentTask(one, into / f"{one.key}.json")
        for one in split_film(video, referee, args.segment_s)
    ]


def _run_tasks(tasks: Sequence[SegmentTask], engine: Engine, name: str, resume: bool) -> list[str]:
    """Work on the segments that are not there yet; what could not be done, a sentence each."""
    waiting = [task for task in tasks if not (resume and task.path.exists())]
    failed = []
    with _task_progress(name, tasks, waiting, engine is serial_engine) as (work, done):
        for task, error in engine(work, waiting):
            done(task)
            if isinstance(error, OverrulerError):
                failed.append(str(error))
            elif isinstance(error, Exception):
                failed.append(
                    f"from {task.segment.from_s:.0f} s on: its worker failed ({type(error).__name__})"
                )
    return failed


def run_task(task: SegmentTask, seen: Callable[[float], None] = lambda time_s: None) -> None:
    """Work on a segment, on whatever machine, and keep its result; `seen` is told how far it has come."""
    prepare_process()
    write_atomically(task.path, encode_json(analyze_segment(task.segment, seen)))
    give_back_memory()


def prepare_process() -> None:
    """What a process does before it works on films."""
    limit_malloc_arenas()
    limit_opencv_to_one_thread()


@contextmanager
def _task_progress(
    name: str, tasks: Sequence[SegmentTask], waiting: Sequence[SegmentTask], here: bool
) -> Iterator[tuple]:  # type: ignore[type-arg]
    """The work to do and what to call when a segment is done, under a bar where a person is watching."""
    if not sys.stderr.isatty() or not waiting:
        yield run_task, lambda task: None
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        row = bar.add_task(name, total=len(tasks), completed=len(tasks) - len(waiting))
        finished = len(tasks) - len(waiting)

        def told(task: SegmentTask) -> None:
            length = _length_s(task, tasks)

            def seen(time_s: float) -> None:
                share = (time_s - max(0.0, task.segment.from_s - LEAD_S)) / length
                bar.update(row, completed=finished + min(max(share, 0.0), 1.0))

            run_task(task, seen)

        def done(_: SegmentTask) -> None:
            nonlocal finished
            finished += 1
            bar.update(row, completed=finished)

        yield (told if here else run_task), done


def _length_s(task: SegmentTask, tasks: Sequence[SegmentTask]) -> float:
    """About how long a segment is; the last one's end is known when it is reached."""
    segment = task.segment
    if segment.to_s != float("inf"):
        return segment.to_s - segment.from_s
    from overruler.sources.video import Film as Opened

    with Opened(Path(segment.video)) as film:
        return max(1.0, (film.duration_s or 60.0) - segment.from_s)


# --- results ---


def write_results(
    film: FilmResults,
    out: Path,
    game: bool,
    allowances: Mapping[str, float],
    turns: Sequence[Turn] | None = None,
) -> None:
    """Write all tables and the page; without `turns` they are guessed."""
    unknown = sorted(set(allowances) - set(film.bases))
    if unknown:
        raise BadInput(
            f"--allowance: {film.name} has no piece {unknown[0]}; it has {', '.join(sorted(film.bases))}"
        )
    ruled = rule_all_pairs(film) if game else None
    too_long = check_allowances(film, allowances) if allowances else None
    touching, in_turns = find_contacts(film), turn_rows(film, turns or guess_turns(film))
    tables.write_tables(film, out, ruled, too_long, touching, in_turns)
    write_parts_atomically(
        out / "report.html", page.render_page(film, ruled, too_long, touching, in_turns)
    )
    _print_summary(film, out, too_long)


def _print_summary(film: FilmResults, out: Path, too_long: Sequence[Data] | None) -> None:
    counts = f"{len(film.bases)} pieces, {len(film.moves)} moves, {len(film.rests)} moments of rest"
    print(f"{film.name}: {film.read_to_s:.1f} s, {counts}")
    for move in film.moves:
        print(f"  {move['start_s']:8.1f} s  {move['piece']}  {_describe_path(move)}")
    for row in too_long or ():
        if row["probability"] > 0.5:
            print(
                f"  {row['piece']} moved farther than it may, with probability {row['probability']:.2f}"
            )
    print(f"  {out / 'report.html'}")
    for problem in film.problems:
        _print_problem(f"{film.name}: {problem}")


def _describe_path(move: Data) -> str:
    """How long it was; of a way that nobody saw, how far apart its ends are."""
    if not move["way_seen"]:
        straight = f"{move['distance_mm']:.1f} ± {1.96 * move['sigma_mm']:.1f} mm"
        return f"{straight} straight ({move['distance_mm'] / 25.4:.2f} in); its way was not seen"
    return f"{move['path_mm']:.1f} ± {1.96 * move['path_sigma_mm']:.1f} mm  ({move['path_mm'] / 25.4:.2f} in)"


def _print_problem(text: str) -> None:
    print(f"overruler: {' '.join(text.split())}", file=sys.stderr)
