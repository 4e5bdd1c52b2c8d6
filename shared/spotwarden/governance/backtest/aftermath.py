"""What became of a VM after a policy would have acted on it: more waste, or work that was spared."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import NamedTuple

from msgspec.structs import replace

from spotwarden.governance.backtest.model import After, ReplayedRemedy
from spotwarden.model.finding import Finding, Judged, Reading
from spotwarden.model.governance import Remedy
from spotwarden.model.policy import RULES


class LaterSweep(NamedTuple):
    """What a sweep has judged, to be looked up by rule and target."""

    judged: Judged
    about: Mapping[tuple[str, str], Finding]

    @classmethod
    def of(cls, judged: Judged) -> "LaterSweep":
        """All that was found, by rule and target."""
        about = {
            (finding.rule, target.id): finding
            for finding in judged.findings
            for target in finding.subject.targets
        }
        return cls(judged, about)


def follow_up(remedy: ReplayedRemedy, later: LaterSweep, now: datetime) -> ReplayedRemedy:
    """The remedy with what this later sweep shows; nothing is added once the VM is gone or works again."""
    if remedy.gone or remedy.turned or is_hidden_in(remedy, later):
        return remedy
    if not is_there(remedy, later):
        return replace(remedy, gone=now)
    remedy = replace(remedy, seen=now)
    finding = later.about.get((remedy.rule, remedy.target.id))
    if finding is None:
        works = RULES[remedy.rule].WORKS
        return replace(remedy, turned=now, after=After.WORKED, how=works) if works else remedy
    if finding.exempt:
        return replace(remedy, turned=now, after=After.KEPT, how=finding.exempt)
    return replace(remedy, wasted=now) if finding.reading is Reading.BAD else remedy


def ended_well(remedies: Iterable[ReplayedRemedy], ends: Mapping[str, datetime]) -> list[ReplayedRemedy]:
    """The same, where a job that would have been acted upon came to its good end on those very VMs.

    `ends` says when a job wrote status 0. Of an orphan's job it is the reason, not an objection.
    """
    return [_ended(remedy, ends.get(remedy.job)) for remedy in remedies]


def _ended(remedy: ReplayedRemedy, end: datetime | None) -> ReplayedRemedy:
    if end is None or remedy.rule in {"orphan", "leftover"} or remedy.wrong:
        return remedy
    if not remedy.at < end <= (remedy.gone or end):
        return remedy
    return replace(remedy, after=After.WORKED, turned=end, how="its job ended with status 0")


def is_there(remedy: ReplayedRemedy, later: LaterSweep) -> bool:
    """Whether what would have been stopped runs, or what would have been deleted is there at all."""
    if remedy.target.id in later.judged.present:
        return True
    return remedy.remedy is Remedy.DELETE and (remedy.rule, remedy.target.id) in later.about


def is_hidden_in(remedy: ReplayedRemedy, later: LaterSweep) -> bool:
    """Whether this sweep says nothing of it, neither that it is there nor that it is gone."""
    judged = later.judged
    if not judged.whole or remedy.rule not in judged.rules:
        return True
    return "project" in judged.hidden or remedy.target.zone in judged.hidden
