"""How long tests wait for what must come."""

LONG_S = 300.0
"""Longest such wait, in s: it ends a test that would hang, and judges nothing on a busy machine."""
