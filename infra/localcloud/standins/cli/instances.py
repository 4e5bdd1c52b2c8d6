"""`gcloud compute instances …` inside a virtual machine: delete, stop, start, reset, describe, list."""

import sys
from collections.abc import Mapping
from typing import Any

from localcloud.standins.cli import edits
from localcloud.standins.cli.command import MANY, SWITCH, VALUE, YES_NO, Command, Path, Run
from localcloud.standins.cli.compute import Api, show, targets
from localcloud.standins.transport import segment

LIST_COLUMNS = (
    "table(name, zone.basename(), machineType.basename():label=MACHINE_TYPE, "
    "scheduling.preemptible:label=PREEMPTIBLE, networkInterfaces[0].networkIP:label=INTERNAL_IP, "
    "networkInterfaces[0].accessConfigs[0].natIP:label=EXTERNAL_IP, status)"
)


def _delete(run: Run) -> None:
    _change(run, "DELETE", "", "Deleted [{link}].")


def _stop(run: Run) -> None:
    sys.stderr.write(f"Stopping instance(s) {', '.join(run.arguments)}...\n")
    said = run.flags.get(DISCARD)
    _change(run, "POST", "/stop", "Updated [{link}].", query={"discardLocalSsd": said} if said else None)


def _start(run: Run) -> None:
    sys.stderr.write(f"Starting instance(s) {', '.join(run.arguments)}...\n")
    _change(run, "POST", "/start", "Updated [{link}].")


def _reset(run: Run) -> None:
    _change(run, "POST", "/reset", "Updated [{link}].")


def _change(run: Run, method: str, suffix: str, said: str, *, query: Mapping[str, str] | None = None) -> None:
    """Ask for the change of all instances first, then wait for all operations."""
    api = Api(run)
    asked = [(target, api.call(method, target.path + suffix, query=query)) for target in targets(run)]
    if "--async" in run.flags:
        return
    for target, operation in asked:
        api.wait(target, operation)
        sys.stderr.write(said.format(link=operation.get("targetLink", target.path)) + "\n")


def _describe(run: Run) -> None:
    api = Api(run)
    show(run, [api.get(target) for target in targets(run)], "yaml", single=True)


def _list(run: Run) -> None:
    found = [instance for instance in _all(run) if _is_wanted(instance, run)]
    limit = run.flags.get("--limit", str(MANY))
    if not limit.isdecimal():
        run.fail(f"argument --limit: Value must be a positive integer; received: {limit}", 2)
    found = found[: int(limit)]
    if "--uri" in run.flags:
        sys.stdout.write("".join(f"{instance['selfLink']}\n" for instance in found))
    elif found or run.flags.get("--format"):
        show(run, found, LIST_COLUMNS)
    else:
        sys.stderr.write("Listed 0 items.\n")


def _is_wanted(instance: dict[str, Any], run: Run) -> bool:
    zones = run.flags.get("--zones", "")
    if zones and instance["zone"].rpartition("/")[2] not in zones.split(","):
        return False
    return not run.arguments or instance["name"] in run.arguments


def _all(run: Run) -> list[dict[str, Any]]:
    """Every instance of the project; `--filter` is the API's, which is close to gcloud's own."""
    api = Api(run)
    path = f"/compute/v1/projects/{segment(run.project)}/aggregated/instances"
    query = {"maxResults": "500"} | ({"filter": run.flags["--filter"]} if run.flags.get("--filter") else {})
    found: list[dict[str, Any]] = []
    while True:
        page = api.call("GET", path, query=query)
        for scope in page.get("items", {}).values():
            found += scope.get("instances", [])
        if not page.get("nextPageToken"):
            return found
        query["pageToken"] = page["nextPageToken"]


def _no_ssh(run: Run) -> None:
    run.fail(
        "There is no SSH in the local cloud: its virtual machines are processes of this computer. "
        "Their files are in the folder vms of the local cloud's state."
    )


DISCARD = "--discard-local-ssd"
PREFIX = ("compute", "instances")
SEVERAL = "INSTANCE_NAMES [INSTANCE_NAMES ...]"
ZONE = {"--zone": VALUE}
LATER = {**ZONE, "--async": SWITCH}
LISTING = {"--zones": VALUE, "--filter": VALUE, "--limit": VALUE, "--uri": SWITCH}
SSH = {"--zone": VALUE, "--command": VALUE, "--recurse": SWITCH, "--tunnel-through-iap": SWITCH}

COMMANDS: dict[Path, Command] = {
    (*PREFIX, "delete"): Command(_delete, ZONE, SEVERAL, 1, MANY),
    (*PREFIX, "stop"): Command(_stop, {**LATER, DISCARD: YES_NO}, SEVERAL, 1, MANY),
    (*PREFIX, "start"): Command(_start, LATER, SEVERAL, 1, MANY),
    (*PREFIX, "reset"): Command(_reset, ZONE, SEVERAL, 1, MANY),
    (*PREFIX, "describe"): Command(_describe, ZONE, "INSTANCE_NAME", 1, 1),
    (*PREFIX, "list"): Command(_list, LISTING, "NAME", 0, MANY),
    **{(*PREFIX, name): command for name, command in edits.COMMANDS.items()},
    ("compute", "ssh"): Command(_no_ssh, SSH, "[USER@]INSTANCE", 0, MANY),
    ("compute", "scp"): Command(_no_ssh, SSH, "[[USER@]INSTANCE:]SRC", 0, MANY),
}
