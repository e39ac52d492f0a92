"""Lessons for the network that sees hills."""
