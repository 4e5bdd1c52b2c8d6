"""How many events of a minute a sweep of governance looks at: the others wait for the next tick.

An event only tells sooner what the tick finds in any case. Each costs aggregated lists, of which Compute
Engine allows a project 750 a minute ("Rate quotas"), and a thousand VMs that are made at once are a thousand
events: they would take the lists from the very recovery that makes these VMs.
"""

from spotwarden.engine.cache import GenerationCache
from spotwarden.model.tick import Tick

MOST = 12
"""Events a minute, of one instance of a function: by three lists each, ten instances take half of them."""

_SEEN: GenerationCache[int] = GenerationCache(most=8)


def too_many(tick: Tick) -> bool:
    """Whether this event is beyond what its minute allows."""
    minute = f"{tick.function} {tick.now:%Y-%m-%dT%H:%M}"
    seen = (_SEEN.get(minute, 0) or 0) + 1
    _SEEN.keep(minute, 0, seen)
    return seen > MOST
