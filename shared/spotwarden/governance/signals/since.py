"""Since when a finding holds, as far as our own sweeps can vouch for it.

What nobody has watched may have been otherwise for a while: a warning from before that is none, so whoever
was warned before an outage of ours is warned anew before anything is done.
"""

from datetime import datetime

from msgspec.structs import replace

from spotwarden.model.brief import Brief
from spotwarden.model.case import CaseState
from spotwarden.model.finding import Finding, Judged, Reading


def first_seen(brief: Brief, rule: str, key: str) -> datetime:
    """Since when each look has seen it so, without a gap between our sweeps; now, for the first time."""
    case = brief.cases.get((rule, key))
    if case is None or case.since is None or case.state is CaseState.UNKNOWN:
        return brief.tick.now
    return max(case.since, brief.steady)


def dated(judged: Judged, brief: Brief) -> Judged:
    """All findings with a `since`: the rule's own, where it has one, and none from before our sweeps."""
    return replace(judged, findings=tuple(_dated(finding, brief) for finding in judged.findings))


def _dated(finding: Finding, brief: Brief) -> Finding:
    if finding.reading is Reading.UNKNOWN:
        return finding
    since = finding.since or first_seen(brief, finding.rule, finding.subject.key)
    return replace(finding, since=max(since, brief.steady))
