"""Compute Engine of the local cloud: one project's instances and what belongs to them."""

from collections.abc import Callable
from datetime import timedelta

from starlette.routing import BaseRoute

from localcloud.clock import Clock
from localcloud.compute.api import admin_routes, routes
from localcloud.compute.knobs import Knobs
from localcloud.compute.life import Commands, Events, Steps, Tasks
from localcloud.compute.links import Links
from localcloud.compute.site import make_site
from localcloud.compute.timings import Pace, Timings
from localcloud.methods import refusing
from localcloud.ports import Audit, Machines

UNDONE = ("guestFlush", "serviceProject", "serviceProjectNumber", "views", "withExtendedNotifications")
"""Query parameters that are not done."""


class ComputeService:
    """The service: its routes, and methods for callers in this process. State is in memory.

    `base_url` gives the URL of the HTTP port without a slash at the end, from the first call on. `pace` lets
    time pass; a test may hand over one of its own. `insert_time` draws what a start takes beyond `timings`.
    """

    def __init__(
        self,
        *,
        project: str,
        clock: Clock,
        machines: Machines,
        audit: Audit,
        base_url: Callable[[], str],
        timings: Timings,
        pace: Pace | None = None,
        insert_time: Callable[[], timedelta] = timedelta,
    ) -> None:
        self._site = make_site(
            project=project,
            clock=clock,
            machines=machines,
            audit=audit,
            links=Links(base_url=base_url, project=project),
            timings=timings,
            pace=pace or Pace(),
            insert_time=insert_time,
        )
        self._tasks = Tasks()
        steps = Steps(self._site, self._tasks)
        self._commands = Commands(self._site, self._tasks, steps)
        self._events = Events(self._site, self._tasks, steps, self._commands)
        self.knobs = Knobs(self._site, steps, self._events)

    @property
    def project_number(self) -> str:
        """The number of the project."""
        return self._site.project_number

    def routes(self) -> list[BaseRoute]:
        """The routes of the API: `/compute/v1/…` and `/batch/compute/v1`."""
        return [*refusing(routes(self._site, self._tasks, self._commands, self._events), UNDONE)]

    def admin_routes(self) -> list[BaseRoute]:
        """The routes of the knobs, under `/local/`."""
        return admin_routes(self.knobs)

    def preempt(self, name_or_id: str, action: str = "") -> None:
        """Preempt a spot instance, as `Knobs.preempt`.

        Raises:
            ApiError: 404 when there is none, 400 when it is no spot instance or does not run.
        """
        self.knobs.preempt(name_or_id, action)

    def guest_poweroff(self, instance_id: str) -> None:
        """The guest of an instance ran `shutdown` or `poweroff`; one that is gone is none of our business."""
        self._events.guest_poweroff(instance_id)

    async def close(self) -> None:
        """End what goes on. Machines are left as they are: whoever made them ends them."""
        await self._tasks.close()
