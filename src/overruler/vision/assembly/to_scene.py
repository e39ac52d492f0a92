"""From the detections of a photo to a scene in millimetres, with their joint covariance.

There are two covariances. The usual one holds on a table that is just as its board file says. The
rare one includes everything that residuals cannot show: a print a little too large, curled cards, a
bowed mat, a fit gone astray. Places are as the usual one says except on one table in five (Tukey's
contaminated normal, 1960). A ruling is certain only if it is 99.5 % sure by the rare one, too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from overruler.calibration import Calibration, Covariances, calibration_to_json
from overruler.detections import DetectedRuler, Detection, RaisedArea, ruler_to_json
from overruler.games import DEFAULT_GAME
from overruler.geometry.covariance import Covariance, Matrix2, RareAlternative
from overruler.geometry.pose import Array
from overruler.geometry.relief import relief_displacement_per_mm
from overruler.records import HeadingAlternative, ImageRecord, PieceRecord, TerrainRecord
from overruler.scene import Grid, Piece, Scene, Table, Terrain
from overruler.vision.assembly.flag_doubts import SURE, rare_probability
from overruler.vision.assembly.piece_probability import piece_probabilities
from overruler.vision.camera.table_bow import correct_detections_for_bow, place_jacobian_bow
from overruler.vision.contours.shading import USUAL_SHADE_SHARE, shade_covariance_mm2

MIN_TERRAIN_PROBABILITY = 0.5
"""Least probability of raised ground in a scene; less likely ground widens covariances only."""


def build_scene(
    calibration: Calibration,
    detections: Sequence[Detection],
    game: str | None = None,
    rulers: Sequence[DetectedRuler] = (),
    grid: Grid | None = None,
    raised: Sequence[RaisedArea] = (),
) -> Scene:
    """The scene of one photo, with a piece for each detection in order: p01, p02 and so on."""
    detections = correct_detections_for_bow(calibration, detections)
    covariance = position_covariance(calibration, detections)
    digits = max(2, len(str(len(detections))))
    probabilities = piece_probabilities(detections, calibration.is_prepared)
    pieces = []
    for k, (detection, probability) in enumerate(zip(detections, probabilities, strict=True)):
        block = covariance.cross_covariance(k, k)
        pieces.append(to_piece(detection, f"p{k + 1:0{digits}}", block, probability))
    terrain = [to_terrain(area) for area in raised if area.probability >= MIN_TERRAIN_PROBABILITY]
    rulers_json = [ruler_to_json(ruler) for ruler in rulers]
    return Scene(
        game=game or DEFAULT_GAME,
        board=Table(*calibration.board_mm),
        pieces=tuple(pieces),
        terrain=tuple(terrain),
        covariance=covariance if pieces else None,
        grid=grid,
        extra={"calibration": calibration_to_json(calibration), "rulers": rulers_json},
    )


def position_covariance(calibration: Calibration, detections: Sequence[Detection]) -> Covariance:
    """The joint covariance over (x, y) of each detection, with its rare alternative.

    A photo whose problems make it sure has the rare covariance alone.
    """
    rare = Covariance(rare_covariance(calibration, detections).tolist())
    probability = rare_probability(calibration.problems)
    if probability == SURE:
        return rare
    usual = usual_covariance(calibration, detections).tolist()
    return Covariance(usual, RareAlternative(probability, rare))


def usual_covariance(calibration: Calibration, detections: Sequence[Detection]) -> Array:
    """(2N, 2N) in mm² over (x, y) of each detection, on a table that is as its board file says."""
    covariances = []
    for detection in detections:
        shade = USUAL_SHADE_SHARE**2 * shade_covariance_mm2(calibration, detection)
        covariances.append(detection.covariance_mm2 + shade)
    causes = [detection.shared_shifts_mm for detection in detections]
    return _joint_covariance(calibration.as_specified, detections, covariances, causes)


def rare_covariance(calibration: Calibration, detections: Sequence[Detection]) -> Array:
    """The same with every term of the error budget at its largest."""
    covariances = []
    for detection in detections:
        shade = shade_covariance_mm2(calibration, detection)
        covariances.append(detection.covariance_mm2 + detection.rare_excess_mm2 + shade)
    causes = [{**one.shared_shifts_mm, **one.rare_shifts_mm} for one in detections]
    return _joint_covariance(with_strange_lens(calibration), detections, covariances, causes)


def with_strange_lens(calibration: Calibration) -> Calibration:
    """The calibration, should its lens not be like most."""
    return replace(calibration, covariances=Covariances.same(calibration.covariances.strange))


def _joint_covariance(
    calibration: Calibration,
    detections: Sequence[Detection],
    own_mm2: Sequence[Array],
    causes: Sequence[Mapping[str, Array]],
) -> Array:
    """(2N, 2N) in mm²: every term of the error budget; terms with a common cause are shared.

    `own_mm2` is each detection's covariance (2, 2) given the camera, `causes` are its shifts (2,)
    by 1 σ of each shared cause.
    """
    if not detections:
        return np.zeros((0, 0))
    budget = calibration.budget
    jacobian = np.concatenate([place_jacobian(calibration, one) for one in detections])
    xy = np.stack([detection.xy_mm for detection in detections])
    covariance = jacobian @ calibration.joint_covariance @ jacobian.T
    covariance += table_covariance(calibration, xy)
    for k, detection in enumerate(detections):
        by_height = budget.height_mm * relief_displacement_per_mm(
            calibration.camera, detection.xy_mm, detection.z_mm
        )
        own = own_mm2[k] + np.outer(by_height, by_height)
        corner_mm = budget.corner_mm if detection.base.shape == "rectangle" else 0.0
        edge = np.hypot(budget.diameter_mm / 2, corner_mm)
        block = slice(2 * k, 2 * k + 2)
        covariance[block, block] += own + np.eye(2) * edge**2
    covariance += shared_covariance(causes)
    return np.asarray((covariance + covariance.T) / 2)


def table_covariance(calibration: Calibration, xy_mm: Array) -> Array:
    """(2N, 2N) in mm²: by the print's scale and the table's misfit, at places (N, 2)."""
    from_centre = xy_mm - np.array(calibration.board_mm) / 2
    flat = from_centre.ravel()
    by_scale = calibration.budget.scale_share**2 * np.outer(flat, flat)
    return np.asarray(by_scale + calibration.doubt.covariance_mm2(from_centre))


def place_jacobian(calibration: Calibration, detection: Detection) -> Array:
    """How a detection's place moves with the camera's parameters and the table's bow: (2, P)."""
    by_bow = place_jacobian_bow(calibration, detection.xy_mm, detection.z_mm)
    return np.column_stack([detection.d_xy_d_camera, by_bow])


def shared_covariance(causes: Sequence[Mapping[str, Array]]) -> Array:
    """(2N, 2N) in mm²: by each piece's shifts (2,) for 1 σ of its causes, shared by name."""
    covariance = np.zeros((2 * len(causes), 2 * len(causes)))
    for cause in dict.fromkeys(name for shifts in causes for name in shifts):
        moved = np.concatenate([shifts.get(cause, np.zeros(2)) for shifts in causes])
        covariance += np.outer(moved, moved)
    return covariance


def to_piece(
    detection: Detection, name: str, covariance: Matrix2, probability: float = 1.0
) -> Piece:
    """The piece of a detection; `covariance` (2, 2) is its own block of the joint one.

    `probability` is that it is a piece at all.
    """
    return Piece(
        id=name,
        base=detection.base.with_rounded_corners,
        x_mm=float(detection.xy_mm[0]),
        y_mm=float(detection.xy_mm[1]),
        z_mm=detection.z_mm,
        heading_deg=detection.heading_deg,
        covariance_mm2=covariance,
        extra=_measured_extra(detection, probability),
    )


def _measured_extra(detection: Detection, probability: float) -> dict[str, Any]:
    """What a scene says of a piece's measurement; the keys are `records.MEASURED_KEYS`."""
    headings = [
        HeadingAlternative(round(heading_deg, 4), round(probability, 5))
        for heading_deg, probability in detection.other_headings
    ]
    image = image_record(detection)
    record = PieceRecord(
        image=image if detection.is_seen else None,
        score=round(detection.score, 4),
        visible=round(detection.visible, 3),
        also=tuple(base.with_rounded_corners for base in detection.alternative_bases),
        heading_modulo_deg=detection.heading_modulo_deg,
        other_headings=tuple(headings),
        on=detection.standing_on,
        sigma_z_mm=round(detection.sigma_z_mm, 2),
        probability=round(probability, 4),
        by_hand=not detection.is_seen,
    )
    return record.to_json()


def to_terrain(area: RaisedArea) -> Terrain:
    """The terrain of a raised area, with its uncertainty."""
    return Terrain(
        id=area.id,
        footprint_mm=tuple((float(x), float(y)) for x, y in np.round(area.footprint_mm, 1)),
        top_z_mm=round(area.top_z_mm, 2),
        base_z_mm=area.base_z_mm,
        rough=area.rough,
        size=area.size,
        extra=TerrainRecord(round(area.sigma_mm, 2), round(area.probability, 3)).to_json(),
    )


def image_record(detection: Detection) -> ImageRecord:
    """Where the photo shows a detection, in pixels."""
    return ImageRecord(_round_px(detection.center_px), _round_px(detection.outline_px))


def _round_px(points: Array) -> Any:
    """Round pixels to a hundredth: finer digits only fill the file."""
    return np.round(points, 2).tolist()
