"""A photo as it was sent, and as it is kept: the same pixels, without the place, the names and the extras in the file.

Of the metadata only what measuring needs is written anew (orientation, focal length, zoom, the sensor's size, the
camera's name); everything else goes: GPS, thumbnails, maker's notes, comments, a second picture or a film at the end.
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
MAX_PNG_COMPRESSION = 250
"""No photo takes this many times fewer bytes as PNG than its pixels: what does is made to fill a memory."""
HEIC_QUALITY = 97

_ORIENTATION, _MAKE, _MODEL, _EXIF_IFD = 0x0112, 0x010F, 0x0110, 0x8769
_NUMBER_TAGS = (0x920A, 0xA404, 0xA405, 0xA002, 0xA003)
"""Focal length, zoom, the 35 mm equivalent, width and height of the sensor's picture."""
_INTEGER_TAGS = (0xA405, 0xA002, 0xA003)
_HEIC_PATTERN = re.compile(rb"....ftyp(heic|heix|heim|heis|hevc|hevx|mif1|msf1)", re.DOTALL)
_MARKUP_PATTERN = re.compile(rb"\s*(\xef\xbb\xbf)?\s*<", re.DOTALL)


def detect_format(head: bytes) -> str:
    """JPEG, PNG, WEBP or HEIC by a file's first bytes (32 or more); `UploadRefused` where it is none."""
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
    """The same picture with no more metadata than measuring needs; `UploadRefused` where it is none or a trap."""
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
    """Only the header is read."""
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
    width, height = image.size
    if width * height > MAX_PIXELS:
        raise _too_large()
    if (
        image.format == "PNG"
        and width * height * len(image.getbands()) > MAX_PNG_COMPRESSION * length
    ):
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
    """What measuring needs of a picture's EXIF, as a TIFF block; whatever is nonsense in it is left out."""
    from PIL import Image

    kept = Image.Exif()
    try:
        found = image.getexif()
        details = found.get_ifd(_EXIF_IFD)
    except Exception:  # metadata may be anything, and a photo does not need any
        return b""
    if found.get(_ORIENTATION) in range(1, 9):
        kept[_ORIENTATION] = int(found[_ORIENTATION])
    for tag in (_MAKE, _MODEL):
        if text := re.sub(r"[^A-Za-z0-9 ._+()-]", "", str(found.get(tag, "")))[:64].strip():
            kept[tag] = text
    numbers = {
        tag: value
        for tag in _NUMBER_TAGS
        if (value := _exif_number(details.get(tag), tag)) is not None
    }
    kept.get_ifd(_EXIF_IFD).update(numbers)
    return kept.tobytes().removeprefix(b"Exif\0\0") if kept or numbers else b""


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
"""The next marker: neither a stuffed byte of the pixels nor a restart."""
_START_OF_SCAN, _END_OF_IMAGE, _APP0, _APP2, _APP14, _APP15, _COMMENT = (
    0xDA,
    0xD9,
    0xE0,
    0xE2,
    0xEE,
    0xEF,
    0xFE,
)


def _clean_jpeg(data: bytes, exif: bytes) -> bytes:
    out = [b"\xff\xd8"]
    if exif:
        body = b"Exif\0\0" + exif
        out.append(b"\xff\xe1" + struct.pack(">H", len(body) + 2) + body)
    segments = list(_jpeg_segments(data))
    if not segments or segments[-1][0] != _END_OF_IMAGE:
        raise _damaged_photo()  # cut off on its way: no decoder takes it
    out += (part for marker, part in segments if _is_picture_segment(marker, part))
    return b"".join(out)


def _jpeg_segments(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Each segment with the pixels that follow it, and the picture's end where the file has one."""
    at = 2
    while found := _JPEG_MARKER_PATTERN.search(data, at):
        if found[1][0] == _END_OF_IMAGE:
            yield _END_OF_IMAGE, b"\xff\xd9"
            return
        length = int(struct.unpack_from(">H", data, found.end())[0])
        stop = found.end() + length
        if found[1][0] == _START_OF_SCAN:
            following = _JPEG_MARKER_PATTERN.search(data, stop)
            stop = following.start() if following else len(data)
        yield found[1][0], b"\xff" + data[found.end() - 1 : stop]
        at = stop


def _is_picture_segment(marker: int, part: bytes) -> bool:
    if marker == _APP2:
        return part[4:].startswith(b"ICC_PROFILE\0")
    return marker in (_APP0, _APP14) or not (_APP0 <= marker <= _APP15 or marker == _COMMENT)


# --- PNG and WebP: chunks ---

_PNG_KEPT = (b"IHDR", b"PLTE", b"tRNS", b"gAMA", b"cHRM", b"sRGB", b"sBIT", b"IDAT", b"IEND")
_WEBP_KEPT = (b"VP8 ", b"VP8L", b"VP8X", b"ALPH", b"ICCP")


def _clean_png(data: bytes, exif: bytes) -> bytes:
    out, at = [data[:8]], 8
    while at < len(data):
        length, kind = struct.unpack_from(">I4s", data, at)
        if at + 12 + length > len(data):
            raise _damaged_photo()
        if kind in _PNG_KEPT:
            out.append(data[at : at + 12 + length])
        if kind == b"IHDR" and exif:
            out.append(
                struct.pack(">I4s", len(exif), b"eXIf")
                + exif
                + struct.pack(">I", zlib.crc32(b"eXIf" + exif))
            )
        if kind == b"IEND":
            return b"".join(out)
        at += 12 + length
    raise _damaged_photo()


def _clean_webp(data: bytes, exif: bytes) -> bytes:
    chunks, at = [], 12
    if (
        struct.unpack_from("<I", data, 4)[0] + 8 > len(data) + 1
    ):  # some writers leave out the last byte of padding
        raise _damaged_photo()
    while at + 8 <= len(data):
        kind, length = struct.unpack_from("<4sI", data, at)
        body = data[at + 8 : at + 8 + length]
        if kind == b"ANIM":
            raise UploadRefused("this is a moving picture: send a photo", 415)
        if kind == b"VP8X":
            body = bytes([body[0] & 0x30 | (0x08 if exif else 0)]) + body[1:]
        if kind in _WEBP_KEPT:
            chunks.append((kind, body))
        at += 8 + length + length % 2
    if exif and chunks and chunks[0][0] == b"VP8X":
        chunks.append((b"EXIF", exif))
    packed = b"".join(
        kind + struct.pack("<I", len(body)) + body + b"\0" * (len(body) % 2)
        for kind, body in chunks
    )
    return b"RIFF" + struct.pack("<I", len(packed) + 4) + b"WEBP" + packed


_CLEANERS: dict[str, Callable[[bytes, bytes], bytes]] = {
    "JPEG": _clean_jpeg,
    "PNG": _clean_png,
    "WEBP": _clean_webp,
}


# --- HEIC ---


def _heic_to_jpeg(data: bytes) -> bytes:
    """A HEIC picture as a JPEG of the highest quality, turned the right way up."""
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
            exif, pixels = _needed_exif(image), image.convert("RGB")
    except UploadRefused:
        raise
    except Exception:  # the decoder may raise anything
        raise UploadRefused("this HEIC picture cannot be decoded: send it as JPEG", 422) from None
    out = io.BytesIO()
    pixels.save(out, "JPEG", quality=HEIC_QUALITY, subsampling=0)
    return _clean_jpeg(out.getvalue(), exif)
