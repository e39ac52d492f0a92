"""How many processors OpenCV may use."""

import cv2


def limit_opencv_to_one_thread() -> None:
    """No more than whoever asks has: of parts of pictures its threads get too little to do, and wait by running in
    circles. For films that was a sixth of all the work.
    """
    cv2.setNumThreads(1)
