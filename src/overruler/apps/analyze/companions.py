"""What lies beside a film's page: the film itself and the clips, by addresses relative to the page."""

import os
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from overruler.writing import remove_file

CLIP_KINDS = ("gif", "webm")
"""The kinds of clips: the endings of their names."""
CLIPS_FOLDER = "clips"
"""Folder inside a film's own for the clips."""
_CLIP_NAME = re.compile(rf"\d{{3,}}\.({'|'.join(CLIP_KINDS)})")


@dataclass(frozen=True, slots=True)
class Companions:
    """The files that the page shows where they are there."""

    films: tuple[str, ...] = ()
    """Addresses at which the film may be, the likeliest first."""
    clips: tuple[str, ...] = ()
    """The address of each move's clip; empty where there is none."""
    media: Path | None = None
    """The film itself, for film editors; None for photos and broadcasts."""


NO_COMPANIONS = Companions()
"""A page that stands alone."""


def clips_in(folder: Path) -> list[Path]:
    """The files in a film's folder that have a clip's place and name."""
    return [path for path in (folder / CLIPS_FOLDER).glob("*") if _CLIP_NAME.fullmatch(path.name)]


def remove_clips(folder: Path, but: Sequence[str] = ()) -> None:
    """Remove the clips of an earlier run from a film's folder, but not those of these names."""
    for path in clips_in(folder):
        if path.name not in but:
            remove_file(path)
    with suppress(OSError):  # it is not there, or something else is in it
        (folder / CLIPS_FOLDER).rmdir()


def film_addresses(folder: Path, films: Sequence[Path]) -> tuple[str, ...]:
    """Where a page in `folder` looks for the films: where they are, and beside the page."""
    where = [relative_address(folder, film) for film in films]
    beside = [_quote_path(film.name) for film in films]
    return tuple(dict.fromkeys(address for address in (*where, *beside) if address))


def relative_address(folder: Path, target: Path) -> str:
    """The way from a folder to a file; empty where the two share no folder but the root.

    Such a way would tell strangers where this machine keeps its files.
    """
    here, there = os.path.abspath(folder), os.path.abspath(target)
    try:
        shared = os.path.commonpath([here, there])
    except ValueError:  # two drives
        return ""
    if shared == os.path.dirname(shared):
        return ""
    return _quote_path(Path(os.path.relpath(there, here)).as_posix())


def _quote_path(path: str) -> str:
    return quote(os.fsencode(path))
