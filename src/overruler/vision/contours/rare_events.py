"""Policies that all fits of bases share: rare alternatives, and what counts as seen."""

NEGLIGIBLE_PROBABILITY = 0.002
"""Alternatives less likely than this are left out of a place's covariance."""
RARE_WITHIN_SIGMAS = 2.5
"""A likelier alternative lies within this number of σ of the stated place, by the rare covariance.

Then no call is certain against it: a call is certain from 99.5 % by the rare covariance, and 0.62 %
of a Gaussian lie beyond 2.5 σ on one side.
"""
MIN_RIM_WEIGHT = 0.35
"""Least weight, 0 to 1, of the edge in a direction where the rim counts as seen."""
