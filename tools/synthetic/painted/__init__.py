"""Small scenes of bases and their look-alikes, painted with exact outlines for the lessons of networks."""
