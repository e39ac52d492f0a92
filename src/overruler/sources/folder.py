"""A folder of photos as a film: one photo a turn, in the order of the numbers in their names."""

import re
from collections.abc import Sequence
from pathlib import Path

from overruler.errors import BadInput

ENDINGS = (".jpg", ".jpeg", ".png", ".webp", ".tif", ".tiff", ".heic", ".heif")
FILM_FILE_ENDINGS = (
    *(".mp4", ".mov", ".m4v", ".mkv", ".webm", ".avi", ".mpg", ".mpeg", ".3gp", ".ts", ".mts"),
)
"""How the names of films end."""


def photos_in(folder: Path) -> list[Path]:
    """Return the photos in a folder, turn 2 before turn 10; raises `BadInput` if there are none."""
    photos = find_photos(folder)
    if not photos:
        films = "; name its films one by one" if find_films(folder) else ""
        raise BadInput(f"{folder}: holds no photos ({', '.join(ENDINGS)}){films}")
    return photos


def find_photos(folder: Path) -> list[Path]:
    """Return the photos in a folder, as `photos_in` sorts them; there may be none."""
    return _find_files(folder, ENDINGS)


def find_films(folder: Path) -> list[Path]:
    """Return the films in a folder by their names, sorted in the same way; there may be none."""
    return _find_files(folder, FILM_FILE_ENDINGS)


def _find_files(folder: Path, endings: Sequence[str]) -> list[Path]:
    try:
        found = [path for path in folder.iterdir() if _is_one(path, endings)]
    except OSError as error:
        raise BadInput(f"{folder}: cannot be read: {error.strerror or error}") from None
    return sorted(found, key=_natural_sort_key)


def _is_one(path: Path, endings: Sequence[str]) -> bool:
    hidden = path.name.startswith(".")  # as macOS and uploads leave them
    return path.suffix.lower() in endings and not hidden and path.is_file()


def _natural_sort_key(path: Path) -> list[str | int]:
    """Return a name's runs of letters and digits; letters come first, so like meets like."""
    parts = re.split(r"([0-9]+)", path.name.lower())
    return [int(part) if part.isdecimal() else part for part in parts]
