"""The judge of what people and functions did: by Compute Engine's own record, and the commands of people.

Nothing of ours is read, neither ledger nor audit: an operation says who asked for it, of which VM and when.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec

from tests.e2e.chaos.cast import RUNNING, TERMINATED, Job, Stranger
from tests.e2e.chaos.people import COLLEAGUE, OWNER, Wish, Word

FUNCTION = "spotwarden-"
"""How the account of a function of ours begins."""
UNDER_WAY = timedelta(seconds=15)
"""How long a sweep that has looked before a person's call may still act: it is under way."""
MARGIN = timedelta(seconds=1)
BEGINNING = {"insert", "start"}
ENDING = {"delete", "stop"}
AT_REST = {TERMINATED, "GONE"}


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One operation on a VM that was not refused in the end."""

    at: datetime
    kind: str
    user: str
    name: str
    id: str
    zone: str

    def __str__(self) -> str:
        return f"{self.kind} of {self.zone}/{self.name} ({self.id}) by {self.user} at {self.at:%H:%M:%S.%f}"


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """From when to when somebody said what they want of a job; `by_api` where the operations tell."""

    began: datetime
    ended: datetime
    wish: Wish
    why: str
    by_api: bool = False


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """What is looked at: the operations, the changes of status, the commands."""

    entries: Sequence[Entry]
    history: Sequence[Mapping[str, Any]]
    said: Sequence[Word] = ()


def entries(operations: Iterable[Mapping[str, Any]]) -> list[Entry]:
    """The operations on VMs that were not refused, oldest first; a colleague's that found no room as well."""
    found = [
        Entry(
            at=datetime.fromisoformat(one["insertTime"]),
            kind=one["operationType"],
            user=one["user"],
            name=one["targetLink"].rpartition("/")[2],
            id=one.get("targetId", ""),
            zone=one.get("zone", "").rpartition("/")[2],
        )
        for one in operations
        if ("error" not in one or one["user"] == COLLEAGUE) and "/instances/" in one["targetLink"]
    ]
    return sorted(found, key=lambda entry: entry.at)


def verdicts(
    record: Record, jobs: Sequence[Job], strangers: Sequence[Stranger], *, at_peace: bool = True
) -> list[str]:
    """All that is not as it must be, in words; empty when all is well.

    Unless it is `at_peace` only what must be so at every moment.
    """
    own = msgspec.structs.replace(
        record, history=[change for change in record.history if change["id"] not in of_colleagues(record)]
    )
    return [
        *_touched(record, strangers),
        *(fault for job in jobs for fault in _of_job(own, job, at_peace=at_peace)),
    ]


def of_colleagues(record: Record) -> frozenset[str]:
    """The ids of the VMs that colleagues made."""
    return frozenset(one.id for one in record.entries if one.kind == "insert" and one.user == COLLEAGUE)


def _touched(record: Record, strangers: Sequence[Stranger]) -> Iterator[str]:
    """Nobody but its maker, and Compute Engine, has done anything to a VM that is no job's."""
    theirs = of_colleagues(record)
    names = {stranger.name for stranger in strangers}
    for entry in record.entries:
        if entry.id in theirs and entry.user not in {COLLEAGUE, "system"}:
            yield f"a colleague's VM was touched: {entry}"
        if entry.name in names and entry.kind != "insert" and entry.user != "system":
            yield f"a stranger was touched: {entry}"


def _of_job(record: Record, job: Job, *, at_peace: bool) -> Iterator[str]:
    theirs = of_colleagues(record)
    mine = [one for one in record.entries if one.name in job.nodes and one.id not in theirs]
    turns = turns_of(job, mine, record.said)
    yield from _come_back(job, mine, turns)
    if at_peace:
        yield from _as_wished(job, record, mine, turns)
    yield from _launched_twice(job, record.said)
    yield from _two_lives(job, record)


def turns_of(job: Job, mine: Iterable[Entry], said: Iterable[Word]) -> list[Turn]:
    """What people wanted of a job, in the order in which they began to say it."""
    by_api = [
        Turn(
            began=one.at,
            ended=one.at,
            wish=Wish.END if one.kind in ENDING else Wish.BEGIN,
            why=str(one),
            by_api=True,
        )
        for one in mine
        if one.user == OWNER and one.kind in ENDING | {"start"}
    ]
    typed = [
        Turn(began=one.began, ended=one.ended, wish=one.wish, why=" ".join(one.words[:2]))
        for one in said
        if one.job == job.name
    ]
    return sorted([*by_api, *typed], key=lambda turn: turn.began)


def in_force(turns: Sequence[Turn], at: datetime) -> Turn | None:
    """The last word before a moment; None for none."""
    return next((turn for turn in reversed(turns) if turn.began <= at), None)


def _come_back(job: Job, mine: Iterable[Entry], turns: Sequence[Turn]) -> Iterator[str]:
    """After a person has ended it no function begins it, until a person does."""
    for entry in mine:
        if entry.kind not in BEGINNING or not entry.user.startswith(FUNCTION):
            continue
        turn = in_force(turns, entry.at)
        if turn is None or turn.wish is not Wish.END:
            continue
        late = entry.at - turn.ended
        if late > (UNDER_WAY if turn.by_api else MARGIN):
            yield f"{job.name} came back {late.total_seconds():.1f} s after {turn.why}: {entry}"


def _as_wished(job: Job, record: Record, mine: Sequence[Entry], turns: Sequence[Turn]) -> Iterator[str]:
    """It runs whole, and once, where the last word is that it begins; not where a command has ended it."""
    newest = {change["id"]: change for change in record.history if change["name"] in job.nodes}
    living = defaultdict(list)
    for change in newest.values():
        if change["status"] not in AT_REST:
            living[change["name"]].append(change)
    for node, vms in living.items():
        if len(vms) > 1:
            yield f"{len(vms)} VMs of {node} live: {', '.join(sorted(one['id'] for one in vms))}"
    last = turns[-1] if turns else None
    if last is None or last.wish is Wish.BEGIN:
        up = sorted(node for node, vms in living.items() if any(vm["status"] == RUNNING for vm in vms))
        if up != sorted(job.nodes):
            yield f"{job.name} ({job.kind.name}) is open, by {last.why if last else 'its launch'}; {up} run"
    elif last.wish is Wish.END and not last.by_api and living:
        yield f"{job.name} was ended by {last.why}; {sorted(living)} live"


def _launched_twice(job: Job, said: Iterable[Word]) -> Iterator[str]:
    """Of two submits at once both may say what runs, and then they say the same."""
    told: dict[str, str] = {}
    for word in said:
        if word.job != job.name or word.words[0] != "submit" or word.wish is not Wish.BEGIN:
            continue
        line = word.said.strip().rpartition("\n")[2]
        attempt, _, ids = line.partition(" as instance ")
        number = attempt.partition(" runs")[0]
        if told.setdefault(number, ids) != ids:
            yield f"{number} was launched twice: as {told[number]}, and as {ids}"


def _two_lives(job: Job, record: Record) -> Iterator[str]:
    """At no moment are there two VMs of one node, also not one that is still being stopped."""
    living: dict[str, dict[str, str]] = defaultdict(dict)
    for change in record.history:
        if change["name"] not in job.nodes:
            continue
        there = living[change["name"]]
        if change["status"] in AT_REST:
            there.pop(change["id"], None)
            continue
        others = [f"{other} {status}" for other, status in there.items() if other != change["id"]]
        if others and change["status"] == "PROVISIONING":
            yield f"at {change['at']} {change['name']} ({change['id']}) begins beside {', '.join(others)}"
        there[change["id"]] = change["status"]
