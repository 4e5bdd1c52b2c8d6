"""Open cases → what comes next, and who can say no."""

from collections.abc import Iterable
from datetime import UTC, datetime

from spotwarden.model.case import Case, CaseState
from spotwarden.model.policy import Policy
from spotwarden.model.precedence import team_of
from spotwarden.report.model.fleet import PendingCase

LATE = datetime(9999, 1, 1, tzinfo=UTC)


def pending(cases: Iterable[Case], policy: Policy) -> tuple[PendingCase, ...]:
    """All of them, those due first, then those that are open for longest."""
    found = [_pending(case, policy) for case in cases]
    return tuple(sorted(found, key=lambda item: (item.due or LATE, item.opened, item.rule, item.key)))


def _pending(case: Case, policy: Policy) -> PendingCase:
    subject = case.subject
    return PendingCase(
        rule=case.rule,
        key=case.key,
        job=subject.job,
        owner=subject.owner,
        state=case.state.value,
        reason=case.reason,
        evidence=case.evidence,
        targets=tuple(f"{target.name} ({target.id})" for target in subject.targets),
        opened=case.opened,
        since=case.since,
        remedy=case.remedy.value,
        due=case.due,
        kept_until=case.keep_until,
        kept_by=case.kept_by,
        kept_why=case.kept_why,
        vetoers=() if case.state is CaseState.ACTED else _vetoers(case, policy),
        veto=f"spotwarden cases keep {case.rule} {case.key}",
    )


def _vetoers(case: Case, policy: Policy) -> tuple[str, ...]:
    """Its owner, the owner's team, and ops."""
    team = policy.teams.get(team_of(policy, case.subject.owner))
    people = (case.subject.owner, team.email if team else "", policy.governance.ops or "ops")
    return tuple(dict.fromkeys(person for person in people if person))
