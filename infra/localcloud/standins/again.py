"""Doing a call again that came too soon, as gcloud and gsutil do ("Retry strategy", Cloud Storage)."""

import random
import time
from collections.abc import Callable
from typing import TypeVar

from localcloud.standins.transport import CloudError

T = TypeVar("T")

TOO_SOON = 429
TRIES = 7
FIRST_PAUSE_SECONDS = 1.0
"""As `base_retry_delay` of gcloud; it doubles each time."""


def insist(call: Callable[[], T], *, while_repeatable: bool = True) -> T:
    """Make the call; where it came too soon, pause and make it again, seven times in all.

    Raises:
        CloudError: it was refused for another reason, or each time.
    """
    for number in range(TRIES - 1):
        try:
            return call()
        except CloudError as error:
            if error.status != TOO_SOON or not while_repeatable:
                raise
        time.sleep(FIRST_PAUSE_SECONDS * 2**number * random.uniform(0.5, 1.0))
    return call()
