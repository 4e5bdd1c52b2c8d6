"""What a create script says against what ran: it may have been changed since, or run with other flags.

Only what the request says is compared; what Compute Engine fills in is no difference. Values of metadata may
be secrets and are never shown. Metadata and labels that begin with `spotwarden-` are ours, labels that begin
with `goog-` are Google's, and keys for logging in are put on a machine by whoever does.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from spotwarden.create_script.request.compare_parts import cards, differ, disks, texts
from spotwarden.create_script.request.dns import followed
from spotwarden.create_script.request.requested import launch_of_request
from spotwarden.create_script.request.urls import last
from spotwarden.model.launch import NoLaunch
from spotwarden.model.request import Request

Part = Mapping[str, Any]

_OURS, _GOOGLES = "spotwarden-", "goog-"
_ATTEMPT = "spotwarden-attempt"
_CONTAINER = "gce-container-declaration"
_LOGINS = frozenset(["ssh-keys", "sshKeys", "windows-keys"])
_DEFAULT_ACCOUNT = "-compute@developer.gserviceaccount.com"
# Machines that have no accelerators but those asked for; the others come with theirs.
_BARE = ("n1-", "custom-", "f1-", "g1-")


def differences(
    request: Request, resource: Part, known_disks: Mapping[str, Part] | None = None
) -> tuple[str, ...]:
    """One short sentence for each thing in which the instance is not what the request says.

    Types and images of disks are compared where `known_disks`, disk resources by URL, tell them.
    """
    launch = launch_of_request(request)
    if isinstance(launch, NoLaunch):
        return (launch.reason,)
    zone, regional = last(resource["zone"]), "/regions/" in request.path
    if not regional:
        request = followed(request, launch.nodes, launch.place, zone)
    said = request.body.get("instanceProperties", request.body)
    template = "sourceInstanceTemplate" in {*request.query, *request.body} or "sourceMachineImage" in said
    found: list[str] = []
    if resource["name"] not in launch.nodes:
        found += differ("the name", _short(launch.nodes), resource["name"])
    if not _ours(resource):
        found += differ("the place", launch.place, zone.rpartition("-")[0] if regional else zone)
        found += _scheduling(said, resource) if "scheduling" in said or not template else ()
    for field, compare in _COMPARE.items():
        if field in said or not template:  # what a template says is known to the API only
            found += compare(said, resource)
    if "disks" in said or not template:
        found += disks(said, resource, known_disks or {})
    return tuple(found)


def contradictions(request: Request, resource: Part) -> tuple[str, ...]:
    """As `differences`, but for what people add to a VM once it is there: whether this request made it.

    Further metadata, labels, tags and disks are no contradiction; what the request asked for must be there.
    """
    said = request.body.get("instanceProperties", request.body)
    asked = set(_items(said))
    tags = said.get("tags", {}).get("items", ())
    kept = [item for item in resource.get("metadata", {}).get("items", ()) if item["key"] in asked]
    labels = said.get("labels", {})
    as_asked = {
        **resource,
        "metadata": {"items": kept},
        "labels": {key: text for key, text in resource.get("labels", {}).items() if key in labels},
        "tags": {"items": [tag for tag in resource.get("tags", {}).get("items", ()) if tag in tags]},
        "disks": resource.get("disks", ())[: len(said.get("disks", ()))],
    }
    return differences(request, as_asked)


def _short(nodes: tuple[str, ...]) -> str:
    return nodes[0] if len(nodes) == 1 else f"{nodes[0]} to {nodes[-1]}"


def _ours(resource: Part) -> bool:
    """Whether we launched it: where there was room, and on demand if there was no other way."""
    return _ATTEMPT in _items(resource) or _ATTEMPT in resource.get("labels", {})


def _items(machine: Part) -> dict[str, str]:
    items = machine.get("metadata", {}).get("items", ())
    return {item["key"]: _compared(item["key"], item.get("value", "")) for item in items}


def _compared(key: str, value: str) -> str:
    """Leave out the comment that gcloud puts before a container: each version has another."""
    if key != _CONTAINER:
        return value
    return "\n".join(line for line in value.split("\n") if line and not line.startswith("#"))


def _machine(said: Part, ran: Part) -> Iterator[str]:
    yield from differ("the machine type", last(said.get("machineType", "")), last(ran["machineType"]))


def _accelerators(said: Part, ran: Part) -> Iterator[str]:
    wanted, found = _counted(said), _counted(ran)
    if wanted or last(ran["machineType"]).startswith(_BARE):
        yield from differ("the accelerators", wanted, found)


def _counted(machine: Part) -> str:
    kinds = machine.get("guestAccelerators", ())
    return ", ".join(
        sorted(f"{kind['acceleratorCount']} x {last(kind['acceleratorType'])}" for kind in kinds)
    )


def _scheduling(said: Part, ran: Part) -> Iterator[str]:
    wanted, found = said.get("scheduling", {}), ran.get("scheduling", {})
    yield from differ("the provisioning model", _model(wanted), _model(found))
    asked = _action(wanted)
    if asked:
        yield from differ("the termination action", asked, _action(found))


def _model(scheduling: Part) -> str:
    model: str = scheduling.get("provisioningModel", "STANDARD")
    return "preemptible" if model == "STANDARD" and scheduling.get("preemptible") else model


def _action(scheduling: Part) -> str:
    """What happens at the end; Compute Engine stops a spot VM where nothing is said."""
    default = "STOP" if scheduling.get("provisioningModel") == "SPOT" else ""
    return str(scheduling.get("instanceTerminationAction", default))


def _metadata(said: Part, ran: Part) -> Iterator[str]:
    wanted, found = _items(said), _items(ran)
    hidden = {key for key in found if key in _LOGINS and key not in wanted}
    yield from texts("metadata", _own(wanted), _own(found, hidden), shown=False)


def _labels(said: Part, ran: Part) -> Iterator[str]:
    wanted, found = said.get("labels", {}), ran.get("labels", {})
    hidden = {key for key in found if key.startswith(_GOOGLES) and key not in wanted}
    yield from texts("label", _own(wanted), _own(found, hidden), shown=True)


def _own(values: Mapping[str, str], hidden: frozenset[str] | set[str] = frozenset()) -> dict[str, str]:
    return {key: text for key, text in values.items() if not key.startswith(_OURS) and key not in hidden}


def _account(said: Part, ran: Part) -> Iterator[str]:
    wanted, found = _email(said), _email(ran)
    if wanted != "default" or not found.endswith(_DEFAULT_ACCOUNT):
        yield from differ("the service account", wanted, found)


def _email(machine: Part) -> str:
    return next((item.get("email", "default") for item in machine.get("serviceAccounts", ())), "")


def _tags(said: Part, ran: Part) -> Iterator[str]:
    wanted, found = (", ".join(sorted(given.get("tags", {}).get("items", ()))) for given in (said, ran))
    yield from differ("the network tags", wanted, found)


_COMPARE = {
    "machineType": _machine,
    "guestAccelerators": _accelerators,
    "metadata": _metadata,
    "serviceAccounts": _account,
    "networkInterfaces": cards,
    "labels": _labels,
    "tags": _tags,
}
