"""A report for people, on standard output: the pieces, the rulings, and how far to trust them."""

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from overruler.bases import Base
from overruler.calibration import Calibration
from overruler.detections import DetectedRuler
from overruler.geometry.covariance import REACH_SIGMAS
from overruler.report import Report
from overruler.scene import Piece
from overruler.verdict import Verdict

NO_BASES_TEXT = "no bases were found; --game or --bases says which sizes to look for"
ASSUMED_ON_MAT_TEXT = (
    "base is taken to stand on the mat: tell the ground of one that does not with --terrain"
)
SURELY_RAISED_PROBABILITY = 0.9
DIM_BELOW_VISIBLE_SHARE = 0.5
"""A base of whose rim less than this share was seen is marked."""


def print_report(report: Report, written: Sequence[Path]) -> None:
    """Print the summary of a report, and what was written."""
    console = Console(highlight=False)
    console.soft_wrap = not console.is_terminal  # lines in a file are broken by whoever shows it
    console.print(piece_table(report) if report.scene.pieces else NO_BASES_TEXT, soft_wrap=False)
    console.print()
    for line in ruling_lines(report):
        console.print(line)
    console.print()
    for text in [
        *raised_ground_lines(report),
        *ruler_lines(report),
        *calibration_lines(report.calibration),
        assumed_ground_line(report),
    ]:
        console.print(text)
    for path in written:
        console.print(Text(f"written: {path}", style="dim"))


def piece_table(report: Report) -> Table:
    """A row a piece: where it stands, how sure that is, what of it was seen."""
    table = Table("id", "base", box=None, header_style="bold", pad_edge=False)
    for name in ("x mm", "y mm", "± mm (95 %)", "seen"):
        table.add_column(name, justify="right")
    table.add_column("notes")
    for piece, detection, sigma in zip(
        report.scene.pieces, report.detections, largest_sigmas_mm(report), strict=True
    ):
        place = (
            f"{piece.x_mm:.1f}",
            f"{piece.y_mm:.1f}",
            f"{1.96 * sigma:.1f}",
            f"{detection.visible:.0%}",
        )
        style = "dim" if detection.visible < DIM_BELOW_VISIBLE_SHARE else ""
        table.add_row(
            piece.id,
            piece.base.name,
            *place,
            _piece_notes(piece, detection.alternative_bases),
            style=style,
        )
    return table


def _piece_notes(piece: Piece, also: Sequence[Base]) -> str:
    """What else a piece may be, whose it is, and whether a person had a hand in it."""
    notes = [f"or {', '.join(base.name for base in also)}"] if also else []
    if piece.base.is_square and "heading_modulo_deg" in piece.extra:
        notes.append(
            "front not seen" if piece.extra["heading_modulo_deg"] < 180 else "front or rear"
        )
    if piece.player:
        notes.append(piece.player)
    elif perhaps := piece.extra.get("player_unsure"):
        notes.append(
            f"of {' or '.join(perhaps)}?" if len(perhaps) > 1 else f"of {perhaps[0]} perhaps"
        )
    if not piece.extra.get("fitted", True):
        notes.append("where you say: the photo does not show it")
    elif "by_hand" in piece.extra:
        notes.append("corrected by hand")
    return "; ".join(notes)


def largest_sigmas_mm(report: Report) -> list[float]:
    """Each piece's doubt where it is largest: 1 σ along the long axis of its ellipse."""
    covariance = report.scene.covariance
    if covariance is None:
        return [0.0] * len(report.scene.pieces)
    return [
        covariance.max_relative_shift_mm(None, i) / REACH_SIGMAS
        for i in range(len(report.scene.pieces))
    ]


def ruling_lines(report: Report) -> list[Text]:
    """A sentence a ruling."""
    return [Text(_verdict_line(verdict), style="bold") for verdict in report.verdicts]


def _verdict_line(verdict: Verdict) -> str:
    return (
        f"{' → '.join(verdict.pair)}: {verdict.sentence()}" if verdict.pair else verdict.sentence()
    )


def raised_ground_lines(report: Report) -> list[Text]:
    """What stands on raised ground, and how high that is."""
    lines = []
    for terrain in report.scene.terrain:
        on = [piece.id for piece in report.scene.pieces if piece.extra.get("on") == terrain.id]
        perhaps = (
            ""
            if terrain.extra.get("probability", 1) >= SURELY_RAISED_PROBABILITY
            else " (perhaps only printed)"
        )
        doubt_mm = 1.96 * terrain.extra.get("sigma_mm", 0.0)
        high = f"{terrain.id}, {terrain.top_z_mm:.0f} ± {doubt_mm:.0f} mm high (95 %){perhaps}"
        lines.append(Text(f"{', '.join(on) or 'nothing'} on {high}"))
    return lines


def ruler_lines(report: Report) -> list[Text]:
    """What the rulers in the photo read: a scale that the markers know nothing of."""
    return [Text(_ruler_line(ruler)) for ruler in report.rulers]


def _ruler_line(ruler: DetectedRuler) -> str:
    agrees = abs(ruler.segment_mm - ruler.nominal_mm) <= 1.96 * ruler.sigma_mm
    text = (
        f"the ruler reads {ruler.segment_mm:.2f} ± {1.96 * ruler.sigma_mm:.2f} mm a segment (95 %)"
    )
    return f"{text}, {ruler.nominal_mm:g} is right{': the scale is confirmed' if agrees else ''}"


def calibration_lines(calibration: Calibration) -> list[Text]:
    """How good the calibration is, and its problems in the order they were found worst."""
    good = [
        f"{len(calibration.markers)} markers" if calibration.markers else "points given by hand"
    ]
    good.append(f"{calibration.rms_px:.2f} px")
    if calibration.left_out_mm is not None:
        good.append(f"each marker predicted by the others to {calibration.left_out_mm:.2f} mm")
    lines = [Text(f"calibration: {', '.join(good)}")]
    return lines + [Text(f"! {problem.text}", style="yellow") for problem in calibration.problems]


def assumed_ground_line(report: Report) -> Text:
    """What the pieces that nothing raised is known of are taken to stand on."""
    raised = any("on" in piece.extra for piece in report.scene.pieces)
    return Text(f"every {'other ' if raised else ''}{ASSUMED_ON_MAT_TEXT}", style="dim")
