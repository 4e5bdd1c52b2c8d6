"""A create request in plain words."""

import re
from collections.abc import Iterator, Sequence
from datetime import timedelta

from spotwarden.create_script.gcloud import Note
from spotwarden.create_script.lint.facts import LintInstance, LintLaunch
from spotwarden.model.request import Request
from spotwarden.model.values import written

_PLACE = re.compile(r"/projects/([^/]+)/(zone|region)s/([^/]+)/")
_NAME = re.compile(r"[a-z0-9-]+")
_MAX_NOTES = 12


def describe(request: Request) -> str:
    """Return what a request launches, in one sentence for a person."""
    found = _PLACE.search(request.path)
    project, kind, place = found.groups() if found else ("?", "zone", "?")
    if request.path.endswith(("/resourcePolicies", "/instanceTemplates", "/instanceGroupManagers")):
        return _part(request, f"in {kind} {place} of project {project}")
    details = ", ".join(_details(LintInstance(request)))
    return f"{_names(request)} in {kind} {place} of project {project}: {details}"


def _part(request: Request, where: str) -> str:
    """One part of a TPU slice."""
    name, body = _names(request), request.body
    if "workloadPolicy" in body:
        return f"workload policy {name} {where}: topology {body['workloadPolicy'].get('acceleratorTopology')}"
    if "properties" in body:
        return f"template {name}: {', '.join(_details(LintInstance(request)))}"
    template = str(body["instanceTemplate"]).rpartition("/")[2]
    size = body["targetSize"]
    return (
        f"TPU slice {name} {where}: {f'{size} VMs' if size else 'filled later'}, by the template {template}"
    )


def _names(request: Request) -> str:
    body = request.body
    if "instanceProperties" not in body:
        name = str(body.get("name", ""))
        return name if _NAME.fullmatch(name) else repr(name)
    names = sorted(body.get("perInstanceProperties", {}))
    told = ", ".join(names) if names else f"named {body.get('namePattern')}"
    least = body.get("minCount")
    count = str(body.get("count"))
    bound = "" if least in (None, count) else f" (at least {least})"
    return f"{count} instances{bound} {told}"


def _details(instance: LintInstance) -> Iterator[str]:
    yield instance.machine_type or "the machine type of its template"
    if instance.accelerators:
        yield instance.accelerators
    yield _model(instance)
    yield from _limits(instance)
    yield from _disks(instance)
    yield from _accounts(instance)
    keys = sorted(key for key, _ in instance.metadata())
    yield f"metadata {', '.join(keys)}" if keys else "no metadata"


def _model(instance: LintInstance) -> str:
    action = str(instance.scheduling.get("instanceTerminationAction", "")).lower()
    if not instance.spot:
        model = str(instance.scheduling.get("provisioningModel", "on demand")).lower().replace("_", "-")
        return f"{model}, {action}d at the end of its time" if action.endswith("e") else model
    done = {"delete": "deleted", "stop": "stopped"}.get(action, "stopped")
    return f"spot: may be preempted at any time, and is then {done}"


def _limits(instance: LintInstance) -> Iterator[str]:
    duration = instance.scheduling.get("maxRunDuration")
    if duration:
        yield f"runs for at most {written(timedelta(seconds=int(duration.get('seconds', 0))))}"
    if "terminationTime" in instance.scheduling:
        yield f"runs until {instance.scheduling['terminationTime']}"


def _disks(instance: LintInstance) -> Iterator[str]:
    for disk in instance.properties.get("disks", ()):
        start = disk.get("initializeParams", {})
        size = f" {start['diskSizeGb']} GB" if "diskSizeGb" in start else ""
        kind = f" {str(start['diskType']).rsplit('/', 1)[-1]}" if "diskType" in start else ""
        source = start.get("sourceImage") or start.get("sourceSnapshot") or disk.get("source")
        origin = f" from {_short(str(source))}" if source else ""
        yield f"{'boot disk' if disk.get('boot') else 'disk'}{size}{kind}{origin}"


def _short(url: str) -> str:
    return url.split("/projects/", 1)[-1]


def _accounts(instance: LintInstance) -> Iterator[str]:
    for account in instance.properties.get("serviceAccounts", ()):
        scopes = account.get("scopes", ())
        broad = any(str(scope).endswith("/cloud-platform") for scope in scopes)
        email = account.get("email")
        who = "the default service account" if email == "default" else f"service account {email}"
        yield f"{who} with {'every scope' if broad else f'{len(scopes)} scopes'}"


def describe_rest(notes: Sequence[Note], launches: Sequence[LintLaunch]) -> tuple[str, ...]:
    """Return what stands in the script beside the creates: a re-run leaves it out."""
    last = max((launch.command.line for launch in launches), default=0)
    told = [
        f"line {note.line}: {note.text} ({'after' if note.line > last else 'before'} the last create)"
        for note in notes
    ]
    more = len(told) - _MAX_NOTES
    return (*told[:_MAX_NOTES], *([f"and {more} more"] if more > 0 else []))
