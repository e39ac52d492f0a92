"""`overruler query`: SQL queries of the tables that `overruler analyze` has written."""

import argparse
import csv
import sys
from pathlib import Path
from typing import Any

from overruler.errors import BadInput, MissingExtra, printable

TABLES = ("positions", "moves", "rulings", "allowances", "contacts", "turns")
"""The tables; each holds all films, with a column `film`."""

REMEDY = "give the folder that overruler analyze wrote into"
EXAMPLE = "give a query, 'select * from moves' say"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    folder = "the folder that analyze wrote into"
    parser.add_argument("folder", type=Path, metavar="DIR", help=folder)
    sql = f"a query over {', '.join(TABLES)}; each has a column film"
    parser.add_argument("sql", metavar="SQL", help=sql)
    parser.add_argument("--csv", action="store_true", help="print comma-separated values")


def run(args: argparse.Namespace) -> int:
    names, rows = run_query(args.folder, args.sql)
    if args.csv or not sys.stdout.isatty():
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(names)
        writer.writerows(rows)
        return 0
    from rich.console import Console
    from rich.table import Table

    table = Table(*map(printable, names))
    for row in rows:
        table.add_row(*("" if value is None else printable(str(value)) for value in row))
    Console(markup=False).print(table)
    return 0


def run_query(folder: Path, sql: str) -> tuple[list[str], list[tuple[Any, ...]]]:
    """The column names and the rows; `BadInput` where the folder or the query is wrong."""
    try:
        import duckdb
    except ImportError:
        raise MissingExtra.with_install_hint("queries need DuckDB", "tables") from None
    if not folder.is_dir():
        problem = "is a file" if folder.exists() else "there is no such folder"
        raise BadInput(f"{folder}: {problem}: {REMEDY}")
    with duckdb.connect() as connection:
        if not sum(_attach(connection, folder, name) for name in TABLES):
            raise BadInput(f"{folder}: holds no tables: {REMEDY}")
        connection.execute(
            "SET enable_external_access = false"
        )  # the query reads these tables only
        try:
            result = connection.execute(sql)
            if result is None:
                raise BadInput(f"SQL: {sql!r} asks nothing: {EXAMPLE}")
            rows = result.fetchall()
        except duckdb.Error as error:
            raise BadInput(f"SQL: {str(error).splitlines()[0]}") from None
        return [column[0] for column in result.description or ()], rows


def _attach(connection: Any, folder: Path, name: str) -> bool:
    """Join the films' tables of a name into one; return whether there is any."""
    files = sorted(folder.glob(f"*/{name}.parquet")) or sorted(folder.glob(f"{name}.parquet"))
    parts = []
    for file in files:
        film, path = _sql_text(file.resolve().parent.name), _sql_text(file)
        parts.append(f"SELECT {film} AS film, * FROM read_parquet({path})")
    if parts:
        connection.execute(f"CREATE TABLE {name} AS {' UNION ALL '.join(parts)}")
    return bool(parts)


def _sql_text(value: object) -> str:
    return "'" + str(value).replace("'", "''") + "'"
