"""JPEG, PNG and WebP files, rewritten without their metadata; the pixels stay as they are."""

import re
import struct
import zlib
from collections.abc import Callable, Iterator

from overruler.apps.web.faults import UploadRefused


def damaged_photo() -> UploadRefused:
    return UploadRefused("the picture is damaged: send or take it again", 422)


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


def clean_jpeg(data: bytes, exif: bytes) -> bytes:
    """Keep the segments with pixels and their colours, and add the EXIF data (a TIFF block)."""
    parts = [b"\xff\xd8"]
    if exif:
        body = b"Exif\0\0" + exif
        parts.append(b"\xff\xe1" + struct.pack(">H", len(body) + 2) + body)
    segments = list(_jpeg_segments(data))
    if not segments or segments[-1][0] != _END_OF_IMAGE:
        raise damaged_photo()  # the file is cut off
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
            raise damaged_photo()
        if kind in _PNG_KEPT:
            parts.append(data[start:stop])
        if kind == b"IHDR" and exif:
            parts.append(_png_chunk(b"eXIf", exif))
        if kind == b"IEND":
            return b"".join(parts)
        start = stop
    raise damaged_photo()


def _png_chunk(kind: bytes, body: bytes) -> bytes:
    checksum = struct.pack(">I", zlib.crc32(kind + body))
    return struct.pack(">I4s", len(body), kind) + body + checksum


def _clean_webp(data: bytes, exif: bytes) -> bytes:
    size = struct.unpack_from("<I", data, 4)[0] + 8
    if size > len(data) + 1:  # some writers leave out the last byte of padding
        raise damaged_photo()
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


CLEANERS: dict[str, Callable[[bytes, bytes], bytes]] = {
    "JPEG": clean_jpeg,
    "PNG": _clean_png,
    "WEBP": _clean_webp,
}
"""Functions that rewrite a file with the needed EXIF data only, by format."""
