"""From light on a sensor to a JPEG file: what a camera does after the lens."""

import io
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from synthetic.flat_table import encode_srgb
from synthetic.traced.camera import View
from synthetic.traced.materials import Floats

Picture = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Style:
    """How a camera develops its pictures."""

    blur_px: float
    grain_px: float
    """How far the noise of a pixel leaks into the next ones."""
    fringe: float
    """By what share red is seen larger, and blue smaller, than green."""
    vignette: float
    """The share of light that the corners lose."""
    noise: float
    """1 σ of the noise of a white pixel, as a share of it."""
    exposure: float
    contrast: float
    sharpen: float
    jpeg_quality: int


BLUR_PX = {"phone": (0.7, 1.5), "hd": (0.5, 1.0), "4k": (0.6, 1.2)}


def style(kind: str, dim: bool, rng: np.random.Generator) -> Style:
    """A camera's habits; `dim` light makes noise."""
    noise = (
        {"phone": 0.012, "hd": 0.012, "4k": 0.011}[kind]
        * rng.uniform(0.7, 1.5)
        * (2.2 if dim else 1)
    )
    return Style(
        blur_px=round(float(rng.uniform(*BLUR_PX[kind])), 3),
        grain_px=float(rng.uniform(0.3, 0.8)),
        fringe=0.0 if kind == "phone" else float(rng.normal(0, 8e-5)),
        vignette=float(rng.uniform(0.05, 0.3)),
        noise=float(noise),
        exposure=float(rng.uniform(0.85, 1.2)),
        contrast=float(rng.uniform(0.0, 0.6)),
        sharpen=float(rng.uniform(0.3, 0.7)) if rng.random() < 0.5 else 0.0,
        jpeg_quality=int(rng.integers(80, 93)),
    )


def develop(light: Floats, style: Style, rng: np.random.Generator) -> Picture:
    """The picture (H, W, 3), red green blue, of light (H, W, 3)."""
    image = _fringe(light * (style.exposure * 0.22 / _key(light)), style.fringe)
    image *= _vignette(image.shape[:2], style.vignette)[..., None]
    image = np.asarray(cv2.GaussianBlur(image, (0, 0), style.blur_px), np.float32)
    grain = cv2.GaussianBlur(rng.standard_normal(image.shape, np.float32), (0, 0), style.grain_px)
    image += grain * (style.noise / grain.std()) * np.sqrt(image.clip(0) + 0.02)
    image = _tone(image, style.contrast)
    if style.sharpen:
        image += style.sharpen * (image - cv2.GaussianBlur(image, (0, 0), 1.2))
    return np.asarray((image.clip(0, 1) * 255 + 0.5).astype(np.uint8))


def _key(light: Floats) -> float:
    """The brightness that a light meter takes for middle grey: the geometric mean, held by the brightest parts."""
    tone = light[::7, ::7].mean(-1)
    return max(
        float(np.exp(np.log(tone + 1e-4).mean())), 0.22 * float(np.percentile(tone, 99.5)) / 0.9
    )


def _fringe(image: Floats, share: float) -> Floats:
    if not share:
        return image
    height, width = image.shape[:2]
    planes = [np.ascontiguousarray(image[..., i]) for i in range(3)]
    for i, scale in ((0, 1 + share), (2, 1 - share)):
        shift = np.array([width - 1, height - 1]) / 2 * (1 - scale)
        matrix = np.array([[scale, 0, shift[0]], [0, scale, shift[1]]])
        planes[i] = np.asarray(
            cv2.warpAffine(
                planes[i],
                matrix,
                (width, height),
                flags=cv2.INTER_CUBIC,
                borderMode=cv2.BORDER_REPLICATE,
            ),
            np.float32,
        )
    return np.stack(planes, -1)


def _vignette(shape: tuple[int, int], loss: float) -> Floats:
    y, x = (np.linspace(-1, 1, n, dtype=np.float32) for n in shape)
    return np.asarray(1 - loss * ((y**2)[:, None] + x**2) / 2, np.float32)


def _tone(image: Floats, contrast: float) -> Floats:
    """sRGB's curve, then an S towards smoothstep; highlights roll off."""
    x = image.clip(0)
    x = np.where(x > 0.7, 0.7 + 0.3 * (1 - np.exp(-(x - 0.7) / 0.3)), x)
    y = encode_srgb(x).clip(0, 1)
    return np.asarray(y + contrast * (y * y * (3 - 2 * y) - y) * 0.5, np.float32)


MAKERS = {
    "phone": ("Tern", "Tern 9"),
    "hd": ("Overlook", "Webcam 1080"),
    "4k": ("Overlook", "Desk 4K"),
}


def jpeg(picture: Picture, view: View, quality: int) -> bytes:
    """The file's bytes, with EXIF."""
    image = Image.fromarray(picture)
    exif = image.getexif()
    exif[0x010F], exif[0x0110] = MAKERS[view.kind]
    exif[0x0112], exif[0x0131] = 1, "1.0"
    if view.kind == "phone":
        detail = exif.get_ifd(0x8769)
        share = view.camera.matrix[0, 0] / view.size_px[0]
        detail.update({0xA405: round(36 * share), 0x920A: round(6.4 * share, 3), 0x829D: 1.8})
        detail.update(
            {0xA002: view.size_px[0], 0xA003: view.size_px[1], 0x829A: 1 / 60, 0x8827: 100}
        )
    buffer = io.BytesIO()
    image.save(
        buffer,
        "JPEG",
        quality=quality,
        subsampling=2 if view.kind != "4k" else 0,
        exif=exif,
        optimize=True,
    )
    return buffer.getvalue()
