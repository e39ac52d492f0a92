"""Files are written whole or not at all."""

import os
import stat
from pathlib import Path

import pytest

from overruler.errors import BadInput
from overruler.writing import check_writable, write_atomically


def test_text_and_bytes_arrive_and_replace(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    write_atomically(path, "± 0.3\n")
    assert path.read_bytes() == "± 0.3\n".encode()
    write_atomically(path, b"\x00\xff")
    assert path.read_bytes() == b"\x00\xff"
    assert list(tmp_path.iterdir()) == [path]


def test_a_failed_write_leaves_what_was_there_and_nothing_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.txt"
    path.write_text("before")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(BadInput, match="No space left"):
        write_atomically(path, "after")
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_is_as_open_as_any_other(tmp_path: Path) -> None:
    """A temporary file is its owner's alone; what it becomes is not."""
    old = os.umask(0o022)
    try:
        write_atomically(tmp_path / "a", "")
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o644


@pytest.mark.parametrize(
    ("name", "said"), [(".", "is a folder"), ("nowhere/a.txt", "there is no folder")]
)
def test_what_cannot_be_written_is_known_before(name: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=said):
        check_writable(tmp_path / name)
    with pytest.raises(BadInput):
        write_atomically(tmp_path / name, "")
    assert not list(tmp_path.iterdir())
