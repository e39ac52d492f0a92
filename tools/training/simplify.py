"""Compute what is constant in a network once and for all: it loads in half the time.

python tools/training/simplify.py src/overruler/vision/learned/weights/in_play.onnx

To be done after `train.py in_play` or `train.py discs_in_play`, on the file that it wrote. PyTorch works the borders of
EfficientNet-Lite out anew at each start; here they become numbers of the convolutions.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import onnx
from onnxruntime import GraphOptimizationLevel, InferenceSession, SessionOptions


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", type=Path, help="the network's file, which is rewritten")
    options = parser.parse_args(arguments)
    simplify(options.model)
    return 0


def simplify(path: Path) -> None:
    """Rewrite a network by ONNX Runtime's optimisations that keep to ONNX's own operators."""
    known = onnx.load(path).opset_import
    with TemporaryDirectory() as folder:
        simpler = Path(folder) / path.name
        options = SessionOptions()
        options.graph_optimization_level = GraphOptimizationLevel.ORT_ENABLE_BASIC
        options.optimized_model_filepath = str(simpler)
        InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        model = onnx.load(simpler)
    del model.opset_import[:]
    model.opset_import.extend(known)  # the runtime names all that it knows
    onnx.save(model, path)


if __name__ == "__main__":
    sys.exit(main())
