"""`overruler demo`: measures a sample photo, with a picture of each step and a page that explains them."""

import argparse
import sys
import webbrowser
from pathlib import Path

from overruler.apps.process.progress import progress_display
from overruler.writing import check_folder_name, make_folder, write_atomically


def add_arguments(parser: argparse.ArgumentParser) -> None:
    out = Path("demo")
    parser.add_argument("--out", type=Path, default=out, metavar="DIR", help="the folder (demo)")
    parser.add_argument("--open", action="store_true", help="open the page in the browser")


def run(args: argparse.Namespace) -> int:
    folder = make_folder("--out", check_folder_name("--out", args.out))
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
