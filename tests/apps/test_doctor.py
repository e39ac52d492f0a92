"""The doctor names what is wrong and the command that mends it."""

import sys
from collections.abc import Callable

import pytest

from overruler.apps import doctor
from overruler.apps.cli import main
from overruler.apps.doctor import Finding, check_libraries, check_python, check_wheels, run_check
from overruler.picture import selftest
from overruler.vision.learned import inference


def raising(error: BaseException) -> Callable[..., str]:
    def check(*given: object) -> str:
        raise error

    return check


def test_this_machine_is_healthy(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor"]) == 0
    out = capsys.readouterr().out
    for checked in (
        "Python",
        "numpy",
        "OpenCV loads",
        "JPEG",
        "PNG",
        "WebP",
        "TIFF",
        "networks",
        "lettering",
        "fpdf2",
    ):
        assert checked in out
    assert "FAIL" not in out
    assert out.splitlines()[-1].startswith("Overruler works")


def test_one_failure_is_the_status(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(selftest, "check_font", raising(RuntimeError("no glyphs")))
    assert main(["doctor"]) == 1
    out = capsys.readouterr().out
    assert "no glyphs" in out
    assert out.splitlines()[-1] == "Overruler cannot work here before this is mended: lettering."


def test_networks_that_fail_are_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(inference, "infer_batch", raising(RuntimeError("mute")))
    assert main(["doctor"]) == 1
    out = capsys.readouterr().out
    assert "mute" in out
    assert "onnxruntime" in out.split("FAIL")[1]


@pytest.mark.parametrize(
    ("running", "level"),
    [((3, 10, 9), "warn"), ((3, 11, 0), "ok"), ((3, 13, 7), "ok"), ((3, 14, 0), "warn")],
)
def test_python(running: tuple[int, ...], level: str) -> None:
    assert check_python(running).level == level


@pytest.mark.parametrize(
    ("installed", "level"),
    [
        (["numpy", "opencv-python"], "ok"),
        (["opencv-python-headless"], "ok"),
        (["opencv-python", "opencv_python_headless"], "fail"),
        (["OpenCV-Contrib-Python", "opencv-python"], "fail"),
        ([], "ok"),
    ],
)
def test_two_opencv_wheels_are_one_too_many(installed: list[str], level: str) -> None:
    finding = check_wheels(installed)
    assert finding.level == level
    if level == "fail":
        assert finding.remedy.startswith("keep one: pip uninstall -y opencv-")
        assert "pip install opencv-python" in finding.remedy


def test_a_missing_library_fails_and_a_missing_extra_warns() -> None:
    needed, extra, there = check_libraries(
        ["no-such-library>=3", "no-such-extra>=1; extra == 'print'", "numpy<3,>=1.26"]
    )
    assert (needed.level, needed.remedy) == ("fail", "pip install no-such-library")
    assert extra.level == "warn"
    assert extra.remedy == "pip install 'overruler[print]'"
    assert there.level == "ok"


def test_a_library_that_lacks_a_system_file_gets_the_apt_line() -> None:
    broken = ImportError("libGL.so.1: cannot open shared object file: No such file or directory")
    finding = run_check("OpenCV loads", raising(broken), "something else")
    assert finding.level == "fail"
    assert "apt-get install -y libgl1 libglib2.0-0" in finding.remedy


def test_a_broken_install_gets_the_reinstall_line() -> None:
    finding = run_check("OpenCV loads", raising(AttributeError("no __version__")), "reinstall it")
    assert (finding.level, finding.remedy) == ("fail", "reinstall it")
    assert "no __version__" in finding.found


def test_without_opencv_the_rest_is_still_examined(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "cv2", None)
    assert main(["doctor"]) == 1
    out = capsys.readouterr().out
    assert "FAIL" in out
    assert "lettering" in out


@pytest.mark.parametrize("name", selftest.ENDING_BY_FORMAT)
def test_a_codec_that_loses_the_picture_is_noticed(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import cv2

    monkeypatch.setattr(cv2, "imdecode", lambda *_: None)
    assert run_check(name, lambda: selftest.check_codec(name), "").level == "fail"


def test_lettering_without_glyphs_is_noticed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    from overruler.picture import raster

    monkeypatch.setattr(raster, "FONT_PATH", tmp_path)
    assert run_check("lettering", selftest.check_font, "").level == "fail"


def test_no_check_is_silent() -> None:
    findings = list(doctor.run_checks())
    assert len({finding.what for finding in findings}) == len(findings)
    assert all(finding.found for finding in findings)


def test_the_remedy_of_an_extra_is_printed_whole(capsys: pytest.CaptureFixture[str]) -> None:
    """The name of an extra stands in square brackets, which the table must not take for a style."""
    doctor._print_findings(
        [Finding("warn", "av", "not installed", "pip install 'overruler[video]'")]
    )
    assert "pip install 'overruler[video]'" in capsys.readouterr().out
