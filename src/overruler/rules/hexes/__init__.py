"""Hexes: the hex that a piece stands in, how many lie between two, and what stands in them."""
