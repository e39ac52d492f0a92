"""A camera that settles tabletop measurements: a photo of the table in, the ruling and its doubt out.

Reading the root of this package is reading the flow of the data:
frame → board → lens → calibration → detections → scene → verdict → report, with the referee who walks it.
"""

__version__ = "0.1.0"
