"""The methods of `instances` and `regionInstances` that change something, and the serial port."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from starlette.routing import BaseRoute

from localcloud.compute.api.call import Answer, Call, route
from localcloud.compute.api.changes import CHANGES
from localcloud.compute.api.guest_attributes import get_guest_attributes
from localcloud.compute.audit import Subject
from localcloud.compute.build import build, with_base
from localcloud.compute.build.templates import machine_image, template
from localcloud.compute.bulk import Bulk, read_plan
from localcloud.compute.life import Ask, Commands, Events
from localcloud.compute.operations import Running
from localcloud.compute.refusals import invalid_field
from localcloud.compute.registry import Vm
from localcloud.compute.site import Site

Command = Callable[[Vm, Ask], Running]

LARGEST_PIECE = 1024 * 1024
"""Bytes of console output in one answer ("Viewing serial port output": the most recent 1 MB)."""


@dataclass(frozen=True, kw_only=True)
class Instances:
    """The methods, over what carries them out."""

    site: Site
    commands: Commands
    events: Events
    bulk: Bulk

    def routes(self) -> list[BaseRoute]:
        """The routes of all of them."""
        site = self.site
        base = "projects/{project}/zones/{zone}/instances"
        item = f"{base}/{{instance}}"
        commands: Mapping[str, Command] = {
            "stop": self.commands.stop,
            "start": self.commands.start,
            "suspend": self.commands.suspend,
            "resume": self.commands.resume,
            "reset": self.commands.reset,
            "simulateMaintenanceEvent": self.events.maintain,
        }
        return [
            route(site, "POST", base, self.insert),
            route(site, "POST", f"{base}/bulkInsert", self.insert_many),
            route(site, "POST", "projects/{project}/regions/{region}/instances/bulkInsert", self.insert_many),
            route(site, "GET", f"{item}/serialPort", self.serial_port),
            route(site, "GET", f"{item}/getGuestAttributes", get_guest_attributes),
            self._command("DELETE", item, "delete", self.commands.delete),
            *(self._command("POST", f"{item}/{name}", name, run) for name, run in commands.items()),
            *(self._command("POST", f"{item}/{name}", name, None) for name in CHANGES),
        ]

    async def insert(self, call: Call) -> Answer:
        """`instances.insert`, also from a template or a machine image."""
        given = call.read("Instance")
        name, zone = given.get("name", ""), call.part("zone")

        def work() -> Running:
            whole = with_base(self._base(call, given), given)
            self.site.registry.check_free(zone, name)
            return self.commands.insert(build(self.site, zone, whole), call.ask)

        subject = Subject(path=f"zones/{zone}/instances/{name}", zone=zone)
        return call.audited("compute.instances.insert", subject, work)

    def _base(self, call: Call, given: Mapping[str, Any]) -> Mapping[str, Any] | None:
        if "sourceInstanceTemplate" in call.query:
            return template(self.site, call.query["sourceInstanceTemplate"], "sourceInstanceTemplate")
        source = given.get("sourceMachineImage") or call.query.get("sourceMachineImage")
        return machine_image(self.site, source) if source else None

    async def insert_many(self, call: Call) -> Answer:
        """`instances.bulkInsert` and `regionInstances.bulkInsert`."""
        body = call.read("BulkInsertInstanceResource")
        source = body.get("sourceInstanceTemplate", "")
        field = "bulkInsertInstanceResource.sourceInstanceTemplate"

        def work() -> Running:
            base = template(self.site, source, field) if source else None
            return self.bulk.insert(read_plan(body, base), call.scope, call.ask)

        zonal = bool(call.part("zone"))
        method = f"compute.{'instances' if zonal else 'regionInstances'}.bulkInsert"
        return call.audited(method, Subject(path=call.scope, zone=call.part("zone")), work)

    def _command(self, verb: str, path: str, name: str, command: Command | None) -> BaseRoute:
        """The route of a method that is about one instance."""

        async def handler(call: Call) -> Answer:
            zone, wanted = call.part("zone"), call.part("instance")

            def work() -> Running:
                vm = self.site.registry.find(zone, wanted)
                return command(vm, call.ask) if command else self._change(name, vm, call)

            subject = Subject(path=f"zones/{zone}/instances/{wanted}", zone=zone)
            return call.audited(f"compute.instances.{name}", subject, work)

        return route(self.site, verb, path, handler)

    def _change(self, name: str, vm: Vm, call: Call) -> Running:
        """Change the resource at once; the operation that says so ends later."""
        fields = CHANGES[name](vm, call)
        self.site.registry.change(vm, fields)
        self.events.tell(vm)
        return self.commands.note(name, vm, call.ask)

    async def serial_port(self, call: Call) -> Answer:
        """`instances.getSerialPortOutput`: what the machine wrote to its console, from a byte on."""
        vm = self.site.registry.find(call.part("zone"), call.part("instance"))
        port, start = _number(call, "port", 1), _number(call, "start", 0)
        if not 1 <= port <= 4:  # noqa: PLR2004 - an instance has four serial ports
            raise invalid_field("port", port, "Must be from 1 to 4.")
        text = self.site.machines.console(vm.id) if port == 1 and not vm.empty else ""
        written = text.encode()
        first = max(start if start >= 0 else len(written) + start, len(written) - LARGEST_PIECE, 0)
        piece = written[first:]
        return {
            "kind": "compute#serialPortOutput",
            "selfLink": self.site.links.link(f"{vm.path}/serialPort"),
            "contents": piece.decode(errors="replace"),
            "start": str(first),
            "next": str(first + len(piece)),
        }


def _number(call: Call, name: str, default: int) -> int:
    text = call.query.get(name, str(default))
    try:
        return int(text)
    except ValueError as error:
        raise invalid_field(name, text, "It must be a number.") from error
