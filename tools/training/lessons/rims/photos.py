"""Samples from whole rendered photos that come with their truth (`tools/render` writes such pairs)."""

import json
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from overruler.geometry.camera import Camera
from overruler.geometry.pose import Pose
from synthetic.arrays import Picture
from synthetic.arrays import Array, Rng
from training.lessons.rims.patches import Samples, misled, shaken, teach
from training.lessons.rims.ring import ring_candidates

FOUND = 260
"""Candidates taken from the ring filter in one photo."""


def photo_samples(path: Path, rng: Rng) -> Samples:
    """What one photo teaches; `path` is its truth, the picture stands beside it."""
    truth: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    photo = np.asarray(cv2.imread(str(path.with_suffix(".jpg"))), np.uint8)
    camera = camera_of(truth["camera"])
    bases = round_bases(truth, camera)
    width, height = truth["board"]["width_mm"], truth["board"]["height_mm"]
    odd = _others(truth, camera)
    guesses = [shaken(rng, bases[:, :3], share) for share in (0.4, 0.4, 0.1)]
    guesses += [misled(rng, bases[:, :3]), misled(rng, odd), shaken(rng, odd, 0.4)]
    guesses.append(ring_candidates(photo, camera, (-40, -40, width + 40, height + 40), most=FOUND))
    return teach(rng, photo, camera, _in_view(np.concatenate(guesses), camera, photo), bases)


def camera_of(truth: dict[str, Any]) -> Camera:
    pose = Pose(np.array(truth["rotation"], float), np.array(truth["translation_mm"], float))
    return Camera(np.array(truth["matrix"], float), np.array(truth["distortion"], float), pose)


def round_bases(truth: dict[str, Any], camera: Camera) -> Array:
    """Place and radius of each lower rim as seen on z = 0, and the share of it in sight (M, 4)."""
    rows = [
        [*_apparent(camera, piece), piece["visible_rim_total"]]
        for piece in truth["pieces"]
        if piece["shape"]["type"] == "circle" and piece["in_frame"] > 0.5
    ]
    return np.array(rows, float).reshape(-1, 4)


def _others(truth: dict[str, Any], camera: Camera) -> Array:
    """Pieces that are not round and round things that are no pieces (K, 3)."""
    odd = [
        _apparent(camera, piece) for piece in truth["pieces"] if piece["shape"]["type"] != "circle"
    ]
    tokens = [
        (p["x_mm"], p["y_mm"], p["diameter_mm"] / 2) for p in truth["props"] if p.get("diameter_mm")
    ]
    return np.array(odd + tokens, float).reshape(-1, 3)


def _apparent(camera: Camera, piece: dict[str, Any]) -> tuple[float, float, float]:
    """A piece's outline as projected from the camera on to z = 0: x, y, and half its width."""
    eye = camera.center_mm
    scale = eye[2] / (eye[2] - piece["z_mm"])
    x, y = eye[:2] + (np.array([piece["x_mm"], piece["y_mm"]]) - eye[:2]) * scale
    shape = piece["shape"]
    return float(x), float(y), float(scale * shape.get("diameter_mm", shape.get("width_mm", 0)) / 2)


def _in_view(candidates: Array, camera: Camera, photo: Picture) -> Array:
    at = camera.project(np.column_stack([candidates[:, :2], np.zeros(len(candidates))]))
    return candidates[((at > 0) & (at < [photo.shape[1], photo.shape[0]])).all(1)]
