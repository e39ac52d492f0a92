"""Where the learned looks run: networks read from ONNX files, each look on one processor, several at once."""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from overruler.vision.imaging.line_profiles import Floats

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

WEIGHTS = Path(__file__).with_name("weights")
"""Where the networks' weights lie, an ONNX file each."""
OVERVIEW_MM_PER_PX = 2.0
"""The picture from above that those see that look at a whole table."""
INPUT_MULTIPLE_PX, OUTPUT_STRIDE_PX = 16, 4
"""A picture's sides are brought to multiples of the first; of a whole one a network speaks once for each cell of the
second squared."""
LOG_SEVERITY_ERROR = 3
"""How much the runtime says of itself on standard error."""


def infer_batch(network: Path, pictures: Floats) -> Floats:
    """What a network with one input and one output says to pictures (N, C, H, W)."""
    session = load_session(network)
    said: list[Floats] = session.run(None, {session.get_inputs()[0].name: pictures})
    return said[0]


def infer_whole_picture(network: Path, picture: Floats) -> Floats:
    """What a network says of each cell (K, rows, columns) of a picture (C, H, W) of any size, its edges continued."""
    rows, columns = picture.shape[1:]
    return infer_batch(network, pad_to_input_multiple(picture)[None])[
        0, :, : -(-rows // OUTPUT_STRIDE_PX), : -(-columns // OUTPUT_STRIDE_PX)
    ]


def softmax(logits: Floats) -> Floats:
    """How likely each of the first axis is."""
    power = np.exp(logits - logits.max(0))
    return np.asarray(power / power.sum(0), np.float32)


def pad_to_input_multiple(picture: Floats) -> Floats:
    """A picture (C, H, W) with its edges continued, to sides that a network takes."""
    rows, columns = picture.shape[1:]
    return np.pad(
        picture,
        ((0, 0), (0, -rows % INPUT_MULTIPLE_PX), (0, -columns % INPUT_MULTIPLE_PX)),
        mode="edge",
    )


@cache
def load_session(network: Path) -> "InferenceSession":
    """A network made ready to answer, once."""
    from onnxruntime import InferenceSession, SessionOptions

    options = SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = LOG_SEVERITY_ERROR
    return InferenceSession(str(network), options, providers=["CPUExecutionProvider"])
