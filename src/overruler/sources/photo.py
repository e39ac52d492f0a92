"""A photo file as a frame: decoded, turned the right way up, with the focal length of its metadata."""

import math
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, UnidentifiedImageError

from overruler.errors import BadInput, CannotMeasure, install_command
from overruler.frame import Frame
from overruler.reading import check_is_file

MAX_PIXELS = 60_000_000
"""Pixels above which a picture is refused by its header, before it is decoded."""
MIN_SIDE_PX = 64
"""Least side of a picture, in px, that may show a measurable table."""
MIN_CAMERA_PIXELS = 3_000_000
"""A picture with fewer pixels was probably resized since it was taken."""
FOCAL_SIGMA = 0.03
"""Relative σ of the focal length of an unmodified photo."""
UNSURE_FOCAL_SIGMA = 0.15
"""Relative σ of the focal length of a photo that was cropped, zoomed or resized, or has none."""

_FORMATS = ("JPEG", "PNG", "WEBP", "TIFF")
_HEIC_BRANDS = (b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1")
_JPEG_REMEDY = "save it as JPEG (iPhone: Camera, Most Compatible)"

_ORIENTATION = 0x0112
_EXIF_IFD = 0x8769
_WIDTH = 0xA002
_HEIGHT = 0xA003
_ZOOM = 0xA404
_FOCAL_35MM = 0xA405

_DAMAGE_ERRORS = (
    OSError,
    SyntaxError,
    ValueError,
    LookupError,
    TypeError,
    EOFError,
    MemoryError,
    RuntimeError,
)
"""The errors that Pillow's decoders raise on damaged files."""


def load_photo(path: str | Path) -> Frame:
    """Return the picture at `path` as a person sees it.

    Raises `BadInput` if there is no such file, and `CannotMeasure` if it holds no readable picture.
    """
    path = Path(path)
    _check_file(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # broken metadata is no reason to refuse a picture
        try:
            return _read_frame(path)
        except CannotMeasure:
            raise
        except Image.DecompressionBombError:
            raise _too_large(path) from None
        except UnidentifiedImageError:
            raise _not_a_picture(path) from None
        except _DAMAGE_ERRORS as error:
            reason = " ".join(str(error).split()) or type(error).__name__
            problem = f"the picture is damaged ({reason})"
            raise CannotMeasure(f"{path}: {problem}; copy or take it again") from None


def _check_file(path: Path) -> None:
    check_is_file(path)
    try:
        with path.open("rb") as file:
            file.read(1)
    except FileNotFoundError:
        raise BadInput(f"{path}: no such file") from None
    except IsADirectoryError:
        remedy = "name a photo in it (overruler analyze takes folders)"
        raise BadInput(f"{path}: is a folder: {remedy}") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise BadInput(f"{path}: cannot be read: {reason}") from None


def _read_frame(path: Path) -> Frame:
    with _open_image(path) as image:
        width, height = image.size
        if width * height > MAX_PIXELS:
            raise _too_large(path)
        if min(width, height) < MIN_SIDE_PX:
            size = f"{path}: is only {width} × {height}"
            raise CannotMeasure(f"{size} pixels; use the camera's full-size photo")
        exif = image.getexif()
        orientation = _exif_orientation(exif)
        focal_px, share = _exif_focal_px(exif, width, height)
        pixels = _blue_green_red(image)
        if image.format != "TIFF":  # Pillow turns a TIFF by itself
            pixels = _apply_orientation(pixels, orientation)
    pixels = np.ascontiguousarray(pixels)
    pixels.setflags(write=False)
    return Frame(pixels, str(path), focal_px, share, orientation)


def _open_image(path: Path) -> Image.Image:
    """Open a picture, of which only the header has been read."""
    head = _first_bytes(path)
    if head[4:8] != b"ftyp" or head[8:12] not in _HEIC_BRANDS:
        return Image.open(path, formats=_FORMATS)
    try:
        from pillow_heif import HeifImageFile
    except ImportError:
        remedy = f"{install_command('heic')}, or {_JPEG_REMEDY}"
        raise CannotMeasure(f"{path}: is a HEIC picture: {remedy}") from None
    image: Image.Image = HeifImageFile(path)  # type: ignore[no-untyped-call]
    return image


def _first_bytes(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(12)


def _too_large(path: Path) -> CannotMeasure:
    most = MAX_PIXELS // 1_000_000
    return CannotMeasure(f"{path}: more than {most} megapixels; save it smaller, 12 are plenty")


def _not_a_picture(path: Path) -> CannotMeasure:
    if _first_bytes(path)[4:12] == b"ftypavif":
        return CannotMeasure(f"{path}: is an AVIF picture; {_JPEG_REMEDY}")
    return CannotMeasure(f"{path}: is not a picture that can be read; use JPEG, PNG, WebP or TIFF")


# --- pixels ---


def _blue_green_red(image: Image.Image) -> NDArray[np.uint8]:
    """Return the pixels (H, W, 3); transparency becomes white, 16 bits become their upper 8."""
    if image.mode.startswith("I") or image.mode == "F":
        grey = _eight_bit(np.asarray(image, float))
        return np.repeat(grey[:, :, None], 3, axis=2)
    if image.mode in ("LA", "PA", "RGBA", "La", "RGBa") or "transparency" in image.info:
        image = image.convert("RGBA")
        white = Image.new("RGBA", image.size, "white")
        image = Image.alpha_composite(white, image)
    image = image if image.mode == "RGB" else image.convert("RGB")
    raw = image.tobytes("raw", "BGR")  # twice as fast as reversing them in numpy
    return np.frombuffer(raw, np.uint8).reshape(image.height, image.width, 3)


def _eight_bit(values: NDArray[np.float64]) -> NDArray[np.uint8]:
    highest = float(np.nanmax(values, initial=0))
    full = next((limit for limit in (1.0, 255.0, 65535.0) if highest <= limit), highest)
    scaled = np.clip(np.nan_to_num(values) / full * 255, 0, 255)
    return np.asarray(scaled.round(), np.uint8)


def _apply_orientation(pixels: NDArray[np.uint8], orientation: int) -> NDArray[np.uint8]:
    """Turn stored pixels as they are seen, by EXIF's orientation 1 to 8."""
    if orientation >= 5:
        pixels = pixels.swapaxes(0, 1)
    if orientation in (2, 3, 6, 7):
        pixels = pixels[:, ::-1]
    if orientation in (3, 4, 7, 8):
        pixels = pixels[::-1]
    return pixels


# --- metadata ---


def _exif_orientation(exif: Image.Exif) -> int:
    value = exif.get(_ORIENTATION, 1)
    return value if isinstance(value, int) and 1 <= value <= 8 else 1


def _exif_focal_px(exif: Image.Exif, width: int, height: int) -> tuple[float | None, float]:
    """Return the focal length in pixels, from the 35 mm equivalent, and its relative σ.

    CIPA defines the equivalent by the diagonal, many makers by the width. On a 4:3 sensor the two
    differ by 4 %, so the value lies between them. It holds for the sensor's whole picture, so a
    cropped or zoomed one gets a large σ.
    """
    details = exif.get_ifd(_EXIF_IFD)
    equivalent_mm = _positive_number(details.get(_FOCAL_35MM))
    if not equivalent_mm or not 5 <= equivalent_mm <= 600:
        return None, UNSURE_FOCAL_SIGMA
    by_width = equivalent_mm / 36 * max(width, height)
    by_diagonal = equivalent_mm / math.hypot(36, 24) * math.hypot(width, height)
    sides = {_positive_number(details.get(tag)) for tag in (_WIDTH, _HEIGHT)}
    is_whole = sides == {width, height} and width * height >= MIN_CAMERA_PIXELS
    is_zoomed = (_positive_number(details.get(_ZOOM)) or 1) > 1.01
    sigma = FOCAL_SIGMA if is_whole and not is_zoomed else UNSURE_FOCAL_SIGMA
    return math.sqrt(by_width * by_diagonal), sigma


def _positive_number(value: Any) -> float | None:
    try:
        number = float(value)
    except (TypeError, ValueError, ZeroDivisionError):
        return None
    return number if math.isfinite(number) and number > 0 else None
