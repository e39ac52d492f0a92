"""What a camera makes of light: blur, noise, a tone curve, sharpening, JPEG."""

import cv2
import numpy as np

from synthetic.painted.mats import Picture
from synthetic.painted.solids import Floats, Rng


def develop(rng: Rng, light: Floats) -> Picture:
    """Amounts of light (S, S, 3) as a photo's pixels."""
    bright = max(float(np.percentile(light, rng.uniform(90, 99.7))), 0.04)
    gain = rng.uniform(0.5, 1.0) / bright if rng.random() < 0.5 else rng.uniform(0.7, 1.6)
    exposed = cv2.GaussianBlur(light * np.float32(gain), (0, 0), rng.uniform(0.35, 1.15))
    exposed = _noisy(rng, np.asarray(exposed, np.float32))
    toned = _toned(rng, np.clip(exposed, 0, 1.2))
    return _coded(rng, _sharpened(rng, toned))


def _noisy(rng: Rng, light: Floats) -> Floats:
    level = rng.uniform(0, 0.02) ** 1.3
    grain = rng.standard_normal(light.shape, np.float32)
    if rng.random() < 0.5:
        grain = np.asarray(
            cv2.GaussianBlur(grain, (0, 0), rng.uniform(0.4, 1.0)), np.float32
        ) * np.float32(1.8)
    return np.asarray(light + level * grain * np.sqrt(light + 0.05), np.float32)


def _toned(rng: Rng, light: Floats) -> Floats:
    """A gamma curve with some contrast in the middle, as bytes from 0 to 255 not yet rounded."""
    t = np.clip(light, 0, 1) ** np.float32(1 / rng.uniform(1.9, 2.5))
    bend = rng.uniform(0, 0.6)
    curved = t + bend * (t * t * (3 - 2 * t) - t)
    tint = np.exp(rng.normal(size=3) * 0.04).astype(np.float32)
    return np.asarray(255 * np.clip(curved * tint, 0, 1), np.float32)


def _sharpened(rng: Rng, picture: Floats) -> Floats:
    if rng.random() < 0.45:
        return picture
    soft = cv2.GaussianBlur(picture, (0, 0), rng.uniform(0.8, 2.0))
    return np.asarray(picture + np.float32(rng.uniform(0.1, 0.9)) * (picture - soft), np.float32)


def _coded(rng: Rng, picture: Floats) -> Picture:
    whole = np.clip(picture + 0.5, 0, 255).astype(np.uint8)
    _, code = cv2.imencode(".jpg", whole, [cv2.IMWRITE_JPEG_QUALITY, int(rng.integers(76, 96))])
    return np.asarray(cv2.imdecode(code, cv2.IMREAD_COLOR), np.uint8)
