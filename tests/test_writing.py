"""Files are written whole or not at all."""

import os
import socket
import stat
import threading
from pathlib import Path

import pytest

from overruler import writing
from overruler.apps.cli import main
from overruler.errors import BadInput
from overruler.reading import Node, files
from overruler.reading.files import read_bytes, read_text
from overruler.writing import check_writable, write_atomically
from tests.waiting import LONG_S


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


def test_what_a_name_leads_to_is_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A power cut after the renaming would else leave an empty file."""
    path, flushed = tmp_path / "a.txt", list[int]()
    fsync, replace = os.fsync, os.replace

    def flush(handle: int) -> None:
        flushed.append(os.fstat(handle).st_ino)
        fsync(handle)

    def rename(source: Path, target: Path) -> None:
        assert flushed[-1:] == [source.stat().st_ino]
        assert source.read_text() == "after"
        replace(source, target)

    monkeypatch.setattr(os, "fsync", flush)
    monkeypatch.setattr(os, "replace", rename)
    write_atomically(path, "after")
    write_atomically(path, "after")
    assert len(flushed) == 2


def test_a_file_is_as_open_as_any_other(tmp_path: Path) -> None:
    """A temporary file is its owner's alone; what it becomes is not."""
    old = os.umask(0o022)
    try:
        write_atomically(tmp_path / "a", "")
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o644


def test_writing_never_touches_the_mask_that_threads_share(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even for a moment: what another thread writes then would be anybody's to change."""
    monkeypatch.setattr(os, "umask", lambda mask: pytest.fail(f"set to {mask:o}"))
    write_atomically(tmp_path / "new", "1")
    write_atomically(tmp_path / "new", "2")
    assert (tmp_path / "new").read_text() == "2"


def test_a_private_file_stays_so_while_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("")
    path.chmod(0o600)
    with writing._replacing_file(path) as temporary:
        assert stat.S_IMODE(temporary.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("name", "said"), [(".", "is a folder"), ("nowhere/a.txt", "there is no folder")]
)
def test_what_cannot_be_written_is_known_before(name: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=said):
        check_writable(tmp_path / name)
    with pytest.raises(BadInput):
        write_atomically(tmp_path / name, "")
    assert not list(tmp_path.iterdir())


# --- links, modes, pipes, devices ---


def test_a_link_stays_one_and_its_file_is_written(tmp_path: Path) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (tmp_path / "link").symlink_to(Path("elsewhere", "file"))
    write_atomically(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (folder / "file").read_text() == "new"
    assert [path.name for path in folder.iterdir()] == ["file"]


def test_a_link_that_leads_back_to_itself_is_told_and_stays(tmp_path: Path) -> None:
    link, other = tmp_path / "a", tmp_path / "b"
    link.symlink_to("b")
    other.symlink_to("a")
    for write in (check_writable, lambda path: write_atomically(path, "new")):
        with pytest.raises(BadInput, match="leads back to itself"):
            write(link)
    assert link.is_symlink()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755])
def test_a_file_that_is_there_keeps_its_mode(mode: int, tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("old")
    path.chmod(mode)
    write_atomically(path, "new")
    assert (path.read_text(), stat.S_IMODE(path.stat().st_mode)) == ("new", mode)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_a_file_that_is_there_keeps_its_owner(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("old")
    os.chown(path, 12_345, 12_346)
    write_atomically(path, "new")
    assert (path.stat().st_uid, path.stat().st_gid) == (12_345, 12_346)


def test_a_write_protected_file_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a"
    path.write_text("old")
    true_access = os.access
    monkeypatch.setattr(
        os, "access", lambda name, mode: Path(name) != path and true_access(name, mode)
    )  # root may write everywhere
    with pytest.raises(BadInput, match="write-protected"):
        write_atomically(path, "new")
    with pytest.raises(BadInput, match="write-protected"):
        check_writable(path)
    assert path.read_text() == "old"


def test_a_device_is_written_to_and_stays_one() -> None:
    check_writable("/dev/null")
    write_atomically("/dev/null", "gone")
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)


def test_a_pipe_is_written_to_and_stays_one(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    check_writable(path)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(path.read_bytes()))
    reader.start()
    write_atomically(path, b"x" * 200_000)
    reader.join(LONG_S)
    assert read == [b"x" * 200_000]
    assert stat.S_ISFIFO(path.stat().st_mode)


def test_a_pipe_that_nobody_reads_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "PIPE_READER_WAIT_S", 0.2)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(BadInput, match="no program reads"):
        write_atomically(tmp_path / "pipe", "x")


def test_a_socket_is_nothing_to_write_to(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as line:
        line.bind(str(tmp_path / "line"))
        with pytest.raises(BadInput, match="name a file"):
            check_writable(tmp_path / "line")
        with pytest.raises(BadInput, match="name a file"):
            write_atomically(tmp_path / "line", "x")


def test_the_longest_name_that_a_file_can_have_is_written(tmp_path: Path) -> None:
    path = tmp_path / ("ä" * 127)
    write_atomically(path, "x")
    assert path.read_text() == "x"


# --- reading ---


def test_a_byte_order_mark_is_no_part_of_a_text(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_bytes(b'\xef\xbb\xbfname = "\xc3\xa4"\n')
    assert Node.of_toml(path)["name"].text() == "ä"
    path.write_bytes(b'\xef\xbb\xbf{"a": 1}')
    assert Node.of_json(read_text(path), "a")["a"].integer() == 1
    assert Node.of_json('\ufeff{"a": 1}', "a")["a"].integer() == 1


@pytest.mark.parametrize("mark", ["utf-16-le", "utf-16-be"])
def test_a_text_of_two_bytes_a_letter_is_read_by_its_mark(tmp_path: Path, mark: str) -> None:
    path = tmp_path / "a.toml"
    path.write_bytes('\ufeffname = "ä€"\n'.encode(mark))
    assert Node.of_toml(path)["name"].text() == "ä€"
    path.write_bytes('name = "ä"\n'.encode(mark))
    with pytest.raises(BadInput):
        Node.of_toml(path)


def test_letters_of_an_older_encoding_are_not_guessed(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_bytes(b'name = "\xe4"\n')
    with pytest.raises(BadInput, match="not UTF-8"):
        read_text(tmp_path / "a.toml")


def test_a_pipe_is_read_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    text = "0123456789" * 30_000
    writer = threading.Thread(target=lambda: path.write_text(text))
    writer.start()
    assert read_text(path) == text
    writer.join(LONG_S)


def test_a_pipe_into_which_nobody_writes_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "PIPE_WAIT_S", 0.2)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(BadInput, match="nothing came out of it"):
        read_text(tmp_path / "pipe")


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null", "/dev/random"])
def test_a_device_is_no_text(device: str) -> None:
    with pytest.raises(BadInput, match="is a device"):
        read_text(Path(device))


def test_no_more_is_read_than_may_be(tmp_path: Path) -> None:
    path = tmp_path / "large"
    with path.open("wb") as file:
        file.truncate(10**12)
    with pytest.raises(BadInput, match="larger than 1 MB"):
        read_bytes(path, 1_000_000)


@pytest.mark.parametrize("what", ["pipe", "/dev/zero"])
@pytest.mark.parametrize(
    "command",
    [
        ["measure", "FILE", "--marker-mm", "60"],
        ["measure", "photo.jpg", "--board", "FILE"],
        ["measure", "photo.jpg", "--marker-mm", "60", "--lens", "FILE"],
        ["ask", "FILE", "range a b"],
        ["settle", "FILE"],
        ["analyze", "FILE", "--marker-mm", "60", "--out", "out"],
        ["calibrate", "lens", "FILE", "--out", "lens.toml"],
        ["serve", "--board", "FILE", "--port", "0", "--store", "store"],
    ],
)
def test_no_command_hangs_on_a_pipe_or_a_device(
    what: str,
    command: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(files, "PIPE_WAIT_S", 0.2)
    os.mkfifo("pipe")
    assert main([what if word == "FILE" else word for word in command]) in (2, 3)
    (line,) = capsys.readouterr().err.splitlines()
    assert "pipe" in line or "device" in line


@pytest.mark.parametrize(
    "command",
    [
        ["measure", "a", "--marker-mm", "60"],
        ["measure", "photo.jpg", "--marker-mm", "60", "--scene", "a"],
        ["ask", "a", "range a b"],
        ["analyze", "a", "--marker-mm", "60", "--out", "out"],
    ],
)
def test_links_that_lead_round_in_a_circle_are_one_line(
    command: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a").symlink_to("b")
    Path("b").symlink_to("a")
    assert main(command) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "symbolic links" in line or "leads back to itself" in line
