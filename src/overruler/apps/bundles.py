"""Dispute bundles: a ZIP file with everything that a ruling rests on, in which a changed byte is detected.

The same contents give the same bytes: the files are in order, not compressed, and of one date.
`bundle.json` lists the arguments of `overruler measure` that made the scene of the photo, the versions,
and the SHA-256 of every other file.
"""

import hashlib
import io
import json
import os
import platform
import struct
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import overruler
from overruler.errors import BadInput, OverrulerError
from overruler.reading import Node
from overruler.reading.files import binary_kind
from overruler.rules import ask
from overruler.scene import Scene

SCHEMA = "overruler/bundle/1"
MANIFEST_FILE = "bundle.json"
SCENE_FILE = "scene.json"
QUESTION_FILE = "question.json"
ANSWER_FILE = "answer.json"
README_FILE = "README.txt"
REQUIRED_FILES = (MANIFEST_FILE, SCENE_FILE, QUESTION_FILE, ANSWER_FILE)
PHOTO_ENDINGS = ("jpg", "png", "webp")
"""The endings that a photo's name may have."""
PHOTO_FILES = tuple(f"photo.{ending}" for ending in PHOTO_ENDINGS)
"""The names that the first photo may have."""
MORE_PHOTO_FILES = tuple(
    f"photo{number}.{ending}" for number in range(2, 11) for ending in PHOTO_ENDINGS
)
"""The names that further photos of the table may have."""
LENS_OF_PHOTO_FILES = tuple(f"lens{number}.toml" for number in range(1, 11))
"""The names that lens files of single photos may have."""
OPTIONAL_FILES = ("board.toml", "lens.toml", "fix.json", "taught.json", *LENS_OF_PHOTO_FILES)
MEMBER_NAMES = (
    *(README_FILE, ANSWER_FILE, MANIFEST_FILE, QUESTION_FILE, SCENE_FILE),
    *PHOTO_FILES,
    *MORE_PHOTO_FILES,
    *OPTIONAL_FILES,
)
"""All names that a file of a bundle may have."""
MAX_BUNDLE_BYTES = 100_000_000
"""Largest bundle that is read."""
MAX_TEXT_BYTES = 10_000_000
"""Largest member but the photo: a scene of a crowded table has a tenth of it."""
MAX_ENTRIES = 100
"""Most entries of a ZIP file that is looked into; a bundle has at most eleven."""
_ZIP_START = b"PK\x03\x04"
"""What a ZIP file with anything in it begins with; what says that it is whole stands at its end."""
_ENTRY_SIGNATURE = b"PK\x01\x02"
"""What each entry of a ZIP file's directory begins with."""
FINGERPRINT_DIGITS = 12
"""Hexadecimal digits of the fingerprints of bundles and of the program."""
PACKAGE = Path(overruler.__file__).parent
LIBRARIES = ("overruler", "numpy", "opencv-python", "scipy", "scikit-image", "shapely", "pillow")
"""The distributions whose versions a bundle lists."""
_DATE = (1980, 1, 1, 0, 0, 0)
"""The date of every member: the earliest that ZIP can store."""
_ZIP_NAME_LENGTHS = struct.Struct("<26xHH")
"""A member's local header: the lengths of its name and of its extra field."""

_ZIP_ERRORS = (
    zipfile.BadZipFile,
    NotImplementedError,
    OSError,
    ValueError,
    LookupError,
    EOFError,
    OverflowError,
    struct.error,
)
"""What `zipfile` raises for damaged files."""

README_TEMPLATE = """A dispute bundle of Overruler {version}: a photo of a table, a question, and the ruling.

    {sentence}

To see whether it holds, install Overruler and run: overruler settle BUNDLE.zip
The program is not in the package index yet: install it from a checkout (pip install .) or from a wheel.
It checks every file, asks the question again, and measures the photo anew. The fingerprint of this bundle is printed
then and on the page that made it: both sides can read it out.
"""


def answer_and_sentence(scene: Scene, question: Node | Mapping[str, Any]) -> tuple[str, str]:
    """The answer as `overruler ask` prints it, and its sentence."""
    verdict = ask(scene, question)
    return json.dumps(verdict.to_json(), allow_nan=False) + "\n", verdict.sentence()


def node_of(members: Mapping[str, bytes], name: str) -> Node:
    """What a JSON file of a bundle holds."""
    return Node.of_json(members[name].decode(), name)


def readme_text(program_version: str, sentence: str) -> str:
    """What a bundle says to people: the version that made it, and the ruling in words."""
    return README_TEMPLATE.format(version=program_version, sentence=sentence)


def make_bundle(
    files: Mapping[str, bytes], arguments: Sequence[str], question: Mapping[str, Any]
) -> bytes:
    """Make a bundle of a question and the files of a photo, its scene included.

    `arguments` are those of `overruler measure` that made the scene.
    """
    scene = Scene.from_json(node_of(files, SCENE_FILE))
    answer, sentence = answer_and_sentence(scene, question)
    members = dict(files)
    members[QUESTION_FILE] = (json.dumps(question) + "\n").encode()
    members[ANSWER_FILE] = answer.encode()
    members[README_FILE] = readme_text(version("overruler"), sentence).encode()
    return pack_zip(members | {MANIFEST_FILE: _manifest(members, arguments)})


def _manifest(members: Mapping[str, bytes], arguments: Sequence[str]) -> bytes:
    hashes = {name: hashlib.sha256(data).hexdigest() for name, data in sorted(members.items())}
    manifest = {
        "schema": SCHEMA,
        "measure": list(arguments),
        "versions": collect_versions(),
        "sha256": hashes,
    }
    return (json.dumps(manifest, indent=1) + "\n").encode()


def collect_versions() -> dict[str, str]:
    """The versions of everything that affects the numbers."""
    versions = {
        "program": program_hash(),
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
    }
    for name in LIBRARIES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            versions[name] = "another wheel"
    return versions


def describe_version_changes(members: Mapping[str, bytes]) -> str:
    """How the versions of this program differ from those of the one that made the bundle."""
    try:
        versions = node_of(members, MANIFEST_FILE)["versions"].object().value
    except (OverrulerError, UnicodeDecodeError):
        return "the versions it was made with cannot be read"
    changes = [
        f"{name} {versions.get(name)} there, {here} here"
        for name, here in collect_versions().items()
        if versions.get(name) != here
    ]
    return f"versions differ: {', '.join(changes)}" if changes else "the versions are the same"


@cache
def program_hash() -> str:
    """The start of the SHA-256 of the program's code and networks; it is finer than a version number."""
    digest = hashlib.sha256()
    for path in sorted((*PACKAGE.rglob("*.py"), *PACKAGE.rglob("*.onnx"))):
        name = path.relative_to(PACKAGE).as_posix()
        digest.update(f"{name}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:FINGERPRINT_DIGITS]


def pack_zip(members: Mapping[str, bytes]) -> bytes:
    """Pack a ZIP file; the same members give the same bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(members):
            entry = zipfile.ZipInfo(name, _DATE)
            entry.create_system = 3
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, members[name])
    return buffer.getvalue()


def unpack_zip(data: bytes, name: str) -> dict[str, bytes]:
    """Unpack a bundle without checking its contents; `BadInput` where it is no bundle."""
    if data.count(_ENTRY_SIGNATURE) > MAX_ENTRIES:
        raise BadInput(f"{name}: is no bundle: it holds too many files")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
            _check_entries(entries, name)
            return {entry.filename: _read_member(entry, data) for entry in entries}
    except BadInput:
        raise
    except _ZIP_ERRORS as error:
        if not zipfile.is_zipfile(io.BytesIO(data)):
            if data.startswith(_ZIP_START):
                problem = "is damaged, or was cut off in copying: copy the bundle again"
                raise BadInput(f"{name}: {problem}") from None
            found = f"but {kind}" if (kind := binary_kind(data)) else "and no ZIP file"
            remedy = "give the ZIP file that the page made"
            raise BadInput(f"{name}: is no bundle, {found}: {remedy}") from None
        reason = " ".join(str(error).split())
        raise BadInput(f"{name}: is no bundle, or damaged: {reason}") from None


def _check_entries(entries: Sequence[zipfile.ZipInfo], name: str) -> None:
    names = [entry.filename for entry in entries]
    unknown = [found for found in names if found not in MEMBER_NAMES]
    if unknown or len(set(names)) < len(names):
        raise BadInput(f"{name}: is no bundle: it holds {', '.join(map(repr, unknown or names))}")
    missing = [required for required in REQUIRED_FILES if required not in names]
    if missing:
        raise BadInput(
            f"{name}: is no bundle: {', '.join(missing)} is missing: "
            "is it whole, as the page made it?"
        )
    if sum(entry.file_size for entry in entries) > MAX_BUNDLE_BYTES:
        raise BadInput(f"{name}: holds more than {MAX_BUNDLE_BYTES / 1e6:g} MB")
    for entry in entries:
        is_photo = entry.filename in (*PHOTO_FILES, *MORE_PHOTO_FILES)
        if not is_photo and entry.file_size > MAX_TEXT_BYTES:
            raise BadInput(
                f"{name}: its {entry.filename} is larger than {MAX_TEXT_BYTES / 1e6:g} MB"
            )


def _read_member(entry: zipfile.ZipInfo, data: bytes) -> bytes:
    """A member's bytes without a check of its CRC, so that the caller can report which one was changed."""
    header = data[entry.header_offset : entry.header_offset + _ZIP_NAME_LENGTHS.size]
    if entry.compress_type != zipfile.ZIP_STORED or len(header) < _ZIP_NAME_LENGTHS.size:
        raise zipfile.BadZipFile("its files are compressed")
    name_length, extra_length = _ZIP_NAME_LENGTHS.unpack(header)
    start = entry.header_offset + _ZIP_NAME_LENGTHS.size + name_length + extra_length
    return data[start : start + entry.file_size]


@contextmanager
def extracted_to_folder(members: Mapping[str, bytes]) -> Iterator[None]:
    """Make a temporary folder with the bundle's files the working directory."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory(prefix="overruler-") as folder:
        for name, data in members.items():
            Path(folder, name).write_bytes(data)
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


def fingerprint(data: bytes) -> str:
    """The start of a bundle's SHA-256 in groups of three digits, to be read out."""
    digits = hashlib.sha256(data).hexdigest()[:FINGERPRINT_DIGITS]
    return " ".join(digits[k : k + 3] for k in range(0, FINGERPRINT_DIGITS, 3))
