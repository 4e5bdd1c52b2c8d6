"""Makes all VMs of a group in bulk mode at once, as soon as there is room for all of them.

Until then no VM exists: its managed instances are CREATING, and the group says what is short.
"""

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from localcloud.compute.build import Built, build, network, scheduling
from localcloud.compute.build.machine import attachment
from localcloud.compute.groups.group import GroupMember, ManagedGroup
from localcloud.compute.life import Ask, Commands
from localcloud.compute.links import last
from localcloud.compute.refusals import Failure
from localcloud.compute.site import Site
from localcloud.errors import ApiError

Request = Callable[[ManagedGroup, GroupMember], Mapping[str, Any]]


class BulkCreation:
    """Fills groups. `changed` is called with a group of which something is new."""

    def __init__(self, site: Site, commands: Commands, changed: Callable[[ManagedGroup], None]) -> None:
        self._site = site
        self._commands = commands
        self._changed = changed

    async def fill(self, group: ManagedGroup, request: Request, ask: Ask) -> None:
        """Try again and again, until its VMs exist or nobody wants them any more."""
        while waiting := [member for member in group.staying if not member.vm_id]:
            short = self._make(group, waiting, request, ask)
            group.bulk.checked(short, self._site.now())
            self._changed(group)
            if short is None:
                break
            await self._site.pace.pause(self._site.timings.waiting)
        group.bulk.in_progress = False
        self._changed(group)

    def _make(
        self, group: ManagedGroup, members: Sequence[GroupMember], request: Request, ask: Ask
    ) -> Failure | None:
        """Make all of them, or say why there can be none; nothing is awaited between two of them."""
        built: list[Built] = []
        short = None
        try:
            for member in members:
                self._site.registry.check_free(group.zone, member.name)
                built.append(build(self._site, group.zone, request(group, member)))
                # Of a group that waits one is built to see what is short, and not all of them each time.
                short = self._short(group.zone, built[0], len(members)) if len(built) == 1 else None
                if short:
                    break
        except ApiError as error:
            short = Failure(code=error.reason, message=error.message, http_status=error.status)
        if short:
            for each in built:
                network.release(self._site, group.zone, each.resource["networkInterfaces"])
            return short
        first = built[0].resource
        machine, model = last(first["machineType"]), scheduling.model(first)
        self._site.stock.take(group.zone, machine, model, attachment(first), len(built))
        for member, each in zip(members, built, strict=True):
            member.vm_id = self._commands.insert(each, ask, acquired=True).order.target_id
            member.woken.set()
        return None

    def _short(self, zone: str, built: Built, count: int) -> Failure | None:
        """What is short of quota or room for so many like this one; nothing is taken."""
        site, resource = self._site, built.resource
        others = itertools.chain(site.registry.resources(), itertools.repeat(resource, count - 1))
        if failure := site.quotas.refuse(resource, others):
            return failure
        machine, model = last(resource["machineType"]), scheduling.model(resource)
        short = site.stock.short(zone, machine, model, attachment(resource), count)
        return short.failure(site.project) if short else None
