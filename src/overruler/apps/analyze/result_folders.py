"""The folders of results: their names, and the films that each tells of."""

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from overruler.apps.analyze.companions import clips_in
from overruler.apps.analyze.segment import file_digest
from overruler.errors import BadInput
from overruler.reading import Node
from overruler.sources.folder import find_photos
from overruler.writing import make_folder, write_atomically

SEGMENTS_FOLDER = ".segments"
"""Folder inside a film's own for the segments that are done."""
SOURCE_FILE = ".source.json"
"""File inside a film's folder that says which film the results are of, by its path and its content."""
RESULT_FILES = (SOURCE_FILE, "scenes.jsonl", "report.html")
"""Files that every folder of results holds; those of earlier versions lack the first."""

MAX_JOINED_NAME = 100
"""Largest length of a folder's name that is made of several films' names."""


def folder_names(tables: Sequence[Sequence[Path]]) -> list[str]:
    """Name each table's folder by its films, without the ending; numbered where two are the same."""
    names: list[str] = []
    for films in tables:
        name = stem = _joined_stem(films)
        count = 1
        while name.casefold() in map(str.casefold, names):
            count += 1
            name = f"{stem}-{count}"
        names.append(name)
    return names


def _joined_stem(films: Sequence[Path]) -> str:
    stems = [Path(os.path.realpath(film)).stem or "film" for film in films]
    name = "+".join(stems)
    return name if len(name) < MAX_JOINED_NAME else f"{stems[0]}+{len(stems) - 1}"


@contextmanager
def result_folder(folder: Path) -> Iterator[Path]:
    """Make a folder of results; what is still empty of it when the work has failed is removed again."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    make_folder("--out", folder)
    try:
        yield folder
    finally:
        for path in (folder / SEGMENTS_FOLDER, *missing):
            with suppress(OSError):  # it is not there, or something is in it
                path.rmdir()


# --- what a folder tells of ---


def write_source(folder: Path, films: Sequence[Path]) -> None:
    """Note which films the results in a folder are of; none are a broadcast's."""
    records = [{"file": os.path.realpath(film), "digest": _digest(film)} for film in films]
    write_atomically(folder / SOURCE_FILE, json.dumps({"films": records}) + "\n")


def check_nothing_lost(folder: Path, films: Sequence[Path]) -> None:
    """Raise `BadInput` where the results of `films` would replace others', or a film itself."""
    clips = [path for path in clips_in(folder) if path.exists()]
    for film in films:
        if film.exists() and any(clip.samefile(film) for clip in clips):
            raise BadInput(
                f"--out: {film}: lies where clips are written, and would be lost: "
                "name another folder"
            )
    others = _other_source(folder, films) if all(film.exists() for film in films) else None
    if others is not None:
        own = " and ".join(map(str, films))
        raise BadInput(
            f"--out: {folder}: holds the results of {others}, which those of {own} would replace: "
            "name another folder"
        )


def check_no_results(option: str, folder: Path) -> None:
    """Raise `BadInput` where a folder holds results already."""
    if any((folder / name).exists() for name in RESULT_FILES):
        raise BadInput(
            f"{option}: {folder}: holds the results of an earlier broadcast or film, "
            "which would be lost: name an empty folder"
        )


def _other_source(folder: Path, films: Sequence[Path]) -> str | None:
    """What the results in a folder are of; None where it is these films, or where no note can be read."""
    try:
        films_there = Node.of_json_file(folder / SOURCE_FILE)["films"].items()
        known = [(one["file"].text(), one.get("digest", Node.text, None)) for one in films_there]
    except BadInput:
        return None
    if len(known) == len(films) and all(map(_is_same, films, known)):
        return None
    return " and ".join(file for file, _ in known) or "a broadcast"


def _is_same(film: Path, known: tuple[str, str | None]) -> bool:
    """Whether a film is the known one: it lies there, or has the same content."""
    file, digest = known
    return os.path.realpath(film) == file or (digest is not None and _digest(film) == digest)


def _digest(film: Path) -> str | None:
    """Hash of a film's content, or of a folder's photos; None where it cannot be read."""
    try:
        photos = find_photos(film) if film.is_dir() else [film]
        return "+".join(map(file_digest, photos))
    except (OSError, BadInput):
        return None
