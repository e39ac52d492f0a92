"""A report on a small table, made without measuring a photo."""

import numpy as np

from overruler.bases import Base
from overruler.calibration import Calibration, Covariances, Problem
from overruler.detections import Detection
from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.geometry.covariance import Covariance
from overruler.geometry.pose import Pose
from overruler.report import Report
from overruler.scene import Piece, Scene, Table
from overruler.verdict import Verdict

SIZE_PX = (1280, 960)
LINES_MM = tuple(152.4 * k for k in range(1, 6))
PLACES = (
    ("p01", Base.circle(27), 150.0, 150.0),
    ("p02", Base.circle(27), 620.0, 180.0),
    ("p03", Base.circle(50), 300.0, 420.0),
    ("p04", Base.oval(42, 75), 720.0, 480.0),
    ("p05", Base.rectangle(40, 60), 480.0, 300.0),
)


def camera() -> Camera:
    """Tilted by 20 degrees over the middle of a table of 900 × 600 mm."""
    tilt = np.radians(20)
    turn = np.array([[1, 0, 0], [0, np.cos(tilt), -np.sin(tilt)], [0, np.sin(tilt), np.cos(tilt)]])
    rotation = turn @ np.diag([1.0, -1, -1])
    matrix = np.array([[1100.0, 0, 639.5], [0, 1100, 479.5], [0, 0, 1]])
    pose = Pose(rotation, np.array([0, 0, 1250.0]) - rotation @ np.array([450.0, 300, 0]))
    return Camera(matrix, np.array([-0.08, 0.01, 0, 0, 0]), pose)


def pieces() -> tuple[Piece, ...]:
    return tuple(Piece(name, base, x, y, heading_deg=20) for name, base, x, y in PLACES)


def verdict(
    start: str,
    end: str,
    headline: str,
    value: object,
    odds: dict[str, float],
    sigma_mm: float = 0.3,
) -> Verdict:
    """A ruling on the range of two round pieces of the table."""
    one, other = (next(piece for piece in pieces() if piece.id == name) for name in (start, end))
    a, b = np.array([one.x_mm, one.y_mm]), np.array([other.x_mm, other.y_mm])
    way = (b - a) / np.linalg.norm(b - a)
    a, b = a + way * one.base.width_mm / 2, b - way * other.base.width_mm / 2
    distance = float(np.linalg.norm(b - a))
    return Verdict(
        answer={"range": value},
        headline=headline,
        rules=("range",),
        distance_mm=distance,
        sigma_mm=sigma_mm,
        from_point_mm=(float(a[0]), float(a[1])),
        to_point_mm=(float(b[0]), float(b[1])),
        pair=(start, end),
        margin_mm=min(abs(line - distance) for line in LINES_MM),
        lines_mm=LINES_MM,
        value=value,
        probability=odds,
        question={"question": "range", "from": start, "to": end},
    )


RULINGS = (
    verdict("p01", "p02", "range 3", 3, {"3": 0.9999, "4": 0.0001}),
    verdict("p01", "p03", "range 2", 2, {"2": 0.62, "3": 0.38}),
    verdict("p03", "p02", "past the ruler", None, {"null": 1.0}),
)
"""In, too close to call, out."""


def _detection(piece: Piece) -> Detection:
    seen = np.zeros((2, 15))
    also = (Base.circle(25),) if piece.id == "p01" else ()
    here = np.array([piece.x_mm, piece.y_mm])
    return Detection(
        piece.base,
        here,
        0.0,
        20.0,
        np.eye(2) * 0.04,
        seen,
        0.9,
        0.8,
        np.zeros(2),
        np.zeros((8, 2)),
        also,
    )


def _frame() -> Frame:
    """Ground of many colours, from dark to light, so that nothing drawn on it can hide."""
    width, height = SIZE_PX
    x, y = np.meshgrid(np.linspace(0, 255, width), np.linspace(0, 255, height))
    noise = np.random.default_rng(1).integers(0, 24, (height, width, 3))
    return Frame(
        np.clip(np.stack([x, y, 255 - x], -1) * 0.8 + noise, 0, 255).astype(np.uint8), "table.jpg"
    )


def report(*verdicts: Verdict) -> Report:
    """Five pieces, one problem of the calibration, and three rulings of three kinds or those given."""
    covariance = np.eye(10) * 0.04 + 0.02
    scene = Scene("legion", Table(900, 600), pieces(), covariance=Covariance(covariance.tolist()))
    problem = Problem(
        "few_markers", "only 4 markers are in the picture: more of them measure better"
    )
    calibration = Calibration(
        camera(),
        Covariances.same(np.zeros((15, 15))),
        SIZE_PX,
        0.21,
        (0, 1, 2, 3),
        (900.0, 600.0),
        left_out_mm=0.3,
        problems=(problem,),
    )
    detections = tuple(_detection(piece) for piece in scene.pieces)
    return Report(_frame(), calibration, detections, scene, verdicts or RULINGS)
