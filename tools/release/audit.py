#!/usr/bin/env python3
"""Is any vulnerability known of what a user installs? It asks pip-audit, which asks PyPI.

    uv run tools/release/audit.py

The exit status is 0 where none is known, 1 where one is, and 3 where nobody could be asked: without
a network or pip-audit nothing is audited, and the line says so. A release needs a 0.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from release.locked import Locked, locked_packages

TIMEOUT_S = 300.0
"""Longest time for the questions, in s."""
OWN_UVX = Path(__file__).parents[2] / ".uv" / "bin" / "uvx"
"""Where tools/run puts uv if the machine has none."""
REMEDY = "try again with a network, and pip-audit or uv"


class NotAudited(Exception):
    """Nobody could be asked."""


def auditor() -> list[str]:
    """The command that runs pip-audit; `NotAudited` if there is none."""
    if find_spec("pip_audit"):
        return [sys.executable, "-m", "pip_audit"]
    if own := shutil.which("pip-audit"):
        return [own]
    uvx = shutil.which("uvx") or (str(OWN_UVX) if OWN_UVX.exists() else None)
    if uvx is None:
        raise NotAudited("pip-audit is not installed")
    return [uvx, "pip-audit"]


def ask(command: Sequence[str], packages: Sequence[Locked]) -> list[Any]:
    """What pip-audit knows of each package; `NotAudited` if it gives no answer."""
    with tempfile.TemporaryDirectory() as folder:
        listed = Path(folder) / "requirements.txt"
        listed.write_text("".join(f"{each.name}=={each.version}\n" for each in packages))
        options = ["--requirement", str(listed), "--no-deps", "--disable-pip", "--format", "json"]
        try:
            done = subprocess.run(
                [*command, *options, "--progress-spinner", "off"],
                capture_output=True,
                text=True,
                timeout=TIMEOUT_S,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise NotAudited(f"pip-audit gives no answer ({type(error).__name__})") from None
    try:
        return list(json.loads(done.stdout)["dependencies"])
    except (ValueError, KeyError):
        said = done.stderr.strip().splitlines() or ["it said nothing"]
        raise NotAudited(f"pip-audit gives no answer ({said[-1][:200]})") from None


def known_problems(answers: Sequence[Any]) -> list[str]:
    """A line for each vulnerability; `NotAudited` if some package was not looked at."""
    skipped = [one["name"] for one in answers if "skip_reason" in one]
    if skipped:
        raise NotAudited(f"PyPI tells nothing of {len(skipped)} packages: {skipped[0]}, ...")
    lines = []
    for one in answers:
        for found in one.get("vulns", []):
            fixed = ", ".join(found["fix_versions"]) or "no version yet"
            lines.append(f"{one['name']} {one['version']}: {found['id']}, mended in {fixed}")
    return lines


def audit(packages: Sequence[Locked]) -> list[str]:
    """Every known problem; versions of one package are asked for one after another."""
    rounds: list[dict[str, Locked]] = []
    for package in packages:
        free = next((one for one in rounds if package.name not in one), None)
        if free is None:
            rounds.append(free := {})
        free[package.name] = package
    command = auditor()
    return [line for one in rounds for line in known_problems(ask(command, list(one.values())))]


def main() -> int:
    packages = locked_packages()
    try:
        lines = audit(packages)
    except NotAudited as error:
        print(f"not audited: {error}: {REMEDY}", file=sys.stderr)
        return 3
    print(f"{len(packages)} packages: {len(lines)} known vulnerabilities")
    print(*lines, sep="\n", end="\n" if lines else "")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
