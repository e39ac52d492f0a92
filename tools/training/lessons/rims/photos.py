"""Samples from whole rendered photos that come with their truth (`synthetic/render_samples.py` writes such pairs)."""

from pathlib import Path

import numpy as np

from overruler.geometry.camera import Camera
from synthetic.arrays import Array, Picture
from synthetic.from_above.sheet import Truth, on_board, read_truth
from synthetic.printed_mats import print_on_mat
from training.blocks import Arrays
from training.lessons.rims.patches import misled, printed, ring_candidates, shaken, teach

FOUND = 260
"""Candidates taken from the ring filter in one photo."""


def photo_samples(path: Path, prints: int = 0) -> Arrays:
    """What one photo teaches, with up to so many prints on its mat.

    `path` is its truth, the picture stands beside it.
    """
    truth, camera, photo = read_truth(path)
    rng = np.random.default_rng([truth["seed"], 9])
    photo, discs = print_on_mat(rng, photo, camera, truth, prints)
    bases = round_bases(truth, camera)
    width, height = truth["board"]["width_mm"], truth["board"]["height_mm"]
    odd = _others(truth, camera)
    guesses = [shaken(rng, bases[:, :3], share) for share in (0.4, 0.4, 0.1)]
    guesses += [misled(rng, bases[:, :3]), misled(rng, odd), shaken(rng, odd, 0.4)]
    guesses.append(printed(rng, discs))
    guesses.append(ring_candidates(photo, camera, (-40, -40, width + 40, height + 40), most=FOUND))
    return teach(rng, photo, camera, _in_view(np.concatenate(guesses), camera, photo), bases)


def round_bases(truth: Truth, camera: Camera) -> Array:
    """Place and radius of each lower rim as seen on z = 0, and the share of it in sight (M, 4)."""
    rows = [
        [*_apparent(camera, piece), piece["visible_rim_total"]]
        for piece in truth["pieces"]
        if piece["shape"]["type"] == "circle" and piece["in_frame"] > 0.5
    ]
    return np.array(rows, float).reshape(-1, 4)


def _others(truth: Truth, camera: Camera) -> Array:
    """Pieces that are not round and round things that are no pieces (K, 3)."""
    pieces = [piece for piece in truth["pieces"] if piece["shape"]["type"] != "circle"]
    odd = [_apparent(camera, piece) for piece in pieces]
    tokens = [prop for prop in truth["props"] if prop.get("diameter_mm")]
    odd += [(prop["x_mm"], prop["y_mm"], prop["diameter_mm"] / 2) for prop in tokens]
    return np.array(odd).reshape(-1, 3)


def _apparent(camera: Camera, piece: Truth) -> tuple[float, float, float]:
    """A piece's outline as projected from the camera on to z = 0: x, y, and half its width."""
    x, y, _, width, _ = on_board(camera, piece)
    return x, y, width / 2


def _in_view(candidates: Array, camera: Camera, photo: Picture) -> Array:
    at = camera.project(np.column_stack([candidates[:, :2], np.zeros(len(candidates))]))
    return candidates[((at > 0) & (at < [photo.shape[1], photo.shape[0]])).all(1)]
