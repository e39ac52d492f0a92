"""SVG to PNG, and photos into SVG."""

import base64

import numpy as np
from numpy.typing import NDArray

from overruler.picture.text_layout import FONT_FAMILY, FONT_PATH, FONT_WEIGHT

MAX_SIDE_PX = 2400
"""The longer side of a picture: enough for any screen, small enough to send."""
JPEG_QUALITY = 88


Pixels = NDArray[np.uint8]
"""(H, W, 3), blue green red."""


def render_png(svg: str, width_px: int) -> bytes:
    """The PNG of a drawing, `width_px` wide; the only font there is is the program's own."""
    import resvg_py

    return bytes(
        resvg_py.svg_to_bytes(
            svg_string=svg,
            width=width_px,
            skip_system_fonts=True,
            font_files=[str(FONT_PATH)],
            font_family=FONT_FAMILY,
            sans_serif_family=FONT_FAMILY,
        )
    )


def output_size(size_px: tuple[int, int]) -> tuple[int, int]:
    """A photo's size, shrunk where its longer side is above `MAX_SIDE_PX`."""
    share = min(1.0, MAX_SIDE_PX / max(size_px))
    return max(1, round(size_px[0] * share)), max(1, round(size_px[1] * share))


def composite_png(overlay_svg: str, pixels: Pixels) -> bytes:
    """The PNG of a photo under a transparent drawing, no larger than `MAX_SIDE_PX`."""
    return _encode_image(
        ".png",
        composite_pixels(overlay_svg, pixels, output_size((pixels.shape[1], pixels.shape[0]))),
    )


def composite_pixels(overlay_svg: str, pixels: Pixels, size_px: tuple[int, int]) -> Pixels:
    """A photo under a transparent drawing, at a size of the photo's own shape."""
    return alpha_composite(render_layer(overlay_svg, size_px), resize_by_area(pixels, size_px))


def render_layer(overlay_svg: str, size_px: tuple[int, int]) -> Pixels:
    """A transparent drawing as pixels (H, W, 4), blue green red alpha."""
    import cv2

    drawn = cv2.imdecode(
        np.frombuffer(render_png(overlay_svg, size_px[0]), np.uint8), cv2.IMREAD_UNCHANGED
    )
    if drawn is None or drawn.shape != (size_px[1], size_px[0], 4):
        raise RuntimeError("the drawing could not be rendered")
    return np.asarray(drawn, np.uint8)


def alpha_composite(layer_: Pixels, pixels: Pixels) -> Pixels:
    """A layer (H, W, 4) over pixels (H, W, 3) of its own size; what it does not cover stays as it is."""
    covered = layer_[..., 3] > 0
    over = layer_[covered].astype(np.float32)
    cover = over[:, 3:] / 255
    found = pixels.copy()
    found[covered] = np.rint(over[:, :3] * cover + pixels[covered] * (1 - cover)).astype(np.uint8)
    return found


def data_uri(pixels: Pixels, size_px: tuple[int, int]) -> str:
    """The photo as a JPEG of the given size in a `data:` address."""
    return (
        "data:image/jpeg;base64,"
        + base64.b64encode(_encode_image(".jpg", resize_by_area(pixels, size_px))).decode()
    )


def encode_jpeg(pixels: Pixels) -> bytes:
    """The photo as a JPEG for screens, no larger than `MAX_SIDE_PX`."""
    return _encode_image(
        ".jpg", resize_by_area(pixels, output_size((pixels.shape[1], pixels.shape[0])))
    )


def encode_small_jpeg(pixels: Pixels, longest_px: int) -> bytes:
    """A picture of a film as a JPEG whose longer side is at most so long."""
    height, width = pixels.shape[:2]
    share = min(1.0, longest_px / max(width, height))
    return _encode_image(
        ".jpg",
        resize_by_area(pixels, (max(1, round(width * share)), max(1, round(height * share)))),
    )


def shrink_quickly(pixels: Pixels, longest_px: int) -> Pixels:
    """A picture whose longer side is at most so long: means of whole pixels, and what lies between those.

    A tenth of the work that exact means are, for pictures that nobody looks at closely.
    """
    import cv2

    height, width = pixels.shape[:2]
    if max(width, height) <= longest_px:
        return pixels
    whole = max(width, height) // longest_px
    means = resize_by_area(
        pixels[: height - height % whole, : width - width % whole],
        (width // whole, height // whole),
    )
    share = longest_px / max(width, height)
    size = max(1, round(width * share)), max(1, round(height * share))
    return cv2.resize(means, size, interpolation=cv2.INTER_LINEAR).astype(np.uint8, copy=False)


def font_face_css() -> str:
    """The CSS rule that brings the program's own font along."""
    font = base64.b64encode(FONT_PATH.read_bytes()).decode()
    return f"@font-face{{font-family:{FONT_FAMILY};font-weight:{FONT_WEIGHT};src:url(data:font/otf;base64,{font})}}"


def resize_by_area(pixels: Pixels, size_px: tuple[int, int]) -> Pixels:
    """The photo at another size, each pixel the mean of those it stands for."""
    import cv2

    if size_px == (pixels.shape[1], pixels.shape[0]):
        return pixels
    return cv2.resize(pixels, size_px, interpolation=cv2.INTER_AREA).astype(np.uint8, copy=False)


def _encode_image(ending: str, pixels: Pixels) -> bytes:
    import cv2

    options = [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY] if ending == ".jpg" else []
    done, data = cv2.imencode(ending, pixels, options)
    if not done:
        raise RuntimeError(f"the picture could not be coded as {ending}")
    return bytes(data)
