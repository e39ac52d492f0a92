"""Uploaded photos: their format is checked and their metadata is removed; the pixels stay as they are.

Only the metadata that measuring needs is written again: orientation, focal length, zoom, the sensor's size and the
camera's name. Everything else goes: GPS, thumbnails, maker's notes, comments, a second picture or film at the end.
"""

import io
import re
import struct
import warnings
import zlib
from collections.abc import Callable, Iterator
from typing import Any

from overruler.apps.web.faults import UploadRefused
from overruler.sources.photo import MAX_PIXELS

MAX_PHOTO_BYTES = 25_000_000
"""Largest photo accepted, unless the server is told otherwise."""
MAX_PNG_COMPRESSION = 250
"""Largest ratio of a PNG's pixel values to its bytes: no photo reaches it, only files made to fill the memory."""
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
        return bytes(_CLEANERS[kind](data, exif))
    except UploadRefused:
        raise
    except (struct.error, IndexError, ValueError):
        raise _damaged_photo() from None


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
            raise _damaged_photo() from None


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
    return UploadRefused(
        f"the picture has more than {MAX_PIXELS // 1_000_000} megapixels: 12 are plenty", 413
    )


def _damaged_photo() -> UploadRefused:
    return UploadRefused("the picture is damaged: send or take it again", 422)


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


# --- JPEG: segments ---

_JPEG_MARKER_PATTERN = re.compile(rb"\xff+([^\x00\xd0-\xd7\xff])", re.DOTALL)
"""The next marker, which is neither a stuffed byte of the pixels nor a restart."""
_START_OF_SCAN = 0xDA
"""Marker that the pixels follow."""
_END_OF_IMAGE = 0xD9
"""Marker at the end."""
_APP0 = 0xE0
"""Marker of the first application segment (JFIF)."""
_APP2 = 0xE2
"""Marker of the segment with the colour profile, and others."""
_APP14 = 0xEE
"""Marker of Adobe's segment, which says how the colours are coded."""
_APP15 = 0xEF
"""Marker of the last application segment."""
_COMMENT = 0xFE
"""Marker of a comment."""


def _clean_jpeg(data: bytes, exif: bytes) -> bytes:
    parts = [b"\xff\xd8"]
    if exif:
        body = b"Exif\0\0" + exif
        parts.append(b"\xff\xe1" + struct.pack(">H", len(body) + 2) + body)
    segments = list(_jpeg_segments(data))
    if not segments or segments[-1][0] != _END_OF_IMAGE:
        raise _damaged_photo()  # the file is cut off
    parts += [part for marker, part in segments if _is_picture_segment(marker, part)]
    return b"".join(parts)


def _jpeg_segments(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield each segment as (marker, bytes with the pixels that follow), and the picture's end."""
    start = 2
    while found := _JPEG_MARKER_PATTERN.search(data, start):
        marker = found[1][0]
        if marker == _END_OF_IMAGE:
            yield _END_OF_IMAGE, b"\xff\xd9"
            return
        length = int(struct.unpack_from(">H", data, found.end())[0])
        stop = found.end() + length
        if marker == _START_OF_SCAN:
            following = _JPEG_MARKER_PATTERN.search(data, stop)
            stop = following.start() if following else len(data)
        yield marker, b"\xff" + data[found.end() - 1 : stop]
        start = stop


def _is_picture_segment(marker: int, part: bytes) -> bool:
    if marker == _APP2:
        return part[4:].startswith(b"ICC_PROFILE\0")
    if marker in (_APP0, _APP14):
        return True
    return marker != _COMMENT and not _APP0 <= marker <= _APP15


# --- PNG and WebP: chunks ---

_PNG_KEPT = (b"IHDR", b"PLTE", b"tRNS", b"gAMA", b"cHRM", b"sRGB", b"sBIT", b"IDAT", b"IEND")
"""Chunks of a PNG that hold pixels and their colours."""
_WEBP_KEPT = (b"VP8 ", b"VP8L", b"VP8X", b"ALPH", b"ICCP")
"""Chunks of a WebP that hold pixels and their colours."""
_WEBP_KEPT_FLAGS = 0x30
"""Flags of a WebP header that stay: colour profile and alpha."""
_WEBP_EXIF_FLAG = 0x08
"""Flag of a WebP header for an EXIF chunk."""


def _clean_png(data: bytes, exif: bytes) -> bytes:
    parts = [data[:8]]
    start = 8
    while start < len(data):
        length, kind = struct.unpack_from(">I4s", data, start)
        stop = start + 12 + length
        if stop > len(data):
            raise _damaged_photo()
        if kind in _PNG_KEPT:
            parts.append(data[start:stop])
        if kind == b"IHDR" and exif:
            parts.append(_png_chunk(b"eXIf", exif))
        if kind == b"IEND":
            return b"".join(parts)
        start = stop
    raise _damaged_photo()


def _png_chunk(kind: bytes, body: bytes) -> bytes:
    checksum = struct.pack(">I", zlib.crc32(kind + body))
    return struct.pack(">I4s", len(body), kind) + body + checksum


def _clean_webp(data: bytes, exif: bytes) -> bytes:
    size = struct.unpack_from("<I", data, 4)[0] + 8
    if size > len(data) + 1:  # some writers leave out the last byte of padding
        raise _damaged_photo()
    chunks = []
    for kind, body in _webp_chunks(data):
        if kind == b"ANIM":
            raise UploadRefused("this is a moving picture: send a photo", 415)
        if kind == b"VP8X":
            flags = body[0] & _WEBP_KEPT_FLAGS | (_WEBP_EXIF_FLAG if exif else 0)
            body = bytes([flags]) + body[1:]
        if kind in _WEBP_KEPT:
            chunks.append((kind, body))
    if exif and chunks and chunks[0][0] == b"VP8X":
        chunks.append((b"EXIF", exif))
    packed = b"".join(_webp_chunk(kind, body) for kind, body in chunks)
    return b"RIFF" + struct.pack("<I", len(packed) + 4) + b"WEBP" + packed


def _webp_chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    start = 12
    while start + 8 <= len(data):
        kind, length = struct.unpack_from("<4sI", data, start)
        yield kind, data[start + 8 : start + 8 + length]
        start += 8 + length + length % 2


def _webp_chunk(kind: bytes, body: bytes) -> bytes:
    padding = b"\0" * (len(body) % 2)
    return kind + struct.pack("<I", len(body)) + body + padding


_CLEANERS: dict[str, Callable[[bytes, bytes], bytes]] = {
    "JPEG": _clean_jpeg,
    "PNG": _clean_png,
    "WEBP": _clean_webp,
}
"""Functions that rewrite a file with the needed EXIF data only, by format."""


# --- HEIC ---


def _heic_to_jpeg(data: bytes) -> bytes:
    """Convert a HEIC picture to a JPEG of high quality, the right way up."""
    try:
        from pillow_heif import HeifImageFile
    except ImportError:
        raise UploadRefused(
            "HEIC needs a part that is not installed here (pip install pillow-heif): send JPEG"
        ) from None
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
    return _clean_jpeg(jpeg.getvalue(), exif)
