"""What goes wrong with one photo of several."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import cv2
import numpy as np
from numpy.typing import NDArray

from evaluate.several.tables import PhotoTable, Shown
from overruler.lens import Lens
from overruler.vision.camera.lens_prior import lens_prior

Pixels = NDArray[np.uint8]
Fault = Callable[[PhotoTable], list[Shown]]
"""Returns a table's photos with the fault in them."""

BLUR_SHARE = 0.0015
"""1 σ of the blur, as a share of the picture's width: 6 px of 4032."""
STEP_MM = (9.0, -7.0)
"""How far a marker was moved before the last photo."""
OTHER_FOCAL = 1.04
"""Focal length of the wrong lens file against the right one."""
MOST = 10
"""As many photos as may be given."""


def blurred(table: PhotoTable) -> list[Shown]:
    """The camera was moved while the last photo was taken."""
    width = table.photos[-1].frame.size_px[0]
    sigma = BLUR_SHARE * width

    def blur(pixels: Pixels) -> Pixels:
        return np.asarray(cv2.GaussianBlur(pixels, (0, 0), sigma), np.uint8)

    return _spoil_last(table, blur)


def mirrored(table: PhotoTable) -> list[Shown]:
    return _spoil_last(table, lambda pixels: pixels[:, ::-1])


def darkened(table: PhotoTable) -> list[Shown]:
    """The last photo was taken with the light off."""
    return _spoil_last(table, lambda pixels: (pixels * 0.25).astype(np.uint8))


def twice(table: PhotoTable) -> list[Shown]:
    """The first photo alone, given twice."""
    return [table.photos[0], _changed(table.photos[0], lambda pixels: pixels.copy())]


def encoded_again(table: PhotoTable) -> list[Shown]:
    def encode(pixels: Pixels) -> Pixels:
        _, data = cv2.imencode(".jpg", pixels, [cv2.IMWRITE_JPEG_QUALITY, 60])
        return np.asarray(cv2.imdecode(data, cv2.IMREAD_COLOR), np.uint8)

    return [table.photos[0], _changed(table.photos[0], encode)]


def scaled(table: PhotoTable) -> list[Shown]:
    return [table.photos[0], _changed(table.photos[0], lambda p: _resize(p, 0.7))]


def brightened(table: PhotoTable) -> list[Shown]:
    """A filter made the first photo brighter."""
    curve = (255 * (np.arange(256) / 255) ** 0.75).astype(np.uint8)
    return [table.photos[0], _changed(table.photos[0], lambda pixels: curve[pixels])]


def turned(table: PhotoTable) -> list[Shown]:
    """The first photo once more, upside down."""
    return [table.photos[0], _changed(table.photos[0], lambda pixels: pixels[::-1, ::-1])]


def cut(table: PhotoTable) -> list[Shown]:
    """The first photo once more, a little of each side cut off."""

    def crop(pixels: Pixels) -> Pixels:
        height, width = pixels.shape[:2]
        return pixels[height // 40 : -height // 40, width // 40 : -width // 40]

    return [table.photos[0], _changed(table.photos[0], crop)]


def marker_moved(table: PhotoTable) -> list[Shown]:
    """A marker was moved before the last photo: it lies elsewhere there than the board says."""
    last = table.photos[-1]
    corners = dict(table.board.corners_mm or {})
    if not corners:
        return []
    number = sorted(corners)[len(corners) // 2]
    # the picture stays: it shows what a board with the marker elsewhere would show
    corners[number] = corners[number] + np.array([*STEP_MM, 0.0])
    return [*table.photos[:-1], replace(last, board=replace(table.board, corners_mm=corners))]


def wrong_lens(table: PhotoTable) -> list[Shown]:
    """The lens file of the last photo is another camera's."""
    last = table.photos[-1]
    prior = lens_prior(last.frame, None)
    matrix = prior.matrix.copy()
    matrix[:2, :2] *= OTHER_FOCAL
    doubt = np.diag(np.array([2.0, 2, 2, 2, 1e-3, 1e-3, 1e-5, 1e-5, 1e-3]) ** 2)
    lens = Lens(last.frame.size_px, matrix, np.array([0.06, -0.1, 0.0, 0.0, 0.0]), doubt)
    return [*table.photos[:-1], replace(last, lens=lens)]


def many(table: PhotoTable) -> list[Shown]:
    """As many photos as may be given, most of them once more."""
    shares = [1 - 0.02 * k for k in range(1, 5)]
    more = [
        _changed(shown, partial(_resize, share=share), f" at {share:.0%}")
        for share in shares
        for shown in table.photos
    ]
    return [*table.photos, *more][:MOST]


FAULTS: dict[str, Fault] = {
    "blurred": blurred,
    "mirrored": mirrored,
    "darkened": darkened,
    "marker moved": marker_moved,
    "wrong lens": wrong_lens,
    "twice": twice,
    "encoded again": encoded_again,
    "scaled": scaled,
    "brightened": brightened,
    "turned": turned,
    "cut": cut,
    "ten photos": many,
}
"""Each fault by its name."""


def with_other_table(table: PhotoTable, other: PhotoTable) -> list[Shown]:
    """The last photo is of another table."""
    return [*table.photos[:-1], other.photos[-1]]


def _spoil_last(table: PhotoTable, spoil: Callable[[Pixels], Pixels]) -> list[Shown]:
    return [*table.photos[:-1], _changed(table.photos[-1], spoil)]


def _changed(shown: Shown, change: Callable[[Pixels], Pixels], suffix: str = " again") -> Shown:
    pixels = np.ascontiguousarray(change(shown.frame.pixels))
    frame = replace(shown.frame, pixels=pixels, name=shown.frame.name + suffix)
    if frame.focal_px:
        share = max(frame.size_px) / max(shown.frame.size_px)
        frame = replace(frame, focal_px=frame.focal_px * share if share < 0.9 else frame.focal_px)
    return replace(shown, frame=frame)


def _resize(pixels: Pixels, share: float) -> Pixels:
    size = (round(pixels.shape[1] * share), round(pixels.shape[0] * share))
    return np.asarray(cv2.resize(pixels, size, interpolation=cv2.INTER_AREA), np.uint8)
