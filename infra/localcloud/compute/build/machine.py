"""Machine types and accelerators of a request."""

from collections.abc import Mapping, Sequence
from typing import Any

from localcloud.compute.catalog import FAMILY_WITH_GPUS_TO_ATTACH, CatalogMachine
from localcloud.compute.links import last
from localcloud.compute.refusals import invalid_field, not_found
from localcloud.compute.site import Site
from localcloud.errors import ApiError


def machine_type(site: Site, zone: str, text: str, field: str = "resource.machineType") -> CatalogMachine:
    """The machine type that a request names.

    Raises:
        ApiError: 400 when there is none of that name in the zone, or the URL is of another zone.
    """
    reference = site.links.read(text, field=field, collection="machineTypes", scope=f"zones/{zone}")
    if reference.scope != f"zones/{zone}":
        raise invalid_field(field, text, f"It is not in the zone of the instance, '{zone}'.")
    machine = site.catalog.machine(reference.name, zone)
    if machine is None:
        why = f"Machine type with name '{reference.name}' does not exist in zone '{zone}'."
        raise invalid_field(field, text, why)
    return machine


def may_be_created(site: Site, machine: CatalogMachine) -> CatalogMachine:
    """The machine type, where instances of it may be created; a template may name any.

    Raises:
        ApiError: 400 where it is there for other services only. Google's status for it is not known.
    """
    if not site.catalog.makes_instances_of(machine):
        message = f"This user agent is not allowed to use the machine type [{machine.name}]."
        raise ApiError(400, "badRequest", message)
    return machine


def has_tpu(site: Site, resource: Mapping[str, Any]) -> bool:
    """Whether an instance has TPUs; its resource does not list them, its machine type tells."""
    machine = site.catalog.machine(last(resource["machineType"]), last(resource["zone"]))
    return machine is not None and machine.chips > 0


def accelerators(
    site: Site, zone: str, machine: CatalogMachine, given: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """The accelerators of an instance: those asked for, or those that come with the machine.

    Raises:
        ApiError: 404 when the zone does not have them, 400 when the machine does not take them.
    """
    asked = [_asked(site, zone, at, item) for at, item in enumerate(given)]
    asked = [part for part in asked if part[1]]
    if machine.gpu:
        if asked and asked != [(machine.gpu, machine.gpus)]:
            why = f"{machine.name} comes with {machine.gpus} x {machine.gpu} and takes no others."
            raise invalid_field("resource.guestAccelerators", asked[0][0], why)
        asked = [(machine.gpu, machine.gpus)]
    for kind, count in asked:
        _check_fit(site, machine, kind, count)
    return [
        {
            "acceleratorType": site.links.link(f"zones/{zone}/acceleratorTypes/{kind}"),
            "acceleratorCount": count,
        }
        for kind, count in asked
    ]


def _asked(site: Site, zone: str, at: int, given: Mapping[str, Any]) -> tuple[str, int]:
    field = f"resource.guestAccelerators[{at}].acceleratorType"
    reference = site.links.read(
        given.get("acceleratorType", ""), field=field, collection="acceleratorTypes", scope=f"zones/{zone}"
    )
    if reference.scope != f"zones/{zone}" or reference.name not in site.catalog.accelerators_in(zone):
        raise not_found(reference.path)
    return reference.name, given.get("acceleratorCount", 0)


def _check_fit(site: Site, machine: CatalogMachine, kind: str, count: int) -> None:
    if machine.gpu == kind:
        return
    most = site.catalog.accelerators[kind].attach
    field = "resource.guestAccelerators[0].acceleratorCount"
    if machine.family != FAMILY_WITH_GPUS_TO_ATTACH or not most:
        why = (
            f"{machine.name} does not take {kind}: only N1 machines take accelerators, others come with them."
        )
        raise invalid_field("resource.guestAccelerators[0].acceleratorType", kind, why)
    if count < 1 or count > most or count & (count - 1):
        raise invalid_field(field, count, f"It must be a power of two, at most {most}, for {kind}.")


def attachment(resource: Mapping[str, Any]) -> str:
    """The accelerators of an instance as a stockout names them: `nvidia-l4:1`; empty without any."""
    return ",".join(
        f"{accelerator['acceleratorType'].rpartition('/')[2]}:{accelerator['acceleratorCount']}"
        for accelerator in resource.get("guestAccelerators", ())
    )
