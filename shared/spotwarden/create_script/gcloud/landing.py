"""Flags whose value goes into the request as it is: a table of where each lands."""

from typing import Any

from spotwarden.create_script.gcloud.argv import Args

# Flag → path in the instance; a dot goes one object down.
LANDS = {
    "description": "description",
    "enable-display-device": "displayDevice.enableDisplay",
    "enable-nested-virtualization": "advancedMachineFeatures.enableNestedVirtualization",
    "enable-uefi-networking": "advancedMachineFeatures.enableUefiNetworking",
    "enable-watchdog-timer": "advancedMachineFeatures.enableWatchdogTimer",
    "hostname": "hostname",
    "identity": "workloadIdentityConfig.identity",
    "identity-certificate": "workloadIdentityConfig.identityCertificateEnabled",
    "key-revocation-action-type": "keyRevocationActionType",
    "local-ssd-encryption-mode": "localSsdEncryptionMode",
    "min-cpu-platform": "minCpuPlatform",
    "numa-node-count": "advancedMachineFeatures.numaNodeCount",
    "performance-monitoring-unit": "advancedMachineFeatures.performanceMonitoringUnit",
    "private-ipv6-google-access-type": "privateIpv6GoogleAccess",
    "shielded-integrity-monitoring": "shieldedInstanceConfig.enableIntegrityMonitoring",
    "shielded-secure-boot": "shieldedInstanceConfig.enableSecureBoot",
    "shielded-vtpm": "shieldedInstanceConfig.enableVtpm",
    "threads-per-core": "advancedMachineFeatures.threadsPerCore",
    "turbo-mode": "advancedMachineFeatures.turboMode",
    "visible-core-count": "advancedMachineFeatures.visibleCoreCount",
}


def landed(args: Args, table: dict[str, str]) -> dict[str, Any]:
    """Give the part of a request that the given flags of a table make."""
    body: dict[str, Any] = {}
    for flag, path in table.items():
        if args.given(flag):
            *parents, field = path.split(".")
            target = body
            for parent in parents:
                target = target.setdefault(parent, {})
            target[field] = args[flag]
    return body
