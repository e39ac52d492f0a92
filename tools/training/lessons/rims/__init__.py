"""Lessons for the networks that see the rims of round bases."""
