"""Settles tabletop measurements by camera: a photo of the table in, the ruling and its doubt out.

The modules at the root of this package follow the flow of the data:
frame → board → lens → calibration → detections → scene → verdict → report. The referee runs it.
"""

__version__ = "0.1.0"
