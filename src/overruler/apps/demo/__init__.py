"""`overruler demo`: measures a sample photo, with a picture of each step and a page that explains them."""

import argparse
import sys
import webbrowser
from pathlib import Path

from overruler.apps.process.progress import progress_display
from overruler.errors import BadInput
from overruler.writing import write_atomically


def add_arguments(parser: argparse.ArgumentParser) -> None:
    out = Path("demo")
    parser.add_argument("--out", type=Path, default=out, metavar="DIR", help="the folder (demo)")
    parser.add_argument("--open", action="store_true", help="open the page in the browser")


def run(args: argparse.Namespace) -> int:
    folder = _make_folder(args.out)
    from overruler.apps.demo.page import render_page
    from overruler.apps.demo.steps import BOARD_PATH, GAME, PHOTO_PATH, generate_steps

    steps = []
    with progress_display() as progress:
        for step in generate_steps(progress):
            write_atomically(folder / step.file, step.data)
            print(f"{step.title}: {step.text}\n", flush=True)
            steps.append(step)
    page = folder / "index.html"
    write_atomically(page, render_page(steps))
    for path in (PHOTO_PATH, BOARD_PATH):
        write_atomically(folder / path.name, path.read_bytes())
    print(f"written: {page}, {len(steps)} pictures, and the photo with its board file")
    photo, board = folder / PHOTO_PATH.name, folder / BOARD_PATH.name
    print(f"try it yourself: overruler measure {photo} --board {board} --game {GAME}")
    if args.open and not webbrowser.open(page.resolve().as_uri()):
        print("no browser could be opened", file=sys.stderr)
    return 0


def _make_folder(path: Path) -> Path:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise BadInput(f"--out: {path}: is a file: name a folder") from None
    except OSError as error:
        reason = error.strerror or error
        raise BadInput(f"--out: {path}: cannot be made: {reason}: name another folder") from None
    return path
