"""Run networks from ONNX files: one thread for each call, several calls at once."""

import hashlib
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from functools import cache
from math import ceil
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from overruler.geometry.pose import Array
from overruler.vision.imaging.line_profiles import Floats

if TYPE_CHECKING:
    from onnxruntime import InferenceSession, RunOptions

WEIGHTS = Path(__file__).with_name("weights")
"""Folder of the networks' weights (one ONNX file each) and of fitted coefficients (JSON)."""
OVERVIEW_MM_PER_PX = 2.0
"""Resolution of the orthophoto that whole-table networks take, in mm per px."""
INPUT_MULTIPLE_PX = 16
"""Input sides are padded to multiples of this, in px."""
OUTPUT_STRIDE_PX = 4
"""Whole-table networks answer once for each cell of this side, in px of their input."""
BATCH_SIZE = 16
"""Cutouts that pass a network together. Intermediate results of larger batches fit no cache."""
PARALLEL_BATCHES = 2
"""Batches that run at the same time, of all networks together."""
FINGERPRINT_DIGITS = 12
"""Hexadecimal digits of the weights' fingerprint."""
LOG_SEVERITY_ERROR = 3
"""ONNX Runtime's level for logging errors only."""
NO_TELEMETRY = ("ORT_DISABLE_TELEMETRY", "ORT_TELEMETRY_DISABLED")
"""Environment variables that keep ONNX Runtime (from 1.29 on) from telling its maker what it runs."""
STRIP_PX, STRIP_MARGIN_PX = 512, 96
"""Height of a strip of a large picture, and how much more the network sees beyond it, in px: multiples
of `INPUT_MULTIPLE_PX`. What `shape_net` and its like say of a cell depends on 90 px around it."""
GROW_AS_ASKED = 1
"""ONNX Runtime's `kSameAsRequested`: how a store of memory grows."""
LARGE_PICTURE_PX = 100_000
"""Pixels above which pictures pass the networks one at a time; a whole table has more."""
_ONE_AT_A_TIME = Lock()
"""Held while the networks' common memory is set up."""

_ONE_LARGE_PICTURE = Lock()
"""Held while a network sees a large picture: the next one reuses the memory of its intermediate
results."""


@cache
def weights_fingerprint() -> str:
    """The start of the SHA-256 of all networks and coefficients: what a score comes from."""
    digest = hashlib.sha256()
    for path in sorted(WEIGHTS.iterdir()):
        digest.update(f"{path.name}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:FINGERPRINT_DIGITS]


def infer_batch(network: Path, pictures: Floats) -> Floats:
    """Run a network with one input and one output on pictures (N, C, H, W)."""
    session = load_session(network)
    inputs = {session.get_inputs()[0].name: pictures}
    is_large = pictures[0, 0].size > LARGE_PICTURE_PX
    outputs: list[Floats] = session.run(None, inputs, _giving_back() if is_large else None)
    return outputs[0]


@cache
def _giving_back() -> "RunOptions":
    """Return the options of a run that gives the memory of its intermediate results back."""
    from onnxruntime import RunOptions

    options = RunOptions()
    options.add_run_config_entry("memory.enable_memory_arena_shrinkage", "cpu:0")
    return options


def run_in_batches(path: Path, blob: Callable[[Array], Floats], candidates: Array) -> Array:
    """Run a network on the input that `blob` builds from each batch of candidates; a row each."""
    starts = range(0, len(candidates), BATCH_SIZE)
    batches = [candidates[start : start + BATCH_SIZE] for start in starts]

    def infer(batch: Array) -> Array:
        return np.asarray(infer_batch(path, blob(batch)), float)

    if len(batches) == 1:  # starting a thread costs as much as a batch
        return infer(batches[0])
    answers = list(_batch_threads().map(infer, batches))
    return np.concatenate(answers) if answers else np.empty((0, 0))


@cache
def _batch_threads() -> ThreadPoolExecutor:
    """Return the threads that run batches, whoever asks: more only wait for each other."""
    return ThreadPoolExecutor(PARALLEL_BATCHES)


# A copied process has none of the threads. Windows copies no process.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_batch_threads.cache_clear)


def infer_whole_picture(network: Path, picture: Floats) -> Floats:
    """Run a network on a picture (C, H, W) of any size; answers (K, rows, columns) by cell."""
    height, width = picture.shape[1:]
    rows, columns = ceil(height / OUTPUT_STRIDE_PX), ceil(width / OUTPUT_STRIDE_PX)
    is_large = picture[0].size > LARGE_PICTURE_PX
    with _ONE_LARGE_PICTURE if is_large else nullcontext():
        output = infer_batch(network, pad_to_input_multiple(picture)[None])
    return output[0, :, :rows, :columns]


def infer_in_strips(network: Path, height: int, rows: Callable[[slice], Floats]) -> Floats:
    """Run a network on a picture, strip by strip: a tall one takes no more memory than a strip.

    `rows` gives the network's input (C, h, W) of some of the picture's `height` rows. Strips overlap,
    so that what lies beyond their borders hardly counts.
    """
    if height <= STRIP_PX + 2 * STRIP_MARGIN_PX:
        return infer_whole_picture(network, rows(slice(0, height)))
    answers = []
    for top in range(0, height, STRIP_PX):
        first = max(0, top - STRIP_MARGIN_PX)
        strip = rows(slice(first, min(top + STRIP_PX + STRIP_MARGIN_PX, height)))
        begin = (top - first) // OUTPUT_STRIDE_PX
        end = begin + STRIP_PX // OUTPUT_STRIDE_PX
        answers.append(infer_whole_picture(network, strip)[:, begin:end])
    return np.concatenate(answers, axis=1)


def softmax(logits: Floats) -> Floats:
    """Convert logits to probabilities over the first axis."""
    power = np.exp(logits - logits.max(0))
    return np.asarray(power / power.sum(0), np.float32)


def pad_to_input_multiple(picture: Floats) -> Floats:
    """Pad a picture (C, H, W) at the right and bottom, by its edge, to sides a network takes."""
    height, width = picture.shape[1:]
    below, right = -height % INPUT_MULTIPLE_PX, -width % INPUT_MULTIPLE_PX
    if not below and not right:
        return picture  # numpy would copy it
    return np.pad(picture, ((0, 0), (0, below), (0, right)), mode="edge")


@cache
def load_session(network: Path) -> "InferenceSession":
    """Load a network, once for each process."""
    _stop_telemetry()
    from onnxruntime import InferenceSession, SessionOptions

    options = SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = LOG_SEVERITY_ERROR
    with _ONE_AT_A_TIME:
        _share_memory()
    options.add_session_config_entry("session.use_env_allocators", "1")
    return InferenceSession(str(network), options, providers=["CPUExecutionProvider"])


@cache
def _stop_telemetry() -> None:
    """Let ONNX Runtime tell nobody anything; the variables count only before it is imported."""
    os.environ |= dict.fromkeys(NO_TELEMETRY, "1")
    from onnxruntime import disable_telemetry_events

    disable_telemetry_events()


@cache
def _share_memory() -> None:
    """Let all networks take their memory from one store: what one has freed serves the next.

    The store grows by what is asked for, not by powers of two.
    """
    from onnxruntime import (
        OrtAllocatorType,
        OrtArenaCfg,
        OrtMemoryInfo,
        OrtMemType,
        create_and_register_allocator,
    )

    kind = OrtAllocatorType.ORT_ARENA_ALLOCATOR
    growth = OrtArenaCfg({"arena_extend_strategy": GROW_AS_ASKED})
    create_and_register_allocator(OrtMemoryInfo("Cpu", kind, 0, OrtMemType.DEFAULT), growth)
