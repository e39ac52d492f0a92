"""The packages that a user installs, as the lock file names them."""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PROJECT = "overruler"
LOCK = Path(__file__).parents[2] / "uv.lock"


@dataclass(frozen=True, slots=True, order=True)
class Locked:
    """A package in the version that is locked."""

    name: str
    version: str
    url: str = ""
    """Address of its source distribution; empty where it has none."""
    sha256: str = ""
    """Checksum of that."""

    @property
    def purl(self) -> str:
        """Its package URL."""
        return f"pkg:pypi/{self.name}@{self.version}"


def locked_packages(lock: Path = LOCK) -> list[Locked]:
    """Every package that the project or one of its extras needs, in every version, in order.

    Packages for development, training and documents are left out: nobody installs them.
    """
    packages = tomllib.loads(lock.read_text("utf-8"))["package"]
    by_name: dict[str, list[Mapping[str, Any]]] = {}
    for package in packages:
        by_name.setdefault(package["name"], []).append(package)
    needed = _reachable(by_name)
    found = [_locked(each) for name in needed for each in by_name[name]]
    return sorted(found)


def _reachable(by_name: Mapping[str, Iterable[Mapping[str, Any]]]) -> set[str]:
    waiting, needed = [PROJECT], {PROJECT}
    while waiting:
        for package in by_name[waiting.pop()]:
            new = _needed_names(package) - needed
            needed |= new
            waiting += new
    return needed - {PROJECT}


def _needed_names(package: Mapping[str, Any]) -> set[str]:
    extras = package.get("optional-dependencies", {}).values()
    lists = [package.get("dependencies", []), *extras]
    return {each["name"] for one in lists for each in one}


def _locked(package: Mapping[str, Any]) -> Locked:
    source = package.get("sdist", {})
    checksum = source.get("hash", "").removeprefix("sha256:")
    return Locked(package["name"], package["version"], source.get("url", ""), checksum)
