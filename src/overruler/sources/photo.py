"""A photo file as a frame: decoded whole, turned the right way up once, with the focal length its metadata claims."""

import math
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, UnidentifiedImageError

from overruler.errors import BadInput, CannotMeasure, install_command
from overruler.frame import Frame

MAX_PIXELS = 60_000_000
"""Larger pictures are refused by their header, before anything is decoded."""
MIN_SIDE_PX = 64
"""A picture narrower than this shows no table that could be measured."""

_FORMATS = ("JPEG", "PNG", "WEBP", "TIFF")
_HEIC_BRANDS = (b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1")
_JPEG_REMEDY = "save it as JPEG (iPhone: Camera, Most Compatible)"

_ORIENTATION, _EXIF_IFD = 0x0112, 0x8769
_FOCAL_35MM, _ZOOM, _WIDTH, _HEIGHT = 0xA405, 0xA404, 0xA002, 0xA003


def load_photo(path: str | Path) -> Frame:
    """The picture at `path` as a person sees it.

    Raises `BadInput` where there is no such file, and `CannotMeasure` where the file holds no picture that can be read.
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
        except (
            OSError,
            SyntaxError,
            ValueError,
            LookupError,
            TypeError,
            EOFError,
            MemoryError,
            RuntimeError,
        ) as error:
            reason = " ".join(str(error).split()) or type(error).__name__
            raise CannotMeasure(
                f"{path}: the picture is damaged ({reason}); copy or take it again"
            ) from None


def _check_file(path: Path) -> None:
    try:
        with path.open("rb") as file:
            file.read(1)
    except FileNotFoundError:
        raise BadInput(f"{path}: no such file") from None
    except IsADirectoryError:
        raise BadInput(
            f"{path}: is a folder: name a photo in it (overruler analyze takes folders)"
        ) from None
    except (OSError, ValueError) as error:
        raise BadInput(
            f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}"
        ) from None


def _read_frame(path: Path) -> Frame:
    with _open_image(path) as image:
        width, height = image.size
        if width * height > MAX_PIXELS:
            raise _too_large(path)
        if min(width, height) < MIN_SIDE_PX:
            raise CannotMeasure(
                f"{path}: is only {width} × {height} pixels; use the camera's full-size photo"
            )
        exif = image.getexif()
        orientation = _exif_orientation(exif)
        focal_px, share = _exif_focal_px(exif, width, height)
        stored = _blue_green_red(image)
        pixels = (
            stored if image.format == "TIFF" else _apply_orientation(stored, orientation)
        )  # Pillow turns a TIFF by itself
    pixels = np.ascontiguousarray(pixels)
    pixels.setflags(write=False)
    return Frame(pixels, str(path), focal_px, share, orientation)


def _open_image(path: Path) -> Image.Image:
    """A picture of which no more than the header has been read."""
    with path.open("rb") as file:
        head = file.read(12)
    if head[4:8] != b"ftyp" or head[8:12] not in _HEIC_BRANDS:
        return Image.open(path, formats=_FORMATS)
    try:
        from pillow_heif import HeifImageFile
    except ImportError:
        raise CannotMeasure(
            f"{path}: is a HEIC picture: {install_command('heic')}, or {_JPEG_REMEDY}"
        ) from None
    found: Image.Image = HeifImageFile(path)  # type: ignore[no-untyped-call]
    return found


def _too_large(path: Path) -> CannotMeasure:
    return CannotMeasure(
        f"{path}: more than {MAX_PIXELS // 1_000_000} megapixels; save it smaller, 12 are plenty"
    )


def _not_a_picture(path: Path) -> CannotMeasure:
    with path.open("rb") as file:
        head = file.read(12)
    if head[4:12] == b"ftypavif":
        return CannotMeasure(f"{path}: is an AVIF picture; {_JPEG_REMEDY}")
    return CannotMeasure(f"{path}: is not a picture that can be read; use JPEG, PNG, WebP or TIFF")


# --- pixels ---


def _blue_green_red(image: Image.Image) -> NDArray[np.uint8]:
    """The pixels (H, W, 3) of any mode; transparent parts are white, 16-bit pictures keep their upper 8 bits."""
    if image.mode.startswith("I") or image.mode == "F":
        grey = _eight_bit(np.asarray(image, float))
        return np.repeat(grey[:, :, None], 3, axis=2)
    if image.mode in ("LA", "PA", "RGBA", "La", "RGBa") or "transparency" in image.info:
        image = image.convert("RGBA")
        white = Image.new("RGBA", image.size, "white")
        image = Image.alpha_composite(white, image)
    image = image if image.mode == "RGB" else image.convert("RGB")
    raw = image.tobytes("raw", "BGR")  # twice as fast as turning the channels round in numpy
    return np.frombuffer(raw, np.uint8).reshape(image.height, image.width, 3)


def _eight_bit(values: NDArray[np.float64]) -> NDArray[np.uint8]:
    top = float(np.nanmax(values, initial=0))
    full = 1.0 if top <= 1 else 255.0 if top <= 255 else 65535.0 if top <= 65535 else top
    return np.asarray(np.clip(np.nan_to_num(values) / full * 255, 0, 255).round(), np.uint8)


def _apply_orientation(pixels: NDArray[np.uint8], orientation: int) -> NDArray[np.uint8]:
    """The stored pixels as seen, by EXIF's orientation 1 to 8."""
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
    """The focal length in pixels by the 35 mm equivalent, and its doubt as a share.

    CIPA defines the equivalent by the diagonal, many makers go by the width; on a 4:3 sensor the two lie 4 % apart, so
    the value is the one between them. It holds for the sensor's whole picture: a cut or zoomed one gets a wide doubt.
    """
    details = exif.get_ifd(_EXIF_IFD)
    equivalent_mm = _positive_number(details.get(_FOCAL_35MM))
    if not equivalent_mm or not 5 <= equivalent_mm <= 600:
        return None, 0.15
    by_width = equivalent_mm / 36 * max(width, height)
    by_diagonal = equivalent_mm / math.hypot(36, 24) * math.hypot(width, height)
    whole = {_positive_number(details.get(_WIDTH)), _positive_number(details.get(_HEIGHT))} == {
        width,
        height,
    }
    zoomed = (_positive_number(details.get(_ZOOM)) or 1) > 1.01
    sure = whole and not zoomed and width * height >= 3_000_000
    return math.sqrt(by_width * by_diagonal), 0.03 if sure else 0.15


def _positive_number(value: Any) -> float | None:
    try:
        number = float(value)
    except (TypeError, ValueError, ZeroDivisionError):
        return None
    return number if math.isfinite(number) and number > 0 else None
