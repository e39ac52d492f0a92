"""The files of a film: Parquet and CSV tables, scenes, chapters, editors' markers."""

import csv
import io
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from overruler.apps.analyze.merge import Data, FilmResults
from overruler.errors import MissingExtra
from overruler.units import format_number
from overruler.writing import remove_file, write_atomically, write_parts_atomically

Columns = Mapping[str, type]
"""Types of a table's columns, by name and in order."""

POSITION_COLUMNS: Columns = {
    "piece": str,
    "time_s": float,
    "x_mm": float,
    "y_mm": float,
    "sigma_mm": float,
    "seen": bool,
}
"""Where each piece was, and when."""
MOVE_COLUMNS: Columns = {
    "piece": str,
    **dict.fromkeys(("start_s", "end_s", "from_x_mm", "from_y_mm", "to_x_mm", "to_y_mm"), float),
    **dict.fromkeys(("distance_mm", "path_mm", "sigma_mm", "path_sigma_mm"), float),
    "way_seen": bool,
    "name_probability": float,
    "perhaps": str,
}
"""The moves."""
RULING_COLUMNS: Columns = {
    "time_s": float,
    "from": str,
    "to": str,
    "distance_mm": float,
    "sigma_mm": float,
    "range": int,
    "probability": float,
    "since_s": float,
}
"""Every pair at every rest."""
ALLOWANCE_COLUMNS: Columns = {
    "piece": str,
    "start_s": float,
    "end_s": float,
    "path_mm": float,
    "allowance_mm": float,
    "sigma_mm": float,
    "probability": float,
    "way_seen": bool,
}
"""Moves of pieces with an allowance."""
CONTACT_COLUMNS: Columns = {
    "time_s": float,
    "from": str,
    "to": str,
    **dict.fromkeys(("distance_mm", "sigma_mm", "probability"), float),
}
"""Pairs that may touch."""
TURN_COLUMNS: Columns = {
    "turn": str,
    "from_s": float,
    "to_s": float,
    "player": str,
    "moves": int,
    "why": str,
}
"""The turns."""


def check_tables() -> None:
    """Raise `MissingExtra` if no tables can be written: hours of work would be for nothing."""
    if find_spec("pyarrow") is None:
        raise MissingExtra.with_install_hint("tables need pyarrow", "tables")


def encode_parquet(rows: Sequence[Data], columns: Columns) -> bytes:
    """Encode rows as a Parquet file; raise `MissingExtra` if pyarrow is not installed."""
    check_tables()
    import pyarrow
    import pyarrow.parquet

    arrow_types = {
        str: pyarrow.string(),
        float: pyarrow.float64(),
        bool: pyarrow.bool_(),
        int: pyarrow.int32(),
    }
    fields = [(name, arrow_types[kind]) for name, kind in columns.items()]
    arrays = [pyarrow.array([row[name] for row in rows], kind) for name, kind in fields]
    table = pyarrow.Table.from_arrays(arrays, schema=pyarrow.schema(fields))
    sink = pyarrow.BufferOutputStream()
    pyarrow.parquet.write_table(table, sink, compression="zstd")
    return bytes(sink.getvalue())


def encode_csv(rows: Sequence[Data], columns: Columns) -> str:
    """Encode rows as CSV, with all digits of every number."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([row[name] for name in columns] for row in rows)
    return text.getvalue()


def scene_lines(film: FilmResults) -> Iterator[str]:
    """Yield the scene of each rest with its time, as a line of JSON."""
    for rest in film.rests:
        line = rest["scene"] | {"time_s": rest["time_s"], "film": film.name}
        yield json.dumps(line, allow_nan=False) + "\n"


# --- chapters ---


def webvtt_chapters(film: FilmResults, turns: Sequence[Data] = ()) -> str:
    """Chapters for a player (WebVTT): one begins at each move and at each turn."""
    starts = [(0.0, "Start")]
    for move in sorted(film.moves, key=_move_start_s):
        starts.append((_move_start_s(move), _describe_move(move, film.unit)))
    if len(turns) > 1:
        starts = _with_turns(starts, turns)
    ends = [start for start, _ in starts[1:]]
    ends.append(max(film.read_to_s, starts[-1][0] + 0.1))
    cues = []
    for (start_s, text), end_s in zip(starts, ends, strict=True):
        times = f"{_webvtt_time(start_s)} --> {_webvtt_time(max(end_s, start_s + 0.001))}"
        cues.append(f"{times}\n{text}\n")
    return "WEBVTT\n\n" + "\n".join(cues)


def _with_turns(starts: list[tuple[float, str]], turns: Sequence[Data]) -> list[tuple[float, str]]:
    """Add a chapter for each turn that begins without a move, and the turn's name to every chapter."""
    known = {start for start, _ in starts}
    begins = [(turn["from_s"], "begins") for turn in turns if turn["from_s"] not in known]
    chapters = sorted([*starts, *begins], key=lambda chapter: chapter[0])
    return [(start, _prefix_turn(turns, start, text)) for start, text in chapters]


def _prefix_turn(turns: Sequence[Data], time_s: float, text: str) -> str:
    """A chapter's text behind its turn's name, on one line and escaped for WebVTT."""
    turn = next((turn for turn in reversed(turns) if turn["from_s"] <= time_s), None)
    if turn is None:
        return text
    player = f" ({turn['player']})" if turn["player"] else ""
    line = " ".join(f"Turn {turn['turn']}{player}: {text}".split())
    return line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _move_start_s(move: Data) -> float:
    return float(move["start_s"])


def _describe_move(move: Data, unit: str) -> str:
    bound = "" if move["way_seen"] else "at least "
    return f"{move['piece']} moves {bound}{format_number(move['path_mm'], unit, 0)} {unit}"


def _webvtt_time(time_s: float) -> str:
    """Hours, minutes, seconds and milliseconds, as WebVTT has them."""
    milliseconds = round(time_s * 1000)
    minutes = milliseconds // 60_000
    seconds = milliseconds // 1000 % 60
    return f"{minutes // 60:02}:{minutes % 60:02}:{seconds:02}.{milliseconds % 1000:03}"


# --- editors' markers ---


def otio_timeline(film: FilmResults, media: Path | None = None) -> str | None:
    """The moves as markers on a film for editors; None if OpenTimelineIO (extra `timeline`) is not installed.

    The film is named by its plain path: DaVinci Resolve 20 finds no media behind a `file:` address. It looks for
    media that was moved by the clip's name, which is therefore the file's.
    """
    try:
        import opentimelineio as otio
    except ImportError:
        return None

    def span(from_s: float, to_s: float) -> Any:
        start = otio.opentime.RationalTime(round(from_s * 1000), 1000)
        length = otio.opentime.RationalTime(round(max(to_s - from_s, 0) * 1000), 1000)
        return otio.opentime.TimeRange(start, length)

    whole = span(0.0, film.read_to_s)
    clip = otio.schema.Clip(media.name if media else film.name, source_range=whole)
    if media:
        path = os.path.abspath(media)
        clip.media_reference = otio.schema.ExternalReference(path, available_range=whole)
    for move in film.moves:
        times = span(move["start_s"], move["end_s"])
        marker = otio.schema.Marker(
            _describe_move(move, film.unit), times, otio.schema.MarkerColor.CYAN
        )
        clip.markers.append(marker)
    track = otio.schema.Track(film.name, children=[clip])
    timeline = otio.schema.Timeline(film.name, tracks=[track])
    return str(otio.adapters.write_to_string(timeline, "otio_json"))


# --- writing ---


def write_tables(
    film: FilmResults,
    folder: Path,
    rulings: Sequence[Data] | None,
    allowances: Sequence[Data] | None,
    contacts: Sequence[Data] = (),
    turns: Sequence[Data] = (),
    media: Path | None = None,
) -> list[Path]:
    """Write every file, one after the other: all at once would need twice the memory. Return their paths.

    `media` is the film that they tell of, where there is one.

    A table that there is none of now is removed where an earlier run wrote it: one folder tells of one run.
    """
    tables: list[tuple[str, Sequence[Data] | None, Columns]] = [
        ("positions", film.positions, POSITION_COLUMNS),
        ("moves", film.moves, MOVE_COLUMNS),
        ("contacts", contacts, CONTACT_COLUMNS),
        ("turns", turns, TURN_COLUMNS),
        ("rulings", rulings, RULING_COLUMNS),
        ("allowances", allowances, ALLOWANCE_COLUMNS),
    ]

    def files() -> Iterator[tuple[str, bytes | str | None]]:
        for name, rows, columns in tables:
            yield f"{name}.parquet", None if rows is None else encode_parquet(rows, columns)
            yield f"{name}.csv", None if rows is None else encode_csv(rows, columns)
        yield "chapters.vtt", webvtt_chapters(film, turns)
        yield "timeline.otio", otio_timeline(film, media)

    paths = [folder / "scenes.jsonl"]
    write_parts_atomically(paths[0], scene_lines(film))
    for name, data in files():
        if data is None:
            remove_file(folder / name)
        else:
            write_atomically(folder / name, data)
            paths.append(folder / name)
    return paths
