"""Witnesses of the scale: the print, the layout, rulers and bases, each of which may be wrong.

Each witness is usually as exact as it is made, and sometimes grossly wrong: a page shrunk to fit, a
board file of another table, a ruler taken for another one. A hypothesis says which witnesses are
grossly wrong. Under each, least squares give the strain of the table and of the print. The doubt of
the strain covers all hypotheses that the witnesses leave standing.
"""

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from overruler.board import Board
from overruler.detections import DetectedRuler
from overruler.geometry.plane_doubt import STRAIN_SIZE, MarkerContrast
from overruler.geometry.pose import Array
from overruler.vision.camera.marker_layout import UNMEASURED_PRINT_SIGMA
from overruler.vision.refinement.base_scale import MIN_BASES, RimMeasurement, radius_covariance
from overruler.vision.refinement.scale_estimate import Hypothesis, ScaleEstimate, Witness

PLACES_SIGMA = 3e-3
"""Usual 1 σ of a layout's scale that nobody measured: boards and tape measures."""
CONFIRMED_PRINT_SIGMA = 5e-4
"""1 σ of a print that was measured, where the board file keeps no other figure."""
ASPECT_SHARE = 1.0
"""1 σ of the difference between along and across, as a share of that of the scale: paper and mats stretch one way."""
SHEAR_SHARE = 0.3
"""1 σ of the shear, as a share of that of the scale."""
GROSS_SIGMA = 0.03
"""1 σ of the scale of a witness that is grossly wrong: a page made to fit, a table in other units."""
MAT_SIGMA = 2e-3
"""Usual 1 σ of the scale that print and layout share, where one printer made both: a mat stretches."""
GROSS_MAT_SIGMA = 1e-2
"""The same for a mat that is grossly wrong."""
GROSS_MAT_PROBABILITY = 0.05
"""How likely that is."""
GROSS_PRINT_ASPECT_SIGMA = 3e-3
"""1 σ of how much a gross print's two sides differ, and of its shear: a page is made to fit as a whole."""
GROSS_PLACES_ASPECT_SIGMA = 1e-2
"""The same for a layout: a table in other units may be longer and no wider."""
GROSS_PROBABILITY = 0.15
"""How likely a print, or a layout, is grossly wrong if nobody measured it."""
GROSS_CONFIRMED_PROBABILITY = 1e-4
"""The same if somebody did."""
GROSS_READING_PROBABILITY = 0.03
"""How likely a ruler or the bases are taken for others: a stick with other marks, a wrong catalogue."""
READING_SIGMA = 1e-3
"""Least 1 σ of a ruler's reading: rulers are made so exactly."""
BASE_SIGMA = 7e-3
"""Least 1 σ of the scale by the bases: wrong sizes of the catalogue pull it towards 0."""
MAX_RULERS = 4
"""The longest rulers are witnesses; more would only add hypotheses."""

LOOSE_SIGMA = 0.1
"""1 σ of the strain of what no witness speaks of."""

PRINT, PLACES, MAT, BASES = "print", "places", "mat", "bases"
"""Names of the witnesses that are not rulers."""
SIZE = 3 * STRAIN_SIZE
"""Unknowns: the strain of the table against the board file, that of the print, and what the two share."""
TABLE, CARDS, SHARED = (slice(k * STRAIN_SIZE, (k + 1) * STRAIN_SIZE) for k in range(3))
"""Where they stand."""


def estimate_scale(
    board: Board | None,
    contrast: MarkerContrast | None,
    rulers: Sequence[DetectedRuler],
    rims: Sequence[RimMeasurement],
) -> ScaleEstimate:
    """Weigh all witnesses of the scale against each other."""
    witnesses = tuple(_witnesses(board, rulers, rims))
    if board is not None and board.scale_by_print:
        contrast = None  # photos gave the places so that it is none
    links = _contrast_link(contrast)
    hypotheses = [
        _solve(witnesses, gross, links) for gross in product((False, True), repeat=len(witnesses))
    ]
    likeliest = max(log_weight for log_weight, _ in hypotheses)
    weight = np.array([np.exp(log_weight - likeliest) for log_weight, _ in hypotheses])
    weight /= weight.sum()
    found = [
        Hypothesis(one.gross, float(own), one.mean, one.covariance)
        for own, (_, one) in zip(weight, hypotheses, strict=True)
    ]
    return ScaleEstimate(tuple(sorted(found, key=lambda one: -one.weight)), witnesses)


def _witnesses(
    board: Board | None, rulers: Sequence[DetectedRuler], rims: Sequence[RimMeasurement]
) -> Iterator[Witness]:
    if board is None or _has_places_of_its_own(board):
        yield _places_witness(board)
        yield _mat_witness()
    if board is not None:
        yield _print_witness(board)
    longest = sorted(rulers, key=lambda ruler: -ruler.nominal_length_mm)
    yield from map(_ruler_witness, longest[:MAX_RULERS])
    if len(rims) >= MIN_BASES:
        yield _bases_witness(rims)


def _usual_strain(sigma: float) -> Array:
    """(3, 3): covariance of the strain of something whose scale has this σ."""
    return _strain_prior(sigma, ASPECT_SHARE * sigma, SHEAR_SHARE * sigma)


def _strain_prior(sigma: float, aspect: float, shear: float) -> Array:
    """(3, 3): covariance of a strain, by the σ of its scale, of its two sides' difference and of its shear."""
    common = np.full((2, 2), sigma**2) + aspect**2 / 4 * np.array([[1, -1], [-1, 1]])
    covariance = np.zeros((STRAIN_SIZE, STRAIN_SIZE))
    covariance[:2, :2] = common
    covariance[2, 2] = shear**2
    return covariance


def _places_witness(board: Board | None) -> Witness:
    """The layout of the board file, or the places that were told of clicked points."""
    measured = board.scale_share if board is not None else None
    design = _difference(TABLE, SHARED) if measured is None else _difference(TABLE)
    sigmas = PLACES_SIGMA, GROSS_PLACES_ASPECT_SIGMA
    return _nominal_witness(PLACES, design, sigmas, measured)


def _mat_witness() -> Witness:
    """What a layout and a print share if nobody measured either."""
    gross = _strain_prior(GROSS_MAT_SIGMA, ASPECT_SHARE * MAT_SIGMA, SHEAR_SHARE * MAT_SIGMA)
    return Witness(
        MAT,
        _difference(SHARED),
        np.zeros(STRAIN_SIZE),
        _usual_strain(MAT_SIGMA),
        gross,
        GROSS_MAT_PROBABILITY,
    )


def _print_witness(board: Board) -> Witness:
    """The cards' printed size, which is the table's scale where the places do not tell it."""
    sigma = UNMEASURED_PRINT_SIGMA
    if board.scale_by_print:
        sigma = max(sigma, board.scale_share or 0.0)
        what, measured = TABLE, None
    else:
        what, measured = (CARDS, None) if board.layout_known else (TABLE, board.scale_share)
        if measured is None and board.sides_mm is not None:
            measured = CONFIRMED_PRINT_SIGMA
    shares = what is CARDS and measured is None
    design = _difference(what, SHARED) if shares else _difference(what)
    return _nominal_witness(PRINT, design, (sigma, GROSS_PRINT_ASPECT_SIGMA), measured)


def _has_places_of_its_own(board: Board) -> bool:
    """Whether the places of its markers tell a scale: not those that photos gave by the markers' size."""
    return board.layout_known and not board.scale_by_print


def _difference(what: slice, less: slice | None = None) -> Array:
    """Design (3, 9) of a strain, or of one less another."""
    design = np.zeros((STRAIN_SIZE, SIZE))
    design[:, what] = np.eye(STRAIN_SIZE)
    if less is not None:
        design[:, less] = -np.eye(STRAIN_SIZE)
    return design


def _nominal_witness(
    name: str, design: Array, sigmas: tuple[float, float], measured_sigma: float | None
) -> Witness:
    """Something that is as long as it is told to be, with a σ if somebody measured it.

    The two σ are of its scale, and of its aspect if it is grossly wrong.
    """
    sigma, gross_aspect = sigmas
    confirmed = measured_sigma is not None
    usual = _usual_strain(sigma if measured_sigma is None else measured_sigma)
    gross = _strain_prior(GROSS_SIGMA, gross_aspect, gross_aspect)
    probability = GROSS_CONFIRMED_PROBABILITY if confirmed else GROSS_PROBABILITY
    return Witness(name, design, np.zeros(STRAIN_SIZE), usual, gross, probability)


def _ruler_witness(ruler: DetectedRuler) -> Witness:
    """A ruler that reads short lies on a table that is larger than the board file says."""
    along = ruler.path_mm[-1] - ruler.path_mm[0]
    x, y = along / np.linalg.norm(along)
    design = np.zeros((1, SIZE))
    design[0, :STRAIN_SIZE] = x * x, y * y, x * y
    reading = np.array([ruler.nominal_mm / ruler.segment_mm - 1])
    sigma = np.hypot(ruler.sigma_mm / ruler.nominal_mm, READING_SIGMA)
    usual = np.array([[sigma**2]])
    return Witness(
        ruler.kind, design, reading, usual, usual + GROSS_SIGMA**2, GROSS_READING_PROBABILITY
    )


def _bases_witness(rims: Sequence[RimMeasurement]) -> Witness:
    """Bases that look small lie on a table that is larger than the board file says."""
    excess = np.array([rim.radius_excess_mm for rim in rims])
    radius = np.array([rim.diameter_mm / 2 for rim in rims])
    weighted = np.linalg.solve(radius_covariance(rims), radius)
    variance = 1 / float(radius @ weighted)
    design = np.zeros((1, SIZE))
    design[0, :2] = 0.5
    usual = np.array([[variance + BASE_SIGMA**2]])
    reading = np.array([-variance * float(weighted @ excess)])
    return Witness(BASES, design, reading, usual, usual + GROSS_SIGMA**2, GROSS_READING_PROBABILITY)


def _contrast_link(contrast: MarkerContrast | None) -> tuple[Array, Array, Array]:
    """The markers' size against their spacing: design (K, 9), values (K,), covariance (K, K)."""
    if contrast is None:
        return np.zeros((0, SIZE)), np.zeros(0), np.zeros((0, 0))
    return _difference(CARDS, TABLE), contrast.strain, contrast.covariance


def _solve(
    witnesses: Sequence[Witness], gross: Sequence[bool], link: tuple[Array, Array, Array]
) -> tuple[float, Hypothesis]:
    """Logarithm of a hypothesis's weight, and its least-squares solution."""
    design, values, linked = link
    parts = [(design, values, linked)] if len(values) else []
    log_weight = 0.0
    for one, wrong in zip(witnesses, gross, strict=True):
        parts.append((one.design, one.values, one.gross if wrong else one.usual))
        chance = one.gross_probability if wrong else 1 - one.gross_probability
        log_weight += float(np.log(chance))
    information = np.eye(SIZE) / LOOSE_SIGMA**2
    right = np.zeros(SIZE)
    for rows, measured, covariance in parts:
        inverse = np.linalg.inv(covariance)
        information = information + rows.T @ inverse @ rows
        right += rows.T @ inverse @ measured
        log_weight -= 0.5 * float(measured @ inverse @ measured + np.linalg.slogdet(covariance)[1])
    inverse = np.linalg.inv(information)
    mean = inverse @ right
    log_weight += 0.5 * float(right @ mean + np.linalg.slogdet(inverse)[1])
    names = tuple(one.name for one, wrong in zip(witnesses, gross, strict=True) if wrong)
    return log_weight, Hypothesis(names, 1.0, mean, np.asarray(inverse, np.float64))
