"""What kind of picture a file holds, by its first bytes."""

from collections.abc import Sequence
from pathlib import Path

from PIL import Image

from overruler.sources.film_file import BROKEN_FILM_TEXT
from overruler.sources.folder import FILM_FILE_ENDINGS

HEAD_BYTES = 400
"""Bytes read to tell: the starts of three packets of a transport stream; no list of brands is longer."""
HEIC_BRANDS = (b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"mif2", b"msf1")
"""Brands of pictures coded by HEVC, and of any coding."""
AVIF_BRANDS = (b"avif", b"avis", b"avio")
"""Brands of pictures coded by AV1."""
FILM_BRANDS = (
    *(b"isom", b"iso2", b"iso4", b"iso5", b"iso6", b"mp41", b"mp42", b"qt  ", b"M4V "),
    *(b"3gp4", b"3gp5", b"3gp6"),
)
"""Brands of films."""
CANON_RAW_BRAND = b"crx "
"""Brand of Canon's raw pictures, CR3."""
JXL_STARTS = (b"\xff\x0a", b"\0\0\0\x0cJXL ")
"""First bytes of JPEG XL."""
RAW_STARTS = (b"FUJIFILMCCD-RAW", b"IIRO", b"IIRS", b"MMOR", b"IIU\0", b"FOVb", b"\0MRM")
"""First bytes of cameras' raw pictures that are no TIFF: RAF, ORF, RW2, X3F, MRW."""
OTHER_STARTS = (
    (b"%PDF", "a PDF file"),
    (b"<svg", "an SVG drawing"),
    (b"<?xml", "an XML file"),
    (b"<!doctype html", "a web page"),
    (b"<html", "a web page"),
    (b"\0\0\0\x0cjP", "a JPEG 2000 picture"),
    (b"\xff\x4f\xff\x51", "a JPEG 2000 picture"),
    (b"8BPS", "a Photoshop file"),
    (b"gimp xcf", "a GIMP file"),
    (b"#?RADIANCE", "an HDR picture"),
    (b"\x76\x2f\x31\x01", "an OpenEXR picture"),
    (b"PK\3\4", "a ZIP file"),
)
"""First bytes of other files, in lower case where they are text, and what these are called."""
FILM_STARTS = (b"\x1a\x45\xdf\xa3", b"\0\0\1\xba", b"\0\0\1\xb3", b"FLV\1")
"""First bytes of films without brands: Matroska and WebM, MPEG, Flash."""
STREAM_STARTS = (slice(0, 377, 188), slice(4, 389, 192))
"""Where the first packets of a transport stream begin, without the times of a camera's .mts and with them."""
FILM_TEXT = (
    "is a film, and a photo is wanted here: give a walk round the table to overruler measure by its "
    "file's name, and a camera that stands still to overruler analyze"
)
"""What is said of a film where a photo is read."""
UNKNOWN_KIND_TEXT = "is not a picture that can be read; use JPEG, HEIC, PNG, WebP or TIFF"
"""What is said of a file of an unknown kind."""
DNG_VERSION_TAG = 50706
"""TIFF tag that only raw pictures (DNG) have."""
SUBFILE_TAG = 254
"""TIFF tag whose lowest bit marks a reduced copy of another picture in the file."""
EXPORT_REMEDY = "export it as JPEG (in the phone's or the camera's own program)"
SAVE_REMEDY = "save the photo itself as JPEG or PNG"


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
    is_stream = any(head[starts] == b"GGG" for starts in STREAM_STARTS)
    return box_family(head) == "film" or head.startswith(FILM_STARTS) or is_avi or is_stream


def is_film_file(path: Path) -> bool:
    """Whether a file begins as films do; False where it cannot be read, and for pipes and devices.

    Of a pipe nothing is read: what is read of it is gone.
    """
    if not path.is_file():
        return False
    try:
        with path.open("rb") as file:
            return is_film(file.read(HEAD_BYTES))
    except (OSError, ValueError):
        return False


def describe_unreadable(path: Path) -> str:
    """Say what a file is that is no readable picture, and what to do."""
    with path.open("rb") as file:
        told = _describe_by_start(file.read(HEAD_BYTES))
    if told is not None:
        return told
    return BROKEN_FILM_TEXT if path.suffix.lower() in FILM_FILE_ENDINGS else UNKNOWN_KIND_TEXT


def _describe_by_start(head: bytes) -> str | None:
    family = box_family(head)
    if is_film(head):
        return FILM_TEXT
    if family == "raw" or head[8:10] == b"CR" or head.startswith(RAW_STARTS):
        return f"is a camera's raw picture; {EXPORT_REMEDY}"
    if family == "avif":
        return f"is an AVIF picture that cannot be read here; {EXPORT_REMEDY}"
    if head.startswith(JXL_STARTS):
        return f"is a JPEG XL picture; {EXPORT_REMEDY}"
    return _describe_other(head)


def _describe_other(head: bytes) -> str | None:
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    for start, name in OTHER_STARTS:
        if head.startswith(start) or text.startswith(start):
            return f"is {name}; {SAVE_REMEDY}"
    return None


def describe_preview(image: Image.Image) -> str | None:
    """Say so where a TIFF's first picture is only the preview of a raw picture."""
    tags = getattr(image, "tag_v2", {})
    if DNG_VERSION_TAG in tags:
        return f"is a raw picture (DNG); {EXPORT_REMEDY}"
    if int(tags.get(SUBFILE_TAG, 0)) & 1:
        return f"begins with a small preview, as raw pictures do; {EXPORT_REMEDY}"
    return None
