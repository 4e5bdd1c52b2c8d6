"""How the keys of gcloud's dictionary flags are read; `surface_table.py` says who knows which."""

from spotwarden.create_script.gcloud.lists import texts
from spotwarden.create_script.gcloud.values import (
    GIB,
    Reader,
    choice,
    size,
    text,
    upper,
    upper_text,
    whole,
    yes_no,
)

Keys = dict[str, Reader | None]

NIC_TYPES = ("VIRTIO_NET", "GVNIC", "IDPF", "MRDMA", "IRDMA")
NETWORK_TIERS = ("PREMIUM", "SELECT", "STANDARD")
IPV6_TIERS = ("PREMIUM", "STANDARD")
STACK_TYPES = ("IPV4_ONLY", "IPV4_IPV6", "IPV6_ONLY")

DISK: Keys = {
    "auto-delete": yes_no,
    "boot": yes_no,
    "device-name": text,
    "force-attach": yes_no,
    "interface": text,
    "mode": text,
    "name": text,
    "scope": text,
}
CREATE_DISK: Keys = {
    "architecture": text,
    "auto-delete": yes_no,
    "boot": yes_no,
    "confidential-compute": yes_no,
    "description": text,
    "device-name": text,
    "disk-resource-policy": texts(high=1),
    "image": text,
    "image-csek-key-file": text,
    "image-family": text,
    "image-project": text,
    "interface": text,
    "kms-key": text,
    "kms-keyring": text,
    "kms-location": text,
    "kms-project": text,
    "labels": texts(low=1, delimiter=":"),
    "mode": text,
    "multi-writer": yes_no,
    "name": text,
    "on-update-action": text,
    "provisioned-iops": whole(),
    "provisioned-throughput": whole(),
    "replica-zones": texts(high=2),
    "size": size(low=GIB),
    "source-instant-snapshot": text,
    "source-snapshot": text,
    "source-snapshot-csek-key-file": text,
    "source-snapshot-region": text,
    "storage-pool": text,
    "type": text,
}
LOCAL_SSD: Keys = {
    "device-name": text,
    "interface": upper_text,
    "size": size(low=375 * GIB, high=6000 * GIB),
}
NETWORK_INTERFACE: Keys = {
    "address": text,
    "aliases": text,
    "dns64-eligible": None,
    "enable-vpc-scoped-dns": None,
    "external-ipv6-address": text,
    "external-ipv6-prefix-length": whole(),
    "igmp-query": choice(("IGMP_QUERY_V2", "IGMP_QUERY_DISABLED"), fold=upper),
    "internal-ipv6-address": text,
    "internal-ipv6-prefix-length": whole(),
    "ipv6-address": text,
    "ipv6-aliases": text,
    "ipv6-network-tier": choice(IPV6_TIERS, fold=upper),
    "ipv6-prefix-length": whole(),
    "ipv6-public-ptr-domain": text,
    "nat64-eligible": None,
    "network": text,
    "network-attachment": text,
    "network-tier": choice(NETWORK_TIERS, fold=upper),
    "nic-type": choice(NIC_TYPES, fold=upper),
    "no-address": None,
    "private-network-ip": text,
    "queue-count": whole(),
    "service-class-id": text,
    "stack-type": choice(STACK_TYPES, fold=upper),
    "subnet": text,
    "vlan": whole(),
}
_MODE = choice(("", "ro", "rw"))
MOUNT_DISK: Keys = {"name": text, "mount-path": text, "partition": whole(), "mode": _MODE}
MOUNT_HOST_PATH: Keys = {"host-path": text, "mount-path": text, "mode": _MODE}
