"""The photos that a command line names: files, patterns that no shell has expanded, folders."""

from collections.abc import Iterable, Iterator, Sequence
from glob import glob
from pathlib import Path

from overruler.errors import BadInput
from overruler.sources.folder import find_films, find_photos, photos_in

NO_PHOTO = "no photo is named: name a PHOTO, a folder of photos, or --watch FOLDER"
"""What is said where a command line names no photo."""
PATTERN_SIGNS = "*?["
"""What makes a name a pattern, where no file has that name."""
NAME_FIELD = "{name}"
"""Stands for the photo's name in the name of a file to write."""
PER_PHOTO_OUTPUTS = ("scene", "picture", "doubt", "geojson")
"""Outputs of which each photo has one."""
STILL_POLLS = 2
"""A photo has landed when this many looks in a row find it with the same size and time."""

FileState = tuple[int, int]
"""Size in bytes, and time of the last change in ns."""


def expand_patterns(paths: Iterable[Path]) -> list[Path]:
    """The paths with each pattern replaced by the files that it stands for, in order.

    Raises `BadInput` where a pattern stands for none.
    """
    return [path for given in paths for path in _expanded(given)]


def _expanded(path: Path) -> list[Path]:
    text = str(path)
    if path.exists() or not any(sign in text for sign in PATTERN_SIGNS):
        return [path]
    found = sorted(map(Path, glob(text)))
    if not found:
        raise BadInput(f"{text}: no file is named so: check the folder and the ending")
    return found


def photos_of(paths: Sequence[Path]) -> list[Path]:
    """The photos of files, patterns and folders, each once; `BadInput` where there are none."""
    photos: dict[Path, None] = {}
    for path in expand_patterns(paths):
        photos.update(dict.fromkeys(photos_in(path) if path.is_dir() else [path]))
    return list(photos)


def named_for(pattern: Path | None, photo: Path) -> Path | None:
    """The file to write for a photo: the pattern with the photo's name in it."""
    return pattern and Path(str(pattern).replace(NAME_FIELD, photo.stem))


def check_name_fields(outputs: Iterable[tuple[str, Path | None]], photos: Sequence[Path]) -> None:
    """Raise `BadInput` where many photos would write one file."""
    for option, pattern in outputs:
        if pattern is None:
            continue
        if NAME_FIELD not in str(pattern):
            example = pattern.with_name(f"{NAME_FIELD}{pattern.suffix}")
            raise BadInput(
                f"{option}: every photo needs a file of its own: write {NAME_FIELD} for the "
                f"photo's name, '{example}' say"
            )
        names = PhotoNames()
        for photo in photos:
            names.take(photo)


class PhotoNames:
    """The names after which files are written: a photo's name has one photo."""

    __slots__ = ("_first",)

    def __init__(self, known: Iterable[Path] = ()) -> None:
        """`known` are photos that have their names already; of two with one name the first has it."""
        self._first: dict[str, Path] = {}
        for photo in known:
            self._first.setdefault(photo.stem.casefold(), photo)

    def take(self, photo: Path) -> None:
        """Give a photo its name; `BadInput` where another photo has it, in letters of any case."""
        other = self._first.setdefault(photo.stem.casefold(), photo)
        if other != photo:
            raise BadInput(f"{other} and {photo} have one name: rename one, so that both are kept")


class FolderWatch:
    """Finds the photos that land in a folder, each once it stands still."""

    __slots__ = ("_done", "_films", "_handed_on", "_seen", "folder")

    def __init__(self, folder: Path) -> None:
        """What lies in the folder now counts as old."""
        self.folder = folder
        self._done = dict(self._states())
        self._films = set(find_films(folder))
        self._seen: dict[Path, tuple[FileState, int]] = {}
        self._handed_on: set[Path] = set()

    def poll(self) -> list[Path]:
        """The photos that are new, or were replaced, and have stood still for some looks."""
        ready = []
        for path, state in sorted(self._states()):
            if self._done.get(path) == state:
                continue
            before, looks = self._seen.get(path, (state, 0))
            looks = looks + 1 if before == state else 1
            self._seen[path] = (state, looks)
            if looks >= STILL_POLLS:
                self._done[path] = state
                del self._seen[path]
                ready.append(path)
        self._handed_on.update(ready)
        return ready

    def new_films(self) -> list[Path]:
        """The films that have landed, each once, which nobody measures."""
        films = [film for film in find_films(self.folder) if film not in self._films]
        self._films.update(films)
        return films

    def mark_measured(self, path: Path) -> None:
        """Say that a photo which `poll` handed on is measured, or cannot be."""
        self._handed_on.discard(path)

    def waiting(self) -> list[Path]:
        """The photos that have landed and are not measured, those that still grow included."""
        return [
            path
            for path, state in self._states()
            if path in self._handed_on or self._done.get(path) != state
        ]

    def _states(self) -> Iterator[tuple[Path, FileState]]:
        for path in find_photos(self.folder):
            try:
                known = path.stat()
            except OSError:  # it was taken away meanwhile
                continue
            if known.st_size:
                yield path, (known.st_size, known.st_mtime_ns)
