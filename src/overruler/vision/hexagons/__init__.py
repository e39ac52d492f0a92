"""Hexagons among the bases that look round: the networks see both as round."""
