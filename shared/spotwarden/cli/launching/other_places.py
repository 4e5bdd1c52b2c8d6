"""Whether a job's own places have any of its machines: nobody else says that a name is mistyped."""

from collections.abc import Iterator
from contextlib import suppress

import click

from spotwarden.cli.launching.offered import instead, is_served
from spotwarden.create_script.request.cache import on_machine
from spotwarden.model.jobfile import JobFile
from spotwarden.model.launch import Launch
from spotwarden.model.placement import region_of
from spotwarden.ports import Compute, RejectedError, UnansweredError


def warn_of_places(compute: Compute, launch: Launch, file: JobFile) -> None:
    """Warn of each of `places` where no zone offers a machine type of the job: it never goes there.

    Where the lists cannot be read, nothing is said.
    """
    if not file.places or not launch.machine:
        return
    kinds = [*_kinds(launch, file)]
    zones: set[str] = set()
    with suppress(RejectedError, UnansweredError):
        for kind in kinds:
            found = compute.offers(kind.machine, kind.accelerators)
            zones |= found.zones | found.unreachable
        machines = " or ".join(kind.machine for kind in kinds)
        for place in (place for place in file.places if not is_served(place, zones)):
            zonal = region_of(place) != place
            near = instead(place, zones if zonal else {*map(region_of, zones)})
            click.echo(
                f"warning: no zone of {place} (`places`) offers {machines}, so the job never moves there."
                f" {near}",
                err=True,
            )


def _kinds(launch: Launch, file: JobFile) -> Iterator[Launch]:
    yield launch
    for machine in file.machines:
        other = on_machine(launch, machine)
        if isinstance(other, Launch):
            yield other
