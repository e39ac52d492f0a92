"""Hexagons among the bases of several photos, told and fitted by all of them together."""
