"""What is remembered of places: read for each machine once a sweep, brought up to date at its end."""

from collections.abc import Iterable
from contextvars import copy_context
from threading import Lock

import msgspec
from msgspec.structs import replace

from spotwarden import typed
from spotwarden.engine.decoding import decoded
from spotwarden.engine.fan_out import beside
from spotwarden.layout import AvoidedZones, Layout, PlacementMemory
from spotwarden.model.attempt import Attempt
from spotwarden.model.facts import JobFacts
from spotwarden.model.launch import Launch
from spotwarden.model.placement import AvoidedPlace, AvoidedPlaces, PlacementRecord, PlaceNews
from spotwarden.model.policy import Policy
from spotwarden.model.tick import Tick
from spotwarden.ports import BrokenError, Cloud, ConflictError, Store, UnansweredError
from spotwarden.recovery.kinds.machines import launches, machine_key
from spotwarden.recovery.places.advice_calls import take_advice
from spotwarden.recovery.places.advising import AdviceWish, advisable, asked, due, with_launch
from spotwarden.recovery.places.news import news
from spotwarden.recovery.places.place_records import read_record
from spotwarden.recovery.places.placement import learn

typed.prepare(AvoidedPlaces)

JSON = "application/json"
WRITES = 3
"""Tries to write advice down while others write news; without it the next question is due as usual."""


class PlaceMemory:
    """The memory of one sweep."""

    def __init__(self, cloud: Cloud, layout: Layout, policy: Policy, tick: Tick, *, workers: int = 1) -> None:
        self._cloud = cloud
        self._layout = layout
        self._policy = policy
        self._tick = tick
        self._workers = workers
        self._lock = Lock()
        self._records: dict[str, PlacementRecord] = {}
        self._wishes: dict[str, AdviceWish] = {}
        self._avoided: tuple[AvoidedPlace, ...] | None = None

    def recall(self, facts: JobFacts) -> JobFacts:
        """The facts with what is remembered of the places for the job's machine, and for those instead."""
        launch = facts.launch
        if not isinstance(launch, Launch) or not launch.machine:
            return facts
        key = machine_key(launch)
        with self._lock:
            # Whoever comes second waits: to read the same at the same time would cost a call for each worker.
            if self._avoided is None:
                self._avoided = self._read_both(key, launch)
            for wanted in launches(facts):
                if machine_key(wanted) not in self._records:
                    self._records[machine_key(wanted)] = self._fresh(machine_key(wanted), wanted)
        others = {wanted.machine: self._records[machine_key(wanted)] for wanted in launch.instead}
        return replace(facts, places=self._records[key], other_places=others, avoided=self._avoided)

    def _read_both(self, key: str, launch: Launch) -> tuple[AvoidedPlace, ...]:
        """Read the zones to avoid beside the memory: a preempted job waits for one call, not for two."""
        with beside(self._workers, 1) as another:
            avoided = another.submit(copy_context().run, self._avoided_places)
            self._records[key] = self._fresh(key, launch)
            return avoided.result()

    def _avoided_places(self) -> tuple[AvoidedPlace, ...]:
        """What a command has named; a list that cannot be read keeps no job from coming back.

        `spotwarden zones` and `show` say that it cannot.
        """
        try:
            return read_avoided(self._cloud.store, self._layout).places
        except BrokenError:
            return ()

    def _fresh(self, key: str, launch: Launch) -> PlacementRecord:
        """The record; who offers the machine is asked once a day, and an old answer beats none."""
        record, generation, _ = read_record(self._cloud.store, self._layout, key)
        asked = record.offered_at
        if asked is not None and self._tick.now - asked < self._policy.placement.offers_fresh:
            return record
        try:
            found = self._cloud.compute.offers(launch.machine, launch.accelerators)
            if found.unreachable:
                # What was known of the other zones stands, and the next sweep asks again.
                return replace(record, offered=tuple(sorted(found.zones | set(record.offered))))
            record = replace(record, offered=tuple(sorted(found.zones)), offered_at=self._tick.now)
            self._write(record, generation)
        except (UnansweredError, ConflictError):
            return record
        return record

    def reached(self, facts: JobFacts) -> JobFacts:
        """The same facts; where the job can go is kept, for what is asked about its machine at the end."""
        for launch in launches(facts):
            if self._policy.placement.advice and advisable(launch):
                key = machine_key(launch)
                with self._lock:
                    self._wishes[key] = with_launch(self._wishes.get(key), launch)
        return facts

    def remember(self, written: Iterable[Attempt]) -> None:
        """Add what this sweep's records tell; where another sweep is writing, its news will do."""
        told: dict[str, list[PlaceNews]] = {}
        for record in written:
            for item in news(record, self._tick):
                if key := item.machine or record.machine:
                    told.setdefault(key, []).append(item)
        for key, mine in told.items():
            self._learn(key, mine)

    def _learn(self, key: str, learnt: list[PlaceNews]) -> None:
        for _ in range(2):
            record, generation, written = read_record(self._cloud.store, self._layout, key)
            if self._tick.batch and written and written > self._tick.now:
                # Of many instances at once each would wait for the one write a second that an object takes.
                return
            record = learn(record, learnt, self._policy.placement)
            wish = self._wishes.get(key)
            asks = wish is not None and due(record.advice, self._tick.now, self._policy.placement)
            if asks:
                # Written with the news, so that of many sweeps at once only one asks.
                record = replace(record, advice=asked(record.advice, self._tick.now))
            try:
                generation = self._write(record, generation)
            except ConflictError:
                continue
            except UnansweredError:
                return
            if wish is not None and asks:
                self._take_advice(record, generation, wish)
            return

    def _take_advice(self, record: PlacementRecord, generation: int | None, wish: AdviceWish) -> None:
        """Ask, and write down what was said; whoever has written meanwhile goes first."""
        before = record.advice
        advice = take_advice(self._cloud.compute, wish, before, self._tick.now, self._workers)
        for _ in range(WRITES):
            try:
                self._write(replace(record, advice=advice), generation)
            except ConflictError:
                record, generation, _ = read_record(self._cloud.store, self._layout, record.machine)
                if record.advice != before:
                    return
            except UnansweredError:
                return
            else:
                return

    def _write(self, record: PlacementRecord, generation: int | None) -> int:
        name = self._layout.build(PlacementMemory(machine=record.machine))
        data = msgspec.json.format(msgspec.json.encode(record))
        return self._cloud.store.write(name, data, generation=generation, content_type=JSON)


class KeptAvoided(msgspec.Struct, frozen=True, kw_only=True):
    """The zones that a command has named, and the generation of their object: 0 for none, None for any."""

    places: tuple[AvoidedPlace, ...] = ()
    generation: int | None = 0


def read_avoided(store: Store, layout: Layout) -> KeptAvoided:
    """What `spotwarden zones` has written; `BrokenError` where it cannot be read."""
    name = layout.build(AvoidedZones())
    stored = store.read(name)
    if stored is None:
        return KeptAvoided()
    return KeptAvoided(places=decoded(name, stored.data, AvoidedPlaces).places, generation=stored.generation)
