"""Uploaded photos: their format is checked and their metadata is removed; the pixels stay as they are.

Only the metadata that measuring needs is written again: orientation, focal length, zoom, the
sensor's size and the camera's name. Everything else goes: GPS, thumbnails, maker's notes, comments,
a second picture or film at the end.
"""

import io
import re
import struct
import warnings
from typing import Any

from overruler.apps.web.faults import UploadRefused
from overruler.apps.web.phone.photo_files import CLEANERS, clean_jpeg, damaged_photo
from overruler.sources.photo import MAX_PIXELS

MAX_PHOTO_BYTES = 25_000_000
"""Largest photo accepted, unless the server is told otherwise."""
MAX_PNG_COMPRESSION = 250
"""Largest ratio of a PNG's pixel values to its bytes: only files made to fill the memory exceed it."""
HEIC_QUALITY = 97
"""JPEG quality of a converted HEIC photo."""
MAX_CAMERA_NAME_CHARS = 64
"""Longest make or model that is kept."""

_ORIENTATION = 0x0112
"""EXIF tag of the orientation."""
_MAKE = 0x010F
"""EXIF tag of the camera's maker."""
_MODEL = 0x0110
"""EXIF tag of the camera's model."""
_EXIF_IFD = 0x8769
"""EXIF tag of the directory with the details."""
_NUMBER_TAGS = (0x920A, 0xA404, 0xA405, 0xA002, 0xA003)
"""EXIF tags of focal length, zoom, 35 mm equivalent, and width and height of the sensor's picture."""
_INTEGER_TAGS = (0xA405, 0xA002, 0xA003)
"""Those of them that hold integers."""
_HEIC_PATTERN = re.compile(rb"....ftyp(heic|heix|heim|heis|hevc|hevx|mif1|msf1)", re.DOTALL)
_MARKUP_PATTERN = re.compile(rb"\s*(\xef\xbb\xbf)?\s*<", re.DOTALL)
_CAMERA_NAME_REJECT = re.compile(r"[^A-Za-z0-9 ._+()-]")


def detect_format(head: bytes) -> str:
    """Detect JPEG, PNG, WEBP or HEIC by a file's first 32 bytes or more; refuse everything else."""
    if head.startswith(b"\xff\xd8\xff"):
        return "JPEG"
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return "PNG"
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        return "WEBP"
    if _HEIC_PATTERN.match(head):
        return "HEIC"
    if _MARKUP_PATTERN.match(head):
        raise UploadRefused(
            "this is a drawing or a page (SVG, HTML or XML), not a photo: send JPEG, PNG, WebP or HEIC"
        )
    raise UploadRefused("this is not a photo: send JPEG, PNG, WebP or HEIC")


def strip_metadata(data: bytes) -> bytes:
    """Remove all metadata that measuring does not need; refuse a file that is damaged or a trap."""
    kind = detect_format(data[:64])
    if kind == "HEIC":
        return _heic_to_jpeg(data)
    with _open_image(data, (kind,)) as image:
        _check_size(image, len(data))
        exif = _needed_exif(image)
    try:
        return bytes(CLEANERS[kind](data, exif))
    except UploadRefused:
        raise
    except (struct.error, IndexError, ValueError):
        raise damaged_photo() from None


def _open_image(data: bytes, formats: tuple[str, ...]) -> Any:
    """Open an image; only its header is read."""
    from PIL import Image

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return Image.open(io.BytesIO(data), formats=formats)
        except Image.DecompressionBombError:
            raise _too_large() from None
        except Exception:  # a broken header may raise anything
            raise damaged_photo() from None


def _check_size(image: Any, length: int) -> None:
    """Refuse too many pixels, and a PNG of `length` bytes that is compressed more than any photo."""
    width, height = image.size
    if width * height > MAX_PIXELS:
        raise _too_large()
    if image.format != "PNG":
        return
    values = width * height * len(image.getbands())
    if values > MAX_PNG_COMPRESSION * length:
        raise UploadRefused(
            "the picture is packed tighter than any photo is: send the photo as the camera saved it",
            422,
        )


def _too_large() -> UploadRefused:
    most = MAX_PIXELS // 1_000_000
    remedy = "set the camera to 12, which are plenty, or save the photo smaller"
    return UploadRefused(f"the picture has more than {most} megapixels: {remedy}", 413)


# --- metadata ---


def _needed_exif(image: Any) -> bytes:
    """The EXIF data that measuring needs, as a TIFF block; values that make no sense are left out."""
    from PIL import Image

    kept = Image.Exif()
    try:
        exif = image.getexif()
        details = exif.get_ifd(_EXIF_IFD)
    except Exception:  # metadata may be anything, and a photo does not need any
        return b""
    if exif.get(_ORIENTATION) in range(1, 9):
        kept[_ORIENTATION] = int(exif[_ORIENTATION])
    for tag in (_MAKE, _MODEL):
        name = _CAMERA_NAME_REJECT.sub("", str(exif.get(tag, "")))[:MAX_CAMERA_NAME_CHARS].strip()
        if name:
            kept[tag] = name
    numbers = {}
    for tag in _NUMBER_TAGS:
        number = _exif_number(details.get(tag), tag)
        if number is not None:
            numbers[tag] = number
    kept.get_ifd(_EXIF_IFD).update(numbers)
    if not kept and not numbers:
        return b""
    return kept.tobytes().removeprefix(b"Exif\0\0")


def _exif_number(value: Any, tag: int) -> float | None:
    try:
        number = float(value)
    except (TypeError, ValueError, ZeroDivisionError, OverflowError):
        return None
    if not 0 < number < 65_536:
        return None
    return int(number) if tag in _INTEGER_TAGS else number


# --- HEIC ---


def _heic_to_jpeg(data: bytes) -> bytes:
    """Convert a HEIC picture to a JPEG of high quality, the right way up."""
    from pillow_heif import HeifImageFile

    try:
        with warnings.catch_warnings(), HeifImageFile(io.BytesIO(data)) as image:  # type: ignore[no-untyped-call]
            warnings.simplefilter("ignore")
            _check_size(image, MAX_PHOTO_BYTES)
            exif = _needed_exif(image)
            pixels = image.convert("RGB")
    except UploadRefused:
        raise
    except Exception:  # the decoder may raise anything
        raise UploadRefused("this HEIC picture cannot be decoded: send it as JPEG", 422) from None
    jpeg = io.BytesIO()
    pixels.save(jpeg, "JPEG", quality=HEIC_QUALITY, subsampling=0)
    return clean_jpeg(jpeg.getvalue(), exif)
