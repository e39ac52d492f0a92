"""The servers are asked all that their own descriptions allow, and more: nothing but what is described comes back."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from overruler.apps.web.guard import AccessPolicy
from overruler.apps.web.phone import app as application
from overruler.apps.web.phone.app import Settings, make_app
from tests.apps.web.desk import Ready
from tests.apps.web.live_table import Table, air, served, serving, until

pytest.importorskip("schemathesis")

KEY = "the key"
ABOUT_SOME_TABLE = "/(ask|advice|photos|fixes|bands|arcs|bundle|picture|do/.*|fix|overlay.webm)$"
"""What can be asked there depends on the table: no document can say so, and 409 or 422 is then the answer."""
CONFIG = f"""
[[operations]]
include-path-regex = "{ABOUT_SOME_TABLE}"
[operations.checks.positive_data_acceptance]
expected-statuses = ["2xx", 404, 409, 412, 422, 503]
"""


def fuzzed(address: str, folder: Path, seed: int) -> str:
    """What the fuzzer has to say of a server; empty where it is content."""
    config = folder / "schemathesis.toml"
    config.write_text(CONFIG)
    told = [
        "-H",
        f"Authorization: Bearer {KEY}",
        "-c",
        "all",
        "-n",
        "2",
        "--seed",
        str(seed),
        "--continue-on-failure",
    ]
    asked = ["--phases", "coverage,fuzzing,stateful", "--max-time", "5", "--warnings", "off", *told]
    program = [
        sys.executable,
        "-m",
        "schemathesis.cli",
        "--config-file",
        str(config),
        "run",
        address,
        *asked,
    ]
    own = os.environ | {
        "SCHEMATHESIS_HOOKS": "tests.apps.web.fuzz_hooks",
        "PYTHONPATH": str(Path(__file__).parents[3]),
    }
    done = subprocess.run(program, cwd=folder, env=own, capture_output=True, text=True, timeout=600)
    return done.stdout + done.stderr if done.returncode else ""


@pytest.fixture
def phones(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[str]:
    monkeypatch.setattr(application, "WorkerPool", Ready)
    door = AccessPolicy(frozenset({"localhost"}), KEY)
    with serving(make_app(Settings(tmp_path / "store", door))) as (home, _):
        yield home


def test_the_server_for_phones_does_as_it_is_described(phones: str, tmp_path: Path) -> None:
    told = fuzzed(f"{phones}/api/openapi.json", tmp_path, seed=1)
    assert not told, told


def test_the_live_server_does_as_it_is_described(tmp_path: Path) -> None:
    found = air(Table(), AccessPolicy(frozenset({"localhost"}), KEY), "another")
    with served(found) as (home, _):
        until(lambda: found.desk.scene() is not None)
        told = fuzzed(f"{home}/api/live/openapi.json", tmp_path, seed=1)
        assert not told, told
