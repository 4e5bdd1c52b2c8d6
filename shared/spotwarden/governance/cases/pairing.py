"""Every open case beside what was found about it this time."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from spotwarden.model.case import Case, CaseFacts, Filed
from spotwarden.model.finding import Judged

Together = defaultdict[tuple[str, str], list[frozenset[str]]]
"""The ids of each finding, by its rule and each of them."""


def paired(judged: Judged, filed: Iterable[Filed]) -> Iterator[CaseFacts]:
    """Every open case with what was found about it, and every finding that has no case yet."""
    found = {(item.rule, item.subject.key): item for item in judged.findings}
    together = _together(judged)
    for filed_case in filed:
        rule, key = filed_case.case.rule, filed_case.case.key
        finding = found.pop((rule, key), None)
        yield CaseFacts(
            rule=rule,
            key=key,
            filed=filed_case,
            finding=finding,
            hidden=finding is None and _hidden(filed_case.case, judged),
            merged=finding is None and _merged(filed_case.case, together),
            there=any(target.id in judged.present for target in filed_case.case.subject.targets),
        )
    for (rule, key), finding in found.items():
        yield CaseFacts(rule=rule, key=key, finding=finding)


def _together(judged: Judged) -> Together:
    found: Together = defaultdict(list)
    for finding in judged.findings:
        ids = frozenset(target.id for target in finding.subject.targets)
        for each in ids:
            found[finding.rule, each].append(ids)
    return found


def _merged(case: Case, together: Together) -> bool:
    """Whether another finding of the rule has all its VMs: single VMs that turn out to be a gang."""
    mine = {target.id for target in case.subject.targets}
    return bool(mine) and any(mine <= ids for ids in together.get((case.rule, min(mine)), ()))


def _hidden(case: Case, judged: Judged) -> bool:
    """Whether the facts may hide what the case is about; a case of no zone needs all of them."""
    if not judged.whole or case.rule not in judged.rules:
        return True
    if any(target.id in judged.repaired for target in case.subject.targets):
        return True
    zones = {target.zone for target in case.subject.targets if target.zone}
    unseen = not zones or "project" in judged.hidden or not zones.isdisjoint(judged.hidden)
    return bool(judged.hidden) and unseen
