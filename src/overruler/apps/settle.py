"""`overruler settle`: check a dispute bundle: its bytes, its answer, and its photo measured again.

A bundle comes from somebody else. It is data: no text in it is a command line, no name in it a path.
The outcome is one of three, in words and as the exit status: agreed, differs, cannot tell.
"""

import argparse
import hashlib
import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from overruler.apps import bundles
from overruler.apps.process.progress import progress_display
from overruler.errors import BadInput, CannotMeasure, OverrulerError, printable
from overruler.reading import Node, parse_json
from overruler.reading.files import check_is_file, read_bytes
from overruler.scene import Scene
from overruler.sources.standard_input import STANDARD_INPUT

AGREED = "agreed"
"""Outcome where everything that was checked matches."""
DIFFERS = "differs"
"""Outcome where something does not match."""
CANNOT_TELL = "cannot tell"
"""Outcome where nothing differs, but something could not be checked."""
EXIT_STATUSES = {AGREED: 0, DIFFERS: 1, CANNOT_TELL: 2}
"""Exit status of each outcome; what is no bundle ends with that of `CANNOT_TELL`, too."""
LABELS = {True: "ok     ", False: "DIFFERS", None: "UNKNOWN"}
"""How the line of a check begins."""

ProgressCallback = Callable[[str], None]
Members = Mapping[str, bytes]
"""The files of a bundle by name."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of a check."""

    matches: bool | None
    """None where the check could not be made."""
    text: str
    """The result in words."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    bundle = "a dispute bundle (ZIP; - for standard input)"
    parser.add_argument("bundle", type=Path, metavar="BUNDLE", help=bundle)
    quick = "do not measure the photo anew: look only whether it is there"
    parser.add_argument("--quick", action="store_true", help=quick)
    json = "print what was found as JSON and nothing else"
    parser.add_argument("--json", action="store_true", help=json)


def run(args: argparse.Namespace) -> int:
    data = _read_bundle(args.bundle)
    members = bundles.unpack_zip(data, str(args.bundle))
    with progress_display() as progress:
        results = list(check_bundle(data, members, progress, anew=not args.quick))
    outcome = outcome_of(results)
    if args.json:
        _print_json(data, members, results, args.quick)
    else:
        _print_results(data, results, outcome, args.quick)
    return EXIT_STATUSES[outcome]


def outcome_of(results: Sequence[CheckResult]) -> str:
    """What all checks together say."""
    matches = {result.matches for result in results}
    if False in matches:
        return DIFFERS
    return CANNOT_TELL if None in matches else AGREED


def _read_bundle(path: Path) -> bytes:
    if str(path) == STANDARD_INPUT:
        return sys.stdin.buffer.read(bundles.MAX_BUNDLE_BYTES)
    check_is_file(path)
    return read_bytes(path, bundles.MAX_BUNDLE_BYTES)


def check_bundle(
    data: bytes, members: Members, say: ProgressCallback, anew: bool = True
) -> Iterator[CheckResult]:
    """Check everything, from the bytes to the photo; the photo only if `anew`."""
    say("checking the files")
    file_results = list(check_file_hashes(members))
    yield from file_results
    if all(result.matches for result in file_results):  # also the bytes between the files
        packed = bundles.pack_zip(members)
        if packed != data:
            byte = len(os.path.commonprefix([packed, data]))  # noqa: RUF071 - bytes are meant
            where = f"byte {byte} of the ZIP file, in none of its files"
            yield CheckResult(False, f"{where}, was changed")
    say("asking again")
    yield _run_check("answer.json", lambda: check_answer(members))
    if bundles.README_FILE in members:
        yield _run_check(bundles.README_FILE, lambda: check_readme(members))
    check = check_scene if anew else check_measured_files
    yield _run_check("the photo", lambda: check(members, say))


def _run_check(what: str, check: Callable[[], CheckResult]) -> CheckResult:
    """Run a check; where something makes it impossible, nobody can tell."""
    try:
        return check()
    except OverrulerError as error:
        return CheckResult(None, f"{what}: {error}")
    except UnicodeDecodeError:
        return CheckResult(None, f"{what}: rests on a file that is not UTF-8 text")
    except MemoryError:
        return CheckResult(None, f"{what}: needs more memory than there is")
    except Exception as error:  # a bundle may hold anything, and must not end the program
        kind = type(error).__name__
        return CheckResult(None, f"{what}: should not have failed ({kind}): please report it")


def check_file_hashes(members: Members) -> Iterator[CheckResult]:
    """Compare each file with its SHA-256 in the manifest."""
    try:
        manifest = bundles.node_of(members, bundles.MANIFEST_FILE)
        schema = manifest["schema"].text()
        hashes = {name: manifest["sha256"][name].text() for name in manifest["sha256"].keys()}  # noqa: SIM118 - a Node
    except (OverrulerError, UnicodeDecodeError) as error:
        yield CheckResult(False, " ".join(str(error).split()))
        return
    if schema != bundles.SCHEMA:
        problem = f"{bundles.MANIFEST_FILE}: schema: {schema!r} is not {bundles.SCHEMA!r}"
        yield CheckResult(None, f"{problem}: is there a newer version of this program?")
        return
    others = {name: data for name, data in members.items() if name != bundles.MANIFEST_FILE}
    for name in sorted({*hashes, *others}):
        if name not in others:
            yield CheckResult(False, f"{name} is missing")
        elif hashes.get(name) != hashlib.sha256(others[name]).hexdigest():
            yield CheckResult(False, f"{name} is not the file that was packed")
        else:
            yield CheckResult(True, f"{name} is as it was packed")


# --- the answer ---


def check_answer(members: Members) -> CheckResult:
    """Ask the bundle's question about the bundle's scene, by the rules of this program."""
    answer, sentence = _asked_again(members)
    again = "the question asked again gives"
    if answer.encode() == members[bundles.ANSWER_FILE]:
        return CheckResult(True, f"{again} the same answer, byte for byte: {sentence}")
    other = f"{again} another answer: {sentence}"
    return CheckResult(False, f"{other}; {bundles.describe_version_changes(members)}")


def check_readme(members: Members) -> CheckResult:
    """Write what the bundle says to people anew; another version may have said it otherwise."""
    _, sentence = _asked_again(members)
    versions = bundles.node_of(members, bundles.MANIFEST_FILE)["versions"]
    said = bundles.readme_text(versions["overruler"].text(), sentence)
    if said.encode() == members[bundles.README_FILE]:
        return CheckResult(True, f"{bundles.README_FILE} says the same")
    other = f"{bundles.README_FILE} does not say what this program says: {sentence}"
    return _unlike_this_program(other, members)


def _unlike_this_program(text: str, members: Members) -> CheckResult:
    """What this program does not make of a bundle is wrong in its own bundles; another's may do otherwise."""
    versions = bundles.node_of(members, bundles.MANIFEST_FILE)["versions"]
    matches = False if versions["program"].text() == bundles.program_hash() else None
    return CheckResult(matches, f"{text}; {bundles.describe_version_changes(members)}")


def _asked_again(members: Members) -> tuple[str, str]:
    """The answer and the sentence of this program to the bundle's question about the bundle's scene."""
    scene = Scene.from_json(bundles.node_of(members, bundles.SCENE_FILE))
    return bundles.answer_and_sentence(scene, bundles.node_of(members, bundles.QUESTION_FILE))


# --- the photo ---


def check_measured_files(members: Members, say: ProgressCallback) -> CheckResult:
    """Look whether the bundle holds the photo, and all that it was measured with."""
    with bundles.extracted_to_folder(members):
        _measure_options_of(members)
    return CheckResult(True, "the photo is there, with all that it was measured with")


def check_scene(members: Members, say: ProgressCallback) -> CheckResult:
    """Measure the bundle's photo again, and compare the scene with the bundle's."""
    try:
        text = remeasured_scene_text(members, say)
    except CannotMeasure as reason:
        return _unlike_this_program(f"the scene is of no photo in the bundle: {reason}", members)
    if text.encode() == members[bundles.SCENE_FILE]:
        return CheckResult(True, "the photo measured anew gives the same scene, byte for byte")
    remeasured = Scene.from_json(Node.of_json(text, "the scene measured anew"))
    scene = Scene.from_json(bundles.node_of(members, bundles.SCENE_FILE))
    parts = (
        f"the photo measured anew gives another scene: {_describe_difference(scene, remeasured)}",
        _describe_new_answer(remeasured, members),
        bundles.describe_version_changes(members),
    )
    return CheckResult(False, "; ".join(parts))


def remeasured_scene_text(members: Members, say: ProgressCallback) -> str:
    """The scene file of the bundle's photo, measured with the arguments in the manifest."""
    from overruler.apps.measure import measure_photo
    from overruler.apps.web.phone.worker_tasks import scene_text

    with bundles.extracted_to_folder(members):
        report = measure_photo(_measure_options_of(members), say)
    return scene_text(report.scene.to_json())


def _measure_options_of(members: Members) -> Any:
    """The options in the manifest, by whose arguments the photo was measured."""
    arguments = bundles.node_of(members, bundles.MANIFEST_FILE)["measure"]
    return read_measure_options([argument.text() for argument in arguments.items()], members)


def read_measure_options(
    arguments: list[str], members: Collection[str] = bundles.MEMBER_NAMES
) -> Any:
    """The options of the measurement, which may read only files of the bundle, and write none."""
    from overruler.apps.measure import load_options
    from overruler.apps.measure.recorded_arguments import parse_arguments

    request = parse_arguments(arguments)
    lenses = [Path(text.partition("=")[2]) for text in request.lens_of_photo]
    others = (*lenses, *request.more, *request.beside)
    files = (request.board, request.lens, request.terrain, request.fix, request.taught, *others)
    known = [name for name in bundles.MEMBER_NAMES if name in members]
    strange = [str(path) for path in files if path is not None and str(path) not in known]
    if str(request.photo) not in known or str(request.photo) not in bundles.PHOTO_FILES:
        strange.append(str(request.photo))
    written = (request.scene, request.picture, request.doubt, request.geojson, request.csv)
    strange += [str(path) for path in written if path]
    if strange:
        problem = f"{bundles.MANIFEST_FILE}: measure: names what is no file of the bundle"
        raise BadInput(f"{problem}: {', '.join(map(repr, strange))}")
    return load_options(request)


def _describe_difference(before: Scene, after: Scene) -> str:
    was, found = ([piece.id for piece in scene.pieces] for scene in (before, after))
    if was != found:
        other = ", by other names" if len(was) == len(found) else ""
        return f"bases: {len(found)} in place of {len(was)}{other}"
    pairs = zip(before.pieces, after.pieces, strict=True)
    shifts_mm = [abs(complex(a.x_mm - b.x_mm, a.y_mm - b.y_mm)) for a, b in pairs]
    if not (largest_mm := max(shifts_mm, default=0.0)):
        return "the same bases in the same places, with another doubt or other particulars"
    return f"the same bases, at most {largest_mm:.2g} mm from where they were"


def _describe_new_answer(scene: Scene, members: Members) -> str:
    try:
        question = bundles.node_of(members, bundles.QUESTION_FILE)
        _, sentence = bundles.answer_and_sentence(scene, question)
    except OverrulerError as error:
        return f"in it the question cannot be asked ({error})"
    return f"in it the answer is {sentence}"


# --- output ---


def _print_results(data: bytes, results: list[CheckResult], outcome: str, quick: bool) -> None:
    for result in results:
        print(f"{LABELS[result.matches]}  {printable(result.text)}")
    print(f"\nfingerprint {bundles.fingerprint(data)}")
    counts = Counter(result.matches for result in results)
    words = {
        AGREED: "what was checked matches" if quick else "settled: everything matches",
        DIFFERS: f"not settled: {counts[False]} of {len(results)} do not match",
        CANNOT_TELL: f"not settled: {counts[None]} of {len(results)} could not be checked",
    }
    unseen = "; the photo was not measured anew (--quick)" if quick else ""
    print(f"{outcome}: {words[outcome]}{unseen}")


def _print_json(data: bytes, members: Members, results: list[CheckResult], quick: bool) -> None:
    outcome = outcome_of(results)
    settled = outcome == AGREED and not quick  # the scene may be another photo's
    document: dict[str, Any] = {"settled": settled, "outcome": outcome, "measured_anew": not quick}
    document |= {"fingerprint": bundles.fingerprint(data), "findings": list(map(asdict, results))}
    try:
        text = members[bundles.ANSWER_FILE].decode()
        document["answer"] = parse_json(text, bundles.ANSWER_FILE)
    except (OverrulerError, UnicodeDecodeError):
        document["answer"] = None
    print(json.dumps(document))
