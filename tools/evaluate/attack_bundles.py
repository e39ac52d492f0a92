#!/usr/bin/env python3
"""Does any dispute bundle, however damaged or forged, get more than an outcome or one clear line?

    uv run tools/evaluate/attack_bundles.py dispute.zip                # ten thousand bundles
    uv run tools/evaluate/attack_bundles.py dispute.zip --count 300 --measure 1

A good bundle is damaged (bytes changed, cut, doubled, put in) or forged: its JSON, its recorded arguments, its photo
and its list of files are changed, and all checksums are made right again. The law: `agreed`, `differs`, `cannot tell`,
or an `OverrulerError` of one line; nothing is written, and no folder but a temporary one is worked in.
"""

import argparse
import copy
import json
import os
import random
import resource
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from evaluate import fuzz
from overruler.apps import bundles, settle
from overruler.errors import OverrulerError

JSON_MEMBERS = (bundles.SCENE_FILE, bundles.QUESTION_FILE, bundles.ANSWER_FILE)
"""Members whose JSON is changed."""
EVIL_ARGUMENTS = (
    *("--help", "-h", "--version", "--", "-", "", "@photo.jpg", "\0", "--json", "--json=1"),
    *("--scene=/tmp/x", "--picture=x.png", "--doubt=x.svg", "--board=/etc/passwd"),
    *("--board=../board.toml", "--board=/dev/zero", "--lens=scene.json", "--fix=answer.json"),
    *("--terrain=photo.jpg", "--beside=photo.jpg", "--beside=/etc/hostname", "photo.png"),
    *("--marker-mm=nan", "--marker-mm=-1", "--marker-mm=1e308", "--marker-mm", "--bases=1x1x1"),
    *("--bases=" + "27," * 900 + "27", "--own-base=a=b", "--player==", "--game=chess"),
    *("--ask={}", "--ask=[[[", "--house-rule=legion.x=true", "--point=1,2=3,4", "--point=a"),
)
"""Arguments that no server records."""
SWALLOWED = "should not have failed"
"""What a check says of an error that nobody foresaw."""
SLOW_S = 30.0
"""A bundle that takes longer, in the processor's time, counts as one that hangs."""
PROGRESS = 500
"""After so many bundles a line says how far the run is."""
STUCK_S = 300.0
"""The same by the clock: other programs may keep the processor busy."""

Members = dict[str, bytes]

# --- damaged ---


def damaged(data: bytes, draw: random.Random) -> bytes:
    """The bundle with some of its bytes changed, cut out, doubled or put in."""
    found = bytearray(data)
    for _ in range(draw.choice([1, 1, 2, 8])):
        at, length = draw.randrange(len(found)), draw.choice([1, 2, 4, 40, 4000])
        if draw.random() < 0.5:  # near the directory, where most of it is structure
            at = max(0, len(found) - 1 - draw.randrange(1200))
        change = draw.randrange(4)
        if change == 0:
            found[at : at + length] = draw.randbytes(min(length, 4))
        elif change == 1 and len(found) > length:
            del found[at : at + length]
        elif change == 2:
            found[at:at] = found[at : at + length]
        else:
            found[at] ^= 1 << draw.randrange(8)
        if not found:
            break
    return bytes(found)


# --- forged ---


def forged(members: Members, draw: random.Random) -> bytes:
    """The bundle with members changed and all checksums right."""
    members = dict(members)
    manifest = json.loads(members.pop(bundles.MANIFEST_FILE))
    arguments = manifest["measure"]
    for _ in range(draw.choice([1, 1, 2])):
        draw.choice(FORGERIES)(members, arguments, draw)
    sealed = json.loads(bundles._manifest(members, arguments))
    if draw.random() < 0.15:
        sealed = fuzz.broken(sealed, draw)
    try:
        text = json.dumps(sealed)
    except (ValueError, RecursionError):
        text = "{"
    members[bundles.MANIFEST_FILE] = text.encode("utf-8", "replace")
    return bundles.pack_zip(members)


def _forge_json(members: Members, arguments: list[Any], draw: random.Random) -> None:
    name = draw.choice(JSON_MEMBERS)
    try:
        value = fuzz.broken(json.loads(members[name]), draw)
        members[name] = json.dumps(value).encode("utf-8", "replace")
    except (ValueError, KeyError, RecursionError):
        return


def _forge_arguments(members: Members, arguments: list[Any], draw: random.Random) -> None:
    at = draw.randrange(len(arguments) + 1)
    arguments[at : at + draw.randrange(2)] = [draw.choice(EVIL_ARGUMENTS)]


def _forge_bytes(members: Members, arguments: list[Any], draw: random.Random) -> None:
    name = draw.choice(list(members))
    if members[name]:
        members[name] = damaged(members[name], draw)


def _forge_files(members: Members, arguments: list[Any], draw: random.Random) -> None:
    name = draw.choice([*bundles.MEMBER_NAMES, "../evil", "/etc/passwd", "x" * 300])
    if draw.random() < 0.5:
        members.pop(name, None)
    elif name != bundles.MANIFEST_FILE:
        members[name] = draw.choice([b"", b"\xff\xfe", b"[" * 3000, *members.values()])


FORGERIES: list[Callable[[Members, list[Any], random.Random], None]] = [
    _forge_json,
    _forge_json,
    _forge_arguments,
    _forge_bytes,
    _forge_files,
]

# --- the law ---


def outcome(data: bytes, anew: bool) -> tuple[str, str]:
    """What comes of a bundle, and what is wrong with that; empty where nothing is."""
    try:
        members = bundles.unpack_zip(data, "bundle.zip")
        results = list(settle.check_bundle(data, members, lambda text: None, anew=anew))
    except OverrulerError as error:
        line = str(error)
        fine = line.strip() and len(line.splitlines()) == 1
        return "refused", "" if fine else f"not one line: {line!r}"
    except Exception as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        return "crashed", f"{Path(frame.filename).name}:{frame.lineno}: {error!r:.120}"
    swallowed = [result.text for result in results if SWALLOWED in result.text]
    return settle.outcome_of(results), swallowed[0] if swallowed else ""


def run(
    whole: bytes, count: int, seed: int, measured: float = 1.0
) -> tuple[Counter[str], dict[str, bytes], float]:
    """How many of each outcome, a bundle for each problem, and the seconds of the slowest."""
    draw, members = random.Random(seed), bundles.unpack_zip(whole, "bundle.zip")
    counts: Counter[str] = Counter()
    problems: dict[str, bytes] = {}
    slowest_s, place = 0.0, os.getcwd()
    for _ in range(count):
        data = damaged(whole, draw) if draw.random() < 0.3 else forged(copy.copy(members), draw)
        begin, begin_cpu = time.perf_counter(), time.process_time()
        kind, problem = outcome(data, anew=draw.random() < measured)
        seconds = time.process_time() - begin_cpu
        slowest_s = max(slowest_s, seconds)
        waited_s = time.perf_counter() - begin
        counts[kind] += 1
        if seconds > SLOW_S or waited_s > STUCK_S:
            problem = problem or f"took {seconds:.0f} s, {waited_s:.0f} s by the clock"
        if os.getcwd() != place:
            problem = "the working folder is another"
        if problem:
            problems.setdefault(problem, data)
        if (done := counts.total()) % PROGRESS == 0:
            print(f"{done} bundles, {len(problems)} problems", flush=True)
    return counts, problems, slowest_s


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("bundle", type=Path, help="a good bundle")
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    share = "share of bundles whose photo is measured, too (0.02)"
    parser.add_argument("--measure", type=float, default=0.02, help=share)
    parser.add_argument("--keep", type=Path, metavar="DIR", help="write what has problems there")
    args = parser.parse_args()
    begin = time.monotonic()
    counts, problems, slowest_s = run(args.bundle.read_bytes(), args.count, args.seed, args.measure)
    words = ", ".join(f"{number} {kind}" for kind, number in sorted(counts.items()))
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    print(f"{args.count} bundles in {time.monotonic() - begin:.0f} s: {words}")
    print(f"slowest {slowest_s:.2f} s, memory {peak_mb:.0f} MB, {len(problems)} problems")
    for number, (problem, data) in enumerate(problems.items()):
        print(f"  {problem}")
        if args.keep:
            args.keep.mkdir(exist_ok=True)
            (args.keep / f"{number}.zip").write_bytes(data)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
