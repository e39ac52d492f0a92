"""Every command that README and docs show is run, in a folder with the sample pictures, and must say what they show.

A ```sh block is run line by line. In a ```console block the lines after `$ ` are run, and the others must appear in
what the command prints, in this order; `…` stands for anything. A file shown after "save this as `NAME`:" is written.
What cannot run here says so in a comment before it, `<!-- not run: why -->`, or begins as one of `ELSEWHERE` does.
"""

import ast
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import overruler
from overruler.apps import measure
from overruler.apps.cli import main
from overruler.apps.commands import COMMANDS, MORE_EXAMPLES
from overruler.apps.measure import MeasureOptions, measuring
from overruler.apps.rulings import rule_on_questions
from overruler.board import Board
from overruler.games import GAMES
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Pose, rotation_from_vector
from overruler.report import Report
from overruler.rules import game_of
from overruler.rules.game import COMMON
from overruler.vision.camera.problems import FLAGS_BY_SEVERITY
from synthetic.flat_table import Plinth, render_table

ROOT = Path(__file__).parents[1]
README, ACCURACY = ROOT / "README.md", ROOT / "docs" / "accuracy.md"
PAGES = [README, ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
ELSEWHERE = {
    "overruler demo": "run by its own tests",
    "overruler serve": "a server",
    "overruler live": "a server, and a camera",
    "overruler obs": "needs a running OBS",
    "overruler teach": "needs photos that a person corrected",
    "overruler settle": "needs a bundle that a person saved",
    "overruler calibrate": "needs photos of a print",
    "overruler analyze game.mp4": "needs a film",
    'overruler query games "select piece': "needs what analyze wrote of a film",
    "overruler completion fish": "needs fish",
    "curl": "asks a server",
    "OBS_PASSWORD": "needs a running OBS",
    "uv": "the project's own tools, run by its checks",
    "pytest": "these tests",
    "pip": "a network",
    "apt-get": "a network",
    "docker": "needs Docker",
    "sh tools/check": "runs these tests",
}
"""How commands begin that are not run here, and why."""
PROGRAMS = ("start-developer.md", "adding-a-source.md")
"""Pages whose Python stands for itself and is run as well."""
BLOCK = re.compile(
    r"^(?P<before>[^\n]*)\n```(?P<kind>sh|console|json|toml|python)\n(?P<text>.*?)^```$",
    re.M | re.S,
)
SAVED = re.compile(r"[Ss]ave this as `([\w.-]+)`:\s*$")


@dataclass(frozen=True, slots=True)
class Block:
    """One piece of a page that is shown as typed."""

    page: Path
    kind: str
    text: str
    before: str
    """The last line before it that is not blank."""

    @property
    def commands(self) -> Iterator[tuple[str, list[str]]]:
        """Each command with the lines that it is said to print."""
        lines = self.text.replace("\\\n", " ").splitlines()
        if self.kind == "sh":
            yield from ((line, []) for line in lines if line.strip() and not line.startswith("#"))
            return
        starts = [k for k, line in enumerate(lines) if line.startswith("$ ")]
        for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
            yield lines[start][2:], [line for line in lines[start + 1 : end] if line.strip()]


def blocks(page: Path) -> Iterator[Block]:
    text = re.sub(r"\n\n(```)", r"\n\1", page.read_text("utf-8"))
    for found in BLOCK.finditer(text):
        yield Block(page, found["kind"], found["text"], found["before"].strip())


def is_run(block: Block, command: str) -> bool:
    return "not run:" not in block.before and not any(
        plain(command).startswith(start) for start in ELSEWHERE
    )


def plain(command: str) -> str:
    """A command without what makes the project's environment ready, and without what follows it on the line."""
    return re.sub(r"^sh tools/run ", "", command).partition("  #")[0].strip()


def camera() -> Camera:
    """A web camera over a 6x3 table, tilted by 20 degrees."""
    turn = rotation_from_vector([np.pi - np.radians(20), 0, 0])
    eye = np.array([914.4, 457.2, 0]) - turn[2] * 1650
    matrix = np.array([[1500, 0, 959.5], [0, 1500, 539.5], [0, 0, 1.0]])
    return Camera(matrix, np.zeros(5), Pose(turn, -turn @ eye))


@pytest.fixture(scope="module")
def table_jpg(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The documents' `table.jpg`: a drawn photo of a 6x3 table with the markers of its board file."""
    path = tmp_path_factory.mktemp("photo") / "table.jpg"
    board = Board.load(ROOT / "calibration/boards/legion-6x3.toml")
    assert board.corners_mm is not None
    places = [(600, 400), (640, 420), (900, 500), (1200, 380), (1240, 400)]
    plinths = [Plinth(x, y, 27) for x, y in places] + [Plinth(700, 600, 50)]
    photo = render_table(
        camera(), (1920, 1080), (1828.8, 914.4), plinths, board.corners_mm, noise=2
    )
    Image.fromarray(photo[..., ::-1]).save(path, quality=95)
    return path


@pytest.fixture
def desk(tmp_path: Path, table_jpg: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder as a reader has it, and a home of its own."""
    for name in ("sample_images", "calibration", "tools"):
        (tmp_path / name).symlink_to(ROOT / name)
    shutil.copy(table_jpg, tmp_path / "table.jpg")
    (tmp_path / "demo").mkdir()  # as `overruler demo` leaves it, with a photo that costs less time
    shutil.copy(table_jpg, tmp_path / "demo")
    shutil.copy(ROOT / "calibration/boards/legion-6x3.toml", tmp_path / "demo" / "table.toml")
    shutil.copy(ROOT / "calibration/boards/legion-6x3.toml", tmp_path / "table.toml")
    monkeypatch.chdir(tmp_path)
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    return tmp_path


def shown_in(shown: list[str], said: str) -> str | None:
    """The first of the shown lines that was not said in its turn."""
    rest = iter(said.splitlines())
    for line in shown:
        wanted = re.compile(".*".join(map(re.escape, line.rstrip().split("…"))))
        if line.strip() != "…" and not any(wanted.fullmatch(one.rstrip()) for one in rest):
            return line
    return None


def run(command: str, desk: Path, capfd: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """The status of a command and what it prints: the program's own in this process."""
    capfd.readouterr()
    words = shlex.split(command)
    if words[0] == "overruler" and not set(words) & {"|", ">", "<"}:
        status = main(words[1:])
    else:
        status = subprocess.run(["sh", "-c", command], cwd=desk).returncode
    out, err = capfd.readouterr()
    return status, out + err


def pages_with_commands() -> list[Path]:
    runs = ("sh", "console", "python")
    return [page for page in PAGES if any(block.kind in runs for block in blocks(page))]


@pytest.mark.parametrize(
    "page", pages_with_commands(), ids=lambda page: str(page.relative_to(ROOT))
)
def test_what_a_page_shows_is_what_happens(
    page: Path, desk: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for block in blocks(page):
        if block.kind in ("json", "toml") and (name := SAVED.search(block.before)):
            (desk / name[1]).write_text(block.text, encoding="utf-8")
        if block.kind == "python" and page.name in PROGRAMS:
            exec(compile(block.text, page.name, "exec"), {"__name__": page.stem})
        if block.kind not in ("sh", "console"):
            continue
        for command, shown in block.commands:
            if not is_run(block, command):
                continue
            status, said = run(plain(command), desk, capfd)
            wanted = 2 if any("overruler: " in line for line in shown) else 0
            assert status == wanted, f"{command}\n{said}"
            missing = shown_in(shown, said)
            assert missing is None, f"{command}\nis shown to print: {missing}\nbut printed:\n{said}"


ALL_EXAMPLES = [
    *(example for _, example in COMMANDS.values()),
    *(example for examples in MORE_EXAMPLES.values() for example, _ in examples),
]
ELSEWHERE_IN_HELP = {
    **ELSEWHERE,
    "overruler analyze": "run by its page",
    "overruler measure left.jpg right.jpg": "needs several photos of one table",
    "overruler measure --watch": "goes on for ever",
    "overruler gauge check": "needs a photo of a print",
}


def test_the_examples_of_the_help_pages_run(
    desk: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In an empty folder with a photo and its scene, as with a wheel: no sample is at hand.

    The photo is measured once, and the examples get what it came to.
    """
    for name in ("sample_images", "calibration", "tools", "table.toml"):
        (desk / name).unlink()
    (desk / "photos").mkdir()
    shutil.copy(desk / "table.jpg", desk / "photos")
    table = overruler.measure("table.jpg", board="legion-6x3", game="legion")
    table.save_scene("scene.json")

    def measured(options: MeasureOptions, say: Callable[[str], None]) -> Report:
        verdicts = rule_on_questions(table.scene, options.questions)
        return replace(table.report, verdicts=verdicts)

    monkeypatch.setattr(measure, "measure_photo", measured)
    monkeypatch.setattr(measuring, "measure_photo", measured)
    (desk / "questions.jsonl").write_text('{"question": "distance", "from": "p01", "to": "p02"}\n')
    for example in ALL_EXAMPLES:
        if not any(example.startswith(start) for start in ELSEWHERE_IN_HELP):
            status, said = run(example, desk, capfd)
            assert status == 0, f"{example}\n{said}"


# --- what the pages say ---

SOURCES = sorted((ROOT / "src").rglob("*.py"))


@cache
def said_by_the_program() -> list[str]:
    """Every text in the program's source, f-strings in the pieces between their braces."""
    trees = [ast.parse(path.read_text("utf-8")) for path in SOURCES]
    return [
        node.value
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]


def first_column(page: str, heading: str) -> list[str]:
    """What stands in backticks in the first column of the table under a heading."""
    part = (
        (ROOT / "docs" / page)
        .read_text("utf-8")
        .partition(f"## {heading}")[2]
        .partition("\n## ")[0]
    )
    return re.findall(r"^\| `([^`]+)` \|", part, re.M)


def test_every_problem_of_a_photo_is_explained() -> None:
    assert first_column("troubleshooting.md", "Lines that begin with `!`") == list(
        FLAGS_BY_SEVERITY
    )


@pytest.mark.parametrize(
    "heading", ["A photo that cannot be measured", "An option or a file that is wrong"]
)
def test_every_message_that_is_explained_is_one_of_the_program(heading: str) -> None:
    texts = said_by_the_program()
    messages = first_column("troubleshooting.md", heading)
    assert len(messages) > 8
    for message in messages:
        for part in (part.strip() for part in message.split("…")):
            assert any(part in text for text in texts), f"nothing in the program says {part!r}"


def test_every_game_has_a_page_that_names_its_questions() -> None:
    for name in GAMES:
        text = (ROOT / f"docs/games/{name.replace('_', '-')}.md").read_text("utf-8")
        missing = [
            kind
            for kind in game_of(name).questions
            if f"`{kind}`" not in text and kind not in COMMON
        ]
        assert not missing, f"{name}: {missing}"
        assert all(f'"{setting}"' in text for setting in game_of(name).settings)


def test_the_accuracy_page_and_the_readme_have_the_same_table() -> None:
    tables = [
        re.findall(r"```text\n(┏.*?)```", page.read_text("utf-8"), re.S)
        for page in (README, ACCURACY)
    ]
    assert len(tables[0]) == 1
    assert tables[0] == tables[1]
    none_wrong = re.search(r"│ all .* 0/\d+ +│", tables[0][0]) is not None
    assert none_wrong == (
        "was false in none of the rulings" in (ROOT / "docs/faq.md").read_text("utf-8")
    )


def test_the_readme_counts_as_many_certain_rulings_as_its_table() -> None:
    readme = README.read_text("utf-8")
    said = re.findall(r"Of the (\d+) rulings that it called certain", readme)
    counted = re.findall(r"^(\d+) of \d+ rulings are certain", readme, re.M)
    assert len(said) == 1
    assert said == counted


def anchors(page: Path) -> set[str]:
    """What can be linked to in a page."""
    text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.M | re.S)
    return {
        re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
        for title in re.findall(r"^#+ (.*)$", text, re.M)
    }


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.M | re.S)
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{link}: no such file"
        assert not anchor or anchor in anchors(target), f"{link}: no such heading"


def test_every_page_is_on_the_map() -> None:
    shown = (ROOT / "docs/index.md").read_text("utf-8")
    pages = [page.relative_to(ROOT / "docs").as_posix() for page in (ROOT / "docs").rglob("*.md")]
    assert not [page for page in pages if page != "index.md" and f"({page})" not in shown]


def test_every_page_is_in_the_navigation_of_the_site() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text("utf-8").partition("\nnav:")[2]
    named = re.findall(r"[\w/-]+\.md", navigation)
    pages = [page.relative_to(ROOT / "docs").as_posix() for page in (ROOT / "docs").rglob("*.md")]
    assert sorted(named) == sorted(pages)


NAMED_FILE = re.compile(r"`([\w./-]+\.(?:py|onnx|log\.txt))`")


@cache
def project_files() -> list[str]:
    """The files of the program, its tools and tests, each with a slash before it."""
    rooms = [ROOT / name for name in ("src", "tools", "tests")]
    return [f"/{path.relative_to(ROOT).as_posix()}" for room in rooms for path in room.rglob("*")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_files_that_a_page_names_exist(page: Path) -> None:
    """Only `docs/adding-a-game.md` names files that a reader will add."""
    text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.M | re.S)
    named = {name for name in NAMED_FILE.findall(text) if "duel" not in name}
    assert not [n for n in named if not any(file.endswith(f"/{n}") for file in project_files())]


def test_pictures_are_small() -> None:
    pictures = list((ROOT / "docs/pictures").iterdir())
    assert sum(path.stat().st_size for path in pictures) < 1_500_000
