"""Every open case beside what was found about it this time."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime

from spotwarden.governance.cases.history import is_kept
from spotwarden.model.case import Case, CaseFacts, Filed
from spotwarden.model.finding import Finding, Judged
from spotwarden.model.spans import moment

Together = defaultdict[tuple[str, str], list[Finding]]
"""The findings by their rule and the id of each of their VMs."""


def paired(judged: Judged, filed: Sequence[Filed], now: datetime) -> Iterator[CaseFacts]:
    """Every open case with what was found about it, and every finding that has no case yet."""
    found = {(item.rule, item.subject.key): item for item in judged.findings}
    together = _together(judged)
    known = {(item.case.rule, item.case.key): item.case for item in filed}
    for filed_case in filed:
        rule, key = filed_case.case.rule, filed_case.case.key
        finding = found.pop((rule, key), None)
        other = None if finding else _merged(filed_case.case, together)
        yield CaseFacts(
            rule=rule,
            key=key,
            filed=filed_case,
            finding=finding,
            hidden=finding is None and _hidden(filed_case.case, judged),
            merged=other is not None,
            spared=_spared(other, known.get((rule, other.subject.key)), now) if other else "",
            there=any(target.id in judged.present for target in filed_case.case.subject.targets),
        )
    for (rule, key), finding in found.items():
        yield CaseFacts(rule=rule, key=key, finding=finding)


def _together(judged: Judged) -> Together:
    found: Together = defaultdict(list)
    for finding in judged.findings:
        for each in _ids(finding):
            found[finding.rule, each].append(finding)
    return found


def _ids(about: Case | Finding) -> frozenset[str]:
    return frozenset(target.id for target in about.subject.targets)


def _merged(case: Case, together: Together) -> Finding | None:
    """The other finding of the rule that has all its VMs: single VMs turn out to be a gang."""
    mine = _ids(case)
    others = together.get((case.rule, min(mine)), ()) if mine else ()
    return next((finding for finding in others if mine <= _ids(finding)), None)


def _spared(finding: Finding, case: Case | None, now: datetime) -> str:
    """Why nothing is done about what was found, and its owner hears nothing of it; "" where he does."""
    if finding.exempt:
        return f"exempt: {finding.exempt}"
    if case is None or case.keep_until is None or not is_kept(case, now):
        return ""
    return f"its gang {case.key} is kept until {moment(case.keep_until)} by {case.kept_by}"


def _hidden(case: Case, judged: Judged) -> bool:
    """Whether the facts may hide what the case is about; a case of no zone needs all of them."""
    if not judged.whole or case.rule not in judged.rules:
        return True
    if any(target.id in judged.repaired for target in case.subject.targets):
        return True
    zones = {target.zone for target in case.subject.targets if target.zone}
    unseen = not zones or "project" in judged.hidden or not zones.isdisjoint(judged.hidden)
    return bool(judged.hidden) and unseen
