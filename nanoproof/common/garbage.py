"""Python's garbage collector in processes that live for long."""

import gc


def settle() -> None:
    """Tell the collector that what is there (a library, a model, its data) stays, so that it looks at new objects only.

    Otherwise it looks at all of them each time, and takes its time about it: it waits until new objects are a quarter
    of the old ones.
    """
    gc.collect()
    gc.freeze()
