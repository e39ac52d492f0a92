"""By how much measurements are noisier than they say."""

NoiseScales = tuple[float, float, float]
"""How many times as large as expected the noise of edges, places and shapes is."""


UNIT_SCALES: NoiseScales = (1.0, 1.0, 1.0)
