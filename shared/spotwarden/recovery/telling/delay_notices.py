"""What people are told of jobs that do not get on: that one waits for room, or repeats the same work."""

import re
from collections.abc import Sequence
from datetime import timedelta

from spotwarden.model.attempt import Attempt
from spotwarden.model.facts import JobFacts
from spotwarden.model.launch import Launch
from spotwarden.model.notice import Notice, Severity
from spotwarden.model.policy import Policy
from spotwarden.model.spans import span
from spotwarden.model.tick import Tick
from spotwarden.recovery.kinds.flexible import waiting
from spotwarden.recovery.kinds.price_limits import ExpensivePlace, kept_away
from spotwarden.recovery.requests.refusals import RefusalKind, lacks_notice, refusal
from spotwarden.recovery.telling.notices import state_of
from spotwarden.recovery.telling.treadmill import Treadmill

PLACES_NAMED = 6
STEPS_NAMED = 6
_RESOURCE = re.compile(r"projects/[^/']+/(?:(?:zones|regions)/[^/']+|global)/(?P<kind>\w+)/(?P<name>[^/' ]+)")
_NOUNS = {"disks": "disk", "instances": "VM", "addresses": "address"}


def on_treadmill(facts: JobFacts, found: Treadmill, tick: Tick) -> Notice:
    """Say that a job pays for the same work again and again, and what would keep it."""
    steps = [f"{step:g}" for step in found.last_steps[-STEPS_NAMED:]]
    return Notice(
        id=f"treadmill/{facts.job}/{found.attempts[0]}/{len(found.attempts)}",
        kind="treadmill",
        severity=Severity.URGENT,
        job=facts.job,
        at=tick.now,
        what=f"{facts.job} loses its work at each restart",
        why=f"{found.words}: {span(found.up)} of run time. They ended at steps {', '.join(steps)}",
        todo="save checkpoints to $SPOTWARDEN_OUTPUT, and load the newest one when the program starts. Or set"
        f" on_demand_after in {facts.job}/metadata/job.toml, so that it runs on an on-demand VM",
        then="Spotwarden restarts it as usual",
        owner=facts.owner,
        evidence=state_of(facts, facts.newest) if facts.newest else {},
    )


def waits_for_room(
    facts: JobFacts, attempt: Attempt, waited: timedelta, policy: Policy, tick: Tick
) -> Notice:
    """Say that a job has waited so long, which places refused it or cost too much, and what would help."""
    expensive = kept_away(facts, policy.placement, tick.now - attempt.created)
    refused = {tried.place: tried for tried in attempt.tries if tried.error and not lacks_notice(tried)}
    asked = [f"{place} ({_answer(tried.error)})" for place, tried in refused.items()]
    taken = [holder(tried.error) for tried in refused.values() if _is_taken(tried.error)]
    there = [tried.place for tried in attempt.tries[-1:] if not tried.error] or _pending(facts, attempt)
    waits = [f"{place} (the request waits there)" for place in there]
    named = ", ".join((*asked[-PLACES_NAMED:], *waits)) or "no place"
    return Notice(
        id=f"waits-for-room/{attempt.job}/{attempt.number}/{int(waited.total_seconds())}",
        kind="waits_for_room",
        severity=Severity.WARNING,
        job=attempt.job,
        at=tick.now,
        what=f"{attempt.job} has waited {span(waited)} for a VM",
        why=f"attempt {attempt.number} asked {named}{_more(asked)}{_expensive(expensive)}",
        then="when this request expires, Spotwarden asks the next zone"
        if waits
        else f"Spotwarden keeps asking, at least every {span(policy.recovery.longest_backoff)}",
        todo=_free(facts, taken)
        if taken
        else f"no action needed. To get a VM sooner, {_help(facts, policy, expensive)}",
        owner=facts.owner,
        evidence={"waits since": f"{attempt.created:%Y-%m-%d %H:%M} UTC", "attempt": str(attempt.number)},
    )


def holder(error: str) -> str:
    """What holds a name that is taken, by the resource that the refusal names: `disk train-data`."""
    found = _RESOURCE.search(error)
    return f"{_NOUNS.get(found['kind'], found['kind'])} {found['name']}" if found else "something"


def _is_taken(error: str) -> bool:
    return refusal(error) is RefusalKind.NAME_TAKEN


def _answer(error: str) -> str:
    """What a place said, in a word or two."""
    return f"{holder(error)} has the name already" if _is_taken(error) else _SHORT[refusal(error)]


def _free(facts: JobFacts, taken: Sequence[str]) -> str:
    """What helps where names are taken: Spotwarden deletes nothing that is not the job's."""
    what = ", ".join(dict.fromkeys(taken))
    return (
        f"find out whose {what} is. If nobody needs it, delete it, and the job starts. Otherwise change the"
        f" name in the create script of {facts.job} and submit it again"
    )


def _pending(facts: JobFacts, attempt: Attempt) -> list[str]:
    """Where the VM waits that its developer has asked for."""
    own = set(attempt.wanted.values())
    return [item.zone for item in facts.instances if item.id in own and waiting(facts.instances, (item.id,))]


_SHORT = dict.fromkeys(RefusalKind, "refused") | {
    RefusalKind.STOCKOUT: "no capacity",
    RefusalKind.QUOTA: "quota exceeded",
    RefusalKind.NOT_OFFERED: "machine type not offered",
}
"""What a place said, in a word or two."""


def _more(named: Sequence[object]) -> str:
    return f" and {len(named) - PLACES_NAMED} more" if len(named) > PLACES_NAMED else ""


def _expensive(places: Sequence[ExpensivePlace]) -> str:
    """What was not asked for its price."""
    words = ", ".join(place.words for place in places[:PLACES_NAMED])
    return f". Not asked: {words}{_more(places)}" if places else ""


def _help(facts: JobFacts, policy: Policy, expensive: Sequence[ExpensivePlace]) -> str:
    """What its owner, or ops, can do that places be asked which are not asked now."""
    launch, file = facts.launch, facts.file
    if not isinstance(launch, Launch):
        return "submit it with another machine type"
    ways = ["raise max_price of its ladder"] if expensive else []
    if launch.fixed:
        ways.append(f"remove what keeps it in {launch.place}: {launch.fixed[0]}")
    elif file.places is None and not policy.placement.regions:
        ways.append('add regions to job.toml, such as `places = ["us-east4"]`')
    if launch.spot:
        ways.append("set `on_demand_after = 0` in job.toml for on-demand VMs")
    ways.append("submit it with another machine type")
    return " or ".join((", ".join(ways[:-1]), ways[-1]) if len(ways) > 1 else ways)
