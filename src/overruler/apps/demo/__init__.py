"""`overruler demo`: a sample photo measured, with a picture of every step and a page that tells them."""

import argparse
import sys
import webbrowser
from pathlib import Path

from overruler.apps.progress import progress_display
from overruler.errors import BadInput
from overruler.writing import write_atomically


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--out", type=Path, default=Path("demo"), metavar="DIR", help="the folder (demo)"
    )
    parser.add_argument("--open", action="store_true", help="open the page in the browser")


def run(args: argparse.Namespace) -> int:
    folder = _folder(args.out)
    from overruler.apps.demo.page import render_page
    from overruler.apps.demo.steps import generate_steps

    done = []
    with progress_display() as say:
        for step in generate_steps(say):
            write_atomically(folder / step.file, step.data)
            print(f"{step.title}: {step.text}\n", flush=True)
            done.append(step)
    write_atomically(folder / "index.html", render_page(done))
    print(f"written: {folder / 'index.html'} and {len(done)} pictures")
    if args.open and not webbrowser.open((folder / "index.html").resolve().as_uri()):
        print("no browser could be opened", file=sys.stderr)
    return 0


def _folder(path: Path) -> Path:
    """The folder, made where it is missing."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"--out: {path}: {error.strerror or error}") from None
    return path
