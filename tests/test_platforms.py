"""The program starts where POSIX is missing: Windows cannot be run here, but what it lacks can be taken away."""

import subprocess
import sys
from pathlib import Path

import pytest

WITHOUT_POSIX = """
import os, select, signal, sys

POSIX_MODULES = ("fcntl", "resource", "pwd", "grp", "termios", "tty", "pty")
for name in POSIX_MODULES:
    sys.modules[name] = None
for name in ("O_NONBLOCK", "O_NOCTTY", "O_CLOEXEC", "O_DIRECTORY", "O_NOFOLLOW", "nice", "fork", "chown",
             "geteuid", "getuid", "getgid", "mkfifo", "killpg", "setsid", "sched_getaffinity"):
    if hasattr(os, name):
        delattr(os, name)
for module, names in ((select, ("poll", "epoll")), (signal, ("SIGKILL", "SIGHUP", "SIGUSR1", "SIGALRM"))):
    for name in names:
        if hasattr(module, name):
            delattr(module, name)
"""
"""Takes away what Windows lacks; the standard library's own `subprocess` is loaded before."""
SCENE = (
    '{"schema": "overruler/scene/1", "game": "legion", "board": {"width_mm": 900, "height_mm": 900},'
    '"pieces": [{"id": "a", "base": {"shape": "circle", "diameter_mm": 27}, "x_mm": 100, "y_mm": 100},'
    '{"id": "b", "base": {"shape": "circle", "diameter_mm": 27}, "x_mm": 327, "y_mm": 100}]}'
)


def run_without_posix(code: str, folder: Path) -> str:
    """What a program prints that runs without POSIX."""
    program = (
        f"import subprocess, tempfile, pathlib, multiprocessing.connection\n{WITHOUT_POSIX}\n{code}"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def test_a_scene_is_read_and_a_question_answered(tmp_path: Path) -> None:
    (tmp_path / "scene.json").write_text(SCENE)
    code = "from overruler.apps.cli import main\nraise SystemExit(main(['ask', 'scene.json', 'range a b']))"
    assert '"distance_mm": 200' in run_without_posix(code, tmp_path)


def test_files_are_written_whole(tmp_path: Path) -> None:
    code = (
        "from overruler.writing import write_atomically\n"
        "write_atomically('a.txt', 'first'); write_atomically('a.txt', 'second')\n"
        "print(open('a.txt').read())"
    )
    assert run_without_posix(code, tmp_path).strip() == "second"


def test_every_module_is_imported(tmp_path: Path) -> None:
    """All that need no library of POSIX itself; a missing extra is no fault of the platform."""
    pytest.importorskip("starlette")
    code = (
        "import importlib, pkgutil, overruler\n"
        "failed = {}\n"
        "for module in pkgutil.walk_packages(overruler.__path__, 'overruler.'):\n"
        "    if module.name.endswith('__main__'): continue\n"
        "    try: importlib.import_module(module.name)\n"
        "    except Exception as error: failed[module.name] = repr(error)\n"
        "print(failed)"
    )
    assert run_without_posix(code, tmp_path).strip() == "{}"


def test_a_console_without_our_signs_prints_the_rest(tmp_path: Path) -> None:
    """A pipe of an old Windows has no arrows and no plus-minus: they become question marks."""
    (tmp_path / "scene.json").write_text(SCENE)
    command = [sys.executable, "-m", "overruler", "rules", "legion"]
    environment = {
        "PYTHONIOENCODING": "ascii",
        "PATH": "",
        "OVERRULER_CONFIG": "",
        "PYTHONUTF8": "0",
    }
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, env=environment, timeout=300)
    assert done.returncode == 0, done.stderr
    assert b"Legion" in done.stdout
