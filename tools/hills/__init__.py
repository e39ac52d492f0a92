"""Drawn tables with hills on them, seen from above, and the network that learns to see the hills."""
