"""`overruler schema`: JSON Schemas of what the program reads and prints."""

import argparse
import json

from overruler.errors import UnknownName


def add_arguments(parser: argparse.ArgumentParser) -> None:
    name = "scene, board, lens …; without it, all that there are"
    parser.add_argument("name", nargs="?", metavar="NAME", help=name)


def run(args: argparse.Namespace) -> int:
    from overruler.apps.schemas import DOCUMENTS, schema_of

    if args.name is None:
        width = max(map(len, DOCUMENTS)) + 2
        for name, (about, _) in DOCUMENTS.items():
            print(f"{name:<{width}}{about}")
        return 0
    if args.name not in DOCUMENTS:
        raise UnknownName("NAME", args.name, DOCUMENTS)
    print(json.dumps(schema_of(args.name), indent=1, allow_nan=False))
    return 0
