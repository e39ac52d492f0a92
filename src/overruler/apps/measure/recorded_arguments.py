"""Recorded arguments of `overruler measure`: those in dispute bundles and in what older servers stored."""

from collections.abc import Sequence
from functools import cache
from typing import NoReturn

from overruler.apps import measure
from overruler.apps.commands import Parser
from overruler.apps.settings.measure_request import MeasureRequest
from overruler.errors import BadInput


class _RecordParser(Parser):
    """A parser that never ends the program: a record is data, and `--help` in it is an error."""

    def error(self, message: str) -> NoReturn:
        raise BadInput(f"the recorded arguments make no sense: {' '.join(message.split())}")


@cache
def _parser() -> _RecordParser:
    parser = _RecordParser(prog="overruler measure", allow_abbrev=False, add_help=False)
    measure.add_arguments(parser)
    return parser


def parse_arguments(arguments: Sequence[str]) -> MeasureRequest:
    """Read recorded arguments as the command line does; raise `BadInput` if they make no sense."""
    return MeasureRequest.from_namespace(_parser().parse_args(list(arguments)))
