"""What is deployed, held against the manifest: each thing is there, and says what it should."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from spotwarden.cli.deployment.manifest import DeployedFunction, DeploymentManifest
from spotwarden.gcp.deployed import Deployed
from spotwarden.ports import RejectedError, UnansweredError

AGAIN = "deploy again: ./deploy.sh gcp"
TICK = "spotwarden-tick"
ARCHIVE = "archive"
"""The label that says what a function is made of, as infra/terraform/service puts it there."""
MOST_OF_LABEL = 40
NARROWED = {"iam.serviceAccounts.actAs", "pubsub.topics.publish"}
"""Permissions that are granted on one account or topic, and so are in no role of the project."""

Json = Mapping[str, Any]


class CheckState(Enum):
    """What is known of one thing."""

    GOOD = "good"
    BAD = "BAD"
    UNKNOWN = "unknown"
    SKIPPED = "skipped"


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the doctor's table: what was looked at, how it stands, why, and what to do about it."""

    what: str
    state: CheckState
    why: str = ""
    todo: str = ""


class CheckSubject(msgspec.Struct, frozen=True, kw_only=True):
    """What is examined; `build` is the folder with the staged archives, where it is known."""

    project: str
    bucket: str
    prefix: str
    build: Path | None = None

    def topic(self, name: str) -> str:
        """A topic's full name."""
        return f"projects/{self.project}/topics/{name}"


def examine(deployed: Deployed, manifest: DeploymentManifest, where: CheckSubject) -> Iterator[Check]:
    """Everything that can be seen without touching anything."""
    for topic in manifest.topics.values():
        yield _seen(f"topic {topic}", partial(deployed.topic, topic), lambda _: ())
    for function in manifest.functions:
        yield from _function(deployed, function, where)
        if function.is_woken:
            yield from _wakes(deployed, function, manifest, where)


def _wakes(
    deployed: Deployed, function: DeployedFunction, manifest: DeploymentManifest, where: CheckSubject
) -> Iterator[Check]:
    name = function.topic
    yield _seen(f"topic {name}", lambda: deployed.topic(name), lambda _: ())
    subscribed = {name: name}
    subscribed |= {f"{name}-{manifest.topics[key]}": manifest.topics[key] for key in function.listens_to}
    for subscription, topic in subscribed.items():
        yield _seen(
            f"subscription {subscription}",
            partial(deployed.subscription, subscription),
            partial(subscription_faults, topic=where.topic(topic), at_google=deployed.at_google),
        )
    if function.schedule:
        yield _seen(
            f"schedule {name}",
            lambda: deployed.tick(name),
            lambda found: schedule_faults(found, function, where.topic(name)),
        )
    if function.log_events:
        yield _seen(
            f"log sink {name}",
            lambda: deployed.sink(name),
            lambda found: sink_faults(found, function, where.topic(name)),
        )
    for event, below in function.bucket_events.items():
        yield _seen(
            f"bucket notification {below}",
            lambda: {"items": deployed.notifications(where.bucket)},
            partial(notification_faults, wanted=(event, below), topic=name, where=where),
        )

    if deployed.at_google and (function.log_events or function.bucket_events or function.wakes_itself):
        yield _seen(
            f"publishers of {name}",
            lambda: {"may": deployed.publishers(name), "must": _telling(deployed, function, where)},
            lambda found: [
                f"{match} may not publish to it" for match in found["must"] if match not in found["may"]
            ],
        )


def _telling(deployed: Deployed, function: DeployedFunction, where: CheckSubject) -> Iterator[str]:
    """In whose names events come; a tick finds all of it as well, and so hides that one does not."""
    if function.wakes_itself:
        yield _account(function, where)
    if function.log_events:
        yield (deployed.sink(function.topic) or {}).get("writerIdentity", "the log sink")
    if function.bucket_events:
        yield deployed.storage_agent()


def _account(function: DeployedFunction, where: CheckSubject) -> str:
    return f"serviceAccount:{function.topic}@{where.project}.iam.gserviceaccount.com"


def _function(deployed: Deployed, function: DeployedFunction, where: CheckSubject) -> Iterator[Check]:
    """What only Google has: the service itself, and its role."""
    if not deployed.at_google:
        return
    name = function.deployed_name
    archive = archive_of(function, where.build) if where.build else ""
    yield _seen(
        f"function {name}",
        lambda: deployed.function(name),
        lambda found: function_faults(found, function, archive, where),
    )
    if needed := sorted(set(function.permissions) - NARROWED):
        role = f"spotwarden_{function.name}"
        member = _account(function, where)
        yield _seen(
            f"permissions of {name}",
            lambda: deployed.role(role),
            lambda found: role_faults(found, needed, member, granted=member in deployed.members(role)),
        )


def _seen(what: str, look: Callable[[], Json | None], faults: Callable[[Json], Sequence[str]]) -> Check:
    try:
        found = look()
        wrong = ["it is not there"] if found is None else faults(found)
    except (RejectedError, UnansweredError) as error:
        return Check(what=what, state=CheckState.UNKNOWN, why=str(error), todo="ask for the role Viewer")
    if wrong:
        return Check(what=what, state=CheckState.BAD, why="; ".join(wrong), todo=AGAIN)
    return Check(what=what, state=CheckState.GOOD)


def subscription_faults(found: Json, topic: str, *, at_google: bool) -> list[str]:
    """What is wrong with a push subscription; one without a path to a function is woken by nobody."""
    wrong = []
    if found.get("topic") != topic:
        wrong.append(f"it is of {found.get('topic')}, not of {topic}")
    if not found.get("pushConfig", {}).get("pushEndpoint"):
        wrong.append("it has no push endpoint")
    if found.get("detached"):
        wrong.append("it is detached")
    if at_google and not found.get("pushConfig", {}).get("oidcToken"):
        wrong.append("it pushes without a token")
    if at_google and not found.get("deadLetterPolicy"):
        wrong.append("it has no dead-letter topic")
    return wrong


def schedule_faults(found: Json, function: DeployedFunction, topic: str) -> list[str]:
    """What is wrong with a tick. Without data no function takes it for an event."""
    target = found.get("pubsubTarget", {})
    wrong = []
    if found.get("state", "ENABLED") != "ENABLED":
        wrong.append(f"it is {found['state']}: resume it")
    if found.get("schedule") != function.schedule:
        wrong.append(f"its schedule is {found.get('schedule')!r}, not {function.schedule!r}")
    if target.get("topicName") != topic:
        wrong.append(f"it goes to {target.get('topicName')}, not to {topic}")
    if TICK not in target.get("attributes", {}):
        wrong.append(f"it has no attribute {TICK}")
    if not target.get("data"):
        wrong.append("it carries no data")
    return wrong


def sink_faults(found: Json, function: DeployedFunction, topic: str) -> list[str]:
    """What is wrong with a log sink."""
    wrong = []
    if found.get("disabled"):
        wrong.append("it is disabled")
    if found.get("filter") != function.log_events:
        wrong.append(f"its filter is {found.get('filter')!r}, not {function.log_events!r}")
    if found.get("destination") != f"pubsub.googleapis.com/{topic}":
        wrong.append(f"it goes to {found.get('destination')}")
    return wrong


def notification_faults(found: Json, wanted: tuple[str, str], topic: str, where: CheckSubject) -> list[str]:
    """What is wrong with how the bucket tells of changes: exactly one notification is to be of this kind."""
    event, below = wanted
    end = where.topic(topic)
    ours = [match for match in found["items"] if str(match.get("topic", "")).endswith(end)]
    right = [
        rule
        for rule in ours
        if event in rule.get("event_types", [event])
        and rule.get("object_name_prefix", "") == where.prefix + below
    ]
    if len(right) == 1:
        return []
    if right:
        return [f"there are {len(right)}, so each event comes {len(right)} times"]
    told = ", ".join(rule.get("object_name_prefix", "the whole bucket") for rule in ours)
    return [
        f"the bucket reports changes of {told}, not of {where.prefix + below}" if ours else "it is not there"
    ]


def function_faults(found: Json, function: DeployedFunction, archive: str, where: CheckSubject) -> list[str]:
    """What is wrong with a function: whether it is ready, and made of what was staged here."""
    wrong = []
    if found.get("state") != "ACTIVE":
        said = "; ".join(match.get("message", "") for match in found.get("stateMessages", ()))
        wrong.append(f"it is {found.get('state')}{': ' + said if said else ''}")
    # Not what the build says of its source: that is a copy, with a name that Cloud Functions has given it.
    made_of = found.get("labels", {}).get(ARCHIVE, "")
    if archive and made_of != archive:
        wrong.append(f"it runs another version: {made_of or 'unknown'}, staged here is {archive}")
    told = found.get("serviceConfig", {}).get("environmentVariables", {})
    if told.get("SPOTWARDEN_BUCKET") != where.bucket:
        wrong.append(f"it uses the bucket {told.get('SPOTWARDEN_BUCKET')}")
    has = {match.get("key") for match in found.get("serviceConfig", {}).get("secretEnvironmentVariables", ())}
    if strange := sorted(has - set(function.secrets)):
        wrong.append(f"it can read secrets that it must not have: {', '.join(strange)}")
    return wrong


def role_faults(found: Json, needed: Sequence[str], member: str, *, granted: bool) -> list[str]:
    """What a function may not do that it must, by name."""
    if found.get("deleted"):
        return ["its role is deleted"]
    held = set(found.get("includedPermissions", ()))
    wrong = (
        [f"missing: {', '.join(lacking)}"]
        if (lacking := [name for name in needed if name not in held])
        else []
    )
    if more := sorted(held - set(needed)):
        wrong.append(f"more than it needs: {', '.join(more)}")
    return [*wrong, *([] if granted else [f"{member} does not have its role"])]


def archive_of(function: DeployedFunction, build: Path) -> str:
    """The label that a function has which is made of what is staged here; "" where nothing is."""
    archive = build / f"{function.name}.zip"
    if not archive.exists():
        return ""
    return sha256(archive.read_bytes()).hexdigest()[:MOST_OF_LABEL]
