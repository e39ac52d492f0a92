"""What came of a film as files: Parquet and CSV tables, scenes, chapters."""

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from overruler.apps.analyze.merge import FilmResults
from overruler.errors import MissingExtra
from overruler.writing import write_atomically, write_parts_atomically

Data = dict[str, Any]
Columns = Mapping[str, type]

POSITION_COLUMNS: Columns = {
    "piece": str,
    "time_s": float,
    "x_mm": float,
    "y_mm": float,
    "sigma_mm": float,
    "seen": bool,
}
MOVE_COLUMNS: Columns = {
    "piece": str,
    **dict.fromkeys(("start_s", "end_s", "from_x_mm", "from_y_mm", "to_x_mm", "to_y_mm"), float),
    **dict.fromkeys(("distance_mm", "path_mm", "sigma_mm", "path_sigma_mm"), float),
    "way_seen": bool,
}
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
ALLOWANCE_COLUMNS: Columns = {
    "piece": str,
    "start_s": float,
    "end_s": float,
    "path_mm": float,
    "allowance_mm": float,
    "sigma_mm": float,
    "probability": float,
}
CONTACT_COLUMNS: Columns = {
    "time_s": float,
    "from": str,
    "to": str,
    **dict.fromkeys(("distance_mm", "sigma_mm", "probability"), float),
}
TURN_COLUMNS: Columns = {
    "turn": str,
    "from_s": float,
    "to_s": float,
    "player": str,
    "moves": int,
    "why": str,
}


def encode_parquet(rows: Sequence[Data], columns: Columns) -> bytes:
    """The rows as a Parquet file; `MissingExtra` where pyarrow is not installed."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra.with_install_hint("tables need pyarrow", "tables") from None
    kinds = {
        str: pyarrow.string(),
        float: pyarrow.float64(),
        bool: pyarrow.bool_(),
        int: pyarrow.int32(),
    }
    schema = pyarrow.schema([(name, kinds[kind]) for name, kind in columns.items()])
    arrays = [
        pyarrow.array([row[name] for row in rows], kinds[kind]) for name, kind in columns.items()
    ]
    sink = pyarrow.BufferOutputStream()
    pyarrow.parquet.write_table(
        pyarrow.Table.from_arrays(arrays, schema=schema), sink, compression="zstd"
    )
    return bytes(sink.getvalue())


def encode_csv(rows: Sequence[Data], columns: Columns) -> str:
    """The rows as CSV, every number in full."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([row[name] for name in columns] for row in rows)
    return text.getvalue()


def scene_lines(film: FilmResults) -> Iterator[str]:
    """A scene a line, with its time."""
    lines = (rest["scene"] | {"time_s": rest["time_s"], "film": film.name} for rest in film.rests)
    return (json.dumps(line, allow_nan=False) + "\n" for line in lines)


def webvtt_chapters(film: FilmResults, turns: Sequence[Data] = ()) -> str:
    """Chapters for a player (WebVTT): one from each move to the next, and from the beginning of each turn."""
    moves = [
        (_move_start_s(move), _describe_move(move))
        for move in sorted(film.moves, key=_move_start_s)
    ]
    starts = [(0.0, "Start"), *moves]
    if len(turns) > 1:
        begun = {start for start, _ in moves}
        starts += [
            (turn["from_s"], "begins") for turn in turns if turn["from_s"] not in {0.0, *begun}
        ]
        starts = [
            (start, _prefix_turn(turns, start, text))
            for start, text in sorted(starts, key=lambda one: one[0])
        ]
    ends = [start for start, _ in starts[1:]] + [max(film.read_to_s, starts[-1][0] + 0.1)]
    cues = [
        f"{_webvtt_time(a)} --> {_webvtt_time(max(b, a + 0.001))}\n{text}\n"
        for (a, text), b in zip(starts, ends, strict=True)
    ]
    return "WEBVTT\n\n" + "\n".join(cues)


def _prefix_turn(turns: Sequence[Data], time_s: float, text: str) -> str:
    """A chapter's name with its turn's; on one line, and without what WebVTT reads as its own."""
    turn = next((turn for turn in reversed(turns) if turn["from_s"] <= time_s), None)
    if turn is None:
        return text
    whose = f" ({turn['player']})" if turn["player"] else ""
    named = " ".join(f"Turn {turn['turn']}{whose}: {text}".split())
    return named.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def otio_timeline(film: FilmResults) -> str | None:
    """The moves as markers for film editors (OpenTimelineIO); None where the extra `otio_timeline` is not installed."""
    try:
        import opentimelineio as otio
    except ImportError:
        return None

    def span(from_s: float, to_s: float) -> Any:
        times = (
            otio.opentime.RationalTime(round(value * 1000), 1000)
            for value in (from_s, max(to_s - from_s, 0))
        )
        return otio.opentime.TimeRange(*times)

    clip = otio.schema.Clip(film.name, source_range=span(0.0, film.read_to_s))
    for move in film.moves:
        marker = otio.schema.Marker(
            _describe_move(move), span(move["start_s"], move["end_s"]), otio.schema.MarkerColor.CYAN
        )
        clip.markers.append(marker)
    track = otio.schema.Track(film.name, children=[clip])
    whole = otio.schema.Timeline(film.name, tracks=[track])
    return str(otio.adapters.write_to_string(whole, "otio_json"))


def _move_start_s(move: Data) -> float:
    return float(move["start_s"])


def _describe_move(move: Data) -> str:
    least = "" if move["way_seen"] else "at least "
    return (
        f"{move['piece']} moves {least}{move['path_mm'] / 25.4:.1f} in ({move['path_mm']:.0f} mm)"
    )


def _webvtt_time(time_s: float) -> str:
    """Hours, minutes, seconds and milliseconds, as WebVTT has them."""
    thousandths = round(time_s * 1000)
    minutes, seconds = thousandths // 60_000, thousandths // 1000 % 60
    return f"{minutes // 60:02}:{minutes % 60:02}:{seconds:02}.{thousandths % 1000:03}"


def write_tables(
    film: FilmResults,
    folder: Path,
    rulings: Sequence[Data] | None,
    allowances: Sequence[Data] | None,
    contacts: Sequence[Data] = (),
    turns: Sequence[Data] = (),
) -> list[Path]:
    """Write every table, each whole, one after the other: together they would need twice the memory; their paths."""
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
            if rows is not None:
                yield f"{name}.parquet", encode_parquet(rows, columns)
                yield f"{name}.csv", encode_csv(rows, columns)
        yield "chapters.vtt", webvtt_chapters(film, turns)
        yield "timeline.otio", otio_timeline(film)

    write_parts_atomically(folder / "scenes.jsonl", scene_lines(film))
    paths = [folder / "scenes.jsonl"]
    for name, data in files():
        if data is not None:
            write_atomically(folder / name, data)
            paths.append(folder / name)
    return paths
