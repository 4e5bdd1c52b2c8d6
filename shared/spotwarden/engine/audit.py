"""Every action of ours, written down: what, why, by whose rules, and what came of it."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec

from spotwarden.engine.log import WriteLine
from spotwarden.engine.metrics import sweep_metrics
from spotwarden.layout import AuditRecord, Layout
from spotwarden.model.action import (
    Change,
    CloseCase,
    DeleteInstance,
    FileCase,
    RecordLaunched,
    RemoveLeftover,
    SendMessage,
    ShareOut,
    StopInstance,
    StoreObject,
    Tell,
    WriteAttempt,
)
from spotwarden.model.message import Mail
from spotwarden.model.outcome import Done, Outcome, Rejected
from spotwarden.model.slice_action import DeleteGroup, DeleteTemplate
from spotwarden.model.tick import Tick
from spotwarden.ports import Store

JSON = "application/json"
REMOVALS = StopInstance | DeleteInstance | DeleteGroup | DeleteTemplate | RemoveLeftover
GONE = "Gone"
"""What the log calls it that there was nothing left to remove; the audit keeps Compute Engine's answer."""
WHERE = ("job", "node", "instance_id", "rule")
"""Fields of log lines that say what an action is about."""


class Author(NamedTuple):
    """Who acts: the sweep, and the how-manieth of its objects it is."""

    tick: Tick
    number: int


class AuditEntry(NamedTuple):
    """An action, and what came of it."""

    action: Change
    outcome: Outcome


def write_down(store: Store, layout: Layout, author: Author, records: Sequence[bytes]) -> None:
    """Add what belongs together to the audit, one object; names sort by time, then sweep, then order."""
    tick = author.tick
    at = tick.now.time().isoformat("seconds").replace(":", "")
    entry = f"{at}-{tick.function}-{tick.sweep}-{author.number:04}"
    name = layout.build(AuditRecord(day=tick.now.date(), entry=entry))
    data = msgspec.json.format(b"[" + b",".join(records) + b"]")
    store.write(name, data, generation=None, content_type=JSON)


def record(tick: Tick, policy: str, entry: AuditEntry) -> bytes:
    """An entry as the audit keeps it, as JSON; `policy` is the version that it was decided by."""
    said: dict[str, object] = {
        "at": tick.now,
        "function": tick.function,
        "sweep": tick.sweep,
        "policy": policy,
        "action": type(entry.action).__name__,
        "why": entry.action.reason,
        "detail": _detail(entry.action),
        "outcome": entry.outcome,
    }
    return msgspec.json.encode(said)


def say(log: WriteLine, tick: Tick, action: Change, outcome: Outcome) -> None:
    """Log the action in one line."""
    what, gone = type(action).__name__, is_gone_already(action, outcome)
    how = GONE if gone else type(outcome).__name__
    severity = "INFO" if gone or isinstance(outcome, Done) else "WARNING"
    sweep_metrics().acted(what, outcome, gone=gone)
    said = {"action": what, "outcome": how, "reason": action.reason, **_where(action)}
    log(tick, severity, f"{what}: {action.reason}", **said)


def is_gone_already(action: Change, outcome: Outcome) -> bool:
    """Whether it was to remove, or to stop, what is no more: that is as good as done, and no failure."""
    return isinstance(action, REMOVALS) and isinstance(outcome, Rejected) and outcome.code == "notFound"


def _detail(action: Change) -> object:
    """The action as the audit keeps it; of what was stored only the size, for it is in the bucket itself."""
    if isinstance(action, StoreObject):
        return {"type": "StoreObject", "name": action.name, "bytes": len(action.data)}
    if isinstance(action, RecordLaunched):
        return {"type": "RecordLaunched", "job": action.job, "nodes": sorted(action.ran)}
    if isinstance(action, ShareOut):
        return {"type": "ShareOut", "messages": len(action.messages)}
    if isinstance(action, SendMessage):
        message = action.message
        to = message.to if isinstance(message, Mail) else message.hook
        name = message.message_id if isinstance(message, Mail) else message.id
        return {"type": "SendMessage", "to": to, "message": name, "notices": action.notices[:100]}
    return action


def _where(action: Change) -> Mapping[str, str]:
    """The job, node, instance and rule of an action, as far as it has them."""
    source: object = action
    if isinstance(action, WriteAttempt):
        source = action.record
    if isinstance(action, Tell):
        source = action.notice
    if isinstance(action, FileCase | CloseCase):
        targets = [target.id for target in action.case.subject.targets]
        only = {"instance_id": targets[0]} if len(targets) == 1 else {}
        job = {"job": action.case.subject.job} if action.case.subject.job else {}
        return {**job, **only, "rule": action.case.rule}
    return {key: value for key in WHERE if (value := getattr(source, key, ""))}
