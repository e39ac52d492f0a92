"""Where the learned looks run: networks read from ONNX files, each look on one processor, several at once."""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

Floats = NDArray[np.float32]
ERRORS_ONLY = 3
"""How much the runtime says of itself on standard error."""


def answer(network: Path, pictures: Floats) -> Floats:
    """What a network with one input and one output says to pictures (N, C, H, W)."""
    session = _session(network)
    said: list[Floats] = session.run(None, {session.get_inputs()[0].name: pictures})
    return said[0]


@cache
def _session(network: Path) -> "InferenceSession":
    from onnxruntime import InferenceSession, SessionOptions

    options = SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = ERRORS_ONLY
    return InferenceSession(str(network), options, providers=["CPUExecutionProvider"])
