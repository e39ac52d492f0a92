"""Lessons for the networks that see plates, ovals, discs and headings."""
