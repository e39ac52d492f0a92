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
from overruler.writing import write_whole

if TYPE_CHECKING:
    from overruler.report import Report

SCENE, SHOWN, FIXES = "scene.json", "shown.jpg", "fix.json"
REMEMBERED = 2
"""Reports kept at hand, with their pixels: a second picture of a table comes at once."""
WARM_STEP = 2
"""Of the sample photo's pixels one in so many each way is looked at."""
MOST_BYTES = 1_500_000_000
"""A process that has grown beyond this is replaced."""

Say = Callable[[str], None]
_reports: "OrderedDict[str, Report]" = OrderedDict()


def serve(connection: Connection) -> None:
    """Do tasks until the server goes away: (name, folder, arguments) in, ("said" | "done" | "failed", ...) out."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the server's to handle
    os.nice(5)
    if not connection.poll():  # a photo that waits already is looked at first
        _warm()
    while True:
        try:
            name, folder, arguments = connection.recv()
        except (EOFError, OSError):
            return
        connection.send(_answer(name, folder, arguments, lambda text: connection.send(("said", text))))


def _warm() -> None:
    """Load everything heavy, networks too, by a look at the sample photo made small: before the first photo waits."""
    import overruler.picture.drawing  # noqa: F401
    from overruler.apps import demo
    from overruler.board import Board
    from overruler.frame import Frame
    from overruler.picture.raster import jpeg
    from overruler.referee import Referee
    from overruler.sources.photo import load_photo

    folder = Path(demo.__file__).parent
    pixels = load_photo(folder / "table.jpg").pixels[::WARM_STEP, ::WARM_STEP].copy()
    jpeg(pixels)
    with suppress(OverrulerError):  # what it finds there is nobody's business
        Referee(Board.load(folder / "table.toml"), game="legion").look(Frame(pixels, "warm"))


def _answer(name: str, folder: str, arguments: Sequence[Any], say: Say) -> tuple[str, Any, bool]:
    try:
        os.chdir(folder)
        return "done", TASKS[name](folder, arguments, say), _grown()
    except OverrulerError as error:
        return "failed", (str(error).removeprefix(f"{arguments[0]}: "), isinstance(error, CannotMeasure)), _grown()
    except MemoryError:
        return "failed", ("the photo needs more memory than there is: save it smaller", False), True
    except Exception as error:  # one photo must not end the work on all others
        return "failed", (f"this should not have happened ({type(error).__name__}): please report it", False), True


def _grown() -> bool:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 > MOST_BYTES


# --- tasks: each is given its folder and the arguments of `overruler measure`, the photo first ---


def measure(folder: str, arguments: Sequence[str], say: Say) -> dict[str, Any]:
    """Write the scene and a copy of the photo for screens; what a list of measurements shows."""
    report = _looked(folder, arguments, say)
    if not Path(SHOWN).exists():
        from overruler.picture.raster import jpeg

        write_whole(SHOWN, jpeg(report.frame.pixels))
    return _kept(report)


def correct(folder: str, arguments: Sequence[str], say: Say) -> dict[str, Any]:
    """Write the scene with corrections, and them; the last of the arguments is the text of their file."""
    from overruler.fixes import read_fixes
    from overruler.vision.assembly.corrections import corrected

    *options, text = arguments
    fixes = read_fixes(Node.of_json(text, "fixes"))
    found = _kept(corrected(_looked(folder, options, say), fixes))
    write_whole(FIXES, text)
    return found


def picture(folder: str, arguments: Sequence[Any], say: Say) -> bytes:
    """The annotated photo as PNG; the last of the arguments are the questions."""
    from overruler.apps.rulings import rulings
    from overruler.picture import encoded
    from overruler.scene import Scene

    *options, questions = arguments
    report, scene = _looked(folder, options, say), Scene.load(SCENE)
    return encoded(replace(report, scene=scene, verdicts=rulings(scene, questions)), ".png")


TASKS: dict[str, Callable[[str, Sequence[Any], Say], Any]] = {
    "measure": measure,
    "correct": correct,
    "picture": picture,
}


def _kept(report: "Report") -> dict[str, Any]:
    write_whole(SCENE, scene_text(report.scene.to_json()))
    return {"pieces": len(report.scene.pieces), "size_px": list(report.frame.size_px)}


def _looked(folder: str, arguments: Sequence[str], say: Say) -> "Report":
    """What the program itself finds in a photo, at hand or looked for."""
    from overruler.apps.measure import look

    if folder not in _reports:
        _reports[folder] = look(options_of(arguments), say)
    _reports.move_to_end(folder)
    while len(_reports) > REMEMBERED:
        _reports.popitem(last=False)
    return _reports[folder]


def scene_text(scene: dict[str, Any]) -> str:
    """A scene file as `overruler measure --scene` writes it."""
    return json.dumps(scene, indent=1) + "\n"


def options_of(arguments: Sequence[str]) -> Any:
    """The options of `overruler measure` that the arguments are, read and checked as the command line does."""
    from overruler.apps import measure as command
    from overruler.apps.commands import Parser

    parser = Parser(prog="overruler measure", allow_abbrev=False)
    command.add_arguments(parser)
    return command.read_options(parser.parse_args(list(arguments)))
