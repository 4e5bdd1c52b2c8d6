"""Looks through the deeds, and says in a sentence why a VM or a job is gone."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime

from spotwarden.model.spans import moment
from spotwarden.report.model.job import Bar, BarEnd
from spotwarden.report.model.kept import Summary
from spotwarden.report.model.trust import AuditedAction, AuditQuery, TrustReport

MOST = 500
"""Deeds on one page."""
CHANGES = frozenset(
    (
        *("LaunchInstances", "StartInstance", "DeleteInstance", "StopInstance", "LabelInstance"),
        *("RemoveLeftover", "CloseJob", "Tell", "SendLetter", "Quarantine"),
    )
)
"""What somebody outside notices; the rest keeps our own records."""
REMOVES = frozenset(("DeleteInstance", "StopInstance"))


def trust(
    deeds: Iterable[AuditedAction],
    query: AuditQuery,
    at: datetime | None,
    *,
    since: date | None = None,
    about: Summary | None = None,
) -> TrustReport:
    """What fits the query, newest first; `about` is the job that it asks for."""
    known = sorted(deeds, key=lambda deed: (deed.at, deed.id), reverse=True)
    found = [deed for deed in known if fits(deed, query, about)]
    answer, by = why(query, found, about) if query.about else ("", "")
    return TrustReport(
        at=at,
        query=query,
        deeds=tuple(found[:MOST]),
        found=len(found),
        since=since,
        functions=_words(deed.function for deed in known),
        rules=_words(deed.rule for deed in known),
        actions=_words(deed.action for deed in known),
        answer=answer,
        by=by,
    )


def _words(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted({word for word in words if word}))


def fits(deed: AuditedAction, query: AuditQuery, about: Summary | None = None) -> bool:
    """Whether it is asked for."""
    wanted = ((query.rule, deed.rule), (query.function, deed.function), (query.action, deed.action))
    if any(asked not in ("", said) for asked, said in wanted):
        return False
    if query.day is not None and deed.at.date() != query.day:
        return False
    if query.changes and deed.action not in CHANGES:
        return False
    if query.about and not _concerns(deed, query.about, about):
        return False
    return not query.text or query.text.casefold() in "\n".join(_said(deed)).casefold()


def _concerns(deed: AuditedAction, name: str, about: Summary | None) -> bool:
    """Whether it is about this job, VM or id; all of a job's deeds concern it."""
    if name in (deed.job, *deed.node.split(", "), *deed.instance_ids):
        return True
    return about is not None and about.entry.row.job == name and deed.job == name


def _said(deed: AuditedAction) -> Iterator[str]:
    yield from (deed.why, deed.job, deed.node, *deed.instance_ids, deed.rule, deed.owner, deed.place)
    yield from (deed.action, deed.function, deed.policy, deed.outcome, deed.detail)
    for name, value in deed.evidence.items():
        yield f"{name} {value}"


def why(query: AuditQuery, found: Sequence[AuditedAction], about: Summary | None) -> tuple[str, str]:
    """Why it is gone, and the id of the deed that did it; "" where nobody knows."""
    bars = [bar for bar in about.story.bars if query.about in _names(bar, about)] if about else []
    one_vm = [bar for bar in bars if query.about == bar.instance_id]
    for deed in found:
        if deed.action in REMOVES and deed.outcome == "Done" and _this(deed, one_vm):
            what = "deleted" if deed.action == "DeleteInstance" else "stopped"
            vm = f"{deed.node} ({', '.join(deed.instance_ids)})" if deed.instance_ids else deed.node
            by = f"{deed.function} by policy {deed.policy}" if deed.policy else deed.function
            return f"{vm} was {what} by Spotwarden ({by}) at {moment(deed.at)}: {deed.why}", deed.id
    return (_fate((one_vm or bars)[-1]), "") if bars else ("", "")


def _names(bar: Bar, about: Summary) -> tuple[str, ...]:
    return (bar.node, bar.instance_id, about.entry.row.job)


def _this(deed: AuditedAction, one_vm: Sequence[Bar]) -> bool:
    return not one_vm or one_vm[0].instance_id in deed.instance_ids


def _fate(bar: Bar) -> str:
    vm = f"{bar.node or 'The VM'} ({bar.instance_id})" if bar.instance_id else bar.node
    if bar.fate is BarEnd.UP or bar.end is None:
        return f"{vm} is up, as far as anybody knows."
    if bar.fate is BarEnd.UNKNOWN:
        return f"{vm} was last seen at {moment(bar.end)}; nobody knows what became of it."
    done = f"Spotwarden did not remove {vm}. At {moment(bar.end)}"
    said = {
        BarEnd.PREEMPTED: "Compute Engine took it: a preemption of a spot VM",
        BarEnd.ENDED: "its job ended",
        BarEnd.STOPPED: "it was stopped or deleted by a person, or shut itself down",
        BarEnd.REPLACED: "another took its place",
    }.get(bar.fate, "it was lost")
    return f"{done} {said}{': ' + bar.why if bar.why else ''}."
