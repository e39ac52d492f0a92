"""Make a network that looks from above reckon in bytes: a third of the time, and nearly the same answers.

python tools/training/quantize.py src/overruler/vision/learned/weights/discs.onnx --tables build/shapes

To be done after `train.py discs` or `train.py regiments`, on the file that it wrote. TABLES holds photos with their
truth, which tell how large the numbers in each layer get. Weights have seven bits: with eight, processors without newer
instructions overflow, and answer otherwise. The last layer stays as it is.
"""

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import onnx
from onnxruntime.quantization import CalibrationDataReader, QuantType, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process

from overruler.vision.detection.detect import SEARCH_MARGIN_MM
from overruler.vision.imaging.line_profiles import Floats
from overruler.vision.imaging.orthophoto import relief_displacement_map
from overruler.vision.learned.inference import OVERVIEW_MM_PER_PX, pad_to_input_multiple
from overruler.vision.learned.shape_net import picture_input
from synthetic.from_above.sheet import read_truth, traced_view


class Shown(CalibrationDataReader):  # type: ignore[misc]
    """Pictures, one after the other, as the runtime asks for them."""

    def __init__(self, name: str, pictures: Iterable[Floats]) -> None:
        self._inputs = ({name: picture[None]} for picture in pictures)

    def get_next(self) -> dict[str, Floats] | None:
        return next(self._inputs, None)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", type=Path, help="the network's file, which is rewritten")
    parser.add_argument(
        "--tables", type=Path, required=True, nargs="+", help="folders of photos with their truth"
    )
    pixel = "a pixel of what the network sees, in mm (regiments: 1.5)"
    parser.add_argument("--mm-per-px", type=float, default=OVERVIEW_MM_PER_PX, help=pixel)
    options = parser.parse_args(arguments)
    tables = sorted(path for folder in options.tables for path in folder.glob("*.json"))
    if any(node.op_type == "QuantizeLinear" for node in onnx.load(options.model).graph.node):
        print(
            f"{options.model}: reckons in bytes already; it has to be as it was exported",
            file=sys.stderr,
        )
        return 2
    in_bytes(options.model, from_above(tables, options.mm_per_px))
    return 0


def from_above(tables: Iterable[Path], mm_per_px: float = OVERVIEW_MM_PER_PX) -> Iterator[Floats]:
    """What the networks see (5, H, W) of photographed tables."""
    for path in tables:
        truth, camera, photo = read_truth(path)
        view = traced_view(photo, camera, truth, mm_per_px, SEARCH_MARGIN_MM)
        yield pad_to_input_multiple(
            picture_input(view.pixels, relief_displacement_map(view, camera))
        )


def in_bytes(model: Path, pictures: Iterable[Floats]) -> None:
    """Rewrite an exported network, its numbers as large as they get when it sees these pictures."""
    with TemporaryDirectory() as folder:
        whole = Path(folder) / "whole.onnx"
        quant_pre_process(model, whole, skip_symbolic_shape=True)
        graph = onnx.load(whole).graph
        *_, last = (node.name for node in graph.node if node.op_type == "Conv")
        shown = Shown(graph.input[0].name, pictures)
        quantize_static(
            whole, model, shown, per_channel=True, reduce_range=True, nodes_to_exclude=[last],
            activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8,
        )  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
