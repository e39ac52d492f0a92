"""Imports only go down, no files import each other in a circle, rooms stay small, and what is heavy is loaded late."""

import ast
import re
import subprocess
import sys
from collections import Counter
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import overruler

PACKAGE = Path(overruler.__file__).parent
FLOORS = (
    ("errors", "units", "reading", "writing"),
    ("geometry",),
    (
        "frame",
        "games",
        "marker_card",
        "board",
        "bases",
        "presets",
        "chart",
        "lens",
        "calibration",
        "detections",
        "pieces",
        "records",
        "terrain",
        "declared_terrain",
        "fixes",
        "taught",
        "scene",
        "house_rules",
        "verdict",
        "report",
        "track",
    ),
    ("sources", "vision", "rules", "picture"),
    ("referee",),
    ("apps", "__main__"),
)
"""The rooms of the house, from the ground up."""
NOUNS = FLOORS[2]
"""Each of these may import only those to its left."""
WORKERS = FLOORS[3]
"""None of these imports another."""
VISION_ROOMS = (
    "imaging",
    "learned",
    "least_squares",
    "markers",
    "misfit",
    "camera",
    "calibrators",
    "contours",
    "rounds",
    "prints",
    "hexagons",
    "plates",
    "detection",
    "refinement",
    "terrain",
    "rulers",
    "assembly",
    "hanging",
    "pairing",
    "fusion",
    "next_photo",
    "stabilization",
    "tracking",
    "several_cameras",
)
"""The rooms of `vision/`: each may import those before it."""
MAX_FILES = 20
"""The most files of a room, `__init__.py` not counted."""
MAX_NOUNS = 24
"""The most files at the root of the package."""
MAX_LINES = 300
"""The most lines of a file."""
SEES = ("sources", "vision", "picture")
"""Where OpenCV may be imported."""
HEAVY = ("cv2", "scipy", "skimage", "shapely", "rich", "PIL", "fpdf", "resvg_py")

FILES = sorted(PACKAGE.rglob("*.py"))


def room(path: Path) -> str:
    """The top-level name that a file belongs to."""
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def floor(name: str) -> int:
    found = [level for level, rooms in enumerate(FLOORS) if name in rooms]
    assert found, f"{name} is on no floor: give it one in this test"
    return found[0]


@cache
def import_statements(path: Path) -> tuple[ast.Import | ast.ImportFrom, ...]:
    """All imports of a file, wherever in it."""
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    return tuple(node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom))


@cache
def imported(path: Path) -> tuple[str, ...]:
    """The full names of all modules that a file imports, wherever in it."""
    names: list[str] = []
    for node in import_statements(path):
        if isinstance(node, ast.Import):
            names += (alias.name for alias in node.names)
        else:
            assert node.level == 0, f"{path}: relative import"
            names.append(node.module or "")
            if node.module == "overruler":
                names += (f"overruler.{alias.name}" for alias in node.names)
    return tuple(names)


def rooms_imported(path: Path) -> set[str]:
    names = {name.split(".")[1] for name in imported(path) if name.startswith("overruler.")}
    return {name for name in names if not name.startswith("__")}


def allowed(importer: str, wanted: str) -> bool:
    """Whether a file of one room may import another room."""
    if importer == wanted:
        return True
    if importer in NOUNS and wanted in NOUNS:
        return NOUNS.index(wanted) < NOUNS.index(importer)
    if importer in WORKERS and wanted in WORKERS:
        return False
    return floor(wanted) <= floor(importer)


def test_the_document_names_every_room_in_order() -> None:
    page = (PACKAGE.parents[1] / "docs" / "house.md").read_text(encoding="utf-8")
    assert " → ".join(f"`{name}`" for name in NOUNS) in page
    rooms = page.split("## The rooms of `vision/`")[1].split("## ")[0]
    assert tuple(re.findall(r"^\| `(\w+)/` \|", rooms, re.MULTILINE)) == VISION_ROOMS


@pytest.mark.parametrize(
    "path", [f for f in FILES if room(f) != "__init__"], ids=lambda p: str(p.relative_to(PACKAGE))
)
def test_imports_only_go_down(path: Path) -> None:
    wrong = sorted(wanted for wanted in rooms_imported(path) if not allowed(room(path), wanted))
    assert not wrong, f"{room(path)} may not import {', '.join(wrong)}"


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_opencv_stays_where_pictures_are(path: Path) -> None:
    if room(path) not in SEES:
        assert not [name for name in imported(path) if name.split(".")[0] == "cv2"]


def test_opencv_window_functions_are_never_called() -> None:
    """They are missing in the headless wheel."""
    windows = ("imshow", "waitKey", "namedWindow", "destroyAllWindows", "setMouseCallback")
    assert not [
        (path, name)
        for path in FILES
        for name in windows
        if name in path.read_text(encoding="utf-8")
    ]


def vision_room(path: Path) -> str | None:
    """The room of `vision/` that a file lies in; None for every other file."""
    parts = path.relative_to(PACKAGE).parts
    return parts[1] if parts[0] == "vision" and len(parts) > 2 else None


@pytest.mark.parametrize(
    "path", [f for f in FILES if vision_room(f)], ids=lambda p: str(p.relative_to(PACKAGE))
)
def test_rooms_of_vision_import_only_those_before_them(path: Path) -> None:
    own = VISION_ROOMS.index(str(vision_room(path)))
    wanted = {n.split(".")[2] for n in imported(path) if n.startswith("overruler.vision.")}
    wrong = [name for name in wanted & set(VISION_ROOMS) if VISION_ROOMS.index(name) > own]
    assert not wrong, f"{vision_room(path)} may not import {', '.join(wrong)}"


def test_every_room_of_vision_has_its_place_in_the_order() -> None:
    assert {vision_room(f) for f in FILES} - {None} == set(VISION_ROOMS)


def module_name(path: Path) -> str:
    parts = ("overruler", *path.relative_to(PACKAGE).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def import_graph() -> dict[str, set[str]]:
    """The modules of the package, and which of them each imports, wherever in the file."""
    modules = {module_name(path): path for path in FILES}
    graph = {}
    for name, path in modules.items():
        wanted = set()
        for node in import_statements(path):
            if isinstance(node, ast.Import):
                wanted |= {alias.name for alias in node.names}
            else:
                inner = {f"{node.module}.{alias.name}" for alias in node.names}
                wanted |= (inner & modules.keys()) or {str(node.module)}
        graph[name] = (wanted & modules.keys()) - {name}
    return graph


def test_no_files_import_each_other_in_a_circle() -> None:
    """Imports inside functions count too: they hide a circle, they do not end it."""
    try:
        tuple(TopologicalSorter(import_graph()).static_order())
    except CycleError as error:
        pytest.fail(f"a circle: {' -> '.join(error.args[1])}")


def test_rooms_are_small() -> None:
    counts = Counter(path.parent for path in FILES if path.name != "__init__.py")
    crowded = {
        str(room.relative_to(PACKAGE)): count
        for room, count in counts.items()
        if count > (MAX_NOUNS if room == PACKAGE else MAX_FILES)
    }
    assert not crowded


def test_files_are_short() -> None:
    lines = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in FILES}
    assert not [(str(path), count) for path, count in lines.items() if count > MAX_LINES]


def test_applications_define_no_constant_that_nothing_uses() -> None:
    """One that only a test reads tells of something that the program no longer does."""
    words = Counter(re.findall(r"\w+", "\n".join(path.read_text("utf-8") for path in FILES)))
    apps = [path for path in FILES if path.is_relative_to(PACKAGE / "apps")]
    names = [
        name
        for path in apps
        for name in re.findall(
            r"^(_?[A-Z][A-Z0-9_]+)\b.* = ", path.read_text("utf-8"), re.MULTILINE
        )
    ]
    assert len(names) > 100
    assert not [name for name in names if words[name] < 2]


def heavy_after(code: str) -> set[str]:
    """The heavy libraries that are loaded once `code` has run in a fresh interpreter."""
    script = f"import sys\n{code}\nprint('\\nLOADED', *sorted(set(sys.modules) & set({HEAVY!r})))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return set(done.stdout.splitlines()[-1].split()[1:])


def test_importing_the_package_loads_nothing_heavy() -> None:
    assert heavy_after("import overruler") == set()


HELP = """
from overruler.apps.cli import main
try:
    main([{0}])
except SystemExit:
    pass
"""


@pytest.mark.parametrize(
    "arguments", ["'--help'", "'--version'", "", "'ask', '--help'", "'measure', '--help'"]
)
def test_help_loads_nothing_heavy(arguments: str) -> None:
    assert heavy_after(HELP.format(arguments)) == set()


def test_a_look_loads_what_few_tables_need_when_it_comes_to_it() -> None:
    """Plates, rectangles and SciPy: their modules take as long to load as a photo to decode."""
    script = "import sys, overruler.referee; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    loaded = done.stdout.split()
    assert "scipy" not in loaded
    own = [name for name in loaded if name.startswith("overruler.")]
    assert not [name for name in own if "plate" in name or "rectangle" in name]


def test_a_ruling_loads_nothing_heavy(tmp_path: Path) -> None:
    """`overruler ask` on a scene without terrain is numpy at most."""
    base = '"base": {"shape": "circle", "diameter_mm": 27}, "y_mm": 100'
    scene = tmp_path / "scene.json"
    scene.write_text(
        '{"schema": "overruler/scene/1", "game": "legion", "board": {"width_mm": 900, "height_mm": 900}, "pieces": ['
        f'{{"id": "a", "x_mm": 100, {base}}}, {{"id": "b", "x_mm": 400, {base}}}]}}'
    )
    question = '{"question": "range", "from": "a", "to": "b"}'
    code = f"from overruler.apps.cli import main\nassert main(['ask', {str(scene)!r}, {question!r}]) == 0"
    assert heavy_after(code) == set()


def test_only_an_outline_that_touches_itself_loads_shapely(tmp_path: Path) -> None:
    """Whether such an outline holds an area is for shapely to say."""
    base = '"base": {"shape": "circle", "diameter_mm": 27}, "y_mm": 100'
    outline = "[[500, 0], [600, 0], [550, 50], [600, 90], [500, 90], [550, 50]]"
    terrain = f'{{"id": "t", "footprint_mm": {outline}, "top_z_mm": 20}}'
    pieces = f'"pieces": [{{"id": "a", "x_mm": 100, {base}}}], "terrain": [{terrain}]'
    board = '"board": {"width_mm": 900, "height_mm": 900}'
    scene = tmp_path / "scene.json"
    scene.write_text(f'{{"schema": "overruler/scene/1", "game": "legion", {board}, {pieces}}}')
    question = '{"question": "distance", "from": "a", "to": "t"}'
    code = f"from overruler.apps.cli import main\nassert main(['ask', {str(scene)!r}, {question!r}]) == 0"
    assert heavy_after(code) == {"shapely"}
