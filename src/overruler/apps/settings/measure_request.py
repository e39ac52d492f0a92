"""The options of `overruler measure`, typed, before any file is read.

Argparse makes such a record of the command line, and the server makes one of an upload.
`measure.load_options` reads and checks what it names.
"""

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class MeasureRequest:
    """One measurement, as it is asked for. Every field but `photo` is the option of its name."""

    photo: Path = Path()
    """The photo; an upload's is set once its format is known."""
    more: tuple[Path, ...] = ()
    """Further photos of the same table, by any cameras."""
    beside: tuple[Path, ...] = ()
    """Other photos by the same camera."""
    board: Path | None = None
    """Board file."""
    marker_mm: float | None = None
    """Side of the markers' black squares."""
    point: tuple[str, ...] = ()
    """Points as text: `U,V=X,Y`, pixels and mm."""
    dictionary: str | None = None
    lens: Path | None = None
    """Lens file."""
    lens_of_photo: tuple[str, ...] = ()
    """Lens files of single photos as text: `NUMBER=LENS.toml`, counted from 1."""
    game: str | None = None
    terrain: Path | None = None
    """Terrain file."""
    flat: bool = False
    """Whether the table has no raised ground but the declared one."""
    fix: Path | None = None
    """Fix file."""
    taught: Path | None = None
    """File of what corrections taught."""
    bases: str | None = None
    """Sizes in mm and names of own bases, with commas between."""
    own_base: tuple[str, ...] = ()
    """Each as text: `NAME=SIZE`."""
    player: tuple[str, ...] = ()
    """Each as text: `SIGN=NAME`."""
    house_rule: tuple[str, ...] = ()
    """Each as text: `GAME.SETTING=true`."""
    units: str | None = None
    """Unit that lengths are told in: mm or in."""
    ask: tuple[str, ...] = ()
    """Questions as JSON text."""
    scene: Path | None = None
    """Scene file to write."""
    picture: Path | None = None
    """Annotated photo to write."""
    doubt: Path | None = None
    """Map of the precision to write."""
    geojson: Path | None = None
    """File of the areas to write."""
    csv: Path | None = None
    """File of the pieces to write, as a table."""
    json: bool = False
    """Whether to print the scene only."""

    @classmethod
    def from_namespace(cls, args: argparse.Namespace) -> "MeasureRequest":
        """Take the options that a parser has; those that it lacks keep their defaults."""
        options = dict(vars(args))
        if isinstance(options.get("photo"), list):
            first, *more = options["photo"]
            options |= {"photo": first, "more": more}
        given = {each.name: options[each.name] for each in fields(cls) if each.name in options}
        return cls(**{name: _frozen(value) for name, value in given.items()})

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "MeasureRequest":
        """Read what `to_json` wrote."""
        given = {name: _frozen(value) for name, value in data.items()}
        for name in _FILE_FIELDS & given.keys():
            given[name] = Path(given[name])
        for name in _FILE_LIST_FIELDS:
            given[name] = tuple(map(Path, given.get(name, ())))
        return cls(**given)

    def to_json(self) -> dict[str, Any]:
        """The options that differ from their defaults, as JSON values."""
        data = {"photo": str(self.photo)}
        return data | {name: _json_value(value) for name, value in self._given_options()}

    def to_arguments(self) -> tuple[str, ...]:
        """The arguments of `overruler measure` that ask for the same."""
        arguments = [str(self.photo), *map(str, self.more)]
        for name, value in self._given_options():
            if name == "more":
                continue
            option = f"--{name.replace('_', '-')}"
            if value is True:
                arguments.append(option)
                continue
            values = value if isinstance(value, tuple) else (value,)
            arguments += [f"{option}={each}" for each in values]
        return tuple(arguments)

    def in_folder(self, folder: Path) -> "MeasureRequest":
        """The same, with the paths of its files relative to a folder."""
        files = {name: getattr(self, name) for name in _FILE_FIELDS}
        paths: dict[str, Any] = {}
        for name, path in files.items():
            if path is not None:
                paths[name] = folder / path
        for name in _FILE_LIST_FIELDS:
            paths[name] = tuple(folder / path for path in getattr(self, name))
        lenses = [text.partition("=") for text in self.lens_of_photo]
        moved = tuple(f"{number}={folder / path}" for number, _, path in lenses)
        return replace(self, **paths, lens_of_photo=moved)

    def _given_options(self) -> Iterator[tuple[str, Any]]:
        for each in fields(self):
            value = getattr(self, each.name)
            if each.name != "photo" and value != each.default:
                yield each.name, value


_FILE_FIELDS = {
    *("photo", "board", "lens", "terrain", "fix", "taught"),
    *("scene", "picture", "doubt", "geojson", "csv"),
}
"""Fields that hold one path."""
_FILE_LIST_FIELDS = ("more", "beside")
"""Fields that hold any number of paths."""


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _json_value(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_json_value(each) for each in value]
    return str(value) if isinstance(value, Path) else value
