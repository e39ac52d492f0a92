"""What is looked at before a release: the bill of materials, and what is known of its packages."""

import json
import subprocess
from typing import Any

import pytest

from release import audit, sbom
from release.locked import Locked, locked_packages

PACKAGES = [Locked("numpy", "1.0"), Locked("numpy", "2.0"), Locked("pillow", "9.0")]


def test_the_bill_names_what_users_install_and_nothing_else() -> None:
    document = sbom.bill_of_materials(locked_packages())
    assert (document["bomFormat"], document["specVersion"]) == ("CycloneDX", "1.5")
    names = {each["name"] for each in document["components"]}
    assert {"numpy", "opencv-python", "starlette", "h11", "av", "pillow-heif"} <= names
    assert not names & {"overruler", "pytest", "torch", "mkdocs", "schemathesis"}
    refs = [each["bom-ref"] for each in document["components"]]
    assert len(refs) == len(set(refs))
    assert document["serialNumber"].startswith("urn:uuid:")
    assert document == sbom.bill_of_materials(locked_packages())
    assert document["serialNumber"] != sbom.bill_of_materials(PACKAGES)["serialNumber"]


def answering(monkeypatch: pytest.MonkeyPatch, said: str, wrong: str = "") -> list[str]:
    """A pip-audit that says this; the packages of which it is asked."""
    asked: list[str] = []

    def run(command: list[str], **more: Any) -> Any:
        with open(command[command.index("--requirement") + 1]) as file:
            asked.append(file.read())
        return subprocess.CompletedProcess(command, 0, said, wrong)

    monkeypatch.setattr(audit, "auditor", lambda: ["pip-audit"])
    monkeypatch.setattr(audit, "locked_packages", lambda: PACKAGES)
    monkeypatch.setattr(subprocess, "run", run)
    return asked


def test_a_known_vulnerability_fails_the_check(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = {"name": "pillow", "version": "9.0", "vulns": [{"id": "CVE-1", "fix_versions": ["10"]}]}
    fine = {"name": "numpy", "version": "1.0", "vulns": []}
    asked = answering(monkeypatch, json.dumps({"dependencies": [fine, found]}))
    assert audit.main() == 1
    assert "pillow 9.0: CVE-1, mended in 10" in capsys.readouterr().out
    assert asked == ["numpy==1.0\npillow==9.0\n", "numpy==2.0\n"], "one version at a time"


def test_nothing_known_is_well(monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch, json.dumps({"dependencies": []}))
    assert audit.main() == 0


@pytest.mark.parametrize(
    "said", ["", json.dumps({"dependencies": [{"name": "numpy", "skip_reason": "not found"}]})]
)
def test_without_a_network_nothing_is_audited_and_that_is_said(
    said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answering(monkeypatch, said, wrong="cannot connect\n")
    assert audit.main() == 3
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("not audited: ")
    assert "try again with a network" in line
