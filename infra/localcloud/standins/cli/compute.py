"""The Compute API as gcloud's commands use it: which instance, the calls, the waiting."""

import re
import sys
from collections.abc import Mapping
from typing import Any, NamedTuple, NoReturn

from localcloud.standins.cli.command import Run
from localcloud.standins.cli.formats import BadFormat, render
from localcloud.standins.cli.properties import machine_zone
from localcloud.standins.transport import CloudError, segment

WHERE = re.compile(
    r"(?:.*?projects/(?P<project>[^/]+)/)?(?:zones/(?P<zone>[^/]+)/instances/)?(?P<name>[^/]+)"
)


class Target(NamedTuple):
    """One instance that a command is about."""

    project: str
    zone: str
    name: str

    @property
    def path(self) -> str:
        """Its path in the API. What is not a name is sent as it is: the API says what is wrong with it."""
        return f"{_zone_path(self)}/instances/{segment(self.name)}"


def targets(run: Run) -> list[Target]:
    """The instances named: bare names, which need a zone, or paths and URLs, which have one."""
    return [_target(run, argument) for argument in run.arguments]


def _target(run: Run, argument: str) -> Target:
    match = WHERE.fullmatch(argument)
    if match is None:
        run.fail(f"could not parse resource [{argument}]")
    zone = match["zone"] or run.flags.get("--zone") or run.properties.get("compute/zone")
    if not zone:
        zone = machine_zone()
        sys.stderr.write(f"No zone specified. Using zone [{zone}] for instance: [{match['name']}].\n")
    return Target(match["project"] or run.project, zone, match["name"])


def _zone_path(target: Target) -> str:
    return f"/compute/v1/projects/{segment(target.project)}/zones/{segment(target.zone)}"


class Api:
    """Calls for one run of a command; a refusal ends it as gcloud does."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._door = run.door()

    def call(
        self, method: str, path: str, *, query: Mapping[str, str] | None = None, body: object = None
    ) -> dict[str, Any]:
        """Make a call."""
        try:
            return self._door.call(method, path, query=query, body=body)
        except CloudError as error:
            self._could_not_fetch([error.message])

    def get(self, target: Target) -> dict[str, Any]:
        """Read an instance."""
        return self.call("GET", target.path)

    def wait(self, target: Target, operation: dict[str, Any]) -> None:
        """Wait until an operation is done; end the command if it failed."""
        path = f"{_zone_path(target)}/operations/{segment(operation['name'])}/wait"
        while operation["status"] != "DONE":
            operation = self.call("POST", path)
        if errors := operation.get("error", {}).get("errors"):
            self._could_not_fetch([error["message"] for error in errors])

    def _could_not_fetch(self, reasons: list[str]) -> NoReturn:
        self._run.fail("Could not fetch resource:\n" + "".join(f" - {reason}\n" for reason in reasons))


def show(run: Run, resources: list[dict[str, Any]], default: str, *, single: bool = False) -> None:
    """Print resources in the form that was asked for."""
    try:
        sys.stdout.write(render(resources, run.flags.get("--format") or default, single=single))
    except BadFormat as error:
        run.fail(str(error))
