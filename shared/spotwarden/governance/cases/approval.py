"""Whether ops were asked to allow a remedy, and have: for this very finding, and not too long ago."""

from datetime import datetime

from spotwarden.governance.cases.observation import APART
from spotwarden.model.case import Approval, Case


def fits(case: Case) -> bool:
    """Whether what ops were asked is what the case now calls for: as many VMs at most, the same trouble."""
    asked = case.approval
    return (
        asked is not None
        and asked.remedy is case.remedy
        and {target.id for target in case.subject.targets}.issubset(asked.targets)
        and _is_same_trouble(asked, case)
    )


def is_asked(case: Case, now: datetime) -> bool:
    """Whether ops were asked and need not be asked again: they have not answered, or their word counts."""
    asked = case.approval
    return asked is not None and fits(case) and (asked.until is None or now < asked.until)


def is_approved(case: Case, now: datetime) -> bool:
    """Whether somebody has allowed the remedy, and that still counts."""
    asked = case.approval
    return asked is not None and is_asked(case, now) and asked.until is not None


def _is_same_trouble(asked: Approval, case: Case) -> bool:
    """Trouble that was over and began again is another one; that it began earlier than was known is not."""
    if asked.since is None or case.since is None:
        return asked.since is case.since
    return case.since < asked.since + APART
