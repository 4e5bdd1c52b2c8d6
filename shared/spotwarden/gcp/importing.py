"""How Google's libraries are imported: without a search for garbage among what they bring."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def importing() -> Iterator[None]:
    """Around the imports of an adapter: no garbage is looked for meanwhile, nor among them later.

    Nothing that is imported ever becomes garbage, and going through all of it once costs a tenth of a cold
    start; so it is also left out of every later search.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if enabled:
            gc.enable()
