"""From what was found in a photo to a scene in millimetres, with one covariance over all of it, and another.

The first is for what is usual, on a table that is just as its board file says. The other has all that no residual shows
and that may be there all the same: a print a little too large, cards that curl, a bowed mat, a fit gone astray. Places
are as the first says but for one table in five (Tukey's contaminated normal, 1960): no ruling is certain that is not
99.5 % sure by the other, too.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from overruler.calibration import Calibration, calibration_to_json
from overruler.detections import DetectedRuler, Detection, RaisedArea, _ruler_json
from overruler.geometry.covariance import Covariance, Matrix2, RareAlternative
from overruler.geometry.pose import Array
from overruler.geometry.relief import relief_displacement_per_mm
from overruler.scene import Grid, Piece, Scene, Table, Terrain
from overruler.vision.assembly.flag_doubts import SURE, rare_probability
from overruler.vision.camera.table_bow import correct_detections_for_bow, place_jacobian_bow
from overruler.vision.contours.shading import shade_covariance_mm2

USUAL_SHADE_SHARE = 0.3
"""How much of `shade_covariance_mm2` is 1 σ of what is usual: it is for shade that misleads as much as it can."""
MIN_TERRAIN_PROBABILITY = 0.5
"""Ground less likely raised is no terrain of the scene; that it may be is in the doubt of what stands there."""
DEFAULT_GAME = "legion"
"""What a scene says where no game was named: every scene file names one."""


def build_scene(
    calibration: Calibration,
    detections: Sequence[Detection],
    game: str | None = None,
    rulers: Sequence[DetectedRuler] = (),
    grid: Grid | None = None,
    raised: Sequence[RaisedArea] = (),
) -> Scene:
    """The scene of one photo: a piece for each detection, in their order, named p01, p02 and so on."""
    detections = correct_detections_for_bow(calibration, detections)
    covariance = position_covariance(calibration, detections)
    digits = max(2, len(str(len(detections))))
    pieces = tuple(
        to_piece(
            detection, f"p{number:0{digits}}", covariance.cross_covariance(number - 1, number - 1)
        )
        for number, detection in enumerate(detections, 1)
    )
    return Scene(
        game=game or DEFAULT_GAME,
        board=Table(*calibration.board_mm),
        pieces=pieces,
        terrain=tuple(
            _to_terrain(area) for area in raised if area.probability >= MIN_TERRAIN_PROBABILITY
        ),
        covariance=covariance if pieces else None,
        grid=grid,
        extra={
            "calibration": calibration_to_json(calibration),
            "rulers": [_ruler_json(ruler) for ruler in rulers],
        },
    )


def position_covariance(calibration: Calibration, detections: Sequence[Detection]) -> Covariance:
    """Over (x, y) of each detection: what is usual, and what holds otherwise.

    A photo that shows itself that something is not as it should be has the second alone.
    """
    rare = Covariance(rare_covariance(calibration, detections).tolist())
    probability = rare_probability(calibration.problems)
    if probability == SURE:
        return rare
    usual = usual_covariance(calibration, detections).tolist()
    return Covariance(usual, RareAlternative(probability, rare))


def usual_covariance(calibration: Calibration, detections: Sequence[Detection]) -> Array:
    """(2N, 2N) in mm² over (x, y) of each detection: of what is usual, on a table that is as its board file says."""
    own = [
        d.covariance_mm2 + USUAL_SHADE_SHARE**2 * shade_covariance_mm2(calibration, d)
        for d in detections
    ]
    return _joint_covariance(
        calibration.as_specified, detections, own, [d.shared_shifts_mm for d in detections]
    )


def rare_covariance(calibration: Calibration, detections: Sequence[Detection]) -> Array:
    """The same with every term of the budget as large as it may be."""
    own = [
        d.covariance_mm2 + d.rare_excess_mm2 + shade_covariance_mm2(calibration, d)
        for d in detections
    ]
    return _joint_covariance(
        calibration,
        detections,
        own,
        [{**d.shared_shifts_mm, **d.rare_shifts_mm} for d in detections],
    )


def _joint_covariance(
    calibration: Calibration,
    detections: Sequence[Detection],
    own_mm2: Sequence[Array],
    causes: Sequence[Mapping[str, Array]],
) -> Array:
    """(2N, 2N) in mm²: every term of the budget, shared where its cause is shared.

    Of each detection its own doubt (2, 2), the camera being exact, and how far (2,) it is moved by what others share.
    """
    if not detections:
        return np.zeros((0, 0))
    budget, camera = calibration.budget, calibration.camera
    xy = np.stack([detection.xy_mm for detection in detections])
    slopes = [
        np.column_stack([d.d_xy_d_camera, place_jacobian_bow(calibration, d.xy_mm, d.z_mm)])
        for d in detections
    ]
    by_table = np.concatenate(slopes)
    by_scale = (xy - np.array(calibration.board_mm) / 2).ravel()
    covariance = by_table @ calibration.joint_covariance @ by_table.T
    covariance += budget.scale_share**2 * np.outer(by_scale, by_scale)
    covariance += calibration.doubt.covariance_mm2(by_scale.reshape(-1, 2))
    for k, detection in enumerate(detections):
        moved = budget.height_mm * relief_displacement_per_mm(
            camera, detection.xy_mm, detection.z_mm
        )
        own = own_mm2[k] + np.outer(moved, moved)
        edge = np.hypot(
            budget.diameter_mm / 2, budget.corner_mm if detection.base.shape == "rectangle" else 0.0
        )
        covariance[2 * k : 2 * k + 2, 2 * k : 2 * k + 2] += own + np.eye(2) * edge**2
    covariance += shared_covariance(causes)
    return np.asarray((covariance + covariance.T) / 2)


def to_piece(detection: Detection, name: str, covariance: Matrix2) -> Piece:
    """A detection as a scene has it; `covariance` (2, 2) is its own block of the joint one."""
    image = {
        "center_px": _round_px(detection.center_px),
        "outline_px": _round_px(detection.outline_px),
    }
    extra: dict[str, Any] = {
        "image": image,
        "score": round(detection.score, 4),
        "visible": round(detection.visible, 3),
    }
    if detection.alternative_bases:
        extra["also"] = [
            base.with_rounded_corners.to_json() for base in detection.alternative_bases
        ]
    if detection.heading_modulo_deg < 360:
        extra["heading_modulo_deg"] = detection.heading_modulo_deg
    if detection.other_headings:
        extra["other_headings"] = [
            {"heading_deg": round(heading, 4), "probability": round(chance, 5)}
            for heading, chance in detection.other_headings
        ]
    if detection.standing_on is not None:
        extra["on"] = detection.standing_on
    if detection.sigma_z_mm:
        extra["sigma_z_mm"] = round(detection.sigma_z_mm, 2)
    return Piece(
        id=name,
        base=detection.base.with_rounded_corners,
        x_mm=float(detection.xy_mm[0]),
        y_mm=float(detection.xy_mm[1]),
        z_mm=detection.z_mm,
        heading_deg=detection.heading_deg,
        covariance_mm2=covariance,
        extra=extra,
    )


def _to_terrain(area: RaisedArea) -> Terrain:
    """A raised area as a scene has it, with how sure it is."""
    return Terrain(
        id=area.id,
        footprint_mm=tuple((float(x), float(y)) for x, y in np.round(area.footprint_mm, 1)),
        top_z_mm=round(area.top_z_mm, 2),
        base_z_mm=area.base_z_mm,
        rough=area.rough,
        size=area.size,
        extra={"sigma_mm": round(area.sigma_mm, 2), "probability": round(area.probability, 3)},
    )


def _round_px(points: Array) -> list[Any]:
    """Pixels to a hundredth: finer digits only fill the file."""
    values: list[Any] = np.round(points, 2).tolist()
    return values


def shared_covariance(causes: Sequence[Mapping[str, Array]]) -> Array:
    """(2N, 2N) mm²: what causes that pieces share add to the joint covariance of their places.

    Of each piece, how far (2,) 1 σ of each cause moves it.
    """
    covariance = np.zeros((2 * len(causes), 2 * len(causes)))
    for cause in {cause for own in causes for cause in own}:
        moved = np.concatenate([own.get(cause, np.zeros(2)) for own in causes])
        covariance += np.outer(moved, moved)
    return covariance
