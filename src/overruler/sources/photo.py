"""A photo file as a frame: decoded, turned the right way up, with the focal length of its metadata."""

import math
import warnings
from dataclasses import replace
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image, UnidentifiedImageError

from overruler.errors import BadInput, CannotMeasure
from overruler.frame import Frame
from overruler.reading.fields import file_path
from overruler.reading.files import check_is_file
from overruler.sources.jpeg_damage import decode_jpeg, describe_damage, libjpeg_warnings
from overruler.sources.jpeg_seam import has_seam
from overruler.sources.picture_kind import (
    HEAD_BYTES,
    box_family,
    describe_preview,
    describe_unreadable,
)
from overruler.sources.standard_input import STANDARD_INPUT, photo_from_standard_input

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

_AVIF = ("AVIF",) if find_spec("PIL.AvifImagePlugin") else ()  # Pillow 11.3 brought it
_FORMATS = ("JPEG", "PNG", "WEBP", "TIFF", "BMP", "GIF", *_AVIF)
JPEG_BLOCK_PX = 8
"""Side of a block of a JPEG, in px; a coded unit holds one block or several."""
JPEG_FORMATS = ("JPEG", "MPO")
"""Pillow's names of JPEGs with one picture and with several."""
_START_OF_JPEG = b"\xff\xd8"
_END_OF_JPEG = b"\xff\xd9"
"""Ends a JPEG. Every viewer shows one that lacks it."""
_BIT_DEPTHS = (1.0, 255.0, 1023.0, 4095.0, 16383.0, 65535.0)
"""Full scales: floats, then 8, 10, 12, 14 and 16 bits, often kept in 16."""
_MAX_DARK = 63
"""Brightest level of a picture of 14 bits kept in 16, of which only the upper 8 are read."""

_MAKER = 0x010F
_MODEL = 0x0110
_ORIENTATION = 0x0112
_EXIF_IFD = 0x8769
_FOCAL_LENGTH = 0x920A
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
    """Return the picture at `path` as a person sees it; that of standard input where it is `-`.

    Raises `BadInput` if there is no such file, and `CannotMeasure` if it holds no readable picture.
    """
    given = file_path(path, "load_photo")
    if str(given) != STANDARD_INPUT:
        return _load_file(given)
    with photo_from_standard_input() as file:
        try:
            return replace(_load_file(file), name=STANDARD_INPUT)
        except CannotMeasure as error:
            text = str(error).replace(str(file), STANDARD_INPUT)
            raise CannotMeasure(text) from None


def _load_file(path: Path) -> Frame:
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
            raise CannotMeasure(f"{path}: {describe_unreadable(path)}") from None
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
        remedy = "name a photo in it (overruler measure and overruler analyze take folders)"
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
        preview = describe_preview(image)
        if preview is not None:
            raise CannotMeasure(f"{path}: {preview}")
        exif = image.getexif()
        orientation = _exif_orientation(exif)
        focal_px, share = _exif_focal_px(exif, width, height)
        camera = _exif_camera(exif)
        if image.format in JPEG_FORMATS:
            pixels = _decode_jpeg(path, image)
            _check_seam(path, image, pixels)
        else:
            pixels = _restore_depth(path, image, _blue_green_red(image))
        if image.format != "TIFF":  # Pillow turns a TIFF by itself
            pixels = _apply_orientation(pixels, orientation)
    pixels = np.ascontiguousarray(pixels)
    pixels.setflags(write=False)
    return Frame(pixels, str(path), focal_px, share, orientation, camera=camera)


def _open_image(path: Path) -> Image.Image:
    """Open a picture, of which only the header has been read."""
    head = _first_bytes(path)
    if box_family(head) != "heic":
        if not head.startswith(_START_OF_JPEG):
            return Image.open(path, formats=_FORMATS)
        return Image.open(BytesIO(path.read_bytes() + _END_OF_JPEG), formats=("JPEG",))
    from pillow_heif import HeifImageFile

    image: Image.Image = HeifImageFile(path)  # type: ignore[no-untyped-call]
    return image


def _decode_jpeg(path: Path, image: Image.Image) -> NDArray[np.uint8]:
    """Return the pixels of a JPEG; raise `CannotMeasure` if it is damaged: it may show another table.

    OpenCV decodes faster than Pillow, but prints libjpeg's warnings: Pillow decodes where there are any.
    """
    data = path.read_bytes() + _END_OF_JPEG
    warned = libjpeg_warnings(data)
    damage = describe_damage(warned or "")
    if damage is not None:
        raise CannotMeasure(f"{path}: the picture is damaged ({damage}); copy or take it again")
    pixels = decode_jpeg(data) if warned == "" and image.mode == "RGB" else None
    return _blue_green_red(image) if pixels is None else pixels


def _check_seam(path: Path, image: Image.Image, pixels: NDArray[np.uint8]) -> None:
    """Raise `CannotMeasure` for a JPEG whose damage shows in its picture alone."""
    parts = getattr(image, "layer", ())  # of each component: its name, then samples in a unit
    if image.mode not in ("RGB", "L") or not parts:
        return
    across, down = (max(part[number] for part in parts) for number in (1, 2))
    if len(parts) == 1:
        across = down = 1
    if has_seam(pixels, (JPEG_BLOCK_PX * across, JPEG_BLOCK_PX * down)):
        problem = "the picture is damaged (from some place on its brightness is shifted)"
        raise CannotMeasure(f"{path}: {problem}; copy or take it again")


def _first_bytes(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(HEAD_BYTES)


def _too_large(path: Path) -> CannotMeasure:
    most = MAX_PIXELS // 1_000_000
    return CannotMeasure(f"{path}: more than {most} megapixels; save it smaller, 12 are plenty")


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


def _restore_depth(path: Path, image: Image.Image, pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Brighten a colour picture of 10 to 14 bits in 16, whose upper 8 bits alone are nearly black."""
    if image.format not in ("PNG", "TIFF") or pixels.max(initial=0) > _MAX_DARK:
        return pixels
    flags = cv2.IMREAD_ANYDEPTH | cv2.IMREAD_COLOR | cv2.IMREAD_IGNORE_ORIENTATION
    deep = cv2.imdecode(np.frombuffer(path.read_bytes(), np.uint8), flags)
    if deep is None or deep.dtype != np.uint16 or deep.shape != pixels.shape:
        return pixels
    return _eight_bit(deep.astype(float))


def _eight_bit(values: NDArray[np.float64]) -> NDArray[np.uint8]:
    highest = float(np.nanmax(values, initial=0))
    full = next((limit for limit in _BIT_DEPTHS if highest <= limit), highest)
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


def _exif_camera(exif: Image.Exif) -> str | None:
    """Return the camera's maker and model, with the focal length and the zoom if there are any."""
    names = [str(exif.get(tag) or "").strip("\0 ") for tag in (_MAKER, _MODEL)]
    if not any(names):
        return None
    details = exif.get_ifd(_EXIF_IFD)
    numbers = [_positive_number(details.get(tag)) for tag in (_FOCAL_LENGTH, _FOCAL_35MM, _ZOOM)]
    return " ".join([*names, *(f"{number or 0:g}" for number in numbers)])


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
