"""From an instance resource to what its metadata server tells: pure.

Keys and their meaning: "Predefined metadata keys" in the Compute Engine documentation.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from localcloud.machines.metadata.nodes import Chosen, Computed, Lines, Node, Tags
from localcloud.ports import Resource
from localcloud.project import number_of

TRUTH = {True: "TRUE", False: "FALSE"}
NAME_SERVER = "169.254.169.254"


@dataclass(frozen=True, kw_only=True)
class MetadataPlace:
    """Where an instance is: read from its URLs."""

    project: str
    number: int
    zone: str

    @classmethod
    def of(cls, instance: Resource) -> "MetadataPlace":
        """Read project and zone from the instance's URLs, the project's number as well as it is known."""
        match = re.search(r"projects/([^/]+)/zones/([^/]+)", instance.get("selfLink") or instance["zone"])
        if match is None:
            raise ValueError(f"the instance's URL names no project and zone: {instance.get('selfLink')!r}")
        return cls(project=match[1], number=_number(instance, match[1]), zone=match[2])

    def path(self, collection: str, name: str) -> str:
        """A name as the metadata server writes it: `projects/NUMBER/zones/us-central1-a`."""
        return f"projects/{self.number}/{collection}/{name}"


def _number(instance: Resource, project: str) -> int:
    """The number in the default service account's name; without one, a number that is always the same."""
    for account in instance.get("serviceAccounts", []):
        if match := re.match(r"(\d+)-compute@", account["email"]):
            return int(match[1])
    return int(number_of(project))


def grow(instance: Resource, guest_attributes: Mapping[str, Mapping[str, str]]) -> Node:
    """The whole tree, from the root of `/computeMetadata/v1/`."""
    place = MetadataPlace.of(instance)
    return {
        "instance": _instance(instance, place, guest_attributes),
        "oslogin": {"authenticate": {"sessions": {}}},
        "project": {
            "attributes": Chosen(),
            "numeric-project-id": place.number,
            "project-id": place.project,
        },
        "universe": {"universe-domain": "googleapis.com"},
    }


def hostname(instance: Resource) -> str:
    """The instance's full name: its own choice, or the zonal internal DNS name."""
    place = MetadataPlace.of(instance)
    return str(instance.get("hostname") or f"{instance['name']}.{place.zone}.c.{place.project}.internal")


def attributes(instance: Resource) -> dict[str, str]:
    """The metadata that the user set on the instance."""
    return {item["key"]: item.get("value", "") for item in instance.get("metadata", {}).get("items", [])}


def _instance(
    instance: Resource, place: MetadataPlace, guest_attributes: Mapping[str, Mapping[str, str]]
) -> Node:
    return {
        "attributes": Chosen(attributes(instance)),
        "cpu-platform": instance.get("cpuPlatform", "Unknown CPU Platform"),
        "description": instance.get("description", ""),
        "disks": [_disk(disk, index) for index, disk in enumerate(instance.get("disks", []))],
        "guest-attributes": Chosen({name: Chosen(values) for name, values in guest_attributes.items()}),
        "hostname": hostname(instance),
        "id": int(instance["id"]),
        "image": _image(instance),
        "licenses": [{"id": _last(url)} for disk in instance.get("disks", []) for url in _licenses(disk)],
        "machine-type": place.path("machineTypes", _last(instance.get("machineType", ""))),
        "maintenance-event": instance.get("maintenanceEvent", "NONE"),
        "name": instance["name"],
        "network-interfaces": [_interface(nic, place) for nic in instance.get("networkInterfaces", [])],
        "partner-attributes": Chosen(),
        "preempted": TRUTH[bool(instance.get("preempted"))],
        "remaining-cpu-time": -1,
        "scheduling": _scheduling(instance.get("scheduling", {})),
        "service-accounts": _accounts(instance.get("serviceAccounts", [])),
        "tags": Tags(instance.get("tags", {}).get("items", [])),
        "virtual-clock": {"drift-token": "0"},
        "zone": place.path("zones", place.zone),
    }


def _disk(disk: Mapping[str, Any], index: int) -> Node:
    return {
        "device-name": disk.get("deviceName", f"persistent-disk-{index}"),
        "index": index,
        "interface": disk.get("interface", "SCSI"),
        "mode": disk.get("mode", "READ_WRITE"),
        "type": "LOCAL-SSD" if disk.get("type") == "SCRATCH" else "PERSISTENT",
    }


def _image(instance: Resource) -> str:
    for disk in instance.get("disks", []):
        if disk.get("boot"):
            source = disk.get("initializeParams", {}).get("sourceImage", "")
            return re.sub(r"^.*?(?=projects/)", "", source)
    return ""


def _licenses(disk: Mapping[str, Any]) -> list[str]:
    return list(disk.get("licenses", []))


def _interface(nic: Mapping[str, Any], place: MetadataPlace) -> Node:
    address = nic.get("networkIP", "")
    return {
        "access-configs": [_access(config) for config in nic.get("accessConfigs", [])],
        "dns-servers": Lines([NAME_SERVER]),
        "forwarded-ips": [],
        "gateway": re.sub(r"\.\d+$", ".1", address),
        "ip": address,
        "ip-aliases": [str(alias["ipCidrRange"]) for alias in nic.get("aliasIpRanges", [])],
        "mac": _mac(address),
        "mtu": 1460,
        "network": place.path("networks", _last(nic.get("network", "default"))),
        "subnetmask": "255.255.240.0",
        "target-instance-ips": [],
    }


def _access(config: Mapping[str, Any]) -> Node:
    return {"external-ip": config.get("natIP", ""), "type": config.get("type", "ONE_TO_ONE_NAT")}


def _mac(address: str) -> str:
    """Compute Engine makes the hardware address from the internal one."""
    if not re.fullmatch(r"\d+(\.\d+){3}", address):
        return ""
    return "42:01:" + ":".join(f"{int(part):02x}" for part in address.split("."))


def _scheduling(scheduling: Mapping[str, Any]) -> Node:
    return {
        "automatic-restart": TRUTH[bool(scheduling.get("automaticRestart", True))],
        "on-host-maintenance": scheduling.get("onHostMaintenance", "MIGRATE"),
        "preemptible": TRUTH[bool(scheduling.get("preemptible", False))],
    }


def _accounts(accounts: list[Mapping[str, Any]]) -> Node:
    """Each account under its email; the first one also as `default`."""
    found = Chosen()
    for account in accounts:
        entry = {
            "aliases": Lines(["default"]),
            "email": account["email"],
            "identity": Computed(),
            "scopes": Lines(account.get("scopes", [])),
            "token": Computed(),
        }
        found[account["email"]] = entry
        found.setdefault("default", entry)
    return found


def _last(url: str) -> str:
    return url.rpartition("/")[2]
