"""What a create script may have made: held against the policy before a request is ever sent.

Whoever may write a script could otherwise spend up to the quota, with rights that are ours. The request is
looked at as it would be sent, however the script came to it (Google: "REST Resource: instances").
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec.structs import replace

from spotwarden.model.facts import JobFacts
from spotwarden.model.launch import Launch, NoLaunch
from spotwarden.model.limits import AdmissionLimits
from spotwarden.model.patterns import allows
from spotwarden.model.request import Request

DEFAULT = "default"
"""The network of a request that names none, and the account that it calls so."""
_PROJECT = re.compile(r"(?:^|/)projects/([^/]+)/")
_LINK = re.compile(
    r"(?:https?://[a-z0-9.-]+/(?:compute/)?(?:v1|beta|alpha)/)?(?!\.*/)[\w.:-]+(?:/(?!\.+(?:/|$))[\w.:-]+)*"
)
_LOCAL_SSD_GB = 375
"""What a local SSD has whose size is not said ("About Local SSD disks")."""
_ELSEWHERE = frozenset({"metadata", "sourceImage", "sourceSnapshot"})
_OUTSIDE = ("accessConfigs", "ipv6AccessConfigs")
_HIDING = ("sourceInstanceTemplate", "sourceMachineImage")


def admit(facts: JobFacts, limits: AdmissionLimits, project: str) -> JobFacts:
    """The facts; a launch that the policy does not allow is none, with every reason for that."""
    if not isinstance(facts.launch, Launch):
        return facts
    faults = tuple(inadmissible(facts.launch, limits, project))
    if not faults:
        return facts
    reason = f"the policy does not admit what the create script of {facts.job} makes: {'; '.join(faults)}"
    return replace(facts, launch=NoLaunch(reason=reason))


def admit_others(facts: JobFacts, limits: AdmissionLimits, project: str) -> JobFacts:
    """The facts, without the other machine types that the policy does not allow."""
    launch = facts.launch
    if not isinstance(launch, Launch) or not launch.instead:
        return facts
    kept = tuple(other for other in launch.instead if not any(inadmissible(other, limits, project)))
    return replace(facts, launch=replace(launch, instead=kept))


def inadmissible(launch: Launch, limits: AdmissionLimits, project: str) -> Iterator[str]:
    """Why this launch is not allowed, reason by reason, each with what is."""
    if limits == AdmissionLimits():
        return
    request = _looked_at(launch)
    if hidden := [name for name in _HIDING if name in {*request.query, *request.body, *_machine(request)}]:
        yield f"{hidden[0]} hides what would be made; write it out"
        return
    for rule in _RULES:
        found = [item for item in rule.find(request, project) if not allows(rule.of(limits), item)]
        for value in dict.fromkeys(found):
            among = ", ".join(rule.of(limits))
            yield f"the {rule.what} {value!r} is not among {among} (admission.{rule.name})"
    if limits.most_vms is not None and len(launch.nodes) > limits.most_vms:
        yield f"{len(launch.nodes)} VMs are more than {limits.most_vms} (admission.most_vms)"
    if limits.most_disk_gb is not None and (size := _disk_gb(request)) > limits.most_disk_gb:
        yield f"{size} GB of disks a VM are more than {limits.most_disk_gb} (admission.most_disk_gb)"
    if not limits.external_ip and any(card.get(name) for card in _cards(request) for name in _OUTSIDE):
        yield "it wants an external address (admission.external_ip)"


def _looked_at(launch: Launch) -> Request:
    """The request that says what its VMs are; for a slice its template, with the other parts beside it."""
    if launch.slice is None:
        return launch.request
    parts = [part.body for part in (launch.slice.policy, launch.slice.group) if part is not None]
    return replace(launch.slice.template, body={**launch.properties, "parts": parts})


def _machine(request: Request) -> Mapping[str, Any]:
    """The part of the body that says what each VM is."""
    said: Mapping[str, Any] = request.body.get("instanceProperties", request.body)
    return said


def _types(request: Request, _project: str) -> Iterator[str]:
    said = _machine(request).get("machineType")
    yield from [_last(said)] if said else []
    for place in (request.body, _machine(request)):
        for choice in place.get("instanceFlexibilityPolicy", {}).get("instanceSelections", {}).values():
            yield from map(_last, choice.get("machineTypes", ()))


def _accelerators(request: Request, _project: str) -> Iterator[str]:
    yield from (
        _last(accelerator.get("acceleratorType", ""))
        for accelerator in _machine(request).get("guestAccelerators", ())
    )


def _images(request: Request, project: str) -> Iterator[str]:
    """As `project/name`, `project/family/name`, `project/snapshots/name` or `project/disks/name`."""
    for place, disk in enumerate(_machine(request).get("disks", ())):
        said = disk.get("initializeParams", {})
        if image := said.get("sourceImage"):
            # gcloud names a family by what each zone has of it (Google: "REST Resource: imageFamilyViews").
            family = "family/" if "/family/" in image or "/imageFamilyViews/" in image else ""
            yield _owned(image, project, family)
        for name in ("sourceSnapshot", "sourceInstantSnapshot"):
            if snapshot := said.get(name) or disk.get(name):
                yield _owned(snapshot, project, "snapshots/")
        # A VM starts from what is on its first disk, wherever that came from.
        if (source := disk.get("source")) and (disk.get("boot") or not place):
            yield _owned(source, project, "disks/")


def _accounts(request: Request, _project: str) -> Iterator[str]:
    yield from (item.get("email", DEFAULT) for item in _machine(request).get("serviceAccounts", ()))


def _networks(request: Request, project: str) -> Iterator[str]:
    """The attachment's or subnetwork's name, else the network's; another project's with that before it."""
    for card in _cards(request):
        said = (card.get(name) for name in ("networkAttachment", "subnetwork", "network"))
        link = next(filter(None, said), DEFAULT)
        yield _last(link) if _owner(link, project) == project else _owned(link, project)


def _projects(request: Request, project: str) -> Iterator[str]:
    """Every other project whose things it names, wherever in the request."""
    texts = (text for part in (request.query, request.body) for text in _texts(part))
    yield from (named for text in texts for named in _PROJECT.findall(text) if named != project)


def _texts(value: object) -> Iterator[str]:
    """Every text of the request, but for metadata, which means nothing to Compute Engine, and images."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from () if key in _ELSEWHERE else _texts(inner)
    elif isinstance(value, Sequence):
        for inner in value:
            yield from _texts(inner)


def _cards(request: Request) -> Sequence[Mapping[str, Any]]:
    cards: Sequence[Mapping[str, Any]] = _machine(request).get("networkInterfaces", ())
    return cards


def _disk_gb(request: Request) -> int:
    """What is asked for; a boot disk that says nothing has its image's size, which is not known here."""
    disks = _machine(request).get("disks", ())
    return sum(
        int(disk.get("initializeParams", {}).get("diskSizeGb", disk.get("diskSizeGb", _size(disk))))
        for disk in disks
    )


def _size(disk: Mapping[str, Any]) -> int:
    return _LOCAL_SSD_GB if disk.get("type") == "SCRATCH" else 0


def _last(link: str) -> str:
    """The name at its end; all of a link that only looks like one, which no pattern fits but `*`."""
    return link.rsplit("/", 1)[-1] if _LINK.fullmatch(link) else link


def _owned(link: str, project: str, kind: str = "") -> str:
    return f"{_owner(link, project)}/{kind}{_last(link)}" if _LINK.fullmatch(link) else link


def _owner(link: str, project: str) -> str:
    found = _PROJECT.search(link)
    return found[1] if found else project


class _Rule(NamedTuple):
    """One list of the policy, and what of a request it is held against."""

    name: str
    what: str
    find: Callable[[Request, str], Iterator[str]]

    def of(self, limits: AdmissionLimits) -> tuple[str, ...]:
        """The list."""
        allowed: tuple[str, ...] = getattr(limits, self.name)
        return allowed


_RULES = (
    _Rule("machine_types", "machine type", _types),
    _Rule("accelerators", "accelerator", _accelerators),
    _Rule("images", "image", _images),
    _Rule("service_accounts", "service account", _accounts),
    _Rule("networks", "network", _networks),
    _Rule("projects", "project", _projects),
)
