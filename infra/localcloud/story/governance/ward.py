"""What can be seen of governance from outside: labels, statuses, notices, records of cases."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from localcloud.story.stage import TIMEOUT, Stage
from localcloud.story.watch import StoryError, until

BUSY, IDLE = 10.0, 1.0
"""From how many percent on a GPU works for certain, and below how many it does nothing."""


class Ward:
    """One VM that is watched over; `stage` is its chapter's."""

    def __init__(self, stage: Stage, name: str, instance: Mapping[str, Any], owner: str) -> None:
        self.stage = stage
        self.name = name
        self.id = str(instance["id"])
        self.owner = owner

    async def now(self) -> dict[str, Any] | None:
        """The instance as it is, None where it is gone."""
        return next(
            (instance for instance in await self.stage.watch.instances() if instance["id"] == self.id), None
        )

    async def command(self, *words: str) -> None:
        """Have its owner type a command; tell it, and what it prints."""
        await self.stage.command(*words, SPOTWARDEN_OWNER=self.owner)

    async def runs(self) -> None:
        """Hold that it runs."""
        found = await self.now()
        if found is None or found["status"] != "RUNNING":
            raise StoryError(f"{self.name} should run, and is {found['status'] if found else 'gone'}")

    async def stopped(self) -> None:
        """Wait until it is stopped."""
        await until(
            self.now,
            lambda found: found is not None and found["status"] == "TERMINATED",
            within=TIMEOUT,
            waiting_for=f"{self.name} to be stopped",
        )

    async def gone(self) -> None:
        """Wait until it is deleted."""
        await until(
            self.now, lambda found: found is None, within=TIMEOUT, waiting_for=f"{self.name} to be deleted"
        )

    async def label(self) -> str:
        """The label that governance puts on a VM whose GPUs idle, "" for none."""
        found = await self.now() or {}
        return str(found.get("labels", {}).get("spotwarden-idle", ""))

    async def busy(self) -> float:
        """Wait until its GPU reports that it works; gives how much, in percent."""
        return await self._gpu(lambda percent: percent is not None and percent >= BUSY, "work")

    async def idle(self) -> float:
        """Wait until its GPU reports that it does nothing."""
        return await self._gpu(lambda percent: percent is not None and percent < IDLE, "idle")

    async def _gpu(self, good: Callable[[float | None], bool], what: str) -> float:
        since = await self.stage.watch.now()
        return float(
            await until(
                lambda: self.stage.watch.gpu(self.id, since=since),
                good,
                within=TIMEOUT,
                waiting_for=f"the GPU of {self.name} to {what}",
            )
        )

    async def set_metadata(self, key: str, value: str) -> None:
        """Set a metadata value of the VM, as its owner would."""
        found = await self.now() or {}
        metadata = found.get("metadata", {})
        items = [*metadata.get("items", ()), {"key": key, "value": value}]
        zone = str(found["zone"]).rpartition("/")[2]
        body = {"items": items, "fingerprint": metadata["fingerprint"]}
        await self.stage.watch.compute(f"zones/{zone}/instances/{self.name}/setMetadata", body)

    async def told(self, subject: str, times: int = 1) -> dict[str, Any]:
        """Wait for the last of so many mails to its owner that say this; tell it; gives the mail."""
        await self.noted(subject, times)
        mail = await self.mailed(subject, times)
        why = (await self.heard(subject))[-1]["text"].splitlines()[0]
        self.stage.say(f"✉ {mail['to']}: {mail['subject']}")
        self.stage.say(f"    {why}")
        return mail

    async def noted(self, subject: str, times: int = 1) -> None:
        """Wait for the last of so many notices to its owner; `StoryError` where there are more."""
        await until(
            lambda: self.heard(subject),
            lambda messages: len(messages) >= times,
            within=TIMEOUT,
            waiting_for=f"notice {times} to {self.owner}: {subject}",
        )
        await self.told_only(subject, times)

    async def mailed(self, subject: str, times: int = 1) -> dict[str, Any]:
        """Wait for so many mails to its owner that say this, alone or with others; gives the last."""
        mails = await until(
            lambda: self._mails(subject),
            lambda found: len(found) >= times,
            within=TIMEOUT,
            waiting_for=f"mail {times} to {self.owner}: {subject}",
        )
        if len(mails) != times:
            raise StoryError(f"{self.owner} got {len(mails)} mails, not {times}: {subject}")
        last: dict[str, Any] = mails[-1]
        return last

    async def answer(self, mail: Mapping[str, Any], way: str) -> None:
        """Have its owner open a link of a mail and press the button there; opening it changes nothing."""
        links = [item for item in mail["links"] if str(item["says"]).startswith(way)]
        if len(links) != 1:
            raise StoryError(f"the mail {mail['subject']!r} has {len(links)} links to {way.lower()}")
        before = await self.case("idle")
        page = await self.stage.watch.open(links[0]["url"])
        self.stage.say(f"{self.owner} follows the link {links[0]['says']!r} in that mail: {page.heading}")
        self.stage.say(f"    {page.says}")
        if await self.case("idle") != before:
            raise StoryError("opening a link changed the case")
        done = await self.stage.watch.press(page)
        self.stage.say(f"{self.owner} presses the button: {done.heading}")
        self.stage.say(f"    {done.says}")

    async def told_only(self, subject: str, times: int = 1) -> None:
        """Hold that its owner was told so often, and no more."""
        if (count := len(await self.heard(subject))) != times:
            raise StoryError(f"{self.owner} was told {count} times, not {times}: {subject}")

    async def heard(self, subject: str) -> list[dict[str, Any]]:
        """The notices to its owner with this subject, oldest first."""
        return [given for given in await self._post("notice") if given["subject"] == subject]

    async def _mails(self, subject: str) -> list[dict[str, Any]]:
        return [
            given for given in await self._post("mail") if subject in f"{given['subject']}\n{given['text']}"
        ]

    async def _post(self, channel: str) -> list[dict[str, Any]]:
        """What its owner got by this channel, each message once, oldest first.

        Pub/Sub delivers at least once: the mailbox shows a notice as often as it was pushed.
        """
        first: dict[str, dict[str, Any]] = {}
        for given in await self.stage.watch.mailbox():
            if (given["to"], given["channel"]) == (self.owner, channel):
                first.setdefault(given["id"], given)
        return list(first.values())

    async def case(self, rule: str, key: str = "") -> dict[str, Any] | None:
        """The record of its open case by a rule; the key is its id unless the rule is about jobs."""
        raw = await self.stage.watch.read(f"spotwarden/cases/{rule}/{key or self.id}.json")
        return dict(json.loads(raw)) if raw else None

    async def warned(self, rule: str, key: str = "", *, times: int) -> None:
        """Wait until the record says that so many warnings have counted."""
        await until(
            lambda: self.case(rule, key),
            lambda case: case is not None and sum(item["counts"] for item in case["warnings"]) >= times,
            within=TIMEOUT,
            waiting_for=f"{times} warnings of {self.name} on record",
        )
