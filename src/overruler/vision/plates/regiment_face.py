"""Whether a rectangle is a base: a network that sees all of it at once, and what lies around it.

The looks along its sides know nothing of each other. This network sees them together, with the
seams to its neighbours and what stands on it. It learnt from what the fit makes of likely sizes at
the guesses of the whole-table network, right and wrong.
"""

from collections.abc import Sequence

import numpy as np

from overruler.geometry.pose import Array
from overruler.vision.contours.radial_edges import LabPatch
from overruler.vision.imaging.line_profiles import Floats
from overruler.vision.learned.inference import WEIGHTS, run_in_batches
from overruler.vision.plates.rectangle_fit import RectangleHypothesis, size_mm
from overruler.vision.plates.sides import half_extents, side_normals

MODEL = WEIGHTS / "regiment_face.onnx"
"""The network's weights."""
SAMPLES = 48
"""Samples of a look along the length, and across."""
REACH = 1.7
"""How far from the middle a look reaches, in half lengths and half widths."""
FACTS = 5
"""Numbers that are told with a look."""
USUAL_SIDE_MM = 30.0
"""Side of a usual base."""
STEEPEST = 3.0
"""Largest shift of the camera aside that is told, in its heights."""
MOST_LOGIT = 8.0
"""Largest log odds that are believed."""


def face_logits(hypotheses: Sequence[RectangleHypothesis]) -> Array:
    """Return the log odds of a base against none (N,) by how each looks."""
    if not hypotheses:
        return np.zeros(0)

    def looks(some: Array) -> Floats:
        chosen = [hypotheses[k] for k in some.astype(int).tolist()]
        return np.stack([face_input(*look_at_face(one)) for one in chosen])

    logits = run_in_batches(MODEL, looks, np.arange(float(len(hypotheses))))
    return np.asarray(np.clip(logits[:, 0], -MOST_LOGIT, MOST_LOGIT))


def look_at_face(one: RectangleHypothesis) -> tuple[Floats, Floats]:
    """Return the colours (3, SAMPLES, SAMPLES) of a rectangle, its length to the right, and the facts (5,)."""
    ahead, left, *_ = side_normals(one.turn_rad)
    length, width = half_extents(size_mm(one.base))[:2]
    steps = REACH * np.linspace(-1, 1, SAMPLES)
    along, across = steps[:, None] * length * ahead, steps[:, None] * width * left
    colours, _ = one.view.sample_board(one.xy_mm + along + across[:, None])
    facts = [*np.log(np.array(size_mm(one.base)) / USUAL_SIDE_MM), np.log(one.view.mm_per_px)]
    facts += [float(axis @ _camera_aside(one.view, one.xy_mm)) for axis in (ahead, left)]
    return colours.transpose(2, 0, 1), np.array(facts, np.float32)


def _camera_aside(view: LabPatch, xy_mm: Array) -> Array:
    """Return how far aside of a place the camera stands (2,), in its heights."""
    eye = view.camera.center_mm
    return np.asarray(np.clip((eye[:2] - xy_mm) / max(eye[2], 1.0), -STEEPEST, STEEPEST))


def face_input(colours: Floats, facts: Floats) -> Floats:
    """Return the network's input (3 + FACTS, SAMPLES, SAMPLES)."""
    scaled = colours / np.float32(30) - np.array([1.5, 0, 0], np.float32)[:, None, None]
    told = np.broadcast_to(facts[:, None, None], (FACTS, SAMPLES, SAMPLES))
    return np.concatenate([scaled, told]).astype(np.float32)
