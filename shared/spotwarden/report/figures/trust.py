"""Looks through the audit entries, and says in a sentence why a VM or a job is gone."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime

from spotwarden.model.spans import moment
from spotwarden.report.model.job import Bar, BarEnd
from spotwarden.report.model.kept import Summary
from spotwarden.report.model.trust import AuditedAction, AuditQuery, TrustReport

MOST = 500
"""Audit entries on one page."""
CHANGES = frozenset(
    (
        *("LaunchInstances", "StartInstance", "DeleteInstance", "StopInstance", "LabelInstance"),
        *("MakePart", "FillGroup", "DeleteGroup", "DeleteTemplate"),
        *("RemoveLeftover", "CloseJob", "Tell", "SendMessage", "Quarantine"),
    )
)
"""What somebody outside notices; the rest keeps our own records."""
REMOVES = frozenset(("DeleteInstance", "StopInstance", "DeleteGroup"))


def trust(
    entries: Iterable[AuditedAction],
    query: AuditQuery,
    at: datetime | None,
    *,
    since: date | None = None,
    about: Summary | None = None,
) -> TrustReport:
    """What fits the query, newest first; `about` is the job that it asks for."""
    known = sorted(entries, key=lambda entry: (entry.at, entry.id), reverse=True)
    found = [entry for entry in known if fits(entry, query, about)]
    answer, by = why(query, found, about) if query.about else ("", "")
    return TrustReport(
        at=at,
        query=query,
        entries=tuple(found[:MOST]),
        found=len(found),
        since=since,
        functions=_words(entry.function for entry in known),
        rules=_words(entry.rule for entry in known),
        actions=_words(entry.action for entry in known),
        answer=answer,
        by=by,
    )


def _words(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted({word for word in words if word}))


def fits(entry: AuditedAction, query: AuditQuery, about: Summary | None = None) -> bool:
    """Whether it is asked for."""
    wanted = ((query.rule, entry.rule), (query.function, entry.function), (query.action, entry.action))
    if any(asked not in ("", said) for asked, said in wanted):
        return False
    if query.day is not None and entry.at.date() != query.day:
        return False
    if query.changes and entry.action not in CHANGES:
        return False
    if query.about and not _concerns(entry, query.about, about):
        return False
    return not query.text or query.text.casefold() in "\n".join(_said(entry)).casefold()


def _concerns(entry: AuditedAction, name: str, about: Summary | None) -> bool:
    """Whether it is about this job, VM or id; all of a job's entries concern it."""
    if name in (entry.job, *entry.node.split(", "), *entry.instance_ids):
        return True
    return about is not None and about.entry.row.job == name and entry.job == name


def _said(entry: AuditedAction) -> Iterator[str]:
    yield from (entry.why, entry.job, entry.node, *entry.instance_ids, entry.rule, entry.owner, entry.place)
    yield from (entry.action, entry.function, entry.policy, entry.outcome, entry.detail)
    for name, value in entry.evidence.items():
        yield f"{name} {value}"


def why(query: AuditQuery, found: Sequence[AuditedAction], about: Summary | None) -> tuple[str, str]:
    """Why it is gone, and the id of the audit entry that did it; "" where nobody knows."""
    bars = [bar for bar in about.story.bars if query.about in _names(bar, about)] if about else []
    one_vm = [bar for bar in bars if query.about == bar.instance_id]
    for entry in found:
        if entry.action in REMOVES and entry.outcome == "Done" and _this(entry, one_vm):
            what = "stopped" if entry.action == "StopInstance" else "deleted"
            vm = f"{entry.node} ({', '.join(entry.instance_ids)})" if entry.instance_ids else entry.node
            vm = f"The TPU slice of {vm}" if entry.action == "DeleteGroup" else vm
            by = f"{entry.function} by policy {entry.policy}" if entry.policy else entry.function
            return f"{vm} was {what} by Spotwarden ({by}) at {moment(entry.at)}: {entry.why}", entry.id
    return (_fate((one_vm or bars)[-1]), "") if bars else ("", "")


def _names(bar: Bar, about: Summary) -> tuple[str, ...]:
    return (bar.node, bar.instance_id, about.entry.row.job)


def _this(entry: AuditedAction, one_vm: Sequence[Bar]) -> bool:
    return not one_vm or one_vm[0].instance_id in entry.instance_ids


def _fate(bar: Bar) -> str:
    vm = f"{bar.node or 'The VM'} ({bar.instance_id})" if bar.instance_id else bar.node
    if bar.fate is BarEnd.UP or bar.end is None:
        return f"{vm} is still running, according to the last look."
    if bar.fate is BarEnd.UNKNOWN:
        return f"{vm} was last seen at {moment(bar.end)}. We don't know what happened to it."
    done = f"Spotwarden did not remove {vm}. At {moment(bar.end)}"
    said = {
        BarEnd.PREEMPTED: "Compute Engine preempted it",
        BarEnd.ENDED: "its job ended",
        BarEnd.STOPPED: "a person stopped or deleted it, or it shut itself down",
        BarEnd.EXPIRED: "Compute Engine ended it at its time limit",
        BarEnd.REPLACED: "another VM replaced it",
    }.get(bar.fate, "it was lost")
    return f"{done} {said}{': ' + bar.why if bar.why else ''}."
