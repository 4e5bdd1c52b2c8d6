"""Heartbeats that help nobody, told once each: what cannot be read, and what speaks for another job."""

from collections.abc import Iterable, Iterator

from spotwarden.engine.cache import GenerationCache
from spotwarden.engine.log import log
from spotwarden.governance.signals.facts import JobRecord
from spotwarden.model.tick import Tick
from spotwarden.recovery.folder.node_beats import HeardBeats

NAMED = 20
"""So many are told of in one sweep."""

_TOLD: GenerationCache[bool] = GenerationCache()


def tell_of_junk(tick: Tick, heard: HeardBeats, records: Iterable[JobRecord]) -> None:
    """Say in the log what is wrong with heartbeats, unless this process has said it before."""
    said = 0
    for name, why in _wrong(heard, records):
        if _TOLD.get(f"{name} {why}", 0) is None and said < NAMED:
            said += 1
            _TOLD.keep(f"{name} {why}", 0, value=True)
            log(tick, "WARNING", f"the heartbeat {name} is ignored: {why}")


def _wrong(heard: HeardBeats, records: Iterable[JobRecord]) -> Iterator[tuple[str, str]]:
    for name in heard.junk:
        yield name, "its custom metadata doesn't name a job. Delete it, or run the job kit on its VM"
    for record in records:
        for node in record.instances:
            job = heard.jobs.get(node, record.job)
            if job != record.job:
                yield node, f"its content is of the job {job}, and {record.job} has a VM of that name"
