"""Geometry without pictures and without games, on numpy alone.

Conventions:

* **Board frame**: millimetres, right-handed. x points right, y away from the viewer, z up.
* **Camera frame**: OpenCV's. x points right, y down, z forward; millimetres.
* **Pixels**: (u, v) = (column, row). The centre of the upper left pixel is (0, 0). The picture is
  as a person sees it, with its EXIF orientation applied.
* **Names**: points are `xy_px (N, 2)`, `xy_mm (N, 2)`, `xyz_mm (N, 3)`. `T_a_b` takes points of b
  to a, so neighbours in a product match. Headings run counter-clockwise from +x.
* **Covariances** are over the quantity in their name, in its units squared. A Jacobian `d_a_d_b`
  is (..., dim a, dim b).
"""
