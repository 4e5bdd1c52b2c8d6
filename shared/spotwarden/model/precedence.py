"""Whose word counts: the policy's, then the team's, then the job's, each within the policy's ceilings."""

from collections.abc import Iterator, Mapping
from datetime import timedelta
from enum import Enum
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any

import msgspec

from spotwarden.model.governance import Lenient, Limits
from spotwarden.model.jobfile import JobFile
from spotwarden.model.leniency import leniency
from spotwarden.model.policy import RULES, Policy
from spotwarden.model.same import Same
from spotwarden.model.values import meant, read_limit, written

NOBODY = JobFile()
CEILINGS: Mapping[tuple[str, str], Any] = {("stall", "after"): timedelta(days=1)}
"""How lenient a job may be where the policy has no ceiling: only its developer knows how long it thinks."""
POLICIES_KNOWN = 64
"""How many rules' limits for everybody are kept: of the policy as it is, and of some that it was."""
OWNERS_KNOWN = 65_536
"""How many owners' limits are kept; a project has hundreds."""


class LimitSource(Enum):
    """Where a value comes from. `DEFAULT` is a policy's that equals what holds without one."""

    DEFAULT = "default"
    POLICY = "policy"
    TEAM = "team"
    JOB = "job"
    CEILING = "ceiling"


class EffectiveLimit(msgspec.Struct, frozen=True, kw_only=True):
    """A value that holds, and why. `ceiling` is None for none; `note` says what was said in vain."""

    name: str
    value: Any
    source: LimitSource
    ceiling: Any = None
    note: str = ""


def limits(policy: Policy, rule: str, *, owner: str = "", job_file: JobFile = NOBODY) -> Limits:
    """The limits of a rule for a job of this owner; `KeyError` where there is no such rule."""
    if not policy.teams and not job_file.rules:
        return policy.rule(rule)
    if not job_file.rules.get(rule):
        return _of_owner(Same(policy), rule, owner)
    return _settled(policy.rule(rule), explain(policy, rule, owner=owner, job_file=job_file))


def team_of(policy: Policy, owner: str) -> str:
    """The name of the owner's team, "" for none; where several fit, the first by name."""
    return _team(Same(policy), owner) if owner and policy.teams else ""


def everybodys(policy: Policy, rule: str) -> tuple[Limits, ...]:
    """The limits that hold for anybody: the policy's, and those of each team."""
    return _of_everybody(Same(policy), rule)


@lru_cache(maxsize=POLICIES_KNOWN)
def _of_everybody(same: Same[Policy], rule: str) -> tuple[Limits, ...]:
    policy = same.it
    teams = ("", *sorted(policy.teams))
    return tuple(_settled(policy.rule(rule), _explained(policy, rule, team, NOBODY)) for team in teams)


def explain(
    policy: Policy, rule: str, *, owner: str = "", job_file: JobFile = NOBODY
) -> tuple[EffectiveLimit, ...]:
    """Every value of the rule as it holds for a job of this owner, and where it comes from."""
    return _explained(policy, rule, team_of(policy, owner), job_file)


def _explained(policy: Policy, rule: str, team: str, job_file: JobFile) -> tuple[EffectiveLimit, ...]:
    of_team = policy.teams[team].rules.get(rule, {}) if team else {}
    of_job = job_file.rules.get(rule, {})
    held = tuple(
        _by_job(_for_job(_by_team(limit, RULES[rule], of_team, side), rule), RULES[rule], of_job, side)
        for limit, side in _by_policy(policy, rule)
    )
    return _with_warnings(held) if rule == "idle" else held


def ceiling(policy: Policy, rule: str, name: str) -> Any:  # noqa: ANN401 - the type is the value's
    """How lenient a job may be in this value: by the policy's word, else by default; None for no more."""
    declared = _declared(policy, rule, name)
    return CEILINGS.get((rule, name)) if declared is None else declared


def _declared(policy: Policy, rule: str, name: str) -> Any:  # noqa: ANN401 - the type is the value's
    said = policy.ceilings.get(rule, {}).get(name)
    return None if said is None else read_limit(RULES[rule], name, said)


def _for_job(held: EffectiveLimit, rule: str) -> EffectiveLimit:
    """Where the policy has no ceiling of its own, the default one holds for a job; a team has none then."""
    return (
        msgspec.structs.replace(held, ceiling=CEILINGS.get((rule, held.name)))
        if held.ceiling is None
        else held
    )


def misread(rule: str, job_file: JobFile) -> str:
    """What a job's file says, perhaps for this rule, and cannot be followed; "" for nothing."""
    for name in job_file.rules:
        if name not in RULES:
            return f"rules.{name}: unknown rule; {meant(name, RULES)}"
    for name, said in job_file.rules.get(rule, {}).items():
        try:
            read_limit(RULES[rule], name, said)
        except ValueError as error:
            return f"rules.{rule}.{name}: {error}"
    return ""


@lru_cache(OWNERS_KNOWN)
def _of_owner(same: Same[Policy], rule: str, owner: str) -> Limits:
    return _settled(same.it.rule(rule), explain(same.it, rule, owner=owner))


@lru_cache(OWNERS_KNOWN)
def _team(same: Same[Policy], owner: str) -> str:
    said = owner.casefold()
    for name, team in sorted(same.it.teams.items()):
        if any(fnmatchcase(said, pattern.casefold()) for pattern in team.owners):
            return name
    return ""


def _by_policy(policy: Policy, rule: str) -> Iterator[tuple[EffectiveLimit, Lenient]]:
    """What the policy says to everybody, and in which direction each value is lenient."""
    base = policy.rule(rule)
    for field in msgspec.structs.fields(base):
        value = getattr(base, field.name)
        usual = field.default if field.default_factory is msgspec.NODEFAULT else field.default_factory()
        yield (
            EffectiveLimit(
                name=field.name,
                value=value,
                source=LimitSource.DEFAULT if value == usual else LimitSource.POLICY,
                ceiling=_declared(policy, rule, field.name),
            ),
            base.LENIENT[field.name],
        )


def _by_team(
    held: EffectiveLimit, kind: type[Limits], words: Mapping[str, Any], side: Lenient
) -> EffectiveLimit:
    """A team may be anything up to the ceiling."""
    if held.name not in words:
        return held
    value = read_limit(kind, held.name, words[held.name])
    if held.ceiling is not None and leniency(side, value) > leniency(side, held.ceiling):
        return _cut(held, f"the team says {written(value)}")
    return msgspec.structs.replace(held, value=value, source=LimitSource.TEAM)


def _by_job(
    held: EffectiveLimit, kind: type[Limits], words: Mapping[str, Any], side: Lenient
) -> EffectiveLimit:
    """A job may be as lenient as the ceiling allows; without one it can only be stricter."""
    if held.name not in words:
        return held
    try:
        value = read_limit(kind, held.name, words[held.name])
    except ValueError as error:
        return msgspec.structs.replace(held, note=f"job.toml is invalid: {error}")
    if side is Lenient.FIXED:
        return msgspec.structs.replace(held, note=f"job.toml says {written(value)}, but no job can change it")
    return _within(held, value, side)


def _within(held: EffectiveLimit, value: Any, side: Lenient) -> EffectiveLimit:  # noqa: ANN401 - as above
    """The job's value, or what it may have instead."""
    if side is Lenient.OWN:
        return msgspec.structs.replace(held, value=value, source=LimitSource.JOB)
    asked, now = leniency(side, value), leniency(side, held.value)
    most = now if held.ceiling is None else max(now, leniency(side, held.ceiling))
    if asked <= most:
        return msgspec.structs.replace(held, value=value, source=LimitSource.JOB)
    if most > now:
        return _cut(held, f"job.toml says {written(value)}")
    return msgspec.structs.replace(held, note=f"job.toml says {written(value)}, beyond the ceiling")


def _cut(held: EffectiveLimit, note: str) -> EffectiveLimit:
    return msgspec.structs.replace(held, value=held.ceiling, source=LimitSource.CEILING, note=note)


def _settled(base: Limits, held: tuple[EffectiveLimit, ...]) -> Limits:
    """The limits with these values."""
    found: Limits = msgspec.structs.replace(base, **{limit.name: limit.value for limit in held})
    return found


def _with_warnings(held: tuple[EffectiveLimit, ...]) -> tuple[EffectiveLimit, ...]:
    """Who is acted upon before the last of the policy's warnings is warned sooner, too."""
    value = {limit.name: limit.value for limit in held}
    warn = tuple(part for part in value["warn"] if part < value["act"])
    if warn == value["warn"]:
        return held
    sooner = warn or (max(value["act"] - value["grace"], value["act"] / 2),)
    note = "warned before any action"
    return tuple(
        msgspec.structs.replace(effective_limit, value=sooner, note=note)
        if effective_limit.name == "warn"
        else effective_limit
        for effective_limit in held
    )
