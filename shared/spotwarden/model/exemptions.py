"""Whom nothing is done to, and why. What cannot be read exempts: a wrong kill is the worse mistake."""

from collections.abc import Mapping
from datetime import date
from fnmatch import fnmatchcase

from spotwarden.model.fleet import KEEP_LABEL
from spotwarden.model.jobfile import JobFile
from spotwarden.model.opening import zone_of
from spotwarden.model.policy import Policy
from spotwarden.model.precedence import misread
from spotwarden.model.tick import Tick


def exempt(
    policy: Policy, rule: str, tick: Tick, *, labels: Mapping[str, str], owner: str, job_file: JobFile
) -> str:
    """Why this rule may do nothing to a VM with these labels, or to this job; "" where it may.

    A day counts to its end, in the time zone of the policy's calendar.
    """
    today = tick.now.astimezone(zone_of(policy.governance.calendar.timezone)).date()
    return (
        _by_label(labels, today) or _by_job(rule, job_file, today) or _by_policy(policy, rule, owner, today)
    )


def _by_label(labels: Mapping[str, str], today: date) -> str:
    if (said := labels.get(KEEP_LABEL)) is None:
        return ""
    try:
        until = date.fromisoformat(said)
    except ValueError:
        return (
            f"its label {KEEP_LABEL} is {said!r}, which is not a valid date such as 2026-12-31, so it is kept"
        )
    return f"its label {KEEP_LABEL} keeps it until {until}" if today <= until else ""


def _by_job(rule: str, job_file: JobFile, today: date) -> str:
    if job_file.problem:
        return f"its job.toml can't be read, so it is kept: {job_file.problem}"
    if job_file.keep_until is not None and today <= job_file.keep_until:
        return f"its job.toml keeps it until {job_file.keep_until}"
    if said := misread(rule, job_file):
        return f"its job.toml has an invalid value, so it is kept: {said}"
    return ""


def _by_policy(policy: Policy, rule: str, owner: str, today: date) -> str:
    said = owner.casefold()
    for exemption in policy.governance.exemptions:
        named = not exemption.rules or rule in exemption.rules
        if named and owner and today <= exemption.until and fnmatchcase(said, exemption.owner.casefold()):
            return f"the policy exempts {exemption.owner} until {exemption.until}: {exemption.why}"
    return ""
