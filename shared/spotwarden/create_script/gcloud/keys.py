"""The keys of gcloud's dictionary flags, as data: which command knows which key, and how it is read."""

from functools import cache

import msgspec

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

CREATE, BULK, CONTAINER = "create", "bulk create", "create-with-container"
_LETTERS = {CREATE: "c", BULK: "b", CONTAINER: "k"}


class Where(msgspec.Struct, frozen=True):
    """The commands (c, b, k for create, bulk create, create-with-container) from each track on."""

    ga: str = ""
    beta: str = ""
    alpha: str = ""

    def has(self, command: str, track: str) -> bool:
        """Say whether this command knows it in this track; beta knows all that v1 does, alpha all of both."""
        letters = self.ga + (self.beta if track != "v1" else "") + (self.alpha if track == "alpha" else "")
        return _LETTERS[command] in letters


Key = tuple[str, Where, Reader | None]

CB, CBK, CK = Where("cb"), Where("cbk"), Where("ck")
C, B, K = Where("c"), Where("b"), Where("k")
C_BETA, B_BETA, CB_BETA = Where(beta="c"), Where(beta="b"), Where(beta="cb")
C_ALPHA, CK_ALPHA, CB_ALPHA = Where(alpha="c"), Where(alpha="ck"), Where(alpha="cb")

NIC_TYPES = ("VIRTIO_NET", "GVNIC", "IDPF", "MRDMA", "IRDMA")
NETWORK_TIERS = ("PREMIUM", "SELECT", "STANDARD")
STACK_TYPES = ("IPV4_ONLY", "IPV4_IPV6", "IPV6_ONLY")

DISK: tuple[Key, ...] = (
    ("auto-delete", CK, yes_no),
    ("boot", CBK, yes_no),
    ("device-name", CBK, text),
    ("force-attach", CK, yes_no),
    ("interface", CK, text),
    ("mode", CK, text),
    ("name", CBK, text),
    ("scope", CBK, text),
)
CREATE_DISK: tuple[Key, ...] = (
    ("architecture", CBK, text),
    ("auto-delete", CBK, yes_no),
    ("boot", CB, yes_no),
    ("confidential-compute", C, yes_no),
    ("description", CBK, text),
    ("device-name", CBK, text),
    ("disk-resource-policy", CBK, texts(high=1)),
    ("image", CBK, text),
    ("image-csek-key-file", Where("b", alpha="c"), text),
    ("image-family", CBK, text),
    ("image-project", CBK, text),
    ("interface", CBK, text),
    ("kms-key", CB, text),
    ("kms-keyring", CB, text),
    ("kms-location", CB, text),
    ("kms-project", CB, text),
    ("labels", CBK, texts(low=1, delimiter=":")),
    ("mode", CBK, text),
    ("multi-writer", Where(beta="ck"), yes_no),
    ("name", CK, text),
    ("provisioned-iops", CBK, whole()),
    ("provisioned-throughput", CBK, whole()),
    ("replica-zones", CBK, texts(high=2)),
    ("size", CBK, size(low=GIB)),
    ("source-instant-snapshot", C_ALPHA, text),
    ("source-snapshot", CB, text),
    ("source-snapshot-csek-key-file", C_ALPHA, text),
    ("source-snapshot-region", C_BETA, text),
    ("storage-pool", CBK, text),
    ("type", CBK, text),
)
LOCAL_SSD: tuple[Key, ...] = (
    ("device-name", CBK, text),
    ("interface", CBK, upper_text),
    ("size", Where("cb", alpha="k"), size(low=375 * GIB, high=6000 * GIB)),
)
NETWORK_INTERFACE: tuple[Key, ...] = (
    ("address", CK, text),
    ("aliases", CK, text),
    ("external-ipv6-address", CK, text),
    ("external-ipv6-prefix-length", CK, whole()),
    ("igmp-query", CB_BETA, choice(("IGMP_QUERY_V2", "IGMP_QUERY_DISABLED"), fold=upper)),
    ("internal-ipv6-address", CK, text),
    ("internal-ipv6-prefix-length", CK, whole()),
    ("ipv6-address", CK, text),
    ("ipv6-network-tier", CK, choice(("PREMIUM",), fold=upper)),
    ("ipv6-prefix-length", CK, whole()),
    ("ipv6-public-ptr-domain", C, text),
    ("network", CBK, text),
    ("network-attachment", CK, text),
    ("network-tier", CBK, choice(NETWORK_TIERS, fold=upper)),
    ("nic-type", CBK, choice(NIC_TYPES, fold=upper)),
    ("no-address", CBK, None),
    ("private-network-ip", CK, text),
    ("queue-count", CB, whole()),
    ("stack-type", CBK, choice(STACK_TYPES, fold=upper)),
    ("subnet", CBK, text),
    ("vlan", C_BETA, whole()),
)
_MODE = choice(("", "ro", "rw"))
MOUNT_DISK: dict[str, Reader | None] = {"name": text, "mount-path": text, "partition": whole(), "mode": _MODE}
MOUNT_HOST_PATH: dict[str, Reader | None] = {"host-path": text, "mount-path": text, "mode": _MODE}


@cache
def keys_of(table: tuple[Key, ...], command: str, track: str) -> dict[str, Reader | None]:
    """Give the keys of a dictionary flag that this command knows in this track, with their readers."""
    return {name: read for name, where, read in table if where.has(command, track)}
