"""Entries of the audit log that arrive late."""

import asyncio
import random
from datetime import timedelta
from pathlib import Path

import pytest

from localcloud.cloud import LocalCloud, Options
from localcloud.limits import OFF, LateLog, Limits
from localcloud.ports import Resource

FOUR = Limits(log_lag_seconds=4)


class Log:
    """A log, and pauses that end when the test says so."""

    def __init__(self, limits: Limits = FOUR) -> None:
        self.limits = limits
        self.written: list[Resource] = []
        self.pauses: dict[timedelta, asyncio.Event] = {}
        self.late = LateLog(self.written.append, lambda: self.limits, pause=self._pause)

    async def _pause(self, duration: timedelta) -> None:
        self.pauses[duration] = asyncio.Event()
        await self.pauses[duration].wait()


async def turns() -> None:
    """Let everybody who can go on do so."""
    for _ in range(5):
        await asyncio.sleep(0)


def test_each_entry_is_late_by_a_time_of_its_own() -> None:
    """A later one may come first; until then they count as under way."""

    async def story() -> None:
        log = Log()
        for number in range(2):
            log.late.write({"number": number})
            await turns()
        assert (log.written, log.late.at_work()) == ([], 2)
        first, second = log.pauses
        log.pauses[second].set()
        await turns()
        assert (log.written, log.late.at_work()) == ([{"number": 1}], 1)
        log.pauses[first].set()
        await turns()
        assert (log.written, log.late.at_work()) == ([{"number": 1}, {"number": 0}], 0)

    asyncio.run(story())


def test_no_entry_is_later_than_ten_times_the_mean(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is drawn."""
    monkeypatch.setattr(random.Random, "expovariate", lambda _dice, _rate: 41.0)

    async def story() -> list[timedelta]:
        log = Log()
        log.late.write({"number": 1})
        await turns()
        await log.late.close()
        return list(log.pauses)

    assert asyncio.run(story()) == [timedelta(seconds=40)]


def test_the_times_have_the_mean_that_was_asked_for() -> None:
    """Over many entries."""

    async def story() -> list[timedelta]:
        log = Log()
        for number in range(5000):
            log.late.write({"number": number})
        await turns()
        await log.late.close()
        assert log.late.at_work() == 0
        return list(log.pauses)

    pauses = asyncio.run(story())
    assert 3.8 < sum(pauses, timedelta(0)).total_seconds() / len(pauses) < 4.2


def test_without_the_limit_an_entry_is_there_at_once() -> None:
    """No task is made for it."""
    log = Log(OFF)
    log.late.write({"number": 1})
    assert log.written == [{"number": 1}]


def test_the_list_of_operations_of_a_cloud_is_behind_and_its_audit_log_late(tmp_path: Path) -> None:
    """As its limits say; what a person asks for holds until the limit is another one."""

    async def story() -> None:
        options = Options(project="demo", state=tmp_path, machines=False, limits=FOUR)
        async with LocalCloud(options) as cloud:
            shelf = cloud.compute._site.operations.shelf
            assert shelf._lag == 4
            cloud.compute.knobs.let_the_log_lag(timedelta(seconds=240))
            cloud.limits.set(Limits(log_lag_seconds=4, doubled=0))
            assert shelf._lag == 240
            cloud.compute._site.audit._write({"textPayload": "x", "resource": {"type": "global"}})
            assert (cloud.late_log.at_work(), cloud._at_work()) == (1, 1)
            cloud.limits.set(OFF)
            assert shelf._lag == 0

    asyncio.run(story())
