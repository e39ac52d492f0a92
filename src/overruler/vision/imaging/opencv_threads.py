"""The number of processors that OpenCV may use."""

import cv2


def limit_opencv_to_one_thread() -> None:
    """Make OpenCV work in the calling thread only.

    Small parts of pictures keep its threads too short of work, and they spin while they wait. On
    films the spinning took a sixth of all processor time, on photos a fifteenth of all time.
    """
    cv2.setNumThreads(1)
