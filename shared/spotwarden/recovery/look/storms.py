"""Whether markers are few enough that an event looks at its job alone, or there is a storm.

With many markers one sweep over everything beats one for each event.
"""

from datetime import datetime, timedelta
from typing import NamedTuple

from spotwarden.engine.cache import GenerationCache
from spotwarden.engine.turn import is_held, read_turn
from spotwarden.layout import Layout, OpenJob, SweepTurn, job_problem
from spotwarden.model.tick import Tick
from spotwarden.ports import Cloud, Entry
from spotwarden.recovery.markers.crowds import LISTED
from spotwarden.recovery.markers.reading import job_names

CROWD = 20
"""With more markers than this there is a storm: one sweep over all of them beats one for each."""

STORM_KNOWN = timedelta(seconds=15)
"""How long nothing is asked for an event, once one has found another sweep at work on a storm.

The jobs that are shared out wait behind the events of the storm, two for each job, in the same topic.
"""

CROWD_KNOWN = timedelta(minutes=1)
"""How long nothing is read ahead, once an event has found many markers: most find them again."""


class Storm(NamedTuple):
    """When a storm was found, and the message whose sweep was at work on it: that one may come again."""

    at: datetime
    message: str


_STORMS: GenerationCache[Storm] = GenerationCache()
"""Storms by the prefix of the markers."""


_CROWDS: GenerationCache[datetime] = GenerationCache()
"""When many markers were found, by their prefix."""


def is_known_storm(layout: Layout, tick: Tick) -> bool:
    """Whether an event just found a storm, and another sweep at work on it: each job has two events."""
    found = _STORMS.get(layout.markers(), 0)
    if found is None or (tick.message and tick.message == found.message):
        return False
    return found.at <= tick.now < found.at + STORM_KNOWN


def keep_storm(layout: Layout, storm: Storm) -> None:
    """Remember a storm that another sweep is at work on."""
    _STORMS.keep(layout.markers(), 0, storm)


def few_markers(cloud: Cloud, layout: Layout, tick: Tick) -> list[Entry] | None:
    """The markers, where they are few, or few are of open jobs and this event is about one of them."""
    entries = cloud.store.entries(layout.markers(), limit=CROWD + 1)
    if len(entries) <= CROWD:
        return entries
    _CROWDS.keep(layout.markers(), 0, tick.now)
    if _is_shared_out(cloud, layout, tick):
        return None
    jobs = {entry.name for entry in cloud.store.entries(layout.open_jobs())}

    def is_open(node: str) -> bool:
        names = (job for job in job_names(node) if job_problem(job) is None)
        return any(layout.build(OpenJob(job=job)) in jobs for job in names)

    if not is_open(tick.about):
        return None
    entries = cloud.store.entries(layout.markers(), limit=LISTED)
    known = [entry for entry in entries if is_open(entry.name.removeprefix(layout.markers()))]
    return known if len(known) <= CROWD else None


def _is_shared_out(cloud: Cloud, layout: Layout, tick: Tick) -> bool:
    """Whether the sweep that has the turn has asked others to look at the node's job already.

    Then there is a storm. An instance that was started because of it learns so at its first event, without
    the long lists of all open jobs and all markers.
    """
    turn, _ = read_turn(cloud.store, layout.build(SweepTurn(function=tick.function)))
    if not is_held(turn, tick) or not any(job in turn.shared for job in job_names(tick.about)):
        return False
    keep_storm(layout, Storm(tick.now, turn.message))
    return True


def is_crowded(layout: Layout, tick: Tick) -> bool:
    """Whether an event has just found many markers."""
    found = _CROWDS.get(layout.markers(), 0)
    return found is not None and found <= tick.now < found + CROWD_KNOWN
