"""Processes that measure beside the one that was started."""

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context


def start_workers(count: int) -> ProcessPoolExecutor:
    """Some processes that measure; they start when the first task is given."""
    return ProcessPoolExecutor(count, get_context("spawn"), initializer=prepare_worker)


def prepare_worker() -> None:
    """End at once and in silence at Ctrl-C, and leave the other processors to the other workers."""
    import signal

    from overruler.apps.process.memory import keep_memory
    from overruler.vision.imaging.opencv_threads import limit_opencv_to_one_thread

    signal.signal(signal.SIGINT, signal.SIG_DFL)
    keep_memory()
    limit_opencv_to_one_thread()


def load_libraries() -> None:
    """Load what the first photo needs, so that a worker is ready when it comes."""
    import overruler.referee  # noqa: F401
    from overruler.vision.learned.warm_up import warm_up_libraries

    warm_up_libraries()
