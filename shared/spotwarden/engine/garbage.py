"""How often Python looks for garbage in the process of a function."""

import gc

NEW_OBJECTS = 50_000
"""After so many Python looks for cycles among them. A sweep makes data, which has none, and a great deal of
it: by Python's own 700 the search is a tenth of a sweep over 100,000 VMs."""


def look_seldom() -> None:
    """From now on, unless this process looks as seldom already, or never."""
    often, *rest = gc.get_threshold()
    if 0 < often < NEW_OBJECTS:
        gc.set_threshold(NEW_OBJECTS, *rest)
