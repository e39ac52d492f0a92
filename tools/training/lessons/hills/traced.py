"""Tables of the renderer as lessons about hills: real shadows, and all that stands on a table."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import ArrayLike, NDArray

from overruler.geometry.camera import Camera
from overruler.geometry.relief import reproject_to_height
from overruler.vision.imaging.orthophoto import Orthophoto, rectify_photo
from synthetic.from_above.hills.draw import FINE_MM, REST, SIDE_OF, TOP
from synthetic.from_above.hills.scene import COARSE, Sample
from synthetic.arrays import Picture, Rng
from training.lessons.rims.photos import camera_of

MARGIN_MM = 60.0
PIECES, NEAR_HILLS = 8, 0.6
"""Pieces taken of one table, and the share of them near a hill, if there is one."""
DRAWN_IN = {"hill": 0.88, "rock": 0.0, "tree": 0.0, "pine": 0.0, "ruin": 0.0, "barricade": 0.0}
"""How large a top is against its foot; 0 for what has no flat top. All others go straight up."""
NEEDLE = 0.6
"""How large what has none is up there, so that all that it hides is it."""


def read_traced(path: Path, size_px: int) -> list[Sample]:
    """Pieces of a photo; `path` is its truth, the picture stands beside it."""
    truth = json.loads(path.read_text(encoding="utf-8"))
    camera, board = camera_of(truth["camera"]), truth["board"]
    photo = np.asarray(cv2.imread(str(path.with_suffix(".jpg"))), np.uint8)
    box = -MARGIN_MM, -MARGIN_MM, board["width_mm"] + MARGIN_MM, board["height_mm"] + MARGIN_MM
    view = rectify_photo(photo, camera, box, FINE_MM)
    shares = _labels(view, camera, truth["terrain"])
    rng = np.random.default_rng(truth["seed"])
    places = _corners(rng, view, truth["terrain"], size_px)
    return [
        _piece(view, camera, shares, at, size_px)
        for at in places
        if view.seen[_square(at, size_px)].all()
    ]


def _labels(view: Orthophoto, camera: Camera, terrain: list[dict[str, Any]]) -> Picture:
    """(H, W, 2): 255 where a top is seen, and where a side is."""
    labels = np.full(view.seen.shape, REST, np.uint8)
    eye = camera.center_mm
    for one in sorted(
        terrain, key=lambda one: -float(np.hypot(*(np.mean(one["footprint_mm"], 0) - eye[:2])))
    ):
        foot, share = np.array(one["footprint_mm"]), DRAWN_IN.get(one["kind"], 1.0)
        top = foot.mean(0) + (foot - foot.mean(0)) * max(share, NEEDLE)
        seen = reproject_to_height(camera, top, one["top_z_mm"], 0.0)
        hull = cv2.convexHull(np.concatenate([foot, seen]).astype(np.float32))[:, 0]
        cv2.fillPoly(labels, [_px(view, hull)], SIDE_OF if share else REST)
        if share:
            cv2.fillPoly(labels, [_px(view, seen)], TOP)
    return np.stack([labels == TOP, labels == SIDE_OF], -1).astype(np.uint8) * 255


def _px(view: Orthophoto, outline_mm: ArrayLike) -> NDArray[np.int32]:
    return np.rint(view.to_px(outline_mm)).astype(np.int32)


def _corners(
    rng: Rng, view: Orthophoto, terrain: list[dict[str, Any]], size_px: int
) -> Iterator[tuple[int, int]]:
    """Upper left corners (row, column) of the pieces to take."""
    most = np.array(view.seen.shape) - size_px
    hills = [np.mean(one["footprint_mm"], 0) for one in terrain if one["kind"] == "hill"]
    for _ in range(PIECES if (most >= 0).all() else 0):
        corner = rng.uniform(0, most + 1)
        if hills and rng.random() < NEAR_HILLS:
            middle = view.to_px(hills[int(rng.integers(len(hills)))])[::-1]
            corner = np.clip(middle - size_px / 2 + rng.uniform(-0.3, 0.3, 2) * size_px, 0, most)
        yield int(corner[0]) // COARSE * COARSE, int(corner[1]) // COARSE * COARSE


def _square(corner: tuple[int, int], size_px: int) -> tuple[slice, slice]:
    return slice(corner[0], corner[0] + size_px), slice(corner[1], corner[1] + size_px)


def _piece(
    view: Orthophoto, camera: Camera, shares: Picture, at: tuple[int, int], size_px: int
) -> Sample:
    here, count = _square(at, size_px), size_px // COARSE
    some = cv2.resize(shares[here], (count, count), interpolation=cv2.INTER_AREA)
    middle, eye = view.to_mm(np.array(at[::-1]) + (size_px - 1) / 2), camera.center_mm
    lean = [*(middle - eye[:2]) / eye[2] * [1, -1], FINE_MM / eye[2]]
    return Sample(view.pixels[here], np.array(lean, np.float32), np.asarray(some, np.uint8))
