"""All routes of Compute Engine v1.

There: instances (insert, also from templates and machine images, bulkInsert in zones and regions, get,
list, aggregatedList, delete, stop, start, reset, setLabels, setMetadata, setTags, setScheduling,
setMachineType, setDiskAutoDelete, setDeletionProtection, simulateMaintenanceEvent, serialPort),
managed instance groups of zones, operations of all scopes, disks, snapshots, addresses, images and family
views, instance templates, machine images, networks, subnetworks, firewall rules, reservations and resource
policies (these three kept, without effect), zones, regions, machine, accelerator and disk types, capacity
advice, the project, and batches of all these.

Not there: groups of regions and unmanaged ones, regional disks and templates,
routes, IAM policies. `beta` and `alpha` in a path are answered as v1,
so fields that only they have are refused as unknown.
"""

from starlette.routing import BaseRoute

from localcloud.batch import batch_route
from localcloud.compute.api.advice import advice_routes
from localcloud.compute.api.collections import Shown, shown_routes
from localcloud.compute.api.disks import disk_routes
from localcloud.compute.api.firewalls import firewall_routes
from localcloud.compute.api.groups import ManagedGroups
from localcloud.compute.api.images import image_routes
from localcloud.compute.api.instances import Instances
from localcloud.compute.api.networks import network_routes
from localcloud.compute.api.offers import offer_routes
from localcloud.compute.api.operations import operation_routes
from localcloud.compute.api.resource_types import Things
from localcloud.compute.bulk import Bulk
from localcloud.compute.groups import Groups
from localcloud.compute.life import Commands, Events, Tasks
from localcloud.compute.site import Site


def routes(site: Site, tasks: Tasks, commands: Commands, events: Events) -> list[BaseRoute]:
    """The routes, batch included."""
    bulk = Bulk(site, tasks, commands)
    return [
        *Instances(site=site, commands=commands, events=events, bulk=bulk).routes(),
        *shown_routes(site, _instances(site)),
        *operation_routes(site),
        *Things(site, tasks).routes(),
        *disk_routes(site, tasks),
        *firewall_routes(site, tasks),
        *ManagedGroups(site, tasks, Groups(site, tasks, commands)).routes(),
        *network_routes(site),
        *image_routes(site),
        *offer_routes(site),
        *advice_routes(site),
        batch_route("/batch/compute/{version}"),
    ]


def _instances(site: Site) -> Shown:
    return Shown(
        name="instances",
        kind="compute#instance",
        message="Instance",
        parameter="instance",
        home="zones",
        rows=site.registry.shelf.seen,
        get=lambda call, name: site.registry.find(call.part("zone"), name).resource,
    )
