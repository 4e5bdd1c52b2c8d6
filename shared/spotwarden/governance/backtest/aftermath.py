"""What became of a VM after a policy would have acted on it: more waste, or work that was spared."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import NamedTuple

from msgspec.structs import replace

from spotwarden.governance.backtest.model import After, ReplayedRemedy
from spotwarden.model.finding import Finding, Judged, Reading
from spotwarden.model.governance import Remedy

WORK = frozenset({"idle", "stall", "orphan", "early_stop"})
"""Rules that are content only with a VM that does something for a job: its GPUs, its signs of life, its
metrics, its place in the ledger. A limit that is kept again, or a label put right, says nothing of work."""


class AftermathSight(NamedTuple):
    """What a sweep has judged, to be looked up by rule and target."""

    judged: Judged
    about: Mapping[tuple[str, str], Finding]

    @classmethod
    def of(cls, judged: Judged) -> "AftermathSight":
        """All that was found, by rule and target."""
        about = {
            (finding.rule, target.id): finding
            for finding in judged.findings
            for target in finding.subject.targets
        }
        return cls(judged, about)


def follow_up(deed: ReplayedRemedy, sight: AftermathSight, now: datetime) -> ReplayedRemedy:
    """The deed with what this later sweep shows; nothing is added once the VM has gone or turned to work."""
    if deed.gone or deed.turned or is_out_of_sight(deed, sight):
        return deed
    if not is_there(deed, sight):
        return replace(deed, gone=now)
    deed = replace(deed, seen=now)
    finding = sight.about.get((deed.rule, deed.target.id))
    if finding is None:
        work = deed.rule in WORK
        return replace(deed, turned=now, after=After.WORKED, how=_HOW[deed.rule]) if work else deed
    if finding.exempt:
        return replace(deed, turned=now, after=After.KEPT, how=finding.exempt)
    return replace(deed, wasted=now) if finding.reading is Reading.BAD else deed


def ended_well(deeds: Iterable[ReplayedRemedy], ends: Mapping[str, datetime]) -> list[ReplayedRemedy]:
    """The same, where a job that would have been acted upon came to its good end on those very VMs.

    `ends` says when a job wrote status 0. Of an orphan's job it is the reason, not an objection.
    """
    return [_ended(deed, ends.get(deed.job)) for deed in deeds]


def _ended(deed: ReplayedRemedy, end: datetime | None) -> ReplayedRemedy:
    if end is None or deed.rule in {"orphan", "leftover"} or deed.wrong:
        return deed
    if not deed.at < end <= (deed.gone or end):
        return deed
    return replace(deed, after=After.WORKED, turned=end, how="its job ended with status 0")


def is_there(deed: ReplayedRemedy, sight: AftermathSight) -> bool:
    """Whether what would have been stopped runs, or what would have been deleted is there at all."""
    if deed.target.id in sight.judged.present:
        return True
    return deed.remedy is Remedy.DELETE and (deed.rule, deed.target.id) in sight.about


def is_out_of_sight(deed: ReplayedRemedy, sight: AftermathSight) -> bool:
    """Whether this sweep says nothing of it, neither that it is there nor that it is gone."""
    judged = sight.judged
    if not judged.whole or deed.rule not in judged.rules:
        return True
    return "project" in judged.hidden or deed.target.zone in judged.hidden


_HOW: Mapping[str, str] = {
    "idle": "a GPU was busy again",
    "stall": "it gave a sign of life again",
    "early_stop": "its metrics were in order again",
    "orphan": "it was a job's again",
}
