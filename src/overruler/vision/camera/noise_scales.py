"""By how much measurements are noisier than they say."""

Scales = tuple[float, float, float]
"""How many times as large as expected the noise of edges, places and shapes is."""


AS_SAID: Scales = (1.0, 1.0, 1.0)
