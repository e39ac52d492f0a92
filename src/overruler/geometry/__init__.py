"""Geometry without pictures and without games: numpy alone.

Conventions, the same everywhere:

* **Board frame**: millimetres, right-handed, x right, y up on the table (away from the viewer), z up out of it.
* **Camera frame**: OpenCV's, x right, y down, z forward; millimetres.
* **Pixels**: (u, v) = (column, row), the centre of the upper left pixel is (0, 0). The pixels are those of the picture
  as a person sees it, that is after the EXIF orientation has been applied.
* **Names**: points are `xy_px (N, 2)`, `xy_mm (N, 2)`, `xyz_mm (N, 3)`. `T_a_b` takes points of b to a; neighbours in a
  product match. Headings are counter-clockwise from +x.
* **Covariances** are over what their name says, in its units squared; a Jacobian `d_a_d_b` is (..., dim a, dim b).
"""
