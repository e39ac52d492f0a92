"""What runs in a process of its own: photos to scenes, scenes to pictures. One task at a time, in the task's folder."""

import json
import os
import resource
import signal
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from overruler.errors import CannotMeasure, OverrulerError
from overruler.reading import Node
from overruler.writing import write_atomically

if TYPE_CHECKING:
    from overruler.report import Report

SCENE_FILE, SCREEN_PHOTO_FILE, FIXES_FILE = "scene.json", "shown.jpg", "fix.json"
MAX_CACHED_REPORTS = 2
"""Reports kept at hand, with their pixels: a second picture of a table comes at once."""
WARM_UP_STRIDE = 2
"""Of the sample photo's pixels one in so many each way is looked at."""
MAX_PROCESS_BYTES = 1_500_000_000
"""A process that has grown beyond this is replaced."""

ProgressCallback = Callable[[str], None]
_reports: "OrderedDict[str, Report]" = OrderedDict()


def serve_tasks(connection: Connection) -> None:
    """Do tasks until the server goes away: (name, folder, arguments) in, ("said" | "done" | "failed", ...) out."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the server's to handle
    os.nice(5)
    if not connection.poll():  # a photo that waits already is looked at first
        _warm_up()
    while True:
        try:
            name, folder, arguments = connection.recv()
        except (EOFError, OSError):
            return
        connection.send(
            _run_task(name, folder, arguments, lambda text: connection.send(("said", text)))
        )


def _warm_up() -> None:
    """Load everything heavy, networks too, by a look at the sample photo made small: before the first photo waits."""
    import overruler.picture.report_drawing  # noqa: F401
    from overruler.apps import demo
    from overruler.board import Board
    from overruler.frame import Frame
    from overruler.picture.raster import encode_jpeg
    from overruler.referee import Referee
    from overruler.sources.photo import load_photo

    folder = Path(demo.__file__).parent
    pixels = load_photo(folder / "table.jpg").pixels[::WARM_UP_STRIDE, ::WARM_UP_STRIDE].copy()
    encode_jpeg(pixels)
    with suppress(OverrulerError):  # what it finds there is nobody's business
        Referee(Board.load(folder / "table.toml"), game="legion").look(Frame(pixels, "warm"))


def _run_task(
    name: str, folder: str, arguments: Sequence[Any], say: ProgressCallback
) -> tuple[str, Any, bool]:
    try:
        os.chdir(folder)
        return "done", TASKS[name](folder, arguments, say), _has_grown()
    except OverrulerError as error:
        return (
            "failed",
            (str(error).removeprefix(f"{arguments[0]}: "), isinstance(error, CannotMeasure)),
            _has_grown(),
        )
    except MemoryError:
        return "failed", ("the photo needs more memory than there is: save it smaller", False), True
    except Exception as error:  # one photo must not end the work on all others
        return (
            "failed",
            (f"this should not have happened ({type(error).__name__}): please report it", False),
            True,
        )


def _has_grown() -> bool:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 > MAX_PROCESS_BYTES


# --- tasks: each is given its folder and the arguments of `overruler measure`, the photo first ---


def measure_photo(folder: str, arguments: Sequence[str], say: ProgressCallback) -> dict[str, Any]:
    """Write the scene and a copy of the photo for screens; what a list of measurements shows."""
    report = _cached_report(folder, arguments, say)
    if not Path(SCREEN_PHOTO_FILE).exists():
        from overruler.picture.raster import encode_jpeg

        write_atomically(SCREEN_PHOTO_FILE, encode_jpeg(report.frame.pixels))
    return _save_scene(report)


def correct_scene(folder: str, arguments: Sequence[str], say: ProgressCallback) -> dict[str, Any]:
    """Write the scene with corrections, and them; the last of the arguments is the text of their file."""
    from overruler.fixes import read_fixes
    from overruler.vision.assembly.corrections import apply_corrections

    *options, text = arguments
    fixes = read_fixes(Node.of_json(text, "fixes"))
    found = _save_scene(apply_corrections(_cached_report(folder, options, say), fixes))
    write_atomically(FIXES_FILE, text)
    return found


def draw_picture(folder: str, arguments: Sequence[Any], say: ProgressCallback) -> bytes:
    """The annotated photo as PNG; the last of the arguments are the questions."""
    from overruler.apps.rulings import rule_on_questions
    from overruler.picture import annotated_bytes
    from overruler.scene import Scene

    *options, questions = arguments
    report, scene = _cached_report(folder, options, say), Scene.load(SCENE_FILE)
    return annotated_bytes(
        replace(report, scene=scene, verdicts=rule_on_questions(scene, questions)), ".png"
    )


TASKS: dict[str, Callable[[str, Sequence[Any], ProgressCallback], Any]] = {
    "measure": measure_photo,
    "correct": correct_scene,
    "picture": draw_picture,
}


def _save_scene(report: "Report") -> dict[str, Any]:
    write_atomically(SCENE_FILE, scene_text(report.scene.to_json()))
    return {"pieces": len(report.scene.pieces), "size_px": list(report.frame.size_px)}


def _cached_report(folder: str, arguments: Sequence[str], say: ProgressCallback) -> "Report":
    """What the program itself finds in a photo, at hand or looked for."""
    from overruler.apps.measure import measure_photo

    if folder not in _reports:
        _reports[folder] = measure_photo(parse_options(arguments), say)
    _reports.move_to_end(folder)
    while len(_reports) > MAX_CACHED_REPORTS:
        _reports.popitem(last=False)
    return _reports[folder]


def scene_text(scene: dict[str, Any]) -> str:
    """A scene file as `overruler measure --scene` writes it."""
    return json.dumps(scene, indent=1) + "\n"


def parse_options(arguments: Sequence[str]) -> Any:
    """The options of `overruler measure` that the arguments are, read and checked as the command line does."""
    from overruler.apps import measure as command
    from overruler.apps.commands import Parser

    parser = Parser(prog="overruler measure", allow_abbrev=False)
    command.add_arguments(parser)
    return command.read_options(parser.parse_args(list(arguments)))
