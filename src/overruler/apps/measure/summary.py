"""A report for people on standard output: the pieces, the rulings, and how far to trust them."""

from collections.abc import Sequence
from pathlib import Path

from rich.table import Table
from rich.text import Text

from overruler.apps.measure.options import MeasureOptions
from overruler.apps.process.console import new_console
from overruler.bases import Base
from overruler.calibration import Advice
from overruler.detections import DetectedRuler, Detection
from overruler.errors import printable
from overruler.geometry.covariance import REACH_SIGMAS
from overruler.records import MovedRecord, PieceRecord, TerrainRecord
from overruler.report import Report, problem_sentences
from overruler.scene import Piece
from overruler.taught import taught_sentences
from overruler.units import SIGMAS_95, format_change, format_count, format_nominal, format_number
from overruler.verdict import Verdict

NO_BASES_TEXT = "no bases were found; --game or --bases says which sizes to look for"
ASSUMED_ON_MAT_TEXT = (
    "base is taken to stand on the mat: tell the ground of one that does not with --terrain"
)
LEFT_OUT_TEXT = (
    "may be no pieces, so nothing is ruled on them unless you ask (--fix confirms a piece)"
)
BY_HAND_TEXT = (
    "placed by hand where the photo shows no base, so nothing is ruled on them unless you ask"
)
MOVED_TEXT = (
    "it is measured by the other photos and as unsure as it moved, "
    "so nothing is ruled on it unless you ask"
)
SURELY_RAISED_PROBABILITY = 0.9
"""Raised ground less probable than this is said to be perhaps only printed."""
DIM_BELOW_VISIBLE_SHARE = 0.5
"""The row of a base with a smaller visible share of the rim is dimmed."""


def result_line(options: MeasureOptions, report: Report) -> str:
    """The result in one line: how many pieces, and the answers, or the first ruling."""
    shown = ruling_lines(report) if options.questions else ruling_lines(report)[:1]
    pieces = format_count(len(report.scene.pieces), "piece")
    told = taught_sentences(report.scene.extra)
    unanswered = report.unanswered.values()
    return "; ".join([pieces, *(line.plain for line in shown), *unanswered, *told])


def print_report(report: Report, written: Sequence[Path], advice: Advice | None = None) -> None:
    """Print the summary of a report, and the files that were written."""
    console = new_console()
    console.print(piece_table(report) if report.scene.pieces else NO_BASES_TEXT, soft_wrap=False)
    console.print()
    rulings = (*ruling_lines(report), *left_out_lines(report), *photo_lines(report, advice))
    for line in rulings:
        console.print(_on_one_line(line))
    console.print()
    for line in (
        *raised_ground_lines(report),
        *ruler_lines(report),
        *board_lines(report),
        *map(Text, taught_sentences(report.scene.extra)),
        calibration_line(report),
        *problem_lines(report),
        assumed_ground_line(report),
        *(Text(f"written: {path}", style="dim") for path in written),
    ):
        console.print(_on_one_line(line))


def _on_one_line(line: Text) -> Text:
    """A line with escapes for what names of files may hold."""
    return Text(printable(line.plain), style=line.style)


def piece_table(report: Report) -> Table:
    """A table with a row for each piece: its position, the doubt of it, and what was visible."""
    table = Table("id", "base", box=None, header_style="bold", pad_edge=False)
    unit = report.scene.unit
    for name in (f"x {unit}", f"y {unit}", f"± {unit} (95 %)", "seen"):
        table.add_column(name, justify="right")
    table.add_column("notes")
    sigmas = largest_sigmas_mm(report)
    for piece, detection, sigma in zip(report.scene.pieces, report.detections, sigmas, strict=True):
        style = "dim" if detection.visible < DIM_BELOW_VISIBLE_SHARE else ""
        table.add_row(*_piece_cells(piece, detection, sigma, unit), style=style)
    return table


def _piece_cells(piece: Piece, detection: Detection, sigma_mm: float, unit: str) -> tuple[str, ...]:
    cells = (
        piece.id,
        piece.base.name,
        format_number(piece.x_mm, unit),
        format_number(piece.y_mm, unit),
        format_number(SIGMAS_95 * sigma_mm, unit),
        f"{detection.visible:.0%}",
        _piece_notes(piece, detection.alternative_bases),
    )
    return tuple(map(printable, cells))


def _piece_notes(piece: Piece, alternatives: Sequence[Base]) -> str:
    """Other sizes that the piece may have, its owner, and whether a person corrected it."""
    record = PieceRecord.from_json(piece.extra)
    notes = []
    if alternatives:
        notes.append(f"or {', '.join(base.name for base in alternatives)}")
    if piece.base.is_square and "heading_modulo_deg" in piece.extra:
        notes.append("front not seen" if record.heading_modulo_deg < 180 else "front or rear")
    if piece.player:
        notes.append(piece.player)
    elif len(record.player_unsure) == 1:
        notes.append(f"of {record.player_unsure[0]} perhaps")
    elif record.player_unsure:
        notes.append(f"of {' or '.join(record.player_unsure)}?")
    doubt = piece.reason_for_doubt or {}
    if "probability" in doubt:
        notes.append(f"perhaps no piece ({100 * doubt['probability']:.3g} % that it is one)")
    if record.fitted is False:
        notes.append("where you say: the photo does not show it")
    elif record.corrections:
        notes.append("corrected by hand")
    return "; ".join(notes)


def largest_sigmas_mm(report: Report) -> list[float]:
    """1 σ of each piece's position along the major axis of its error ellipse."""
    covariance = report.scene.covariance
    count = len(report.scene.pieces)
    if covariance is None:
        return [0.0] * count
    return [covariance.max_relative_shift_mm(None, i) / REACH_SIGMAS for i in range(count)]


def ruling_lines(report: Report) -> list[Text]:
    """A line for each ruling."""
    return [Text(_verdict_line(verdict), style="bold") for verdict in report.verdicts]


def left_out_lines(report: Report) -> list[Text]:
    """What no ruling was made on, as it may be no piece or rests on a hand; not what was asked about."""
    asked = {name for verdict in report.verdicts for name in verdict.pair or ()}
    reasons = report.scene.reasons_for_doubt.items()
    left_out = {name: "by_hand" in reason for name, reason in reasons if name not in asked}
    lines = []
    for text, is_by_hand in ((LEFT_OUT_TEXT, False), (BY_HAND_TEXT, True)):
        names = [name for name, by_hand in left_out.items() if by_hand == is_by_hand]
        if names:
            lines.append(Text(f"{text}: {', '.join(names)}"))
    return lines


def _verdict_line(verdict: Verdict) -> str:
    sentence = verdict.sentence()
    return f"{' → '.join(verdict.pair)}: {sentence}" if verdict.pair else sentence


def photo_lines(report: Report, advice: Advice | None) -> list[Text]:
    """What moved between several photos, and from where another photo would help."""
    names = [photo.frame.name for photo in report.photos]
    unit = report.scene.unit
    lines = []
    for moved in MovedRecord.all_in(report.scene.extra):
        x, y = (format_number(at_mm, unit, 0) for at_mm in (moved.x_mm, moved.y_mm))
        shown = f"{moved.id} stands elsewhere in photo {moved.photo + 1}, at ({x}, {y}) {unit}"
        lines.append(Text(f"! {shown}: {MOVED_TEXT}", style="yellow"))
    if len(names) > 1:
        lines.append(Text(f"{len(names)} photos: {', '.join(names)}", style="dim"))
    if advice is not None:
        change = format_change(SIGMAS_95 * advice.before_mm, SIGMAS_95 * advice.after_mm, unit)
        lines.append(Text(f"{advice.text} (± {change}, 95 %)", style="dim"))
    return lines


def raised_ground_lines(report: Report) -> list[Text]:
    """A line for each raised area: the pieces on it, and its height."""
    pieces = [(piece.id, PieceRecord.from_json(piece.extra)) for piece in report.scene.pieces]
    unit = report.scene.unit
    lines = []
    for terrain in report.scene.terrain:
        record = TerrainRecord.from_json(terrain.extra)
        names = ", ".join(name for name, piece in pieces if piece.on == terrain.id) or "nothing"
        doubt = format_number(SIGMAS_95 * (record.sigma_mm or 0.0), unit, 0)
        height = format_number(terrain.top_z_mm, unit, 0)
        text = f"{names} on {terrain.id}, {height} ± {doubt} {unit} high (95 %)"
        if record.probability < SURELY_RAISED_PROBABILITY:
            text += " (perhaps only printed)"
        lines.append(Text(text))
    return lines


def ruler_lines(report: Report) -> list[Text]:
    """A line for each ruler in the photo: its scale, which is independent of the markers'."""
    unit = report.scene.unit
    agree = not _contradict_scale(report)
    return [Text(_ruler_line(ruler, unit, agree)) for ruler in report.rulers]


def _ruler_line(ruler: DetectedRuler, unit: str, rulers_agree: bool) -> str:
    doubt_mm = SIGMAS_95 * ruler.sigma_mm
    segment, doubt = (format_number(mm, unit, 2) for mm in (ruler.segment_mm, doubt_mm))
    text = f"the ruler reads {segment} ± {doubt} {unit} a segment (95 %)"
    text += f", {format_nominal(ruler.nominal_mm, unit).removesuffix(f' {unit}')} is right"
    if not ruler.is_sure:
        return f"{text}: too unsure to confirm the scale"
    return f"{text}: the scale is confirmed" if rulers_agree else text


def _contradict_scale(report: Report) -> bool:
    """Whether a ruler contradicts the scale, or did in any of the photos."""
    calibrations = (report.calibration, *(photo.calibration for photo in report.photos))
    flags = {problem.flag for each in calibrations for problem in each.problems}
    return "ruler_disagrees" in flags or any(
        abs(ruler.segment_mm - ruler.nominal_mm) > SIGMAS_95 * ruler.sigma_mm
        for ruler in report.rulers
    )


def board_lines(report: Report) -> list[Text]:
    """The board whose markers tell the places; none where they lie anywhere."""
    if report.board is None or not report.board.layout_known:
        return []
    return [Text(f"board: {report.board.name}")]


def calibration_line(report: Report) -> Text:
    """The quality of the calibration: of several photos that of the first."""
    calibration, unit = report.calibration, report.scene.unit
    count = len(calibration.markers)
    facts = [format_count(count, "marker") if count else "points given by hand"]
    facts.append(f"{calibration.rms_px:.2f} px")
    if calibration.left_out_mm is not None:
        left_out = format_number(calibration.left_out_mm, unit, 2)
        facts.append(f"each marker predicted by the others to {left_out} {unit}")
    whose = " of photo 1" if len(report.photos) > 1 else ""
    return Text(f"calibration{whose}: {', '.join(facts)}")


def problem_lines(report: Report) -> list[Text]:
    """The problems of the calibration, the worst first; those of several photos photo by photo."""
    by_photo = {n: photo.calibration.problems for n, photo in enumerate(report.photos, 1)}
    sentences = problem_sentences(report.calibration.problems, by_photo, report.scene.unit)
    return [Text(f"! {sentence}", style="yellow") for sentence in sentences]


def assumed_ground_line(report: Report) -> Text:
    """The ground on which the pieces that stand on no raised area are assumed to stand."""
    other = "other " if any("on" in piece.extra for piece in report.scene.pieces) else ""
    return Text(f"every {other}{ASSUMED_ON_MAT_TEXT}", style="dim")
