"""Moving pictures: how they are encoded, and those that are drawn of a ruling or for a stream."""

from importlib.util import find_spec
from pathlib import Path

from overruler.errors import MissingExtra

FILM_ENDINGS = (".gif", ".webm")
"""The endings of file names that a short film can be written to."""


def check_film_ending(path: Path) -> None:
    """Raise `MissingExtra` where a film with the path's ending needs what is not installed."""
    if path.suffix.lower() == ".webm" and find_spec("av") is None:
        raise MissingExtra.with_install_hint("WebM needs PyAV; a GIF does not", "video")
