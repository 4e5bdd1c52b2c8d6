"""Quotas: what the project may have at once ("Allocation quotas")."""

from collections.abc import Callable, Iterable, Mapping

from localcloud.compute.catalog import Catalog
from localcloud.compute.links import last, region_of
from localcloud.compute.refusals import Failure, quota_exceeded
from localcloud.compute.shelf import Resource

Usage = Callable[[Catalog, Resource], float]

_GPU_KINDS: Mapping[str, str] = {
    "T4": "t4",
    "P4": "p4",
    "P100": "p100",
    "V100": "v100",
    "L4": "l4",
    "A100": "a100",
    "A100_80GB": "a100-80gb",
    "H100": "h100-80gb",
    "H100_MEGA": "h100-mega-80gb",
    "H200": "h200-141gb",
}
"""The word of a GPU in the names of metrics, and its type without the maker."""


def _vcpus(catalog: Catalog, instance: Resource) -> float:
    machine = catalog.machine(last(instance["machineType"]), last(instance["zone"]))
    return machine.vcpus if machine else 0


def _gpus(catalog: Catalog, instance: Resource) -> float:
    del catalog
    return float(
        sum(accelerator["acceleratorCount"] for accelerator in instance.get("guestAccelerators", ()))
    )


def _gpus_of(kind: str) -> Usage:
    """The GPUs of one type, named without its maker: `t4` counts `nvidia-tesla-t4`."""

    def count(catalog: Catalog, instance: Resource) -> float:
        del catalog
        return float(
            sum(
                accelerator["acceleratorCount"]
                for accelerator in instance.get("guestAccelerators", ())
                if last(accelerator["acceleratorType"]).removeprefix("nvidia-").removeprefix("tesla-") == kind
            )
        )

    return count


def _addresses(catalog: Catalog, instance: Resource) -> float:
    del catalog
    return sum(len(card.get("accessConfigs", ())) for card in instance["networkInterfaces"])


METRICS: Mapping[str, Usage] = {
    "INSTANCES": lambda _catalog, _instance: 1,
    "CPUS": _vcpus,
    "CPUS_ALL_REGIONS": _vcpus,
    "GPUS_ALL_REGIONS": _gpus,
    "IN_USE_ADDRESSES": _addresses,
    **{
        f"{spot}NVIDIA_{word}_GPUS": _gpus_of(kind)
        for spot in ("", "PREEMPTIBLE_")
        for word, kind in _GPU_KINDS.items()
    },
}
"""The metrics that can be limited, with what one instance uses of each."""


class Quotas:
    """Limits of the project. A metric without a limit is not limited."""

    def __init__(self, *, catalog: Catalog) -> None:
        self._catalog = catalog
        self.limits: dict[tuple[str, str], float] = {}

    def set(self, metric: str, limit: float | None, region: str = "") -> None:
        """Limit a metric in a region, or over all (""); None lifts the limit."""
        self.limits.pop((metric, region), None)
        if limit is not None:
            self.limits[metric, region] = limit

    def refuse(self, wanted: Resource, others: Iterable[Resource]) -> Failure | None:
        """Which limit one more instance would break, if any; instances that do not run count for nothing."""
        home = region_of(last(wanted["zone"]))
        limits = [
            item for item in self.limits.items() if item[0][1] in ("", home) and _concerns(item[0][0], wanted)
        ]
        if not limits:
            return None
        present = list(others)
        for (metric, region), limit in limits:
            needs = METRICS[metric](self._catalog, wanted)
            if needs and needs + self.usage(metric, region, present) > limit:
                return quota_exceeded(metric=metric, limit=limit, region=region or None)
        return None

    def usage(self, metric: str, region: str, present: Iterable[Resource]) -> float:
        """How much of a metric these instances use, in a region or over all ("")."""
        return sum(
            METRICS[metric](self._catalog, other)
            for other in present
            if other["status"] not in ("PENDING", "TERMINATED", "SUSPENDED")
            and region in ("", region_of(last(other["zone"])))
            and _concerns(metric, other)
        )


def _concerns(metric: str, instance: Resource) -> bool:
    """Whether an instance counts there: spot GPUs have quotas of their own, which Flex-start VMs use as well.

    (Google Cloud blog: "Introducing Flex-start VMs for the Compute Engine Instance API".)
    """
    if "NVIDIA" not in metric:
        return True
    options = instance["scheduling"]
    spare = bool(options.get("preemptible")) or options.get("provisioningModel") == "FLEX_START"
    return metric.startswith("PREEMPTIBLE") == spare
