"""From light on a sensor to the values of a picture file: what a camera does after the lens."""

import io
from dataclasses import dataclass, field, replace
from typing import Any

import cv2
import numpy as np
from numpy.typing import ArrayLike, NDArray

from synthetic.arrays import Array, Floats, Picture, Rng
from synthetic.camera import View

MIDDLE_GREY = 0.22
"""The share of white that a light meter gives a picture's mean brightness."""
READ_NOISE = 0.02
"""What is usual (`Style.read_noise`)."""
CLARITY_PX = 12.0
"""1 σ of the blur that `Style.clarity` is about."""
PHONE = 0.5
"""The share of any pictures that a phone's own taste has gone over."""
MESSENGER = 0.3
"""The share of those that were sent by messenger: small files with blocks."""
SHARPENING_PX = 1.2
"""1 σ of the blur that sharpening takes away."""


@dataclass(frozen=True, slots=True)
class Style:
    """How a camera develops its pictures."""

    exposure: float = 1.0
    """What the light is multiplied with; of a metered picture, how much brighter than the meter says."""
    metered: bool = False
    blur_px: float = 0.0
    """1 σ of what optics and focus do."""
    grain_px: float = 0.0
    """How far the noise of a pixel leaks into the next ones; 0: not at all."""
    fringe: float = 0.0
    """By what share red is seen larger, and blue smaller, than green."""
    vignette: float = 0.0
    """The share of light that the corners lose."""
    noise: float = 0.0
    """1 σ of the noise of a white pixel, as a share of it."""
    read_noise: float = READ_NOISE
    """The light, as a share of white, whose own noise is as large as that of reading it."""
    shoulder: float = 1.0
    """The light above which highlights roll off; 1: they are cut off."""
    gamma: float = 1.0
    """The power of the tone curve, beside sRGB's own."""
    contrast: float = 0.0
    """How far the tone curve leans from sRGB towards an S."""
    tint: tuple[float, float, float] = field(default=(1.0, 1.0, 1.0))
    sharpen: float = 0.0
    """The share of the difference to a blurred copy that is added: edges get halos."""
    clarity: float = 0.0
    """The share of the difference to a widely blurred copy that is added, as phones do to show what is in shadow."""
    saturation: float = 1.0
    """How far colours stand from grey, against what they are."""
    jpeg_quality: int = 92


BLUR_PX = {"phone": (0.7, 1.5), "hd": (0.5, 1.0), "4k": (0.6, 1.2)}
NOISE = {"phone": 0.012, "hd": 0.012, "4k": 0.011}
DIM_NOISE = 2.2
"""How many times noisier a picture in dim light is."""


def camera_style(kind: str, dim: bool, rng: Rng) -> Style:
    """The habits of a camera of a make; `dim` light makes noise."""
    noise = NOISE[kind] * rng.uniform(0.7, 1.5) * (DIM_NOISE if dim else 1)
    return Style(
        metered=True,
        blur_px=round(float(rng.uniform(*BLUR_PX[kind])), 3),
        grain_px=float(rng.uniform(0.3, 0.8)),
        fringe=0.0 if kind == "phone" else float(rng.normal(0, 8e-5)),
        vignette=float(rng.uniform(0.05, 0.3)),
        noise=float(noise),
        shoulder=0.7,
        exposure=float(rng.uniform(0.85, 1.2)),
        contrast=float(rng.uniform(0.0, 0.6)) / 2,
        sharpen=float(rng.uniform(0.3, 0.7)) if rng.random() < 0.5 else 0.0,
        jpeg_quality=int(rng.integers(80, 93)),
    )


def any_style(rng: Rng, light: Floats) -> Style:
    """Any camera's habits with this light: under- and overexposed, soft or sharpened, of any tone."""
    bright = max(float(np.percentile(light, rng.uniform(90, 99.7))), 0.04)
    exposure = rng.uniform(0.5, 1.0) / bright if rng.random() < 0.5 else rng.uniform(0.7, 1.6)
    red, green, blue = np.exp(rng.normal(size=3) * 0.04).tolist()
    style = Style(
        exposure=float(exposure),
        blur_px=float(rng.uniform(0.35, 1.15)),
        grain_px=float(rng.choice([0.0, rng.uniform(0.4, 1.0)])),
        noise=float(rng.uniform(0, 0.02) ** 1.3 * 1.8),
        gamma=float(2.2 / rng.uniform(1.9, 2.5)),
        contrast=float(rng.uniform(0, 0.6)),
        tint=(red, green, blue),
        sharpen=0.0 if rng.random() < 0.45 else float(rng.uniform(0.1, 0.9)),
        jpeg_quality=int(rng.integers(76, 96)),
    )
    return _phone_style(style, rng) if rng.random() < PHONE else style


def _phone_style(style: Style, rng: Rng) -> Style:
    """The habits of a phone: strong curves, colours and edges, and now and then a file as small as a message."""
    sent = rng.random() < MESSENGER
    return replace(
        style,
        gamma=float(np.exp(rng.normal(0, 0.25))),
        contrast=float(rng.uniform(-0.3, 1.0)),
        saturation=float(np.exp(rng.normal(0.1, 0.3))),
        clarity=float(rng.choice([0.0, rng.uniform(0.1, 0.8)])),
        sharpen=float(rng.choice([0.0, rng.uniform(0.2, 2.0)])),
        blur_px=style.blur_px * float(rng.uniform(0.8, 1.6)),
        jpeg_quality=int(rng.integers(35, 75)) if sent else style.jpeg_quality,
    )


def photograph(light: Floats, rng: Rng) -> Picture:
    """The pixels of a photo of light (H, W, 3), by any camera, out of its JPEG file."""
    style = any_style(rng, light)
    return coded(develop(light, style, rng), style.jpeg_quality)


def develop(light: Floats, style: Style, rng: Rng) -> Picture:
    """The picture (H, W) or (H, W, 3) of as much light, its channels in the same order."""
    return np.asarray((tones(light, style, rng) + 0.5).clip(0, 255).astype(np.uint8))


def tones(light: Floats, style: Style, rng: Rng) -> Floats:
    """Values from 0 to 255 as a picture file has them, not yet rounded; sharpening may go beyond."""
    image = light * np.float32(style.exposure * (_metered(light) if style.metered else 1))
    if style.fringe:
        image = _fringe(image, style.fringe)
    if style.vignette:
        image = image * _vignette(image.shape[:2], style.vignette)[..., None]
    image = _blurred(image, style.blur_px)
    if style.noise:
        grain = _blurred(rng.standard_normal(image.shape, np.float32), style.grain_px)
        image = image + grain * (style.noise / grain.std()) * np.sqrt(
            image.clip(0) + style.read_noise
        )
    tone = _tone(image, style)
    if style.clarity:
        tone = tone + np.float32(style.clarity) * (tone - _blurred(tone, CLARITY_PX))
    if style.saturation != 1 and tone.ndim == 3:
        grey = tone.mean(-1, keepdims=True)
        tone = grey + np.float32(style.saturation) * (tone - grey)
    if style.sharpen:
        tone = tone + np.float32(style.sharpen) * (tone - _blurred(tone, SHARPENING_PX))
    return np.asarray(255 * tone, np.float32)


def _blurred(image: Floats, sigma_px: float) -> Floats:
    return np.asarray(cv2.GaussianBlur(image, (0, 0), sigma_px), np.float32) if sigma_px else image


def _metered(light: Floats) -> float:
    """What makes middle grey of the mean brightness: the geometric one, held by the brightest parts."""
    tone = light[::7, ::7].mean(-1)
    mean, brightest = float(np.exp(np.log(tone + 1e-4).mean())), float(np.percentile(tone, 99.5))
    return MIDDLE_GREY / max(mean, MIDDLE_GREY * brightest / 0.9)


def _fringe(image: Floats, share: float) -> Floats:
    height, width = image.shape[:2]
    planes = [np.ascontiguousarray(image[..., i]) for i in range(3)]
    for i, scale in ((0, 1 + share), (2, 1 - share)):
        shift = np.array([width - 1, height - 1]) / 2 * (1 - scale)
        warp = np.array([[scale, 0, shift[0]], [0, scale, shift[1]]])
        size, border = (width, height), cv2.BORDER_REPLICATE
        moved = cv2.warpAffine(planes[i], warp, size, flags=cv2.INTER_CUBIC, borderMode=border)
        planes[i] = np.asarray(moved, np.float32)
    return np.stack(planes, -1)


def _vignette(shape: tuple[int, ...], loss: float) -> Floats:
    y, x = (np.linspace(-1, 1, n, dtype=np.float32) for n in shape)
    return np.asarray(1 - loss * ((y**2)[:, None] + x**2) / 2, np.float32)


def _tone(image: Floats, style: Style) -> Floats:
    """sRGB's curve, then an S towards smoothstep; highlights roll off."""
    x, start = image.clip(0), style.shoulder
    if start < 1:
        rolled = start + (1 - start) * (1 - np.exp(-(x - start) / (1 - start)))
        x = np.asarray(np.where(x > start, rolled, x))
    y = encode_srgb(x.clip(0, 1)) ** style.gamma
    curved = y + style.contrast * (y * y * (3 - 2 * y) - y)
    return np.asarray(
        curved * np.array(style.tint, np.float32) if image.ndim == 3 else curved, np.float32
    )


# --- the values of picture files ---


def encode_srgb(light: NDArray[Any]) -> NDArray[np.floating]:
    """Amounts of light from 0 to 1 as colour values of a picture file (IEC 61966-2-1)."""
    return np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)


def decode_srgb(values: ArrayLike) -> Array:
    """Colour values from 0 to 1 as in a picture file to amounts of light (IEC 61966-2-1)."""
    c = np.asarray(values, float)
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


LIGHT = decode_srgb(np.arange(256) / 255).astype(np.float32)
"""Of each of a picture's 256 values."""


def coded(picture: Picture, quality: int) -> Picture:
    """A picture (H, W, 3) as its JPEG file has it."""
    _, code = cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, quality])
    return np.asarray(cv2.imdecode(code, cv2.IMREAD_COLOR), np.uint8)


MAKERS = {
    "phone": ("Tern", "Tern 9"),
    "hd": ("Overlook", "Webcam 1080"),
    "4k": ("Overlook", "Desk 4K"),
}


def jpeg(picture: Picture, view: View, quality: int) -> bytes:
    """The file's bytes of a picture (H, W, 3), red green blue, with EXIF."""
    from PIL import Image

    image = Image.fromarray(picture)
    exif = image.getexif()
    exif[0x010F], exif[0x0110] = MAKERS[view.kind]
    exif[0x0112], exif[0x0131] = 1, "1.0"
    if view.kind == "phone":
        share = view.camera.matrix[0, 0] / view.size_px[0]
        detail: dict[int, Any] = exif.get_ifd(0x8769)
        detail |= {0xA405: round(36 * share), 0x920A: round(6.4 * share, 3), 0x829D: 1.8}
        detail |= {0xA002: view.size_px[0], 0xA003: view.size_px[1], 0x829A: 1 / 60, 0x8827: 100}
    buffer, colours = io.BytesIO(), 2 if view.kind != "4k" else 0
    image.save(buffer, "JPEG", quality=quality, subsampling=colours, exif=exif, optimize=True)
    return buffer.getvalue()
