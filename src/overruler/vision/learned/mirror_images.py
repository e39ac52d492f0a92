"""What a whole-table network says of a picture and of its mirror images, in the mean.

A network errs a little differently in each: the mean of the four is nearer to the truth. It is
called test-time augmentation. `docs/plates.md` tells how much it helps.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from overruler.geometry.camera import Camera
from overruler.vision.imaging.line_profiles import Floats
from overruler.vision.imaging.orthophoto import Orthophoto, relief_displacement_map
from overruler.vision.learned.inference import infer_in_strips, pad_to_input_multiple
from overruler.vision.learned.shape_net import picture_input

ROWS, COLUMNS = 1, 2
"""Axes of a picture (C, H, W): it is mirrored up to down, or left to right."""
MIRROR_IMAGES = ((ROWS,), (COLUMNS,), (ROWS, COLUMNS))
"""The axes along which each of them is mirrored."""
Signed = Mapping[int, Sequence[int]]
"""The channels that change their sign where a picture is mirrored along an axis."""
SIGNED_INPUTS: Signed = {ROWS: [4], COLUMNS: [3]}
"""Those of the input: the relief displacement down, or to the right."""


def mean_with_mirror_images(
    network: Path, view: Orthophoto, camera: Camera, first: Floats, signed: Signed
) -> Floats:
    """Return the mean (K, rows, columns) of a network's answers about an orthophoto and its mirror images.

    `first` is what `infer_orthophoto` said of the picture itself. `signed` are channels of the answers.
    """
    rows, columns = first.shape[1:]
    picture = picture_input(view.pixels, relief_displacement_map(view, camera))
    picture = pad_to_input_multiple(picture)  # so cells have the same borders in the mirror
    answers = [first]
    for axes in MIRROR_IMAGES:
        answer = _infer(network, _mirrored(picture, axes, SIGNED_INPUTS))
        answers.append(_mirrored(answer, axes, signed)[:, :rows, :columns])
    return np.asarray(np.mean(answers, axis=0), np.float32)


def _infer(network: Path, picture: Floats) -> Floats:
    return infer_in_strips(network, picture.shape[1], lambda rows: picture[:, rows])


def _mirrored(picture: Floats, axes: Sequence[int], signed: Signed) -> Floats:
    """Return the mirror image along some axes of a picture (C, H, W)."""
    image = np.ascontiguousarray(np.flip(picture, axis=tuple(axes)), np.float32)
    for axis in axes:
        image[list(signed[axis])] *= -1
    return image
