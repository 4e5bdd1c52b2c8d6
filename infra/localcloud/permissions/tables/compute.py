"""Compute Engine. A permission is called after the collection and the verb, with the exceptions below.

From "IAM permissions" on the page of each method ("Method: addresses.aggregatedList", which shows global ones
too, asks for `compute.addresses.list`) and "Compute Engine roles and permissions". `aggregated/operations` is
`globalOperations.aggregatedList`. What a create needs besides depends on its body: see `creation`.
"""

from collections.abc import Iterator

from localcloud.permissions.tables.row import Key, PermissionAsk, Rows, rows

_BASE = "/compute/{version}/projects/{project}"
_HOMES = {"zones": "/zones/{zone}", "regions": "/regions/{region}", "global": "/global"}

# Where it lives, its name in the path, what one is called there, what can be done; aggregated is a list.
_COLLECTIONS = """
    zones    instances          instance          get list aggregated create delete
    zones    instanceGroupManagers  instanceGroupManager  get list aggregated delete
    zones    instanceGroups     instanceGroup      get list aggregated
    zones    autoscalers        autoscaler         get list aggregated
    zones    disks              disk              get list aggregated create delete
    regions  addresses          address           get list aggregated create delete
    global   instanceTemplates  instanceTemplate  get list aggregated create delete
    global   snapshots          snapshot          get list create delete
    global   machineImages      machineImage      get list create delete
    global   images             image             get list create delete
    global   networks           network           get list create delete
    global   firewalls          firewall           get list
    regions  subnetworks        subnetwork        get list aggregated create delete
    zones    reservations       reservation       get list aggregated create delete
    regions  resourcePolicies   resourcePolicy    get list aggregated create delete
    zones    machineTypes       machineType       get list aggregated
    zones    acceleratorTypes   acceleratorType   get list aggregated
    zones    diskTypes          diskType          get list aggregated
"""

_INSTANCE = "/zones/{zone}/instances/{instance}"
_ON_INSTANCES = (
    *("stop", "start", "suspend", "resume", "reset", "simulateMaintenanceEvent", "setLabels", "setMetadata"),
    *("setTags", "attachDisk", "detachDisk", "setScheduling", "setDeletionProtection", "setMachineType"),
    "setDiskAutoDelete",
)

_ON_GROUPS = (
    *("resize", "setInstanceTemplate"),
    *("abandonInstances", "createInstances", "deleteInstances", "recreateInstances"),
)

_REST = rows(
    """
    POST /zones/{zone}/instances/bulkInsert         compute.instances.create
    POST /regions/{region}/instances/bulkInsert     compute.instances.create
    GET  /zones/{zone}/instances/{instance}/serialPort  compute.instances.getSerialPortOutput
    GET  /zones/{zone}/instances/{instance}/getGuestAttributes  compute.instances.getGuestAttributes
    POST /zones/{zone}/instanceGroups/{instanceGroup}/listInstances  compute.instanceGroups.list
    POST /zones/{zone}/instanceGroupManagers  compute.instanceGroupManagers.create compute.instances.create
    GET  /global/networks/{network}/getEffectiveFirewalls  compute.networks.getEffectiveFirewalls
    GET  /aggregated/subnetworks/listUsable         compute.subnetworks.list
    POST /zones/{zone}/disks/{resource}/setLabels   compute.disks.setLabels
    POST /regions/{region}/addresses/{resource}/setLabels  compute.addresses.setLabels
    POST /global/images/{resource}/setLabels        compute.images.setLabels
    POST /global/snapshots/{resource}/setLabels     compute.snapshots.setLabels
    POST /zones/{zone}/disks/{disk}/resize          compute.disks.resize
    POST /zones/{zone}/disks/{disk}/setLabels       compute.disks.setLabels
    GET  /zones/{zone}/instances/{instance}/getEffectiveFirewalls  compute.instances.getEffectiveFirewalls
    POST /zones/{zone}/disks/{disk}/createSnapshot  compute.disks.createSnapshot compute.snapshots.create
    GET  /aggregated/operations                     compute.globalOperations.list
    GET  /global/images/family/{family}             compute.images.getFromFamily
    GET  /zones/{zone}/imageFamilyViews/{family}    compute.images.getFromFamily
    POST   /global/firewalls                        compute.firewalls.create compute.networks.updatePolicy
    PATCH  /global/firewalls/{firewall}             compute.firewalls.update compute.networks.updatePolicy
    PUT    /global/firewalls/{firewall}             compute.firewalls.update compute.networks.updatePolicy
    DELETE /global/firewalls/{firewall}             compute.firewalls.delete compute.networks.updatePolicy
    POST /regions/{region}/advice/capacity          compute.advice.capacity
    POST /regions/{region}/advice/capacityHistory   compute.advice.capacityHistory
    GET  /zones                                     compute.zones.list
    GET  /zones/{zone}                              compute.zones.get
    GET  /regions                                   compute.regions.list
    GET  /regions/{region}                          compute.regions.get
    """,
    prefix=_BASE,
)


def _collections() -> Iterator[tuple[Key, list[PermissionAsk]]]:
    for line in _COLLECTIONS.strip().splitlines():
        home, name, item, *methods = line.split()
        base = f"{_BASE}{_HOMES[home]}/{name}"
        places = {
            "get": ("GET", f"{base}/{{{item}}}"),
            "list": ("GET", base),
            "aggregated": ("GET", f"{_BASE}/aggregated/{name}"),
            "create": ("POST", base),
            "delete": ("DELETE", f"{base}/{{{item}}}"),
        }
        for method in methods:
            verb = "list" if method == "aggregated" else method
            yield places[method], [PermissionAsk(f"compute.{name}.{verb}")]


def _on_instances() -> Iterator[tuple[Key, list[PermissionAsk]]]:
    for name in _ON_INSTANCES:
        yield ("POST", f"{_BASE}{_INSTANCE}/{name}"), [PermissionAsk(f"compute.instances.{name}")]


def _on_groups() -> Iterator[tuple[Key, list[PermissionAsk]]]:
    item = f"{_BASE}/zones/{{zone}}/instanceGroupManagers/{{instanceGroupManager}}"
    yield ("POST", f"{item}/listManagedInstances"), [PermissionAsk("compute.instanceGroupManagers.get")]
    for name in _ON_GROUPS:
        yield ("POST", f"{item}/{name}"), [PermissionAsk("compute.instanceGroupManagers.update")]


def _operations() -> Iterator[tuple[Key, list[PermissionAsk]]]:
    for home, kind in (("zones", "zone"), ("regions", "region"), ("global", "global")):
        base = f"{_BASE}{_HOMES[home]}/operations"
        name = f"{base}/{{operation}}"
        yield ("GET", base), [PermissionAsk(f"compute.{kind}Operations.list")]
        yield ("GET", name), [PermissionAsk(f"compute.{kind}Operations.get")]
        yield ("POST", f"{name}/wait"), [PermissionAsk(f"compute.{kind}Operations.get")]
        yield ("DELETE", name), [PermissionAsk(f"compute.{kind}Operations.delete")]


COMPUTE: Rows = {
    **dict(_collections()),
    **dict(_on_instances()),
    **dict(_on_groups()),
    **dict(_operations()),
    **_REST,
    ("GET", _BASE): [PermissionAsk("compute.projects.get")],
    ("POST", "/batch/compute/{version}"): [],
}
