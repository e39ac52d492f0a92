#!/usr/bin/env python3
"""Do the outlines of areas hold what distances say? Random points in every kind of area, inside, outside and along it.

uv run tools/evaluate/area_points.py                # 100,000 points in each of the areas of tests/rules/areas
"""

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.rules.areas.test_ground import AREAS, SCENE, disagreements


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--points", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--area", action="append", help="by its name there; all where absent")
    args = parser.parse_args()
    wrong = 0
    for name, area in AREAS.items():
        if args.area and name not in args.area:
            continue
        begin = time.perf_counter()
        found, compared = disagreements(SCENE, area, args.points, args.seed)
        wrong += found
        seconds = time.perf_counter() - begin
        print(f"{name:30} {found} of {compared} points disagree  {seconds:.0f} s", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
