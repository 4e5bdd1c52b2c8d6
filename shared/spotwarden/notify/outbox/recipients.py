"""Who hears of a notice, and who in his place where it cannot be brought to him."""

from collections.abc import Iterator
from datetime import datetime

from spotwarden.model.delivery import Channel, Pending, Recipient
from spotwarden.model.jobfile import JobFile
from spotwarden.model.notice import TEST, WEEKLY, Notice, Severity
from spotwarden.model.policy import Policy
from spotwarden.model.precedence import team_of
from spotwarden.notify.outbox.mail_address import address
from spotwarden.notify.outbox.model import Addressed

NO_OWNER = (
    "the job has no known owner. To set one, add `owner` and `email` to its job.toml,"
    " or the label `owner` to its VMs"
)
UNREACHABLE = "unreachable"
_FOR_OPS = ("_failing", "approval_needed")
"""How kinds end that are about our own work: not the owner can help then, but ops."""


def addressed(notice: Notice, file: JobFile, policy: Policy) -> Addressed:
    """Who hears of it: whom job.toml names, else the owner, else the owner's team, else ops."""
    ops = address(policy.governance.ops)
    if notice.id.startswith(TEST):
        return _to(address(notice.owner) or ops, (), policy)
    owner = "" if _same(notice.owner, ops) else notice.owner
    if notice.kind == WEEKLY and owner:
        return _to(reachable(owner, policy), (), policy)
    if notice.kind.endswith(_FOR_OPS):
        return _to_ops(policy, "", "only ops can fix this")
    if not (owner or notice.job):
        return _to_ops(policy, "", "")
    owner = owner or file.owner
    team = policy.teams.get(team_of(policy, owner))
    person = address(file.email) or reachable(owner, policy)
    found = _to(person, (team.hook,) if team else (), policy)
    return found if found.recipients else _to_ops(policy, owner, _nowhere(owner, person, policy))


def reachable(owner: str, policy: Policy) -> str:
    """The mail address of an owner, or else of his team; "" for none."""
    team = policy.teams.get(team_of(policy, owner))
    return address(owner) or (address(team.email) if team else "")


def stand_ins(pending: Pending, reason: str, policy: Policy, now: datetime) -> tuple[Pending, ...]:
    """What goes to ops where a notice could not be brought to its recipient; nothing where that was ops.

    Of a hook that only gets copies ops are not sent every notice, but told once a day that it does not work.
    """
    lost = pending.recipient
    ops = tuple(recipient for recipient in _to_ops(policy, "", "").recipients if recipient != lost)
    if pending.stands_in or _same(lost.address, policy.governance.ops) or _is_ops_hook(lost, policy):
        return ()
    if pending.copy:
        return Addressed(recipients=ops).pendings(unreachable(lost.address, reason, policy, now), now)
    to = Addressed(recipients=ops, stands_in=lost.address, because=reason)
    return to.pendings(pending.notice, now)


def unreachable(hook: str, reason: str, policy: Policy, now: datetime) -> Notice:
    """Tell ops that a team's web hook takes nothing."""
    return Notice(
        id=f"{UNREACHABLE}/hook/{hook}/{now:%Y-%m-%d}",
        kind=UNREACHABLE,
        severity=Severity.WARNING,
        job="",
        at=now,
        what=f"The webhook {hook} rejects our messages",
        why=reason,
        todo="fix its URL in SPOTWARDEN_HOOKS, or remove it from the policy. Then run `spotwarden"
        " notices retry "
        "--all`",
        then="Owners still get their messages by email. Messages for the webhook are kept until you"
        " retry them",
        owner=policy.governance.ops,
    )


def _to(person: str, hooks: tuple[str, ...], policy: Policy) -> Addressed:
    return Addressed(recipients=tuple(_each(person, hooks, policy)))


def _each(person: str, hooks: tuple[str, ...], policy: Policy) -> Iterator[Recipient]:
    if person and policy.notify.email:
        yield Recipient(channel=Channel.EMAIL, address=person)
    yield from (Recipient(channel=Channel.HOOK, address=hook) for hook in hooks if hook)


def _to_ops(policy: Policy, stands_in: str, because: str) -> Addressed:
    found = _to(address(policy.governance.ops), (policy.notify.ops_hook,), policy)
    if found.recipients:
        return Addressed(recipients=found.recipients, stands_in=stands_in, because=because)
    nobody = "the policy has no fallback: neither governance.ops nor notify.ops_hook can be used"
    return Addressed(because=f"{because}; {nobody}" if because else nobody)


def _nowhere(owner: str, person: str, policy: Policy) -> str:
    """Why it does not go to its owner."""
    if not owner:
        return NO_OWNER
    if person and not policy.notify.email:
        return f"email is off (notify.email), and the owner {owner} is in no team with a webhook"
    return (
        f"we don't know an email address for the owner {owner!r}. Add `email` to the job's job.toml,"
        " or to the"
        " owner's team in the policy"
    )


def _same(said: str, ops: str) -> bool:
    return bool(said) and (address(said) or said) == (address(ops) or ops)


def _is_ops_hook(lost: Recipient, policy: Policy) -> bool:
    return lost.channel is Channel.HOOK and lost.address == policy.notify.ops_hook
