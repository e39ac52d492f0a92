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
MM_PER_PX = 2.0
"""The picture from above that those see that look at a whole table."""
STEP_PX, CELL_PX = 16, 4
"""A picture's sides are brought to multiples of the first; of a whole one a network speaks once for each cell of the
second squared."""
ERRORS_ONLY = 3
"""How much the runtime says of itself on standard error."""


def answer(network: Path, pictures: Floats) -> Floats:
    """What a network with one input and one output says to pictures (N, C, H, W)."""
    session = load(network)
    said: list[Floats] = session.run(None, {session.get_inputs()[0].name: pictures})
    return said[0]


def answer_whole(network: Path, picture: Floats) -> Floats:
    """What a network says of each cell (K, rows, columns) of a picture (C, H, W) of any size, its edges continued."""
    rows, columns = picture.shape[1:]
    return answer(network, padded(picture)[None])[0, :, : -(-rows // CELL_PX), : -(-columns // CELL_PX)]


def softmax(logits: Floats) -> Floats:
    """How likely each of the first axis is."""
    power = np.exp(logits - logits.max(0))
    return np.asarray(power / power.sum(0), np.float32)


def padded(picture: Floats) -> Floats:
    """A picture (C, H, W) with its edges continued, to sides that a network takes."""
    rows, columns = picture.shape[1:]
    return np.pad(picture, ((0, 0), (0, -rows % STEP_PX), (0, -columns % STEP_PX)), mode="edge")


@cache
def load(network: Path) -> "InferenceSession":
    """A network made ready to answer, once."""
    from onnxruntime import InferenceSession, SessionOptions

    options = SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = ERRORS_ONLY
    return InferenceSession(str(network), options, providers=["CPUExecutionProvider"])
