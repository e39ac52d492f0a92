"""What kind of picture a file holds, by its first bytes."""

from collections.abc import Sequence

from PIL import Image

HEAD_BYTES = 128
"""Bytes read to tell; a list of brands may be this long."""
HEIC_BRANDS = (b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"mif2", b"msf1")
"""Brands of pictures coded by HEVC, and of any coding."""
AVIF_BRANDS = (b"avif", b"avis", b"avio")
"""Brands of pictures coded by AV1."""
FILM_BRANDS = (b"isom", b"iso2", b"iso4", b"iso5", b"iso6", b"mp41", b"mp42", b"qt  ", b"M4V ")
"""Brands of films."""
FILM_STARTS = (b"\x1a\x45\xdf\xa3", b"\0\0\x01\xba", b"\0\0\x01\xb3")
"""First bytes of films without brands: Matroska and WebM, MPEG."""
CANON_RAW_BRAND = b"crx "
"""Brand of Canon's raw pictures, CR3."""
JXL_STARTS = (b"\xff\x0a", b"\0\0\0\x0cJXL ")
"""First bytes of JPEG XL."""
DNG_VERSION_TAG = 50706
"""TIFF tag that only raw pictures (DNG) have."""
SUBFILE_TAG = 254
"""TIFF tag whose lowest bit marks a reduced copy of another picture in the file."""
EXPORT_REMEDY = "export it as JPEG (in the phone's or the camera's own program)"


def box_family(head: bytes) -> str | None:
    """Return "heic", "avif", "film" or "raw" for a file that begins with its brands."""
    if head[4:8] != b"ftyp":
        return None
    brands = _brands(head)
    if CANON_RAW_BRAND in brands:
        return "raw"
    families = (("avif", AVIF_BRANDS), ("heic", HEIC_BRANDS), ("film", FILM_BRANDS))
    return next((name for name, known in families if set(brands) & set(known)), None)


def _brands(head: bytes) -> Sequence[bytes]:
    """The main brand, then those that the file is compatible with."""
    end = min(int.from_bytes(head[:4], "big"), len(head))
    return [head[8:12], *(head[at : at + 4] for at in range(16, end - 3, 4))]


def is_film(head: bytes) -> bool:
    """Whether a file with these first bytes is a film."""
    is_avi = head[:4] == b"RIFF" and head[8:12] == b"AVI "
    return box_family(head) == "film" or head.startswith(FILM_STARTS) or is_avi


def describe_unreadable(head: bytes) -> str | None:
    """Say what a file is that is no readable picture, and how to convert it."""
    family = box_family(head)
    if family == "film":
        return "is a film; overruler analyze takes films"
    if family == "raw" or head[8:10] == b"CR":
        return f"is a camera's raw picture; {EXPORT_REMEDY}"
    if family == "avif":
        return f"is an AVIF picture that cannot be read here; {EXPORT_REMEDY}"
    if head.startswith(JXL_STARTS):
        return f"is a JPEG XL picture; {EXPORT_REMEDY}"
    return None


def describe_preview(image: Image.Image) -> str | None:
    """Say so where a TIFF's first picture is only the preview of a raw picture."""
    tags = getattr(image, "tag_v2", {})
    if DNG_VERSION_TAG in tags:
        return f"is a raw picture (DNG); {EXPORT_REMEDY}"
    if int(tags.get(SUBFILE_TAG, 0)) & 1:
        return f"begins with a small preview, as raw pictures do; {EXPORT_REMEDY}"
    return None
