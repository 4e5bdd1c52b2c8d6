"""What is remembered of places: read for each machine once a sweep, brought up to date at its end."""

from collections.abc import Iterable
from datetime import datetime
from threading import Lock

import msgspec
from msgspec.structs import replace

from spotwarden import typed
from spotwarden.layout import Layout, PlacementMemory
from spotwarden.model.attempt import Attempt
from spotwarden.model.facts import JobFacts
from spotwarden.model.launch import Launch
from spotwarden.model.placement import PlacementRecord, PlaceNews
from spotwarden.model.policy import Policy
from spotwarden.model.tick import Tick
from spotwarden.ports import Cloud, ConflictError, UnansweredError
from spotwarden.recovery.news import news
from spotwarden.recovery.placement import learn

typed.prepare(PlacementRecord)

JSON = "application/json"


class PlaceMemory:
    """The memory of one sweep."""

    def __init__(self, cloud: Cloud, layout: Layout, policy: Policy, tick: Tick) -> None:
        self._cloud = cloud
        self._layout = layout
        self._policy = policy
        self._tick = tick
        self._lock = Lock()
        self._records: dict[str, PlacementRecord] = {}

    def recall(self, facts: JobFacts) -> JobFacts:
        """The facts with what is remembered of the places for the job's machine."""
        launch = facts.launch
        if not isinstance(launch, Launch) or not launch.machine:
            return facts
        key = machine_key(launch)
        with self._lock:
            # Whoever comes second waits: to read the same at the same time would cost a call for each worker.
            if key not in self._records:
                self._records[key] = self._fresh(key, launch)
        return replace(facts, places=self._records[key])

    def _fresh(self, key: str, launch: Launch) -> PlacementRecord:
        """The record; who offers the machine is asked once a day, and an old answer beats none."""
        record, generation, _ = self._read(key)
        asked = record.offered_at
        if asked is not None and self._tick.now - asked < self._policy.placement.offers_fresh:
            return record
        try:
            offered = self._cloud.compute.offers(launch.machine, launch.accelerators)
            record = replace(record, offered=tuple(sorted(offered)), offered_at=self._tick.now)
            self._write(record, generation)
        except (UnansweredError, ConflictError):
            return record
        return record

    def remember(self, written: Iterable[Attempt]) -> None:
        """Add what this sweep's records tell; where another sweep is writing, its news will do."""
        told: dict[str, list[PlaceNews]] = {}
        for record in written:
            if record.machine:
                told.setdefault(record.machine, []).extend(news(record, self._tick))
        for key, mine in told.items():
            if mine:
                self._learn(key, mine)

    def _learn(self, key: str, learnt: list[PlaceNews]) -> None:
        for _ in range(2):
            record, generation, written = self._read(key)
            if self._tick.batch and written and written > self._tick.now:
                # Of many instances at once each would wait for the one write a second that an object takes.
                return
            try:
                self._write(learn(record, learnt, self._policy.placement), generation)
            except ConflictError:
                continue
            except UnansweredError:
                return
            return

    def _read(self, key: str) -> tuple[PlacementRecord, int, datetime | None]:
        stored = self._cloud.store.read(self._layout.build(PlacementMemory(machine=key)))
        if stored is None:
            return PlacementRecord(machine=key), 0, None
        return typed.decode(stored.data, PlacementRecord), stored.generation, stored.updated

    def _write(self, record: PlacementRecord, generation: int) -> None:
        name = self._layout.build(PlacementMemory(machine=record.machine))
        data = msgspec.json.format(msgspec.json.encode(record))
        self._cloud.store.write(name, data, generation=generation, content_type=JSON)


def machine_key(launch: Launch) -> str:
    """The name under which places for this machine are remembered."""
    return "-".join((launch.machine, *launch.accelerators))
