"""Checks of what a machine must be able to do with pictures.

Each raises an error, or returns its finding in a few words.
"""

import numpy as np

from overruler.picture.text_layout import FONT_PATH

ENDING_BY_FORMAT = {"JPEG": ".jpg", "PNG": ".png", "WebP": ".webp", "TIFF": ".tif"}
MAX_MEAN_ERROR = 8
"""Largest mean error of a picture written and read again, in grey levels."""


def check_opencv() -> str:
    """Load OpenCV."""
    import cv2

    return f"version {cv2.__version__}"


def check_aruco() -> str:
    """Detect a marker that was just drawn."""
    import cv2

    family = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_50)
    picture = np.full((120, 120), 255, np.uint8)
    picture[30:90, 30:90] = cv2.aruco.generateImageMarker(family, 7, 60)
    _, ids, _ = cv2.aruco.ArucoDetector(family).detectMarkers(picture)
    if ids is None or 7 not in np.ravel(ids):
        raise RuntimeError("a marker just drawn was not found again")
    return "finds a marker"


def check_codec(name: str) -> str:
    """Write and read a small picture in one format."""
    import cv2

    levels = np.arange(0, 256, 8, dtype=np.uint8)
    ramp = np.repeat(levels[:, None], 32, 1)
    picture = np.stack([ramp, ramp.T, ramp], -1)
    done, data = cv2.imencode(ENDING_BY_FORMAT[name], picture)
    decoded = cv2.imdecode(data, cv2.IMREAD_COLOR) if done else None
    if decoded is None or np.abs(decoded.astype(int) - picture).mean() > MAX_MEAN_ERROR:
        raise RuntimeError("a picture just written did not come back")
    return "writes and reads"


def check_font() -> str:
    """Draw a letter with the program's own font."""
    from overruler.picture.raster import render_png
    from overruler.picture.svg import element, text_line

    size = {"width": 40, "height": 40, "xmlns": "http://www.w3.org/2000/svg"}
    blank = render_png(element("svg", "<g/>", **size), 40)
    lettered = render_png(element("svg", text_line("M", 20, 30, 30), **size), 40)
    if blank == lettered:
        raise RuntimeError(f"{FONT_PATH} draws nothing")
    return FONT_PATH.stem
