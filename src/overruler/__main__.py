"""`python -m overruler` is `overruler`."""

from overruler.apps.cli import process

process()
