"""`overruler settle`: a dispute bundle checked byte by byte, its question asked again, its photo measured anew."""

import argparse
import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from overruler.apps import bundles
from overruler.errors import BadInput, OverrulerError
from overruler.reading import Node
from overruler.scene import Scene

EXIT_DIFFERS = 1
"""The status where something does not match."""

ProgressCallback = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One thing that was looked at."""

    matches: bool
    text: str


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("bundle", type=Path, metavar="BUNDLE", help="a dispute bundle (ZIP)")
    parser.add_argument("--quick", action="store_true", help="do not measure the photo anew")
    parser.add_argument(
        "--json", action="store_true", help="print what was found as JSON and nothing else"
    )


def run(args: argparse.Namespace) -> int:
    from overruler.apps.measure import progress_display

    data = _read_bundle(args.bundle)
    members = bundles.unpack_zip(data, str(args.bundle))
    with progress_display() as say:
        findings = list(check_bundle(data, members, say, anew=not args.quick))
    settled = all(finding.matches for finding in findings)
    (_print_json if args.json else _print)(data, members, findings, settled)
    return 0 if settled else EXIT_DIFFERS


def _read_bundle(path: Path) -> bytes:
    try:
        if path.stat().st_size > bundles.MAX_BUNDLE_BYTES:
            raise BadInput(
                f"{path}: is larger than any bundle: give the ZIP file that the page made"
            )
        return path.read_bytes()
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error.strerror or error}") from None


def check_bundle(
    data: bytes, members: Mapping[str, bytes], say: ProgressCallback, anew: bool = True
) -> Iterator[CheckResult]:
    """Everything that can be checked, from the bytes to the photo."""
    say("checking the files")
    files = list(check_file_hashes(members))
    yield from files
    if all(file.matches for file in files) and (packed := bundles.pack_zip(members)) != data:
        yield CheckResult(
            False,
            f"{_first_difference(packed, data)} of the ZIP file, in none of its files, was changed",
        )
    say("asking again")
    yield _run_check("answer.json", lambda: check_answer(members))
    if anew:
        yield _run_check("the photo", lambda: check_scene(members, say))


def _run_check(what: str, check: Callable[[], CheckResult]) -> CheckResult:
    """A check that a changed file makes impossible is one that does not match."""
    try:
        return check()
    except OverrulerError as error:
        return CheckResult(False, f"{what}: {error}")
    except UnicodeDecodeError:
        return CheckResult(False, f"{what}: rests on a file that is not UTF-8 text")


def check_file_hashes(members: Mapping[str, bytes]) -> Iterator[CheckResult]:
    """Each file against the SHA-256 that the bundle names for it."""
    try:
        said = Node.of_json(members[bundles.MANIFEST_FILE].decode(), bundles.MANIFEST_FILE)
        said["schema"].choice((bundles.SCHEMA,))
        sums = {name: said["sha256"][name].text() for name in said["sha256"].keys()}  # noqa: SIM118 - a Node
    except (OverrulerError, UnicodeDecodeError) as error:
        yield CheckResult(False, " ".join(str(error).split()))
        return
    others = {name: data for name, data in members.items() if name != bundles.MANIFEST_FILE}
    for name in sorted({*sums, *others}):
        if name not in others:
            yield CheckResult(False, f"{name} is missing")
        elif sums.get(name) != hashlib.sha256(others[name]).hexdigest():
            yield CheckResult(False, f"{name} is not the file that was packed")
        else:
            yield CheckResult(True, f"{name} is as it was packed")


def _first_difference(one: bytes, other: bytes) -> str:
    at = next(
        (k for k, (a, b) in enumerate(zip(one, other, strict=False)) if a != b),
        min(len(one), len(other)),
    )
    return f"byte {at}"


# --- asked again ---


def check_answer(members: Mapping[str, bytes]) -> CheckResult:
    """The bundle's question to the bundle's scene, by the rules as they are here."""
    scene = Scene.from_json(Node.of_json(members[bundles.SCENE_FILE].decode(), bundles.SCENE_FILE))
    question = Node.of_json(members[bundles.QUESTION_FILE].decode(), bundles.QUESTION_FILE)
    answer, sentence = bundles.answer_and_sentence(scene, question)
    if answer.encode() == members[bundles.ANSWER_FILE]:
        return CheckResult(
            True, f"the question asked again gives the same answer, byte for byte: {sentence}"
        )
    return CheckResult(
        False,
        f"the question asked again gives another answer: {sentence}; {_describe_version_changes(members)}",
    )


# --- measured anew ---


def check_scene(members: Mapping[str, bytes], say: ProgressCallback) -> CheckResult:
    """The bundle's photo measured as it was, against the bundle's scene."""
    text = remeasured_scene_text(members, say)
    if text.encode() == members[bundles.SCENE_FILE]:
        return CheckResult(True, "the photo measured anew gives the same scene, byte for byte")
    anew = Scene.from_json(Node.of_json(text, "the scene measured anew"))
    scene = Scene.from_json(Node.of_json(members[bundles.SCENE_FILE].decode(), bundles.SCENE_FILE))
    said = f"the photo measured anew gives another scene: {_describe_difference(scene, anew)}"
    return CheckResult(
        False,
        f"{said}; {_describe_new_answer(anew, members)}; {_describe_version_changes(members)}",
    )


def remeasured_scene_text(members: Mapping[str, bytes], say: ProgressCallback) -> str:
    """The scene file of the bundle's photo, by the arguments that the bundle names."""
    from overruler.apps.measure import measure_photo
    from overruler.apps.web.phone.worker_tasks import scene_text

    options = Node.of_json(members[bundles.MANIFEST_FILE].decode(), bundles.MANIFEST_FILE)[
        "measure"
    ]
    with _extracted_to_folder(members):
        report = measure_photo(
            _read_measure_options([item.text() for item in options.items()]), say
        )
    return scene_text(report.scene.to_json())


@contextmanager
def _extracted_to_folder(members: Mapping[str, bytes]) -> Iterator[None]:
    """The bundle's files in a folder of their own, and the program in it."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory(prefix="overruler-") as folder:
        for name, data in members.items():
            Path(folder, name).write_bytes(data)
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


def _read_measure_options(arguments: list[str]) -> Any:
    """The options of the measurement; a bundle reaches no file but its own and writes none."""
    from overruler.apps.measure import load_options
    from overruler.apps.recorded_arguments import parse_arguments

    request = parse_arguments(arguments)
    paths = [argument for argument in arguments if "/" in argument or "\\" in argument]
    writes = request.scene or request.picture or request.doubt
    if paths or writes or request.photo.name not in bundles.PHOTO_FILES:
        raise BadInput(
            f"{bundles.MANIFEST_FILE}: measure: names files that are no part of a bundle"
        )
    return load_options(request)


def _describe_difference(one: Scene, other: Scene) -> str:
    if [piece.id for piece in one.pieces] != [piece.id for piece in other.pieces]:
        return f"{len(other.pieces)} bases in place of {len(one.pieces)}"
    pairs = zip(one.pieces, other.pieces, strict=True)
    far = max((abs(complex(a.x_mm - b.x_mm, a.y_mm - b.y_mm)) for a, b in pairs), default=0.0)
    if not far:
        return "the same bases in the same places, with another doubt or other particulars"
    return f"the same bases, at most {far:.2g} mm from where they were"


def _describe_new_answer(scene: Scene, members: Mapping[str, bytes]) -> str:
    try:
        _, sentence = bundles.answer_and_sentence(
            scene, Node.of_json(members[bundles.QUESTION_FILE].decode(), bundles.QUESTION_FILE)
        )
    except OverrulerError as error:
        return f"in it the question cannot be asked ({error})"
    return f"in it the answer is {sentence}"


def _describe_version_changes(members: Mapping[str, bytes]) -> str:
    """What differs between the machine that made the bundle and this one."""
    try:
        there = json.loads(members[bundles.MANIFEST_FILE])["versions"]
        changed = [f"{name} {there.get(name)} there, {here} here" for name, here in bundles.collect_versions().items()
                   if there.get(name) != here]  # fmt: skip
    except (ValueError, KeyError, AttributeError, TypeError):
        return "the versions it was made with cannot be read"
    return f"versions differ: {', '.join(changed)}" if changed else "the versions are the same"


# --- telling ---


def _print(
    data: bytes, members: Mapping[str, bytes], findings: list[CheckResult], settled: bool
) -> None:
    for finding in findings:
        print(f"{'ok     ' if finding.matches else 'DIFFERS'}  {finding.text}")
    print(f"\nfingerprint {bundles.fingerprint(data)}")
    wrong = sum(not finding.matches for finding in findings)
    print(
        "settled: everything matches"
        if settled
        else f"not settled: {wrong} of {len(findings)} do not match"
    )


def _print_json(
    data: bytes, members: Mapping[str, bytes], findings: list[CheckResult], settled: bool
) -> None:
    told = [{"matches": finding.matches, "text": finding.text} for finding in findings]
    said = {"settled": settled, "fingerprint": bundles.fingerprint(data), "findings": told}
    try:
        said["answer"] = json.loads(members[bundles.ANSWER_FILE])
    except ValueError:
        said["answer"] = None
    print(json.dumps(said))
