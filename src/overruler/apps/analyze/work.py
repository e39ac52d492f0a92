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
from overruler.apps.analyze import folder, page, tables
from overruler.apps.analyze.contacts import contacts
from overruler.apps.analyze.engines import Engine, dask_engine, serial
from overruler.apps.analyze.merge import Data, Film, merged
from overruler.apps.analyze.ruled import allowed, rulings
from overruler.apps.analyze.segment import LEAD_S, Segment, analysed, encoded, kept, segments
from overruler.apps.analyze.turns import Turn, guessed, rows
from overruler.apps.memory import give_back_memory, share_memory
from overruler.errors import BadInput, CannotMeasure, OverrulerError
from overruler.referee import Referee
from overruler.vision.imaging.opencv_threads import one_thread
from overruler.writing import write_parts, write_whole

KEPT = ".segments"
"""The folder in a film's own where finished segments are kept."""


@dataclass(frozen=True)
class Task:
    """A segment, and the file that its result goes to."""

    segment: Segment
    path: Path


def analyze(args: argparse.Namespace, allowances: Mapping[str, float], turns: Sequence[Turn] | None) -> int:
    """The exit status: 0 where of every film something could be measured."""
    referee = referee_of(args)
    engine = serial if args.engine == "serial" else dask_engine(args.workers, args.scheduler)
    names = _names(args.videos)
    status = 0
    for video, name in zip(args.videos, names, strict=True):
        try:
            film = _film(video, _made(args.out / name), referee, engine, args)
            write_results(film, args.out / name, args.game is not None, allowances, turns)
            if args.video:
                _draw(video, film, args.video)
        except CannotMeasure as error:
            _say(str(error))
            status = error.exit_code
    return status


def _draw(video: Path, film: Film, out: Path) -> None:
    from overruler.apps.analyze.video import write

    print(f"  {write(video, film, out)}")


def referee_of(args: argparse.Namespace) -> Referee:
    """What the options say of the table, read as `measure` reads them."""
    parser = argparse.ArgumentParser()
    measure.add_arguments(parser)
    known = vars(parser.parse_args(["film"]))
    known |= {key: value for key, value in vars(args).items() if key in known}
    options = measure.read_options(argparse.Namespace(**known))
    table = (options.board, options.points, options.lens, options.game, options.bases)
    return Referee(*table, terrain=options.terrain, fixes=options.fixes, house=options.house)


def _names(videos: Sequence[Path]) -> list[str]:
    """A folder's name for each film: its own without the ending, numbered where two are the same."""
    names: list[str] = []
    for video in videos:
        stem = video.resolve().stem or "film"
        count = sum(name == stem or name.rpartition("-")[0] == stem for name in names)
        names.append(stem if not count else f"{stem}-{count + 1}")
    return names


def _made(path: Path) -> Path:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"--out: {path}: cannot be made: {error.strerror or error}") from None
    return path


# --- a film ---


def _film(video: Path, out: Path, referee: Referee, engine: Engine, args: argparse.Namespace) -> Film:
    if video.is_dir():
        return folder.film(video, referee)
    tasks = _tasks(video, out, referee, args)
    failed = _worked(tasks, engine, video.name, args.resume)
    done = [task.path for task in tasks if task.path.exists()]
    if not done:
        raise CannotMeasure(f"{video}: {failed[0] if failed else 'nothing could be read'}")
    film = merged(out.name, map(kept, done))
    film.problems += failed
    return film


def _tasks(video: Path, out: Path, referee: Referee, args: argparse.Namespace) -> list[Task]:
    into = _made(out / KEPT)
    return [Task(one, into / f"{one.key}.json") for one in segments(video, referee, args.segment_s)]


def _worked(tasks: Sequence[Task], engine: Engine, name: str, resume: bool) -> list[str]:
    """Work on the segments that are not there yet; what could not be done, a sentence each."""
    waiting = [task for task in tasks if not (resume and task.path.exists())]
    failed = []
    with _progress(name, tasks, waiting, engine is serial) as (work, done):
        for task, error in engine(work, waiting):
            done(task)
            if isinstance(error, OverrulerError):
                failed.append(str(error))
            elif isinstance(error, Exception):
                failed.append(f"from {task.segment.from_s:.0f} s on: its worker failed ({type(error).__name__})")
    return failed


def worked(task: Task, seen: Callable[[float], None] = lambda time_s: None) -> None:
    """Work on a segment, on whatever machine, and keep its result; `seen` is told how far it has come."""
    settle_in()
    write_whole(task.path, encoded(analysed(task.segment, seen)))
    give_back_memory()


def settle_in() -> None:
    """What a process does before it works on films."""
    share_memory()
    one_thread()


@contextmanager
def _progress(name: str, tasks: Sequence[Task], waiting: Sequence[Task], here: bool) -> Iterator[tuple]:  # type: ignore[type-arg]
    """The work to do and what to call when a segment is done, under a bar where a person is watching."""
    if not sys.stderr.isatty() or not waiting:
        yield worked, lambda task: None
        return
    columns = TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        row = bar.add_task(name, total=len(tasks), completed=len(tasks) - len(waiting))
        finished = len(tasks) - len(waiting)

        def told(task: Task) -> None:
            length = _length_s(task, tasks)

            def seen(time_s: float) -> None:
                share = (time_s - max(0.0, task.segment.from_s - LEAD_S)) / length
                bar.update(row, completed=finished + min(max(share, 0.0), 1.0))

            worked(task, seen)

        def done(_: Task) -> None:
            nonlocal finished
            finished += 1
            bar.update(row, completed=finished)

        yield (told if here else worked), done


def _length_s(task: Task, tasks: Sequence[Task]) -> float:
    """About how long a segment is; the last one's end is known when it is reached."""
    segment = task.segment
    if segment.to_s != float("inf"):
        return segment.to_s - segment.from_s
    from overruler.sources.video import Film as Opened

    with Opened(Path(segment.video)) as film:
        return max(1.0, (film.duration_s or 60.0) - segment.from_s)


# --- results ---


def write_results(
    film: Film, out: Path, game: bool, allowances: Mapping[str, float], turns: Sequence[Turn] | None = None
) -> None:
    """Write all tables and the page; without `turns` they are guessed."""
    unknown = sorted(set(allowances) - set(film.bases))
    if unknown:
        raise BadInput(f"--allowance: {film.name} has no piece {unknown[0]}; it has {', '.join(sorted(film.bases))}")
    ruled = rulings(film) if game else None
    too_long = allowed(film, allowances) if allowances else None
    touching, in_turns = contacts(film), rows(film, turns or guessed(film))
    tables.write_all(film, out, ruled, too_long, touching, in_turns)
    write_parts(out / "report.html", page.page(film, ruled, too_long, touching, in_turns))
    _show(film, out, too_long)


def _show(film: Film, out: Path, too_long: Sequence[Data] | None) -> None:
    counts = f"{len(film.bases)} pieces, {len(film.moves)} moves, {len(film.rests)} moments of rest"
    print(f"{film.name}: {film.read_to_s:.1f} s, {counts}")
    for move in film.moves:
        print(f"  {move['start_s']:8.1f} s  {move['piece']}  {_way(move)}")
    for row in too_long or ():
        if row["probability"] > 0.5:
            print(f"  {row['piece']} moved farther than it may, with probability {row['probability']:.2f}")
    print(f"  {out / 'report.html'}")
    for problem in film.problems:
        _say(f"{film.name}: {problem}")


def _way(move: Data) -> str:
    """How long it was; of a way that nobody saw, how far apart its ends are."""
    if not move["way_seen"]:
        straight = f"{move['distance_mm']:.1f} ± {1.96 * move['sigma_mm']:.1f} mm"
        return f"{straight} straight ({move['distance_mm'] / 25.4:.2f} in); its way was not seen"
    return f"{move['path_mm']:.1f} ± {1.96 * move['path_sigma_mm']:.1f} mm  ({move['path_mm'] / 25.4:.2f} in)"


def _say(text: str) -> None:
    print(f"overruler: {' '.join(text.split())}", file=sys.stderr)
