#!/usr/bin/env python3
"""Is every kind of probability what many exact answers say?

    uv run tools/evaluate/probabilities.py                    # every kind of question, 20,000 draws each
    uv run tools/evaluate/probabilities.py --kind legion.range --draws 1000000

Each ruling of `tests/rulings` is put in doubt: a joint covariance with errors that all pieces share, wide enough that
its answer is not sure. The program says how likely each answer is. Then the places are drawn, each draw is asked as an
exact scene, and the answers are counted. No formula is shared between the two. A row is a kind of question; of its
rulings the one with the most open answer is taken. Draws that are no scene, since bases that must not overlap do, are
left out: they may be off by their share. `off` is the largest difference of a probability, `chance`
what counting alone may put it off by (3 sigma).
"""

import argparse
import json
import math
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from evaluate.fuzz import Case, good_cases
from overruler.errors import OverrulerError
from overruler.geometry.covariance import Covariance
from overruler.rules import ask
from overruler.scene import Scene
from overruler.verdict import Verdict

SIGMAS_MM = (0.3, 1.0, 3.0, 10.0, 30.0)
"""σ that are tried until an answer is open."""
OPEN = 0.02
"""An answer is open whose likeliest value is less likely than 1 less this."""
DRAWS = 20_000
BATCH = 500
AGREED = 0.005
SIGMA_AGREED = 0.01
"""Share of σ."""


def kinds() -> dict[str, list[Case]]:
    """The good cases of each kind of question."""
    found: dict[str, list[Case]] = {}
    for document, question in good_cases():
        if isinstance(question, dict) and len(document.get("pieces", [])) > 0:
            found.setdefault(f"{document['game']}.{question['question']}", []).append(
                (document, question)
            )
    return found


def in_doubt(document: dict[str, Any], sigma_mm: float, seed: int = 1) -> Scene:
    """The scene with errors that all pieces share, and some of each alone."""
    scene = Scene.from_json(_without_covariance(document))
    draw = np.random.default_rng(seed)
    shared = draw.normal(0, sigma_mm, (2 * len(scene.pieces), 3))
    joint = shared @ shared.T / 3 + sigma_mm**2 / 2 * np.eye(len(shared))
    return replace(scene, covariance=Covariance(joint.tolist()))


def _without_covariance(document: dict[str, Any]) -> dict[str, Any]:
    pieces = [
        {key: value for key, value in piece.items() if key not in ("covariance_mm2", "hex")}
        if "x_mm" in piece
        else piece
        for piece in document["pieces"]
    ]
    return {k: v for k, v in document.items() if k != "covariance"} | {"pieces": pieces}


def most_open(cases: list[Case]) -> tuple[Scene, Any, Verdict] | None:
    """Of some cases the one whose answer is least sure, at the least σ that opens any."""
    for sigma_mm in SIGMAS_MM:
        best: tuple[float, Scene, Any, Verdict] | None = None
        for document, question in cases:
            try:
                scene = in_doubt(document, sigma_mm)
                verdict = ask(scene, question)
            except OverrulerError:
                continue
            top = max((verdict.probability or {"": 1.0}).values())
            if top < 1 - OPEN and (best is None or top < best[0]):
                best = top, scene, question, verdict
        if best:
            return best[1:]
    return None


def drawn_answers(scene: Scene, question: Any, count: int, seed: int) -> Iterator[Verdict | None]:
    """The verdicts on drawn places, each an exact scene; None where a draw cannot be asked."""
    draw = np.random.default_rng(seed)
    assert scene.covariance is not None
    values, vectors = np.linalg.eigh(scene.covariance.array)
    root = vectors * np.sqrt(np.maximum(values, 0))
    for _ in range(0, count, BATCH):
        shifts = draw.standard_normal((BATCH, len(root))) @ root.T
        for shift in shifts.reshape(BATCH, -1, 2).tolist():
            pieces = tuple(
                replace(piece, x_mm=piece.x_mm + x, y_mm=piece.y_mm + y)
                for piece, (x, y) in zip(scene.pieces, shift, strict=True)
            )
            moved = replace(scene, pieces=pieces, covariance=None)
            try:
                yield ask(moved, question)
            except OverrulerError:
                yield None


def compare(
    scene: Scene, question: Any, said: Verdict, count: int
) -> tuple[float, float, str, float]:
    """The largest difference of a probability, that of σ as a share of it, σ in words, and the share left out."""
    counts: Counter[str] = Counter()
    distances, left_out = [], 0
    for verdict in drawn_answers(scene, question, count, 7):
        if verdict is None:
            left_out += 1
            continue
        counts[json.dumps(verdict.value)] += 1
        if verdict.distance_mm is not None:
            distances.append(verdict.distance_mm)
    total = sum(counts.values())
    odds = said.probability or {}
    keys = {*odds, *counts}
    off = max(abs(odds.get(key, 0.0) - counts[key] / total) for key in keys)
    if len(distances) < total or said.sigma_mm is None:
        return off, 0.0, "-", left_out / count
    sigma = float(np.std(distances))
    share = abs(said.sigma_mm - sigma) / sigma if sigma > 1e-9 else 0.0
    return off, share, f"{said.sigma_mm:.3f} / {sigma:.3f}", left_out / count


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--draws", type=int, default=DRAWS)
    parser.add_argument("--kind", action="append", help="such as legion.range; all where absent")
    parser.add_argument("--seconds", type=float, default=60.0, help="most for each kind")
    args = parser.parse_args()
    bad = 0
    for kind, cases in sorted(kinds().items()):
        if args.kind and kind not in args.kind:
            continue
        found = most_open(cases)
        if not found:
            print(f"{kind:32} no open answer among {len(cases)}", flush=True)
            continue
        scene, question, said = found
        begin = time.perf_counter()
        for _ in drawn_answers(scene, question, BATCH, 1):
            pass
        seconds = max(time.perf_counter() - begin, 1e-3)
        count = max(1, min(args.draws, int(BATCH * args.seconds / seconds)) // BATCH) * BATCH
        off, share, sigmas, left_out = compare(scene, question, said, count)
        top = max((said.probability or {}).values(), default=1.0)
        chance = 3 * math.sqrt(top * (1 - top) / count)
        blind = left_out / (1 - left_out)  # what is left out may all have been one answer
        is_sigma_bad = not left_out and share > SIGMA_AGREED + 3 / math.sqrt(2 * count)
        is_bad = off > AGREED + chance + blind or is_sigma_bad
        bad += is_bad
        print(
            f"{kind:32} {count:8} draws  top {top:.3f}  off {off:.4f} (chance {chance:.4f}, left out {left_out:.3f})"
            f"  sigma {sigmas} ({share:.1%}){'  <-- ' + json.dumps(question) if is_bad else ''}",
            flush=True,
        )
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
