"""`overruler schema`: what the program reads and prints, as JSON Schema, for editors and other programs."""

import argparse
import json

from overruler.errors import UnknownName


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "name",
        nargs="?",
        metavar="NAME",
        help="scene, board, lens …; without it, all that there are",
    )


def run(args: argparse.Namespace) -> int:
    from overruler.apps.schemas import DOCUMENTS, schema_of

    if args.name is None:
        width = max(map(len, DOCUMENTS)) + 2
        print("\n".join(f"{name:<{width}}{about}" for name, (about, _) in DOCUMENTS.items()))
        return 0
    if args.name not in DOCUMENTS:
        raise UnknownName("NAME", args.name, DOCUMENTS)
    print(json.dumps(schema_of(args.name), indent=1, allow_nan=False))
    return 0
