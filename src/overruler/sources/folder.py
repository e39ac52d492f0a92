"""A folder of photos as a film: one a turn, in the order that their names count."""

import re
from pathlib import Path

from overruler.errors import BadInput

ENDINGS = (".jpg", ".jpeg", ".png", ".webp", ".tif", ".tiff", ".heic", ".heif")


def photos_in(folder: Path) -> list[Path]:
    """The photos in a folder: turn 2 before turn 10. `BadInput` where there is none."""
    try:
        found = [
            path for path in folder.iterdir() if path.suffix.lower() in ENDINGS and path.is_file()
        ]
    except OSError as error:
        raise BadInput(f"{folder}: cannot be read: {error.strerror or error}") from None
    if not found:
        raise BadInput(f"{folder}: holds no photos ({', '.join(ENDINGS)})")
    return sorted(
        found,
        key=lambda path: [
            int(part) if part.isdecimal() else part for part in _natural_sort_parts(path.name)
        ],
    )


def _natural_sort_parts(name: str) -> list[str]:
    """A name in runs of letters and digits, letters first: numbers are only ever compared with numbers."""
    return re.split(r"([0-9]+)", name.lower())
