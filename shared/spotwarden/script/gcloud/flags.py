"""Every flag of gcloud's three create commands, as data: name, who knows it, how it is read, what a second one does."""

from functools import cache
from typing import Any

import msgspec

from spotwarden.script.gcloud.argv import Flag
from spotwarden.script.gcloud.keys import (
    B,
    B_BETA,
    C,
    C_ALPHA,
    C_BETA,
    CB,
    CB_ALPHA,
    CBK,
    CK,
    CK_ALPHA,
    CREATE_DISK,
    DISK,
    K,
    LOCAL_SSD,
    MOUNT_DISK,
    MOUNT_HOST_PATH,
    NETWORK_INTERFACE,
    STACK_TYPES,
    Key,
    Where,
    keys_of,
)
from spotwarden.script.gcloud.times import duration, moment
from spotwarden.script.gcloud.values import (
    GIB,
    Reader,
    choice,
    dashed,
    enum,
    filled,
    label_key,
    label_value,
    mapped,
    pairs,
    size,
    text,
    texts,
    upper,
    upper_text,
    whole,
    yes_no,
)


class Row(msgspec.Struct, frozen=True):
    """One line of the table; `keys` are those of a dictionary flag, which then needs no reader of its own."""

    name: str
    where: Where
    read: Reader | None = None
    joins: Any = None
    default: Any = None
    negatable: bool = False
    keys: tuple[Key, ...] | None = None
    same_as: str | None = None


def _append(older: list[Any], newer: list[Any]) -> list[Any]:
    return older + newer


def _merge(older: dict[str, Any], newer: dict[str, Any]) -> dict[str, Any]:
    doubled = sorted(older.keys() & newer.keys())
    if doubled:
        raise ValueError(f"names {doubled[0]} twice")
    return older | newer


def _once(_older: Any, _newer: Any) -> Any:
    raise ValueError("may be given only once; write all keys into one")


def _written(read: Reader) -> Reader:
    return lambda value: read(text(value))


def _listed(read: Reader) -> Reader:
    return lambda value: [read(value)]


def _switch(name: str, where: Where, *, default: bool | None = None, negatable: bool = True) -> Row:
    return Row(name, where, default=default, negatable=negatable)


def _many(name: str, where: Where, read: Reader) -> Row:
    return Row(name, where, _listed(read), _append)


def _dictionaries(name: str, where: Where, keys: tuple[Key, ...]) -> Row:
    return Row(name, where, None, _append, keys=keys)


def _words(*names: str) -> Reader:
    return choice(names)


def _enum(*names: str) -> Reader:
    return choice(names, fold=enum)


def _capitals(*names: str) -> Reader:
    return choice(names, fold=upper)


_PMU = {"architectural": "ARCHITECTURAL", "enhanced": "ENHANCED", "standard": "STANDARD"}
_AFFINITIES = ("any", "none", "specific")
_MORE_AFFINITIES = (*_AFFINITIES, "specific-then-any-reservation", "specific-then-no-reservation")
_MODELS = ("RESERVATION_BOUND", "SPOT", "STANDARD")
_MAINTENANCE = _capitals("MIGRATE", "TERMINATE")
_IPV6_ACCESS = {
    "enable-bidirectional-access": "ENABLE_BIDIRECTIONAL_ACCESS_TO_GOOGLE",
    "enable-outbound-vm-access": "ENABLE_OUTBOUND_VM_ACCESS_TO_GOOGLE",
    "inherit-subnetwork": "INHERIT_FROM_SUBNETWORK",
}

FLAGS: tuple[Row, ...] = (
    # Names and places.
    Row("count", B, whole()),
    Row("location-policy", B, pairs()),
    Row("max-count-per-zone", B, pairs()),
    Row("min-count", B, whole()),
    Row("name-pattern", B, text),
    Row("per-instance-hostnames", B_BETA, pairs()),
    Row("predefined-names", B, texts()),
    Row("region", B, text),
    Row("target-distribution-shape", B, _capitals("ANY", "ANY_SINGLE_ZONE", "BALANCED")),
    Row("zone", CBK, text),
    # Machine.
    Row("accelerator", CBK, pairs(keys={"type": text, "count": whole()})),
    Row("custom-cpu", CBK, filled),
    _switch("custom-extensions", CBK),
    Row("custom-memory", CBK, size()),
    Row("custom-vm-type", CBK, text),
    _switch("enable-display-device", Where("c", beta="b")),
    _switch("enable-nested-virtualization", CBK),
    _switch("enable-uefi-networking", CB),
    _switch("enable-watchdog-timer", CB_ALPHA),
    Row("machine-type", CBK, text),
    Row("min-cpu-platform", CBK, text),
    Row("numa-node-count", Where(alpha="cbk"), whole()),
    Row("performance-monitoring-unit", CB, mapped(_PMU)),
    Row("threads-per-core", CBK, whole()),
    Row("turbo-mode", CB, text),
    Row("visible-core-count", CBK, whole()),
    # Disks and images.
    _switch("boot-disk-auto-delete", CBK, default=True),
    Row("boot-disk-device-name", CBK, text),
    Row("boot-disk-interface", CBK, text),
    Row("boot-disk-kms-key", CB, text),
    Row("boot-disk-kms-keyring", CB, text),
    Row("boot-disk-kms-location", CB, text),
    Row("boot-disk-kms-project", CB, text),
    Row("boot-disk-provisioned-iops", CBK, whole()),
    Row("boot-disk-provisioned-throughput", CBK, whole()),
    Row("boot-disk-size", CBK, size(low=GIB)),
    Row("boot-disk-type", CBK, text),
    _dictionaries("create-disk", CBK, CREATE_DISK),
    Row("csek-key-file", C, text),
    _dictionaries("disk", CBK, DISK),
    _switch("erase-windows-vss-signature", CB),
    Row("image", CBK, text),
    Row("image-family", CBK, text),
    Row("image-family-scope", C, _words("global", "zonal")),
    Row("image-project", CBK, text),
    _many("local-nvdimm", CK_ALPHA, pairs(keys={"size": size()})),
    _dictionaries("local-ssd", Where("cb", beta="k"), LOCAL_SSD),
    _switch("require-csek-key-create", C, default=True),
    Row("source-instant-snapshot", C_ALPHA, text),
    Row("source-snapshot", CB, text),
    Row("source-snapshot-region", C_BETA, text),
    # Network.
    Row("address", CK, text),
    _switch("can-ip-forward", CBK, default=False),
    Row("external-ipv6-address", CK, filled),
    Row("external-ipv6-prefix-length", CK, whole()),
    Row("hostname", C, text),
    Row("internal-ipv6-address", CK, filled),
    Row("internal-ipv6-prefix-length", CK, whole()),
    Row("ipv6-address", CK_ALPHA, filled),
    Row("ipv6-network-tier", CK, _enum("PREMIUM")),
    Row("ipv6-prefix-length", CK_ALPHA, whole()),
    Row("ipv6-public-ptr-domain", C, text),
    Row("network", CBK, text),
    _dictionaries("network-interface", CBK, NETWORK_INTERFACE),
    Row("network-interface-from-file", C_ALPHA, text),
    Row("network-interface-from-json-string", C_ALPHA, text),
    _many("network-performance-configs", CBK, pairs(keys={"total-egress-bandwidth-tier": text})),
    Row("network-tier", CBK, upper_text),
    _switch("no-address", CBK, negatable=False),
    _switch("no-public-dns", Where("b", alpha="ck"), negatable=False),
    _switch("no-public-ptr", CK, negatable=False),
    _switch("no-public-ptr-domain", CK, negatable=False),
    Row("private-ipv6-google-access-type", CK, mapped(_IPV6_ACCESS, fold=dashed)),
    Row("private-network-ip", CK, text),
    _switch("public-dns", Where("b", alpha="ck"), negatable=False),
    _switch("public-ptr", CK, negatable=False),
    Row("public-ptr-domain", CK, text),
    Row("stack-type", CBK, _enum(*STACK_TYPES)),
    Row("subnet", CBK, text),
    # Scheduling and capacity.
    Row("availability-domain", C, whole(low=1, high=8)),
    Row("discard-local-ssds-at-termination-timestamp", CBK, yes_no),
    _switch("graceful-shutdown", Where(beta="cbk"), negatable=False),
    Row("graceful-shutdown-max-duration", Where(beta="cbk"), duration(low=1, high=3600)),
    Row("host-error-timeout-seconds", CBK, duration(low=90, high=300)),
    Row("instance-termination-action", CBK, _enum("DELETE", "STOP")),
    Row("local-ssd-recovery-timeout", CBK, duration(unit="h", high=168 * 3600)),
    Row("location-hint", CB, text),
    Row("maintenance-freeze-duration", C_ALPHA, duration()),
    Row("maintenance-interval", CB_ALPHA, _capitals("PERIODIC", "RECURRENT")),
    Row("maintenance-policy", CBK, _MAINTENANCE),
    Row("max-run-duration", CBK, duration()),
    Row("min-node-cpu", CB, text),
    Row("node", C, text),
    Row("node-affinity-file", C, text),
    Row("node-group", C, text),
    Row("node-project", C, text),
    Row("on-host-maintenance", Where("b", alpha="ck"), _MAINTENANCE, same_as="maintenance-policy"),
    _switch("preemptible", CBK, default=False),
    Row("provisioning-model", Where("cbk"), _enum(*_MODELS)),
    Row("provisioning-model", CK_ALPHA, _enum("FLEX_START", *_MODELS)),
    Row("reservation", CBK, text),
    Row("reservation-affinity", CBK, _words(*_AFFINITIES), default="any"),
    Row("reservation-affinity", Where(beta="cbk"), _words(*_MORE_AFFINITIES), default="any"),
    Row("resource-policies", CBK, texts()),
    _switch("restart-on-failure", CBK, default=True),
    Row("termination-time", CBK, moment),
    # Accounts, metadata, labels.
    Row("description", CBK, text),
    Row("labels", CBK, pairs(key=label_key, value=label_value), _merge),
    Row("metadata", CBK, pairs(low=1), _once),
    Row("metadata-from-file", CBK, pairs(low=1)),
    _switch("no-scopes", CBK, negatable=False),
    _switch("no-service-account", CBK, negatable=False),
    Row("partner-metadata", C_BETA, pairs(), _merge),
    Row("partner-metadata-from-file", C_BETA, text),
    Row("resource-manager-tags", CB, pairs(), _merge),
    Row("scopes", CBK, texts()),
    Row("secure-tags", CB_ALPHA, texts(low=1)),
    Row("service-account", CBK, text),
    Row("tags", CBK, texts(low=1)),
    # Security.
    _switch("confidential-compute", CBK),
    Row("confidential-compute-type", CBK, _words("SEV", "SEV_SNP", "TDX")),
    _switch("deletion-protection", C, default=False),
    Row("instance-kms-key", C, text),
    Row("instance-kms-keyring", C, text),
    Row("instance-kms-location", C, text),
    Row("instance-kms-project", C, text),
    Row("key-revocation-action-type", C, mapped({"none": "NONE", "stop": "STOP"})),
    Row("post-key-revocation-action-type", Where("b", beta="c"), _words("noop", "shutdown")),
    _switch("shielded-integrity-monitoring", CBK),
    _switch("shielded-secure-boot", CBK),
    _switch("shielded-vtpm", CBK),
    Row("svsm-config", Where(alpha="cbk"), pairs(keys={"tpm": text, "snp-irq": text})),
    # Templates.
    Row("source-instance-template", CBK, text),
    Row("source-machine-image", C, text),
    Row("source-machine-image-csek-key-file", C, text),
    # Containers.
    _many("container-arg", K, text),
    Row("container-command", K, text),
    # gcloud 528 breaks off when a flags file gives the variables as a dictionary.
    _many("container-env", K, _written(pairs())),
    Row("container-env-file", K, text),
    Row("container-image", K, text),
    _many("container-mount-disk", K, pairs(keys=MOUNT_DISK, required=("mount-path",))),
    _many("container-mount-host-path", K, pairs(keys=MOUNT_HOST_PATH)),
    _many("container-mount-tmpfs", K, pairs(keys={"mount-path": text})),
    _switch("container-privileged", K, default=False),
    Row(
        "container-restart-policy",
        K,
        choice(("always", "never", "on-failure"), fold=str.lower),
        default="always",
    ),
    _switch("container-stdin", K, default=False),
    _switch("container-tty", K, default=False),
    # How gcloud runs; nothing of it reaches the request.
    _switch("async", CB),
)

GLOBAL_FLAGS: tuple[Flag, ...] = (
    Flag(name="access-token-file", read=text),
    Flag(name="account", read=text),
    Flag(name="authority-selector", read=text),
    Flag(name="authorization-token-file", read=text),
    Flag(name="billing-project", read=text),
    Flag(name="configuration", read=text),
    Flag(name="credential-file-override", read=text),
    Flag(name="flatten", read=texts()),
    Flag(name="format", read=text),
    Flag(name="http-timeout", read=text),
    Flag(name="impersonate-service-account", read=text),
    Flag(name="log-http", negatable=True),
    Flag(name="project", read=text),
    Flag(name="quiet"),
    Flag(name="trace-token", read=text),
    Flag(name="universe-domain", read=text),
    Flag(name="user-output-enabled", negatable=True),
    Flag(name="verbosity", read=_words("critical", "debug", "error", "info", "none", "warning")),
)


@cache
def global_flags() -> dict[str, Flag]:
    """Give the flags that may stand anywhere behind `gcloud`."""
    return {flag.name: flag for flag in GLOBAL_FLAGS}


@cache
def flags_of(command: str, track: str) -> dict[str, Flag]:
    """Give all flags of one create command in one track; the later of two rows counts."""
    own = {row.name: _flag(row, command, track) for row in FLAGS if row.where.has(command, track)}
    return global_flags() | own


def _flag(row: Row, command: str, track: str) -> Flag:
    read = row.read
    if row.keys is not None:
        read = _listed(pairs(keys=keys_of(row.keys, command, track), bare=row.keys is NETWORK_INTERFACE))
    return Flag(
        name=row.name,
        read=read,
        joins=row.joins,
        default=row.default,
        negatable=row.negatable,
        same_as=row.same_as,
    )
