"""The moments of a job's timeline."""

from collections.abc import Iterator, Sequence

from spotwarden.model.attempt import Attempt
from spotwarden.recovery.folder.standing import new_in
from spotwarden.report.figures.stays import PREEMPTED
from spotwarden.report.model.job import Bar, Mark, MarkKind
from spotwarden.report.model.kept import Gathered, Sources
from spotwarden.report.model.trust import AuditedAction

MOST = 1_000
"""Of one kind; a job with more of them shows its newest."""
ACTS = frozenset(("StopInstance", "DeleteInstance", "DeleteGroup", "StartInstance", "RemoveLeftover"))


def marks(sources: Sources, gathered: Gathered, bars: Sequence[Bar]) -> tuple[Mark, ...]:
    """All of them, oldest first."""
    ledger = sources.ledger
    kinds = (
        [mark for item in (*ledger[:1], *map(new_in, ledger, ledger[1:])) for mark in _of_attempt(item)],
        list(_launches(bars)),
        list(_checkpoints(gathered)),
        [mark for entry in gathered.entries if (mark := of_entry(entry)) is not None],
        list(_end(sources)),
    )
    return tuple(sorted((mark for some in kinds for mark in some[-MOST:]), key=lambda mark: mark.at))


def _of_attempt(attempt: Attempt) -> Iterator[Mark]:
    if attempt.lost and (attempt.replaces or not attempt.bent):
        kind = MarkKind.PREEMPTED if attempt.fate == PREEMPTED else MarkKind.LOST
        where = f" in {attempt.lost_in}" if attempt.lost_in else ""
        yield Mark(
            at=attempt.lost,
            kind=kind,
            what=f"{attempt.fate or attempt.reason}{where}",
            attempt=attempt.number,
        )
    for two in attempt.tries:
        if two.error:
            what = f"{two.place}: {two.error}"
            yield Mark(at=two.at, kind=MarkKind.REFUSED, what=what, attempt=attempt.number)


def _launches(bars: Sequence[Bar]) -> Iterator[Mark]:
    for bar in bars:
        where = f" in {bar.zone}" if bar.zone else ""
        what = f"{bar.node or 'a VM'} is instance {bar.instance_id}{where}"
        yield Mark(at=bar.start, kind=MarkKind.LAUNCHED, what=what, attempt=bar.attempt, node=bar.node)


def _checkpoints(gathered: Gathered) -> Iterator[Mark]:
    for line in sorted(gathered.lines, key=lambda line: line.attempt):
        for at, name in line.saved:
            yield Mark(at=at, kind=MarkKind.CHECKPOINT, what=name, attempt=line.attempt, node=line.node)


def _end(sources: Sources) -> Iterator[Mark]:
    if sources.ended is not None:
        what = f"the job ended with status {sources.status_code}"
        yield Mark(at=sources.ended, kind=MarkKind.ENDED, what=what)


def of_entry(entry: AuditedAction) -> Mark | None:
    """What one of our actions is on a timeline; None for one that only keeps records."""
    if entry.outcome != "Done":
        return None
    if _by_a_person(entry) and entry.action != "Tell":
        kind = MarkKind.ANSWERED
    elif entry.action in ACTS:
        kind = MarkKind.ACTED
    elif entry.action == "Tell" and entry.rule:
        kind = MarkKind.WARNED
    else:
        return None
    return Mark(at=entry.at, kind=kind, what=entry.why, node=entry.node, entry=entry.id)


def _by_a_person(entry: AuditedAction) -> bool:
    return entry.function == "answer_notice" or entry.function.startswith("cli_")
