#!/usr/bin/env python3
"""Write a network halfway between what it was and what more lessons made of it.

python tools/training/blend.py before.onnx after.onnx --out src/overruler/vision/learned/weights/rims.onnx

What the new lessons do not show, here plain discs without figures, is forgotten least along the straight line between
the two (Wortsman et al., Robust fine-tuning of zero-shot models, 2022).
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
from onnx.numpy_helper import from_array, to_array


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("before", type=Path, help="the network that the lessons began with")
    parser.add_argument("after", type=Path, help="the same network after them")
    parser.add_argument(
        "--share", type=float, default=0.5, help="how far to go from the first to the second"
    )
    parser.add_argument("--out", type=Path, required=True, help="the network's new file")
    options = parser.parse_args(arguments)
    onnx.save(
        blended(onnx.load(options.before), onnx.load(options.after), options.share), options.out
    )
    return 0


def blended(before: onnx.ModelProto, after: onnx.ModelProto, share: float) -> onnx.ModelProto:
    """The second network with its weights moved towards those of the first; ValueError where these are others."""
    known = {one.name: to_array(one) for one in before.graph.initializer}
    for one in after.graph.initializer:
        new = to_array(one)
        old = known.get(one.name)
        if old is None or old.shape != new.shape:
            raise ValueError(f"{one.name}: the two are not the same network")
        if np.issubdtype(new.dtype, np.floating):
            one.CopyFrom(from_array((old + share * (new - old)).astype(new.dtype), one.name))
    return after


if __name__ == "__main__":
    sys.exit(main())
