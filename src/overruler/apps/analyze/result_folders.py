"""The names of the folders of results."""

import os
from collections.abc import Sequence
from pathlib import Path

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
