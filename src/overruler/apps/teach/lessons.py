"""Lessons: corrected photos, each with what it takes to measure it as its corrector did.

They come from a photo with its fix file, from dispute bundles, and from the store of the server for
phones.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, chdir, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from overruler.apps.measure.measuring import make_referee
from overruler.apps.measure.options import MeasureOptions, load_options
from overruler.apps.measure.pictures import read_pictures
from overruler.apps.settings.measure_request import MeasureRequest
from overruler.apps.teach.judging import judge_findings, unjudged_ids
from overruler.errors import BadInput
from overruler.reading.files import check_is_file, read_bytes
from overruler.taught import CorrectedPhoto, JudgedFinding

DATABASE_FILE = "measurements.sqlite"
"""The file by which a folder is known for the store of a server."""
MAX_STORED = 10_000
"""Most stored measurements that are looked through."""
MAX_PHOTO_BYTES = 100_000_000
"""Largest photo that is taught: more than any camera writes."""
FIXES_FILE = "fix.json"
"""Name of the corrections beside a stored photo."""


@dataclass(frozen=True, slots=True)
class Lesson:
    """A corrected photo."""

    name: str
    """What it is called, for people."""
    folder: Callable[[], AbstractContextManager[object]]
    """Makes the folder that its files are named in the working directory, meanwhile."""
    read_options: Callable[[], MeasureOptions]
    """Reads its options, in that folder."""


def lessons_of(sources: Sequence[Path], request: MeasureRequest) -> Iterator[Lesson]:
    """The lessons that a command line names; `request` says how photos among them are measured."""
    photos = [path for path in sources if is_photo(path)]
    if request.fix and len(photos) > 1:
        raise BadInput("--fix corrects one photo: teach one photo at a time")
    for path in sources:
        if _is_bundle(path):
            yield _lesson_of_bundle(path)
        elif _is_store(path):
            yield from _lessons_of_store(path)
        elif not path.is_file():
            problem = "is a folder that no server keeps" if path.exists() else "no such file"
            raise BadInput(f"{path}: {problem}: name a photo, a dispute bundle or a server's store")
        else:
            one = replace(request, photo=path)
            yield Lesson(str(path), nullcontext, partial(load_options, one))


def is_photo(path: Path) -> bool:
    """Whether a source is a photo, which options say how to measure."""
    return not (_is_bundle(path) or _is_store(path))


def _is_bundle(path: Path) -> bool:
    return path.suffix.lower() == ".zip"


def _is_store(path: Path) -> bool:
    return (path / DATABASE_FILE).exists()


def _lesson_of_bundle(path: Path) -> Lesson:
    from overruler.apps import bundles, settle
    from overruler.reading import Node

    members = bundles.unpack_zip(read_bytes(path, bundles.MAX_BUNDLE_BYTES), str(path))
    changed = [result.text for result in settle.check_file_hashes(members) if not result.matches]
    if changed:
        raise BadInput(f"{path}: {changed[0]}: ask for the bundle again")
    manifest = Node.of_json(members[bundles.MANIFEST_FILE].decode(), f"{path}: bundle.json")
    arguments = [argument.text() for argument in manifest["measure"].items()]
    return Lesson(
        str(path),
        partial(bundles.extracted_to_folder, members),
        partial(settle.read_measure_options, arguments, members),
    )


def _lessons_of_store(folder: Path) -> Iterator[Lesson]:
    """The corrected photos of a server's store; no server may use it meanwhile."""
    from overruler.apps.web.phone.store import Store
    from overruler.apps.web.phone.store_lock import StoreInUse

    try:
        store = Store(folder)
    except StoreInUse:
        raise BadInput(f"{folder}: a server uses it: stop the server first") from None
    try:
        found = store.newest(MAX_STORED)
    finally:
        store.close()
    for one in found:
        place = store.path_of(one.id)
        if (place / FIXES_FILE).exists():
            wanted = replace(one.request, fix=Path(FIXES_FILE))
            name = f"{folder}: {one.id}"
            yield Lesson(name, partial(chdir, place), partial(load_options, wanted))


def learn_from(lesson: Lesson, checked: bool, progress: Callable[[str], None]) -> CorrectedPhoto:
    """Measure a lesson's photo as its corrector did, and judge its findings.

    Raises `BadInput` where the corrections leave open which findings are pieces.
    """
    from overruler.sources.photo import load_photo

    with lesson.folder():
        options = lesson.read_options()
        if options.more:
            raise BadInput(f"{lesson.name}: is several photos of one table: teach single photos")
        if not options.fixes and not checked:
            load_photo(options.photo)  # what is no photo lacks no corrections
            raise BadInput(
                f"{lesson.name}: has no corrections: give its --fix, "
                "or --checked if every base was found"
            )
        check_is_file(options.photo)
        data = read_bytes(options.photo, MAX_PHOTO_BYTES)
        findings = _judge(lesson.name, options, checked, progress)
    return CorrectedPhoto(lesson.name, hashlib.sha256(data).hexdigest(), tuple(findings))


def _judge(
    name: str, options: MeasureOptions, checked: bool, progress: Callable[[str], None]
) -> Iterator[JudgedFinding]:
    from overruler.vision.assembly.corrections import apply_corrections

    pictures = read_pictures(options, progress)
    if len(pictures.frames) > 1:
        raise BadInput(f"{name}: is a film: teach single photos")
    referee = make_referee(replace(options, fixes=()), pictures)
    report = referee.look(pictures.frames[0], progress)
    apply_corrections(report, options.fixes)  # refuses what does not fit the photo
    unjudged = [] if checked else unjudged_ids(report, options.fixes)
    if unjudged:
        are, them = ("is a piece", "it") if len(unjudged) == 1 else ("are pieces", "them")
        raise BadInput(
            f"{name}: nobody said whether {', '.join(unjudged)} {are}: confirm or remove {them}, "
            "or give --checked if you looked at every base"
        )
    return judge_findings(report, options.fixes, options.taught)
