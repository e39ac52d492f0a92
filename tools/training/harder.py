"""Keep what a network still gets wrong: the samples that it is unsure of or mistakes, and as many others.

python tools/training/harder.py --samples build/rims --model weights/rims.onnx --out build/hard

Most samples of round bases teach nothing more. To go on with the rest is as good as with all, in a third of the time.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from overruler.vision.learned.inference import run_in_batches
from overruler.vision.learned.logits import sigmoid
from overruler.vision.learned.patches import patch_input
from training.blocks import Arrays

SURE = 0.05
"""A network that is off by less in its probability has nothing to learn."""
FIELDS = ("patches", "side", "truth")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--samples", type=Path, required=True, nargs="+", help="drawn samples")
    parser.add_argument("--model", type=Path, required=True, help="the network's file")
    parser.add_argument("--out", type=Path, required=True, help="folder of what is kept")
    options = parser.parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    paths = sorted(path for folder in options.samples for path in folder.glob("drawn_*.npz"))
    for number, path in enumerate(paths):
        with np.load(path) as file:
            some = {name: file[name] for name in FIELDS}
        kept = hard_rows(some, options.model, number)
        print(f"{path.name}: {len(kept)} of {len(some['truth'])}", flush=True)
        np.savez(options.out / path.name, **{name: some[name][kept] for name in FIELDS})
    return 0


def hard_rows(some: Arrays, model: Path, seed: int) -> NDArray[np.intp]:
    """The rows that teach something, and as many others at random."""
    said = sigmoid(_logits(some, model))
    truth = some["truth"][:, 0]
    hard = (truth >= 0) & (np.abs(said - truth) > SURE)
    others = np.random.default_rng(seed).permutation(np.flatnonzero(~hard))
    return np.sort(np.concatenate([np.flatnonzero(hard), others[: int(hard.sum())]]))


def _logits(some: Arrays, model: Path) -> NDArray[np.float64]:
    def blob(rows: NDArray[np.float64]) -> NDArray[np.float32]:
        chosen = rows[:, 0].astype(int)
        return patch_input(some["patches"][chosen], some["side"][chosen])

    rows = np.arange(len(some["truth"]), dtype=float)[:, None]
    return np.asarray(run_in_batches(model, blob, rows)[:, 0], float)


if __name__ == "__main__":
    sys.exit(main())
