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

DIFFERS = 1
"""The status where something does not match."""

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    matches: bool
    text: str


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("bundle", type=Path, metavar="BUNDLE", help="a dispute bundle (ZIP)")
    parser.add_argument("--quick", action="store_true", help="do not measure the photo anew")
    parser.add_argument("--json", action="store_true", help="print what was found as JSON and nothing else")


def run(args: argparse.Namespace) -> int:
    from overruler.apps.measure import progress

    data = _bytes(args.bundle)
    members = bundles.unpacked(data, str(args.bundle))
    with progress() as say:
        findings = list(examine(data, members, say, anew=not args.quick))
    settled = all(finding.matches for finding in findings)
    (_print_json if args.json else _print)(data, members, findings, settled)
    return 0 if settled else DIFFERS


def _bytes(path: Path) -> bytes:
    try:
        if path.stat().st_size > bundles.LARGEST:
            raise BadInput(f"{path}: is larger than any bundle: give the ZIP file that the page made")
        return path.read_bytes()
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error.strerror or error}") from None


def examine(data: bytes, members: Mapping[str, bytes], say: Say, anew: bool = True) -> Iterator[Finding]:
    """Everything that can be checked, from the bytes to the photo."""
    say("checking the files")
    files = list(files_as_packed(members))
    yield from files
    if all(file.matches for file in files) and (packed := bundles.packed(members)) != data:
        yield Finding(False, f"{_first_difference(packed, data)} of the ZIP file, in none of its files, was changed")
    say("asking again")
    yield _attempted("answer.json", lambda: same_answer(members))
    if anew:
        yield _attempted("the photo", lambda: same_scene(members, say))


def _attempted(what: str, check: Callable[[], Finding]) -> Finding:
    """A check that a changed file makes impossible is one that does not match."""
    try:
        return check()
    except OverrulerError as error:
        return Finding(False, f"{what}: {error}")
    except UnicodeDecodeError:
        return Finding(False, f"{what}: rests on a file that is not UTF-8 text")


def files_as_packed(members: Mapping[str, bytes]) -> Iterator[Finding]:
    """Each file against the SHA-256 that the bundle names for it."""
    try:
        said = Node.of_json(members[bundles.MANIFEST].decode(), bundles.MANIFEST)
        said["schema"].choice((bundles.SCHEMA,))
        sums = {name: said["sha256"][name].text() for name in said["sha256"].keys()}  # noqa: SIM118 - a Node
    except (OverrulerError, UnicodeDecodeError) as error:
        yield Finding(False, " ".join(str(error).split()))
        return
    others = {name: data for name, data in members.items() if name != bundles.MANIFEST}
    for name in sorted({*sums, *others}):
        if name not in others:
            yield Finding(False, f"{name} is missing")
        elif sums.get(name) != hashlib.sha256(others[name]).hexdigest():
            yield Finding(False, f"{name} is not the file that was packed")
        else:
            yield Finding(True, f"{name} is as it was packed")


def _first_difference(one: bytes, other: bytes) -> str:
    at = next((k for k, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return f"byte {at}"


# --- asked again ---


def same_answer(members: Mapping[str, bytes]) -> Finding:
    """The bundle's question to the bundle's scene, by the rules as they are here."""
    scene = Scene.from_json(Node.of_json(members[bundles.SCENE].decode(), bundles.SCENE))
    question = Node.of_json(members[bundles.QUESTION].decode(), bundles.QUESTION)
    answer, sentence = bundles.answer_text(scene, question)
    if answer.encode() == members[bundles.ANSWER]:
        return Finding(True, f"the question asked again gives the same answer, byte for byte: {sentence}")
    return Finding(False, f"the question asked again gives another answer: {sentence}; {_versions(members)}")


# --- measured anew ---


def same_scene(members: Mapping[str, bytes], say: Say) -> Finding:
    """The bundle's photo measured as it was, against the bundle's scene."""
    text = measured(members, say)
    if text.encode() == members[bundles.SCENE]:
        return Finding(True, "the photo measured anew gives the same scene, byte for byte")
    anew = Scene.from_json(Node.of_json(text, "the scene measured anew"))
    scene = Scene.from_json(Node.of_json(members[bundles.SCENE].decode(), bundles.SCENE))
    said = f"the photo measured anew gives another scene: {_apart(scene, anew)}"
    return Finding(False, f"{said}; {_asked_anew(anew, members)}; {_versions(members)}")


def measured(members: Mapping[str, bytes], say: Say) -> str:
    """The scene file of the bundle's photo, by the arguments that the bundle names."""
    from overruler.apps.measure import look
    from overruler.apps.web.phone.worker_tasks import scene_text

    options = Node.of_json(members[bundles.MANIFEST].decode(), bundles.MANIFEST)["measure"]
    with _laid_out(members):
        report = look(_options([item.text() for item in options.items()]), say)
    return scene_text(report.scene.to_json())


@contextmanager
def _laid_out(members: Mapping[str, bytes]) -> Iterator[None]:
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


def _options(arguments: list[str]) -> Any:
    """The options of the measurement; a bundle reaches no file but its own and writes none."""
    from overruler.apps.web.phone.worker_tasks import options_of

    options = options_of(arguments)
    paths = [argument for argument in arguments if "/" in argument or "\\" in argument]
    if paths or options.scene or options.picture or options.doubt or options.photo.name not in bundles.PHOTOS:
        raise BadInput(f"{bundles.MANIFEST}: measure: names files that are no part of a bundle")
    return options


def _apart(one: Scene, other: Scene) -> str:
    if [piece.id for piece in one.pieces] != [piece.id for piece in other.pieces]:
        return f"{len(other.pieces)} bases in place of {len(one.pieces)}"
    pairs = zip(one.pieces, other.pieces, strict=True)
    far = max((abs(complex(a.x_mm - b.x_mm, a.y_mm - b.y_mm)) for a, b in pairs), default=0.0)
    if not far:
        return "the same bases in the same places, with another doubt or other particulars"
    return f"the same bases, at most {far:.2g} mm from where they were"


def _asked_anew(scene: Scene, members: Mapping[str, bytes]) -> str:
    try:
        _, sentence = bundles.answer_text(scene, Node.of_json(members[bundles.QUESTION].decode(), bundles.QUESTION))
    except OverrulerError as error:
        return f"in it the question cannot be asked ({error})"
    return f"in it the answer is {sentence}"


def _versions(members: Mapping[str, bytes]) -> str:
    """What differs between the machine that made the bundle and this one."""
    try:
        there = json.loads(members[bundles.MANIFEST])["versions"]
        changed = [f"{name} {there.get(name)} there, {here} here" for name, here in bundles.versions().items()
                   if there.get(name) != here]  # fmt: skip
    except (ValueError, KeyError, AttributeError, TypeError):
        return "the versions it was made with cannot be read"
    return f"versions differ: {', '.join(changed)}" if changed else "the versions are the same"


# --- telling ---


def _print(data: bytes, members: Mapping[str, bytes], findings: list[Finding], settled: bool) -> None:
    for finding in findings:
        print(f"{'ok     ' if finding.matches else 'DIFFERS'}  {finding.text}")
    print(f"\nfingerprint {bundles.fingerprint(data)}")
    wrong = sum(not finding.matches for finding in findings)
    print("settled: everything matches" if settled else f"not settled: {wrong} of {len(findings)} do not match")


def _print_json(data: bytes, members: Mapping[str, bytes], findings: list[Finding], settled: bool) -> None:
    told = [{"matches": finding.matches, "text": finding.text} for finding in findings]
    said = {"settled": settled, "fingerprint": bundles.fingerprint(data), "findings": told}
    try:
        said["answer"] = json.loads(members[bundles.ANSWER])
    except ValueError:
        said["answer"] = None
    print(json.dumps(said))
