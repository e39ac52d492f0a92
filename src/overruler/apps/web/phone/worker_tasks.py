"""The tasks of a worker process: measure a photo, correct its scene, draw its picture.

A process does one task at a time, with the measurement's folder as its working directory.
"""

import json
import os
import signal
import traceback
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from overruler.apps.process.memory import lower_priority, peak_bytes
from overruler.apps.settings.measure_request import MeasureRequest
from overruler.errors import BadInput, CannotMeasure, OverrulerError, WrongBoard
from overruler.reading import Node
from overruler.writing import WriteFailed, write_all_atomically, write_atomically

if TYPE_CHECKING:
    from overruler.board import Board
    from overruler.report import Report

SCENE_FILE = "scene.json"
"""Name of the scene file in a measurement's folder."""
FIXES_FILE = "fix.json"
"""Name of the file with the corrections."""
FOUND_FILE = "found.json"
"""Name of the file with the scene before its corrections."""
OTHER_BOARD_FILE = "other-board-{}.toml"
"""Name of the files of boards that a photo may show instead, by their number."""
EARLIER_FILE = "earlier.json"
"""Name of the file with what was known before a photo was added: scenes and corrections."""
MAX_CACHED_REPORTS = 2
"""Reports kept with their pixels, so that a second picture of a table needs no measurement."""
WARM_UP_STRIDE = 2
"""The warm-up measures every second pixel of the sample photo, in rows and columns."""
MAX_PROCESS_BYTES = 1_500_000_000
"""Memory (peak resident size) beyond which a process is replaced."""
EXIT_ORPHANED = 1
"""Exit status of a process whose server has gone."""
REMOVED_TEXT = "the measurement was removed meanwhile"
"""What is said of a task whose folder is gone."""
NICENESS = 10
"""How far a worker's priority is lowered: a tap then gets nine tenths of a processor's time."""

ProgressCallback = Callable[[str], None]
Outcome = tuple[str, Any, bool]
"""`done` or `failed`; the result, or the arguments of `TaskFailed` by name; whether to replace the
process."""
_reports: "OrderedDict[str, Report]" = OrderedDict()
"""Reports by folder, the least recently used first."""


def serve_tasks(connection: Connection) -> None:
    """Do the tasks that arrive as (name, folder, arguments), until the server closes the connection.

    The answers are ("said", text) for progress, then one `Outcome`.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server handles Ctrl-C
    lower_priority(NICENESS)
    if not connection.poll():  # a photo that waits goes before the warm-up
        _warm_up()

    def send(message: tuple[Any, ...]) -> None:
        try:
            connection.send(message)
        except OSError:  # the server was killed: nobody wants the result
            os._exit(EXIT_ORPHANED)

    while True:
        try:
            name, folder, arguments = connection.recv()
        except (EOFError, OSError):
            return
        send(_run_task(name, folder, arguments, lambda text: send(("said", text))))


def _warm_up() -> None:
    """Measure the sample photo, made small, so that all modules and networks are loaded."""
    import overruler.picture.report_drawing  # noqa: F401
    from overruler.apps import demo
    from overruler.board import Board
    from overruler.frame import Frame
    from overruler.picture.raster import encode_jpeg
    from overruler.referee import Referee
    from overruler.sources.photo import load_photo

    folder = Path(demo.__file__).parent
    photo = load_photo(folder / "table.jpg")
    pixels = photo.pixels[::WARM_UP_STRIDE, ::WARM_UP_STRIDE].copy()
    encode_jpeg(pixels)
    with suppress(OverrulerError):  # the result does not matter
        Referee(Board.load(folder / "table.toml"), game="legion").look(Frame(pixels, "warm"))


def _run_task(
    name: str, folder: str, arguments: Sequence[Any], on_progress: ProgressCallback
) -> Outcome:
    request, *others = arguments
    try:
        os.chdir(folder)
        result = TASKS[name](folder, request, *others, on_progress)
    except Exception as error:  # one photo must not end the work on all others
        if not Path(folder).exists():
            return "failed", {"message": REMOVED_TEXT, "status": 404}, False
        is_told = isinstance(error, OverrulerError)
        return "failed", _failure_of(error, request), not is_told or _has_grown()
    return "done", result, _has_grown()


def _failure_of(error: Exception, request: MeasureRequest) -> dict[str, Any]:
    """The arguments of `TaskFailed` for an error, and the trace of one that is the program's fault."""
    if isinstance(error, WriteFailed):
        return {"message": f"the disk: {error.reason}", "status": 503, "lacks_room": True}
    if isinstance(error, OverrulerError):
        return {
            "message": str(error).removeprefix(f"{request.photo}: "),
            "status": 422,
            "unmeasurable": isinstance(error, CannotMeasure),
            "board": error.board if isinstance(error, WrongBoard) else "",
        }
    if isinstance(error, MemoryError):
        return {"message": "the photo needs more memory than there is: save it smaller"}
    text = f"this should not have happened ({type(error).__name__}): please report it"
    return {"message": text, "trace": "".join(traceback.format_exception(error))}


def _has_grown() -> bool:
    return peak_bytes() > MAX_PROCESS_BYTES


# --- tasks ---


def measure_photo(
    folder: str, request: MeasureRequest, on_progress: ProgressCallback
) -> dict[str, Any]:
    """Write the scene and the photo's copy for screens; return what lists of measurements show."""
    report = _cached_report(folder, request, on_progress)
    for frame in [photo.frame for photo in report.photos] or [report.frame]:
        shown = screen_photo_file(frame.name)
        if not Path(shown).exists():
            from overruler.picture.raster import encode_jpeg

            write_atomically(shown, encode_jpeg(frame.shown))
    if not Path(EARLIER_FILE).exists():
        return _save_scene(report)
    on_progress("making the corrections again")
    return _carry_corrections(report)


def screen_photo_file(photo: str) -> str:
    """Name of the copy for screens of a photo."""
    return f"shown{Path(photo).stem.removeprefix('photo')}.jpg"


def _carry_corrections(report: "Report") -> dict[str, Any]:
    """Write the scene with the earlier corrections that still apply; count those that do not."""
    from overruler.apps.web.phone.several.carried_fixes import carry_fixes
    from overruler.fixes import SCHEMA
    from overruler.scene import Scene

    earlier = Node.of_json(Path(EARLIER_FILE).read_text(), EARLIER_FILE)
    found, corrected = (Scene.from_json(earlier[key]) for key in ("found", "corrected"))
    fixes = earlier["fix"].value
    kept, after = _apply_what_fits(report, carry_fixes(fixes, found, corrected, report.scene))
    files = _scene_files(report, after)
    if kept:
        files[FIXES_FILE] = json.dumps({"schema": SCHEMA, "fix": kept})
    write_all_atomically(files.items())
    return _shown_in_lists(after)


def _scene_files(report: "Report", corrected: "Report") -> dict[str, str]:
    """The texts of the files of a scene before and after its corrections."""
    scenes = {FOUND_FILE: report.scene, SCENE_FILE: corrected.scene}
    return {name: scene_text(scene.to_json()) for name, scene in scenes.items()}


def _apply_what_fits(
    report: "Report", fixes: Sequence[dict[str, Any]]
) -> tuple[list[dict[str, Any]], "Report"]:
    """The corrections that can be made, and the report with them."""
    from overruler.fixes import Fix
    from overruler.vision.assembly.corrections import apply_corrections

    kept: list[dict[str, Any]] = []
    after = report
    for fix in fixes:
        entries = [Fix.from_node(Node(one, "fix")) for one in (*kept, fix)]
        with suppress(BadInput):
            after = apply_corrections(report, entries)
            kept.append(fix)
    return kept, after


def correct_scene(
    folder: str, request: MeasureRequest, fixes_text: str, on_progress: ProgressCallback
) -> dict[str, Any]:
    """Write the scene with the corrections of a fix file's text, and that file."""
    from overruler.fixes import read_fixes
    from overruler.vision.assembly.corrections import apply_corrections

    fixes = read_fixes(Node.of_json(fixes_text, "fixes"))
    report = _cached_report(folder, request, on_progress)
    corrected = apply_corrections(report, fixes)
    files = {FIXES_FILE: fixes_text, **_scene_files(report, corrected)}
    write_all_atomically(files.items())
    return _shown_in_lists(corrected)


def draw_picture(
    folder: str, request: MeasureRequest, questions: Sequence[Any], on_progress: ProgressCallback
) -> bytes:
    """Draw the annotated photo with the rulings on questions, as PNG."""
    from overruler.apps.rulings import rule_on_questions
    from overruler.picture import annotated_bytes, on_best_photo
    from overruler.scene import Scene

    report = _cached_report(folder, request, on_progress)
    scene = Scene.load(SCENE_FILE)
    verdicts = rule_on_questions(scene, questions)
    shown = on_best_photo(replace(report, scene=scene, verdicts=verdicts))
    return annotated_bytes(shown, ".png")


def advise_next_photo(
    folder: str, request: MeasureRequest, question: Any, on_progress: ProgressCallback
) -> dict[str, Any] | None:
    """From where another photo would make a ruling surer; None where none would, or nobody knows.

    Only a report in memory is asked: no ruling waits for a measurement.
    """
    from overruler.apps.rulings import rule_on_questions
    from overruler.apps.web.phone.several.photo_advice import advice_json
    from overruler.fixes import load_fixes
    from overruler.vision.assembly.corrections import apply_corrections

    report = _reports.get(folder)
    if report is None:
        return None
    if Path(FIXES_FILE).exists():
        report = apply_corrections(report, load_fixes(Path(FIXES_FILE)))
    verdicts = rule_on_questions(report.scene, [question])
    return advice_json(report, verdicts[0])


TASKS: dict[str, Callable[..., Any]] = {
    "measure": measure_photo,
    "correct": correct_scene,
    "picture": draw_picture,
    "advise": advise_next_photo,
}
"""Tasks by name; each is called with the folder, its arguments and the progress callback."""


def _save_scene(report: "Report") -> dict[str, Any]:
    write_atomically(SCENE_FILE, scene_text(report.scene.to_json()))
    return _shown_in_lists(report)


def _shown_in_lists(report: "Report") -> dict[str, Any]:
    """What lists of measurements show."""
    return {"pieces": len(report.scene.pieces), "size_px": list(report.frame.size_px)}


def _load_other_boards() -> "tuple[Board, ...]":
    """The server's own boards that lie beside the photo, those whose markers have places."""
    from overruler.board import Board

    boards = [Board.load(path) for path in sorted(Path().glob(OTHER_BOARD_FILE.format("*")))]
    return tuple(board for board in boards if board.layout_known)


def _cached_report(folder: str, request: MeasureRequest, on_progress: ProgressCallback) -> "Report":
    """The report before corrections, from memory or measured anew."""
    from overruler.apps.measure import load_options, measure_photo

    if folder not in _reports:
        options = replace(load_options(request), other_boards=_load_other_boards())
        _reports[folder] = measure_photo(options, on_progress)
    _reports.move_to_end(folder)
    while len(_reports) > MAX_CACHED_REPORTS:
        _reports.popitem(last=False)
    return _reports[folder]


def scene_text(scene: dict[str, Any]) -> str:
    """The text of a scene file, as `overruler measure --scene` writes it."""
    return json.dumps(scene, indent=1) + "\n"
