#!/usr/bin/env python3
"""Does any scene or question, however broken, get more than an answer or one clear line?

    uv run tools/evaluate/fuzz.py                      # a hundred thousand cases, over every game
    uv run tools/evaluate/fuzz.py --game xwing --count 20000 --seed 7

Every ruling of `tests/rulings` is a good scene and a good question. Here they are broken: keys dropped, types swapped,
numbers made huge, negative or no numbers at all, ids repeated, names that stand for nothing, covariances that are none.
The law: either an `OverrulerError` of one line, or an answer that is JSON. Whatever else comes out is printed, once for
each place that it came from.
"""

import argparse
import copy
import json
import math
import random
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from overruler.errors import OverrulerError
from overruler.rules import ask
from overruler.scene import Scene
from overruler.verdict import Verdict

RULINGS = Path(__file__).parents[2] / "tests" / "rulings"

Document = dict[str, Any]
Case = tuple[Document, Any]
"""A scene and a question."""


DOUBTFUL = 0.1
"""The share of cases with places in doubt, which take the longest."""

# --- good ones ---


def good_cases(game: str | None = None) -> list[Case]:
    """Every ruling's scene and question."""
    tables = [json.loads(path.read_text("utf-8")) for path in sorted(RULINGS.glob("*.json"))]
    frame = {"schema": "overruler/scene/1", "board": {"width_mm": 1800, "height_mm": 900}}
    return [
        (frame | {"game": table["game"]} | table["scenes"][ruling["scene"]], ruling["ask"])
        for table in tables
        if game in (None, table["game"])
        for ruling in table["rulings"]
    ]


def with_doubt(document: Document, draw: random.Random) -> Document:
    """The same scene with a joint covariance: what all pieces share and what each has alone."""
    pieces = document.get("pieces", [])
    size = 2 * len(pieces)
    shared = [draw.gauss(0, draw.choice([0, 0.3, 5])) for _ in range(size)]
    own = draw.choice([0, 0.01, 1, 30])
    rows = [[shared[i] * shared[j] + own * (i == j) for j in range(size)] for i in range(size)]
    return document | {"covariance": {"order": [piece["id"] for piece in pieces], "mm2": rows}}


# --- broken ones ---

NUMBERS = [
    0,
    -0.0,
    -1,
    1,
    0.5,
    2.5,
    7,
    1e-320,
    1e-9,
    1e7,
    1e8,
    -1e8,
    1e300,
    -1e308,
    10**400,
    360.0,
    1e16,
]
NO_NUMBERS = [math.nan, math.inf, -math.inf]
TEXTS = ["", "x", " ", "\n", "é\u0000\u202e", "🎲" * 40, "NaN", "1", "true", "a" * 3000]
OTHERS: list[Any] = [
    None,
    True,
    False,
    [],
    {},
    [[]],
    [{}],
    {"": None},
    [1, 2, 3],
    [None, None],
    [[0, 0], [1, 1]],
]


def deep(levels: int) -> Any:
    found: Any = 0
    for _ in range(levels):
        found = [found]
    return found


def junk(draw: random.Random) -> Any:
    """Anything at all."""
    kind: list[Any] = draw.choice([NUMBERS, NO_NUMBERS, TEXTS, OTHERS, OTHERS])
    return deep(300) if draw.random() < 0.02 else copy.deepcopy(draw.choice(kind))


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every container in a value with each of its keys."""
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from places(value[key])


def broken(value: Any, draw: random.Random) -> Any:
    """The value, changed in one place."""
    spots = list(places(value))
    if not spots or draw.random() < 0.01:
        return junk(draw)
    inside, key = draw.choice(spots)
    draw.choice(CHANGES)(inside, key, draw)
    return value


def _replace(inside: Any, key: Any, draw: random.Random) -> None:
    inside[key] = junk(draw)


def _drop(inside: Any, key: Any, draw: random.Random) -> None:
    del inside[key]


def _wrap(inside: Any, key: Any, draw: random.Random) -> None:
    inside[key] = draw.choice(
        [[inside[key]], {"x": inside[key]}, [inside[key]] * 2, str(inside[key])]
    )


def _repeat(inside: Any, key: Any, draw: random.Random) -> None:
    if isinstance(inside, list):
        inside.append(copy.deepcopy(inside[key]))
    else:
        inside["é " + str(key)] = inside[key]


def _scale(inside: Any, key: Any, draw: random.Random) -> None:
    if isinstance(inside[key], int | float) and abs(inside[key]) < 1e300:
        factor, more = (
            draw.choice([-1, 0, 1e-12, 1e-3, 3, 1e6, 1e12, math.inf]),
            draw.choice([0, 0, 1e-7]),
        )
        inside[key] = inside[key] * factor + more
    else:
        _replace(inside, key, draw)


def _swap(inside: Any, key: Any, draw: random.Random) -> None:
    other = draw.choice(list(inside) if isinstance(inside, dict) else range(len(inside)))
    inside[key], inside[other] = inside[other], inside[key]


CHANGES: list[Callable[[Any, Any, random.Random], None]] = [
    _replace,
    _replace,
    _scale,
    _scale,
    _drop,
    _wrap,
    _repeat,
    _swap,
]


def broken_case(good: list[Case], draw: random.Random, doubtful: float) -> Case:
    """A good case, broken in one to three places; a share of them has places in doubt."""
    document, question = copy.deepcopy(draw.choice(good))
    if draw.random() < 0.15:  # a good question of another scene, often of another game
        question = copy.deepcopy(draw.choice(good)[1])
    if draw.random() < doubtful:
        document = with_doubt(document, draw)
    for _ in range(draw.choice([0, 1, 1, 1, 2, 3])):
        if draw.random() < 0.6:
            document = broken(document, draw)
        else:
            question = broken(question, draw)
    return document, question


# --- the law ---


@dataclass(frozen=True)
class Outcome:
    """What came of a case: `answered`, `refused`, or `crashed` with what is wrong."""

    kind: str
    problem: str = ""


def outcome(case: Case) -> Outcome:
    """What the engine makes of a scene and a question, held against the law."""
    document, question = case
    return lawful(lambda: checked(ask(Scene.from_json(document), question)))


def lawful(answer: Callable[[], Outcome]) -> Outcome:
    """What `answer` gives, or what became of its error; a warning is one, too."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return answer()
    except OverrulerError as error:
        line = str(error)
        fine = line.strip() and len(line.splitlines()) == 1
        return Outcome("refused", line) if fine else Outcome("crashed", f"not one line: {line!r}")
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        ours = [frame for frame in frames if "overruler" in frame.filename]
        frame = (ours or frames)[-1]
        where = f"{Path(frame.filename).name}:{frame.lineno}"
        return Outcome("crashed", f"{where}: {type(error).__name__}: {str(error)[:90]}")


def checked(verdict: Verdict) -> Outcome:
    """An answer is JSON without NaN, and its probabilities are some."""
    try:
        json.dumps(verdict.to_json(), allow_nan=False)
    except (ValueError, TypeError) as error:
        return Outcome("crashed", f"no JSON: {error}: {verdict.rules[:1]}")
    odds = verdict.probability
    if odds is not None and not (
        abs(sum(odds.values()) - 1) < 1e-6 and all(-1e-9 <= p <= 1 + 1e-9 for p in odds.values())
    ):
        return Outcome("crashed", f"probabilities that are none: {dict(odds)}: {verdict.rules[:1]}")
    if (verdict.sigma_mm or 0.0) < 0 or (verdict.distance_mm or 0.0) < 0:
        return Outcome(
            "crashed", f"less than nothing: {verdict.distance_mm} ± {verdict.sigma_mm} mm"
        )
    return Outcome("answered")


def run(
    count: int, seed: int, game: str | None = None, doubtful: float = DOUBTFUL
) -> tuple[Counter[str], dict[str, Case], tuple[float, Case]]:
    """How many of each outcome, a case for each problem, and the slowest with the processor's seconds."""
    good, draw = good_cases(game), random.Random(seed)
    counts: Counter[str] = Counter()
    problems: dict[str, Case] = {}
    slowest: tuple[float, Case] = (0.0, good[0])
    for _ in range(count):
        case = broken_case(good, draw, doubtful)
        begin = time.process_time()
        found = outcome(case)
        if (seconds := time.process_time() - begin) > slowest[0]:
            slowest = (seconds, case)
        counts[found.kind] += 1
        if found.kind == "crashed":
            problems.setdefault(found.problem, case)
    return counts, problems, slowest


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--game", help="one game only")
    parser.add_argument(
        "--doubtful", type=float, default=DOUBTFUL, help="share of scenes with places in doubt"
    )
    parser.add_argument(
        "--show", action="store_true", help="print the case of each problem and the slowest"
    )
    args = parser.parse_args()
    counts, problems, (seconds, slow) = run(args.count, args.seed, args.game, args.doubtful)
    print(
        f"{args.count} cases:",
        ", ".join(f"{number} {kind}" for kind, number in sorted(counts.items())),
    )
    print(f"slowest: {seconds:.2f} s", json.dumps(slow)[:2000] if args.show else "")
    for problem, case in problems.items():
        print(problem, *((json.dumps(case)[:3000],) if args.show else ()), sep="\n    ")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
