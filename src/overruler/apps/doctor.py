"""`overruler doctor`: what is installed, what is missing, and the commands that mend it."""

import argparse
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, distributions, requires, version

from overruler.errors import explain_import_error, install_command
from overruler.picture import selftest

SUPPORTED = ((3, 11), (3, 13))
"""The oldest and the newest Python that the program is tested with."""
OPENCV = "opencv-python"
"""The distribution of OpenCV that the program requires."""
EXTRA_OF_ALL = "all"
"""The extra that includes all others."""
LEVEL_MARKS = {"ok": "[green]ok[/]", "warn": "[yellow]warn[/]", "fail": "[bold red]FAIL[/]"}


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the doctor's table."""

    level: str
    """`ok`, `warn` (the program runs without something) or `fail`."""
    what: str
    """The subject of the check."""
    found: str
    """Its result."""
    remedy: str = ""
    """What to do."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add no arguments."""


def run(args: argparse.Namespace) -> int:
    findings = list(run_checks())
    _print_findings(findings)
    return int(any(finding.level == "fail" for finding in findings))


def run_checks() -> Iterator[Finding]:
    """Run every check in turn."""
    yield check_python(sys.version_info[:3])
    yield from check_libraries(requires("overruler") or [])
    yield check_wheels([found.metadata["Name"] or "" for found in distributions()])
    opencv = run_check(
        "OpenCV loads", selftest.check_opencv, f"pip install --force-reinstall {OPENCV}"
    )
    yield opencv
    if opencv.level == "ok":
        upgrade = "pip install --upgrade 'opencv-python>=4.13'"
        yield run_check("markers", selftest.check_aruco, upgrade)
        for name in selftest.ENDING_BY_FORMAT:
            other_format = f"save photos in another format than {name}"
            yield run_check(name, partial(selftest.check_codec, name), other_format)
    yield run_check("networks", _check_networks, "pip install --force-reinstall onnxruntime")
    yield run_check("lettering", selftest.check_font, "pip install --force-reinstall resvg-py")


def _check_networks() -> str:
    """Run one of the neural networks."""
    import numpy as np

    from overruler.vision.learned import disc_net
    from overruler.vision.learned.inference import infer_batch

    infer_batch(disc_net.MODEL, np.zeros((1, 5, 64, 64), np.float32))
    return "the learned looks answer"


def check_python(running: tuple[int, ...]) -> Finding:
    oldest, newest = (".".join(map(str, pair)) for pair in SUPPORTED)
    shown = ".".join(map(str, running))
    if SUPPORTED[0] <= running[:2] <= SUPPORTED[1]:
        return Finding("ok", "Python", shown)
    return Finding("warn", "Python", shown, f"tested on {oldest} to {newest}: install one of those")


def check_libraries(requirements: list[str]) -> Iterator[Finding]:
    """Check the requirements in the program's metadata; a missing library of an extra only warns."""
    for requirement in requirements:
        name = re.split(r"[^A-Za-z0-9._-]", requirement, maxsplit=1)[0]
        extra = re.search(r"extra\s*==\s*['\"]([^'\"]+)", requirement)
        if extra is None or extra[1] != EXTRA_OF_ALL:
            yield _check_library(name, extra[1] if extra else None)


def _check_library(name: str, extra: str | None) -> Finding:
    candidates = (name, f"{name}-headless") if name == OPENCV else (name,)
    for candidate in candidates:
        try:
            return Finding("ok", candidate, version(candidate))
        except PackageNotFoundError:
            continue
    if extra:
        return Finding("warn", name, "not installed", install_command(extra))
    return Finding("fail", name, "not installed", f"pip install {name}")


def check_wheels(installed: list[str]) -> Finding:
    """Check that one OpenCV wheel at most is installed: two overwrite each other's files."""
    wheels = sorted({name.lower().replace("_", "-") for name in installed} & OPENCV_WHEELS)
    if len(wheels) < 2:
        return Finding("ok", "OpenCV wheels", wheels[0] if wheels else "none")
    remedy = f"keep one: pip uninstall -y {' '.join(wheels)} && pip install {OPENCV}"
    return Finding("fail", "OpenCV wheels", ", ".join(wheels), remedy)


OPENCV_WHEELS = {
    *(OPENCV, f"{OPENCV}-headless"),
    *("opencv-contrib-python", "opencv-contrib-python-headless"),
}
"""All distributions of OpenCV."""


def run_check(what: str, check: Callable[[], str], remedy: str) -> Finding:
    """Run a check; an exception becomes a finding."""
    try:
        return Finding("ok", what, check())
    except ImportError as error:
        known = explain_import_error(error)
        return Finding("fail", what, _one_line(error), str(known) if known else remedy)
    except Exception as error:  # a broken library may raise anything
        return Finding("fail", what, _one_line(error), remedy)


def _one_line(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:160]


def _print_findings(findings: list[Finding]) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table("", "checked", "found", "remedy", box=None, header_style="bold", pad_edge=False)
    for finding in findings:
        # an extra's name stands in square brackets, as markup does
        told = (escape(text) for text in (finding.what, finding.found, finding.remedy))
        table.add_row(LEVEL_MARKS[finding.level], *told)
    Console().print(table)
    Console(soft_wrap=True, highlight=False).print(f"\n{summarize_findings(findings)}")


def summarize_findings(findings: list[Finding]) -> str:
    """The findings in one sentence."""
    failures = [finding.what for finding in findings if finding.level == "fail"]
    warnings = [finding.what for finding in findings if finding.level == "warn"]
    if failures:
        return f"Overruler cannot work here before this is mended: {', '.join(failures)}."
    if warnings:
        return f"Overruler works; not all of it is there: {', '.join(warnings)}."
    return "Overruler works, and all of it is there."
