"""What becomes of a marker that says nothing we could act on."""

from collections.abc import Iterator

from spotwarden.model.action import Quarantine, Tell
from spotwarden.model.marker import UnusableMarker
from spotwarden.model.tick import Tick
from spotwarden.recovery.telling import notices


def set_aside(marker: UnusableMarker, tick: Tick) -> Iterator[Tell | Quarantine]:
    """Tell ops, then move it out of the way, content and reason together: nothing is dropped."""
    yield Tell(reason=marker.reason, notice=notices.unusable(marker, tick))
    yield Quarantine(reason=marker.reason, name=marker.name, generation=marker.generation, data=marker.data)
