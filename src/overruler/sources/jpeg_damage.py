"""Damage in a JPEG's data, which decoders pass over: they show whatever comes out."""

import os
import re
import tempfile
from threading import Lock

import cv2
import numpy as np
from numpy.typing import NDArray

MAX_STRAY_BYTES = 16
"""Stray bytes between two parts of a JPEG that are no damage: web cameras pad their pictures."""
DAMAGE_SIGNS = ("premature end", "bad huffman", "instead of rst", "unexpected marker")
"""What libjpeg says of data that do not fit their code, in small letters."""
STDERR = 2
"""Number of the stream on which libjpeg warns."""
_ONE_AT_A_TIME = Lock()


def describe_damage(warnings: str) -> str | None:
    """Return what is wrong with a JPEG's data by libjpeg's `warnings`; None if there is no doubt.

    A flipped bit mostly shifts all that follows, and the data end too early or too late. Bits
    that only change a brightness leave no trace.
    """
    for line in warnings.lower().splitlines():
        stray = re.search(r"(\d+) extraneous bytes", line)
        if stray and int(stray[1]) > MAX_STRAY_BYTES:
            return f"{stray[1]} bytes of its data do not belong to any part of the picture"
        if any(sign in line for sign in DAMAGE_SIGNS):
            return "some of its data do not fit their code"
    return None


def decode_jpeg(data: bytes) -> NDArray[np.uint8] | None:
    """Return the pixels (H, W, 3), blue, green and red, as they are stored; None if there are none."""
    flags = cv2.IMREAD_COLOR | cv2.IMREAD_IGNORE_ORIENTATION
    pixels = cv2.imdecode(np.frombuffer(data, np.uint8), flags)
    return None if pixels is None else np.asarray(pixels, np.uint8)


def libjpeg_warnings(data: bytes) -> str | None:
    """Decode at an eighth of the size, and return what libjpeg prints; None where it cannot tell.

    OpenCV hands libjpeg's warnings on in no other way than the process's own error stream.
    """
    with _ONE_AT_A_TIME, tempfile.TemporaryFile() as told:
        try:
            kept = os.dup(STDERR)
        except OSError:
            return None
        try:
            os.dup2(told.fileno(), STDERR)
            cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_REDUCED_GRAYSCALE_8)
        finally:
            os.dup2(kept, STDERR)
            os.close(kept)
        told.seek(0)
        return told.read().decode("utf-8", "replace")
