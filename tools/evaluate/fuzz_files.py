#!/usr/bin/env python3
"""Does any text file of a user, however broken, get more than values or one clear line?

    uv run tools/evaluate/fuzz_files.py                      # a hundred thousand files
    uv run tools/evaluate/fuzz_files.py --count 5000 --seed 7

A good file of each kind (boards, lenses, terrain, corrections, what was taught, looks, names, the
user's own, presets, turns, scenes) is broken: values are swapped, dropped, made huge or of another
type, and bytes are changed, cut out and repeated. The law: values, or an `OverrulerError` of one
line. Whatever else comes out is printed, once for each place that it came from.
"""

import argparse
import copy
import json
import random
import resource
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from evaluate import fuzz
from overruler.board import Board
from overruler.declared_terrain import load_terrain
from overruler.fixes import load_fixes
from overruler.lens import Lens
from overruler.presets import FOLDER, read_preset
from overruler.reading import Node
from overruler.rules import ask
from overruler.scene import Scene
from overruler.taught import Taught

ROOT = Path(__file__).parents[2]
SLOW_S = 30.0
"""A file that takes longer, in the processor's time, counts as one that hangs."""
PROGRESS = 10_000
"""After so many files a line says how far the run is."""
PIECES_MM = ((0.0, 0.0), (200.0, 30.0), (350.0, -80.0))
"""Where the pieces of the good scene stand."""
LENS = """schema = "overruler/lens/1"
size_px = [4000, 3000]
matrix = [[3000.0, 0.0, 2010.0], [0.0, 3002.0, 1490.0], [0.0, 0.0, 1.0]]
distortion = [0.05, -0.1, 0.0001, 0.0002, 0.03]
"""
TERRAIN = """schema = "overruler/terrain/1"
[[terrain]]
id = "hill"
footprint_mm = [[0, 0], [100, 0], [100, 80], [0, 80]]
top_z_mm = 34
sigma_mm = 2
[[terrain]]
id = "roof"
around_mm = [[-50, -50], [50, -50], [50, 50], [-50, 50]]
markers = [20, 21]
"""
FIXES = """schema = "overruler/fix/1"
[[fix]]
do = "move"
id = "p03"
xy_px = [1467.5, 1053]
[[fix]]
do = "add"
base = "75x42o"
xy_mm = [666, 447]
player = "rebels"
heading_deg = 30
stats = { arcs = [] }
[[fix]]
do = "stand"
id = "p02"
z_mm = 30
[[fix]]
do = "name"
id = "p01"
new_id = "Luke"
leader = true
"""
TAUGHT = {
    "schema": "overruler/taught/1",
    "networks": "f00d",
    "weighings": {"25 mm": {"offset": -1.5, "slope": 0.8}},
    "photos": [
        {
            "photo": "table.jpg",
            "sha256": "ab12",
            "findings": [{"kind": "25 mm", "probability": 0.9, "is_piece": False}],
        }
    ],
}
LOOK = """schema = "overruler/look/1"
plate = "#102030"
plate_opacity = 0.5
size = 1.25
[players.red]
name = "Anna"
colour = "pink"
"""
NAMES = {
    "schema": "overruler/names/1",
    "pieces": [
        {"id": "Luke", "base": "27", "x_mm": 1.5, "y_mm": 2, "unit": "Guards", "leader": True}
    ],
    "show": {
        "round": "2",
        "players": {"red": {"name": "Anna", "colour": "pink"}},
        "scores": {"red": "3"},
    },
}
CONFIG = """[table]
game = "legion"
board = "club.toml"
lens = "phone.toml"
bases = ["27", "50", "skiff"]
units = "in"
[bases]
skiff = "66x38o"
walker = 95
[players]
red = "Anna"
[rules.legion]
ranged_in_contact = false
"""
TURNS = "turn,from_s,player\n1,0.0,red\n2,31.5,blue\nlast,60,\n"

Kind = tuple[str, str, Callable[[Path], Any]]
"""A file's name, its good text, and what reads it."""


def read_scene(path: Path) -> None:
    """Read a scene and ask it something."""
    ask(Scene.load(path), {"question": "range", "from": "p0", "to": "p1"})


def read_lens(path: Path) -> None:
    """Read a lens and turn it for a photo."""
    Lens.load(path).for_picture((3000, 4000), 6)


def good_scene() -> dict[str, Any]:
    base = {"shape": "circle", "diameter_mm": 27}
    pieces = [
        {"id": f"p{number}", "base": base, "x_mm": x_mm, "y_mm": y_mm, "height_mm": 30}
        for number, (x_mm, y_mm) in enumerate(PIECES_MM)
    ]
    board = {"width_mm": 1800, "height_mm": 900}
    return {"schema": "overruler/scene/1", "game": "legion", "board": board, "pieces": pieces}


def kinds() -> list[Kind]:
    """A good file of each kind."""
    from overruler.apps.analyze.turns import read_turns
    from overruler.apps.settings.user_config import Config
    from overruler.apps.web.live.look import read_look
    from overruler.apps.web.live.names_file import read_names

    board = (ROOT / "sample_images" / "legion_desert.toml").read_text("utf-8")
    fixes = json.dumps(tomllib.loads(FIXES))
    return [
        ("board.toml", board, Board.load),
        ("lens.toml", LENS, read_lens),
        ("terrain.toml", TERRAIN, load_terrain),
        ("fix.toml", FIXES, load_fixes),
        ("fix.json", fixes, load_fixes),
        ("taught.json", json.dumps(TAUGHT), Taught.load),
        ("look.toml", LOOK, read_look),
        ("names.json", json.dumps(NAMES), read_names),
        ("config.toml", CONFIG, Config.load),
        ("turns.csv", TURNS, read_turns),
        ("scene.json", json.dumps(good_scene()), read_scene),
        *(
            (f"preset.{path.name}", path.read_text("utf-8"), read_preset_file)
            for path in sorted(FOLDER.glob("*.toml"))[::4]
        ),
    ]


def read_preset_file(path: Path) -> None:
    read_preset(Node.of_toml(path))


# --- broken ones ---


def toml_text(value: Any) -> str:
    """A document as TOML, with its tables in one line each."""
    if not isinstance(value, dict):
        return _inline(value)
    return "".join(f"{json.dumps(key)} = {_inline(item)}\n" for key, item in value.items())


def _inline(value: Any) -> str:
    if isinstance(value, dict):
        inside = ", ".join(f"{json.dumps(key)} = {_inline(item)}" for key, item in value.items())
        return f"{{ {inside} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(_inline, value))}]"
    if isinstance(value, float):
        return repr(value)
    return json.dumps(value)


def broken_text(name: str, good: str, draw: random.Random) -> bytes:
    """The file with one to three of its values or bytes changed."""
    if name.endswith(".csv") or draw.random() < 0.3:
        return damaged(good.encode(), draw)
    parse, write = (
        (tomllib.loads, toml_text) if name.endswith(".toml") else (json.loads, json.dumps)
    )
    document = copy.deepcopy(parse(good))
    for _ in range(draw.choice([1, 1, 2, 3])):
        document = fuzz.broken(document, draw)
    try:
        return write(document).encode("utf-8", "surrogatepass")
    except (RecursionError, ValueError):  # ValueError: an integer of thousands of digits
        return b"[" * 5000


def damaged(data: bytes, draw: random.Random) -> bytes:
    """The bytes with one to five of them changed, cut out, repeated or put in."""
    found = bytearray(data)
    for _ in range(draw.choice([1, 1, 2, 5])):
        at, length = draw.randrange(len(found) + 1), draw.choice([1, 2, 10, 100])
        change = draw.randrange(4)
        if change == 0:
            found[at : at + 1] = draw.randbytes(1)
        elif change == 1:
            del found[at : at + length]
        elif change == 2:
            found[at:at] = found[at : at + length]
        else:
            found[at:at] = draw.choice(TOKENS)
    return bytes(found)


TOKENS = (
    *(b"\n", b'"', b"\r", b"\0", b"=", b"[", b"[[", b"{", b"}", b"]", b"#", b",", b"-", b"1e999"),
    *(b"nan", b"inf", b"\xff\xfe", b"\xef\xbb\xbf", b"\xed\xa0\x80", "\u202e\u2028".encode()),
    *(
        b"0x1",
        b"1979-05-27T07:32:00Z",
        b"'''",
        b'"""',
        b"9" * 5000,
        b"[" * 3000,
        b"a." * 2000,
        b"0x" + b"f" * 6000,
    ),
)
"""What is put into files."""


def outcome(read: Callable[[Path], Any], path: Path) -> fuzz.Outcome:
    """What comes of a file, held against the law."""
    return fuzz.lawful(lambda: (read(path), fuzz.Outcome("answered"))[1])


def run(count: int, seed: int) -> tuple[Counter[str], dict[str, bytes], float]:
    """How many of each outcome, a file for each problem, and the seconds of the slowest."""
    draw, known = random.Random(seed), kinds()
    counts: Counter[str] = Counter()
    problems: dict[str, bytes] = {}
    slowest_s = 0.0
    with tempfile.TemporaryDirectory() as folder:
        for number in range(1, count + 1):
            name, good, read = draw.choice(known)
            path, data = Path(folder) / name, broken_text(name, good, draw)
            path.write_bytes(data)
            begin = time.process_time()
            found = outcome(read, path)
            spent_s = time.process_time() - begin
            slowest_s = max(slowest_s, spent_s)
            problem = found.problem * (found.kind == "crashed")
            problem = problem or f"took {spent_s:.0f} s" * (spent_s > SLOW_S)
            counts[f"{name.split('.')[0]} {found.kind}"] += 1
            if problem:
                problems.setdefault(f"{name}: {problem}", data)
            if number % PROGRESS == 0:
                print(f"{number} files, {len(problems)} problems", flush=True)
    return counts, problems, slowest_s


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    counts, problems, slowest_s = run(args.count, args.seed)
    for kind, number in sorted(counts.items()):
        print(f"{kind:20} {number:7}")
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    print(
        f"{args.count} files: {len(problems)} problems, slowest {slowest_s:.2f} s, {peak_mb:.0f} MB"
    )
    for problem, data in problems.items():
        print(problem, data[:1500], sep="\n    ")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
