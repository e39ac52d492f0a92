"""What is shared by all fits about rare events: how often, and how far off."""

NEGLIGIBLE_PROBABILITY = 0.002
"""What is less likely than this is left out of the doubt."""


RARE_WITHIN_SIGMAS = 3.0
"""What is more likely lies within so many σ of where the piece is said to be, were it to hold: no call is certain
against it."""
