"""Dispute bundles: everything that a ruling rests on in one ZIP file, made so that one byte changed is found.

The same contents give the same bytes: files in order, not compressed, of one date. `bundle.json` names the arguments of
`overruler measure` that made the scene of the photo, the question, the versions, and every other file's SHA-256.
"""

import hashlib
import io
import json
import platform
import struct
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import overruler
from overruler.errors import BadInput
from overruler.reading import Node
from overruler.rules import ask
from overruler.scene import Scene

SCHEMA = "overruler/bundle/1"
MANIFEST_FILE, SCENE_FILE, QUESTION_FILE, ANSWER_FILE, README_FILE = (
    "bundle.json",
    "scene.json",
    "question.json",
    "answer.json",
    "README.txt",
)
PHOTO_FILES = ("photo.jpg", "photo.png", "photo.webp")
OPTIONAL_FILES = ("board.toml", "lens.toml", "fix.json")
MEMBER_NAMES = (
    README_FILE,
    ANSWER_FILE,
    MANIFEST_FILE,
    QUESTION_FILE,
    SCENE_FILE,
    *PHOTO_FILES,
    *OPTIONAL_FILES,
)
"""Every name that a file of a bundle can have."""
MAX_BUNDLE_BYTES = 100_000_000
PACKAGE = Path(overruler.__file__).parent
LIBRARIES = ("overruler", "numpy", "opencv-python", "scipy", "scikit-image", "shapely", "pillow")
_DATE = (1980, 1, 1, 0, 0, 0)
_ZIP_NAME_LENGTHS = struct.Struct("<26xHH")
"""Of a member: the lengths of its name and of what follows that."""

README_TEMPLATE = """A dispute bundle of Overruler {version}: a photo of a table, a question, and the ruling.

    {sentence}

To see whether it holds, install Overruler (pip install overruler) and run: overruler settle BUNDLE.zip
It checks every file, asks the question again, and measures the photo anew. The fingerprint of this bundle is printed
then and on the page that made it: both sides can read it out.
"""


def answer_and_sentence(scene: Scene, question: Node | Mapping[str, Any]) -> tuple[str, str]:
    """An answer as `overruler ask` prints it, and its sentence."""
    verdict = ask(scene, question)
    return json.dumps(verdict.to_json(), allow_nan=False) + "\n", verdict.sentence()


def make_bundle(
    files: Mapping[str, bytes], arguments: Sequence[str], question: Mapping[str, Any]
) -> bytes:
    """The bundle of a photo's files (the scene among them), measured with these arguments, and a question."""
    scene = Scene.from_json(Node.of_json(files[SCENE_FILE].decode(), SCENE_FILE))
    answer, sentence = answer_and_sentence(scene, question)
    members = dict(files)
    members[QUESTION_FILE] = (json.dumps(question) + "\n").encode()
    members[ANSWER_FILE] = answer.encode()
    members[README_FILE] = README_TEMPLATE.format(
        version=version("overruler"), sentence=sentence
    ).encode()
    return pack_zip(members | {MANIFEST_FILE: _manifest(members, arguments)})


def _manifest(members: Mapping[str, bytes], arguments: Sequence[str]) -> bytes:
    said = {
        "schema": SCHEMA,
        "measure": list(arguments),
        "versions": collect_versions(),
        "sha256": {
            name: hashlib.sha256(data).hexdigest() for name, data in sorted(members.items())
        },
    }
    return (json.dumps(said, indent=1) + "\n").encode()


def collect_versions() -> dict[str, str]:
    """Of everything that numbers come from."""
    found = {
        "program": program_hash(),
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
    }
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "another wheel"
    return found


@cache
def program_hash() -> str:
    """Twelve digits of the SHA-256 of the program itself, its code and its networks: a version number may say less."""
    digest = hashlib.sha256()
    for path in sorted(path for ending in ("py", "onnx") for path in PACKAGE.rglob(f"*.{ending}")):
        digest.update(f"{path.relative_to(PACKAGE).as_posix()}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:12]


def pack_zip(members: Mapping[str, bytes]) -> bytes:
    """The ZIP file of these members; the same members give the same bytes."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(members):
            entry = zipfile.ZipInfo(name, _DATE)
            entry.create_system = 3
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, members[name])
    return out.getvalue()


def unpack_zip(data: bytes, name: str) -> dict[str, bytes]:
    """The members of a bundle, whatever their bytes are now; `BadInput` where it is none."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
            _check_entries(entries, name)
            return {entry.filename: _read(entry, data) for entry in entries}
    except (zipfile.BadZipFile, NotImplementedError, OSError, ValueError, struct.error) as error:
        if isinstance(error, BadInput):
            raise
        raise BadInput(
            f"{name}: is no bundle, or damaged: {' '.join(str(error).split())}"
        ) from None


def _check_entries(entries: Iterable[zipfile.ZipInfo], name: str) -> None:
    names = [entry.filename for entry in entries]
    strange = [found for found in names if found not in MEMBER_NAMES]
    if strange or len(set(names)) < len(names):
        raise BadInput(f"{name}: is no bundle: it holds {', '.join(map(repr, strange or names))}")
    if missing := [
        needed
        for needed in (MANIFEST_FILE, SCENE_FILE, QUESTION_FILE, ANSWER_FILE)
        if needed not in names
    ]:
        raise BadInput(
            f"{name}: is no bundle: {', '.join(missing)} is missing: is it whole, as the page made it?"
        )
    if sum(entry.file_size for entry in entries) > MAX_BUNDLE_BYTES:
        raise BadInput(f"{name}: holds more than {MAX_BUNDLE_BYTES / 1e6:g} MB")


def _read(entry: zipfile.ZipInfo, data: bytes) -> bytes:
    """A member's bytes as they stand, its checksum unheeded: so it can be said which one was changed."""
    header = data[entry.header_offset : entry.header_offset + _ZIP_NAME_LENGTHS.size]
    if entry.compress_type != zipfile.ZIP_STORED or len(header) < _ZIP_NAME_LENGTHS.size:
        raise zipfile.BadZipFile("its files are compressed")
    name_length, extra_length = _ZIP_NAME_LENGTHS.unpack(header)
    start = entry.header_offset + _ZIP_NAME_LENGTHS.size + name_length + extra_length
    return data[start : start + entry.file_size]


def fingerprint(data: bytes) -> str:
    """Twelve digits of a bundle's SHA-256, in threes, to be read out."""
    digits = hashlib.sha256(data).hexdigest()[:12]
    return " ".join(digits[k : k + 3] for k in range(0, 12, 3))
