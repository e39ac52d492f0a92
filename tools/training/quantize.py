"""Make a network reckon in bytes: a third to six tenths of the time, and nearly the same answers.

python tools/training/quantize.py src/overruler/vision/learned/weights/discs.onnx --tables build/shapes
python tools/training/quantize.py src/overruler/vision/learned/weights/discs_in_play.onnx --painted 24

To be done after `train.py`, on the file that it wrote: discs and regiments by photos with their truth in TABLES,
discs_in_play, after `simplify.py`, by painted tables in play. They tell how large the numbers in each layer get.
Weights have seven bits: with eight, processors without newer instructions overflow, and answer otherwise. The last
layer stays as it is; of discs_in_play the first one too. In bytes in_play finds fewer bases on photographs, so it is
left alone.
"""

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import onnx
from onnxruntime.quantization import CalibrationDataReader, QuantType, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process

from overruler.geometry.camera import Camera
from overruler.vision.detection.detect import SEARCH_MARGIN_MM
from overruler.vision.imaging.line_profiles import Floats
from overruler.vision.imaging.orthophoto import Orthophoto, relief_displacement_map
from overruler.vision.learned.inference import (
    OVERVIEW_MM_PER_PX,
    pad_to_input_multiple,
)
from overruler.vision.learned.shape_net import picture_input
from synthetic.from_above.sheet import read_truth, traced_tables, traced_view
from synthetic.tiles import library
from training.fit_round_score import painted_table

HEAD = ("Concat", "Flatten", "Gemm", "ReduceMean")
"""Operators behind the last convolution, which stay as they are."""
TILES, SEED = 30, 991
"""The mats that painted tables lie on, and what they are drawn from."""


class Shown(CalibrationDataReader):  # type: ignore[misc]
    """Inputs (1, C, H, W), one after the other, as the runtime asks for them."""

    def __init__(self, name: str, pictures: Iterable[Floats]) -> None:
        self._inputs = ({name: picture[None]} for picture in pictures)

    def get_next(self) -> dict[str, Floats] | None:
        return next(self._inputs, None)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", type=Path, help="the network's file, which is rewritten")
    shown = parser.add_mutually_exclusive_group(required=True)
    shown.add_argument("--tables", type=Path, nargs="+", help="folders of photos with their truth")
    shown.add_argument("--painted", type=int, help="how many tables in play to paint instead")
    pixel = "a pixel of what the network sees, in mm (regiments: 1.5)"
    parser.add_argument("--mm-per-px", type=float, default=OVERVIEW_MM_PER_PX, help=pixel)
    options = parser.parse_args(arguments)
    if any(node.op_type == "QuantizeLinear" for node in onnx.load(options.model).graph.node):
        print(
            f"{options.model}: reckons in bytes already; it has to be as it was exported",
            file=sys.stderr,
        )
        return 2
    if options.painted:
        in_bytes(options.model, in_play(options.painted), keep_first=True)
        return 0
    tables = traced_tables(*options.tables)
    in_bytes(options.model, from_above(tables, options.mm_per_px))
    return 0


def from_above(tables: Iterable[Path], mm_per_px: float = OVERVIEW_MM_PER_PX) -> Iterator[Floats]:
    """What the networks see (5, H, W) of photographed tables."""
    for path in tables:
        truth, camera, photo = read_truth(path)
        yield _seen_from_above(
            traced_view(photo, camera, truth, mm_per_px, SEARCH_MARGIN_MM), camera
        )


def _seen_from_above(view: Orthophoto, camera: Camera) -> Floats:
    return pad_to_input_multiple(picture_input(view.pixels, relief_displacement_map(view, camera)))


def in_play(count: int) -> Iterator[Floats]:
    """What the network sees (5, H, W) of so many painted tables in play."""
    tiles = library(SEED, TILES)
    for number in range(count):
        table = painted_table([SEED, number], tiles)
        yield _seen_from_above(table.view, table.camera)


def in_bytes(model: Path, pictures: Iterable[Floats], keep_first: bool = False) -> None:
    """Rewrite an exported network, its numbers as large as they get when it sees these pictures."""
    with TemporaryDirectory() as folder:
        whole = Path(folder) / "whole.onnx"
        quant_pre_process(model, whole, skip_symbolic_shape=True)
        graph = onnx.load(whole).graph
        first, *_, last = (node.name for node in graph.node if node.op_type == "Conv")
        kept = [node.name for node in graph.node if node.op_type in HEAD]
        shown = Shown(graph.input[0].name, pictures)
        quantize_static(
            whole, model, shown, per_channel=True, reduce_range=True,
            nodes_to_exclude=[last, *kept, *([first] if keep_first else [])],
            activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8,
        )  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
