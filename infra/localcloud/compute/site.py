"""What every part of Compute Engine works on: one project with its resources, and what it stands on."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from localcloud.clock import Clock, pacific
from localcloud.compute.addresses import Pools
from localcloud.compute.audit import AuditLog
from localcloud.compute.capacity import Reach, Stock
from localcloud.compute.catalog import Catalog
from localcloud.compute.history import History
from localcloud.compute.ids import Ids
from localcloud.compute.links import Links
from localcloud.compute.notices import NoticeRefusal
from localcloud.compute.operations import Operations
from localcloud.compute.quotas import Quotas
from localcloud.compute.rates import Rates
from localcloud.compute.receipts import Receipts
from localcloud.compute.registry import Registry
from localcloud.compute.shelf import Shelf
from localcloud.compute.timings import Pace, Timings
from localcloud.ports import Audit, Machines
from localcloud.project import number_of


@dataclass(kw_only=True)
class Site:
    """One project. Everything in it is changed in the loop only, between two awaits.

    `furnished`: it has its default network. That is made at the first call, when our own URL is known.
    """

    project: str
    clock: Clock
    pace: Pace
    timings: Timings
    machines: Machines
    links: Links
    numbers: Ids
    catalog: Catalog
    operations: Operations
    registry: Registry
    things: Mapping[str, Shelf]
    receipts: Receipts
    stock: Stock
    quotas: Quotas
    rates: Rates
    reach: Reach
    pools: Pools
    audit: AuditLog
    insert_time: Callable[[], timedelta]
    """Draws how long an instance takes from its resources to RUNNING, beyond the timings."""
    furnished: bool = False
    without_notice: dict[str, NoticeRefusal] = field(default_factory=dict)
    """The machine types that are refused with a `preemptionNoticeDuration`, and how."""

    def now(self) -> str:
        """The moment, as resources write it."""
        return pacific(self.clock.now())

    @property
    def project_number(self) -> str:
        """The number of the project: the same for a project at any time."""
        return number_of(self.project)

    @property
    def service_account(self) -> str:
        """The account that an instance runs as when it says `default`."""
        return f"{self.project_number}-compute@developer.gserviceaccount.com"


_COLLECTIONS = (
    "addresses",
    "disks",
    "firewalls",
    "images",
    "instanceGroupManagers",
    "instanceGroups",
    "instanceTemplates",
    "machineImages",
    "networks",
    "reservations",
    "resourcePolicies",
    "snapshots",
    "subnetworks",
)
"""The collections besides instances and operations that hold what users made."""


def make_site(
    *,
    project: str,
    clock: Clock,
    machines: Machines,
    audit: Audit,
    links: Links,
    timings: Timings,
    pace: Pace,
    insert_time: Callable[[], timedelta] = timedelta,
) -> Site:
    """A project with nothing in it."""
    numbers, catalog = Ids(), Catalog()

    def shelf() -> Shelf:
        return Shelf(elapsed=pace.elapsed)

    return Site(
        project=project,
        clock=clock,
        pace=pace,
        timings=timings,
        machines=machines,
        links=links,
        numbers=numbers,
        catalog=catalog,
        operations=Operations(links=links, clock=clock, numbers=numbers, shelf=shelf()),
        registry=Registry(project=project, shelf=shelf(), history=History(now=clock.now)),
        things={collection: shelf() for collection in _COLLECTIONS},
        receipts=Receipts(),
        stock=Stock(elapsed=pace.elapsed, catalog=catalog),
        quotas=Quotas(catalog=catalog),
        rates=Rates(now=clock.now, consumer=lambda: number_of(project)),
        reach=Reach(elapsed=pace.elapsed),
        pools=Pools(),
        insert_time=insert_time,
        audit=AuditLog(write=audit, links=links, clock=clock, numbers=numbers),
    )
