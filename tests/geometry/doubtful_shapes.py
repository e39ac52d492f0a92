"""Shapes and covariances that laws of doubt are tried on."""

from overruler.geometry.covariance import Matrix2
from overruler.geometry.shapes import Disc, Ellipse, Shape, rectangle

SHAPES: dict[str, Shape] = {
    "disc": Disc((0, 0), 13.5),
    "point": Disc((0, 0), 0.0),
    "plate": rectangle((0, 0), 40, 40, 20),
    "plank": rectangle((0, 0), 60, 6, -30),
    "oval": Ellipse((0, 0), 70, 40, 75),
}
DOUBTS: dict[str, Matrix2] = {
    "round": ((0.09, 0.0), (0.0, 0.09)),
    "slanted": ((0.5, 0.45), (0.45, 0.6)),
    "thin": ((0.25, 0.0), (0.0, 1e-6)),
    "line": ((0.25, 0.4), (0.4, 0.64)),
    "wide": ((90.0, 20.0), (20.0, 30.0)),
}
