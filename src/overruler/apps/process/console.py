"""The console for a report on standard output."""

from rich.console import Console


def new_console() -> Console:
    """A console for plain text; lines are wrapped for a terminal alone."""
    console = Console(highlight=False, markup=False)
    console.soft_wrap = not console.is_terminal  # whoever shows a file breaks its lines
    return console
