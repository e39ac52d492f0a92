"""Made pictures with exact truth: traced by rays, painted for lessons, drawn flat and drawn from above."""
