"""SVG to PNG, and photos into SVG."""

import base64
from typing import Any

import numpy as np
from numpy.typing import NDArray

from overruler.picture.text_layout import FONT_FAMILY, FONT_PATH, FONT_WEIGHT

MAX_SIDE_PX = 2400
"""The longer side of a picture: enough for any screen, small enough to send."""
JPEG_QUALITY = 88

Pixels = NDArray[np.uint8]
"""(H, W, 3), blue green red."""


# --- drawings ---


def render_png(svg: str, width_px: int) -> bytes:
    """Return the PNG of a drawing, `width_px` wide; the program's own font is the only one."""
    import resvg_py

    font: dict[str, Any] = {
        "skip_system_fonts": True,
        "font_files": [str(FONT_PATH)],
        "font_family": FONT_FAMILY,
        "sans_serif_family": FONT_FAMILY,
    }
    return bytes(resvg_py.svg_to_bytes(svg_string=svg, width=width_px, **font))


def render_layer(overlay_svg: str, size_px: tuple[int, int]) -> Pixels:
    """Return a transparent drawing of this size as pixels (H, W, 4), blue green red alpha."""
    import cv2

    width, height = size_px
    png = np.frombuffer(render_png(overlay_svg, width), np.uint8)
    layer = cv2.imdecode(png, cv2.IMREAD_UNCHANGED)
    if layer is None or layer.shape != (height, width, 4):
        raise RuntimeError("the drawing could not be rendered")
    return np.asarray(layer, np.uint8)


def composite_bytes(overlay_svg: str, pixels: Pixels, ending: str) -> bytes:
    """Return the PNG or JPEG of a photo under a transparent drawing, no larger than `MAX_SIDE_PX`."""
    size_px = output_size((pixels.shape[1], pixels.shape[0]))
    return encode_image(ending, composite_pixels(overlay_svg, pixels, size_px))


def drawing_bytes(svg: str, width_px: int, ending: str) -> bytes:
    """Return the PNG or JPEG of an opaque drawing, `width_px` wide."""
    import cv2

    png = render_png(svg, width_px)
    if ending == ".png":
        return png
    pixels = cv2.imdecode(np.frombuffer(png, np.uint8), cv2.IMREAD_COLOR)
    return encode_image(ending, np.asarray(pixels, np.uint8))


def composite_pixels(overlay_svg: str, pixels: Pixels, size_px: tuple[int, int]) -> Pixels:
    """Return a photo under a transparent drawing, at a size of the photo's own proportions."""
    return alpha_composite(render_layer(overlay_svg, size_px), resize_by_area(pixels, size_px))


def extend_below(pixels: Pixels, strip_px: int) -> Pixels:
    """Return a photo with a black strip below it."""
    return np.pad(pixels, ((0, strip_px), (0, 0), (0, 0)))


def alpha_composite(layer_: Pixels, pixels: Pixels) -> Pixels:
    """Lay a layer (H, W, 4) over pixels (H, W, 3); uncovered pixels stay as they are."""
    covered = layer_[..., 3] > 0
    layer = layer_[covered].astype(np.float32)
    alpha = layer[:, 3:] / 255
    colour = layer[:, :3] * alpha
    blended = colour + pixels[covered] * (1 - alpha)
    result = pixels.copy()
    result[covered] = np.rint(blended).astype(np.uint8)
    return result


def data_uri(pixels: Pixels, size_px: tuple[int, int]) -> str:
    """Return the photo as a JPEG of the given size in a `data:` address."""
    data = encode_image(".jpg", resize_by_area(pixels, size_px))
    return "data:image/jpeg;base64," + base64.b64encode(data).decode()


def font_face_css() -> str:
    """Return the CSS rule that embeds the program's own font."""
    data = base64.b64encode(FONT_PATH.read_bytes()).decode()
    source = f"src:url(data:font/otf;base64,{data})"
    return f"@font-face{{font-family:{FONT_FAMILY};font-weight:{FONT_WEIGHT};{source}}}"


# --- sizes ---


def output_size(size_px: tuple[int, int]) -> tuple[int, int]:
    """Return a photo's size, reduced if its longer side exceeds `MAX_SIDE_PX`."""
    return _limited_size(size_px, MAX_SIDE_PX)


def _limited_size(size_px: tuple[int, int], longest_px: int) -> tuple[int, int]:
    """Return a size reduced so that its longer side is at most `longest_px`."""
    width, height = size_px
    scale = min(1.0, longest_px / max(size_px))
    return max(1, round(width * scale)), max(1, round(height * scale))


def encode_jpeg(pixels: Pixels) -> bytes:
    """Return the photo as a JPEG for screens, no larger than `MAX_SIDE_PX`."""
    return encode_small_jpeg(pixels, MAX_SIDE_PX)


def encode_small_jpeg(pixels: Pixels, longest_px: int) -> bytes:
    """Return a picture as a JPEG whose longer side is at most `longest_px`."""
    size_px = _limited_size((pixels.shape[1], pixels.shape[0]), longest_px)
    return encode_image(".jpg", resize_by_area(pixels, size_px))


def resize_by_area(pixels: Pixels, size_px: tuple[int, int]) -> Pixels:
    """Resize the photo; each pixel is the mean of those it stands for."""
    import cv2

    if size_px == (pixels.shape[1], pixels.shape[0]):
        return pixels
    return cv2.resize(pixels, size_px, interpolation=cv2.INTER_AREA).astype(np.uint8, copy=False)


def encode_image(ending: str, pixels: Pixels) -> bytes:
    """Return pixels as a PNG or JPEG file."""
    import cv2

    options = [] if ending == ".png" else [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY]
    done, data = cv2.imencode(ending, pixels, options)
    if not done:
        raise RuntimeError(f"the picture could not be coded as {ending}")
    return bytes(data)
