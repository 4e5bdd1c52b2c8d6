"""The flags that only the commands for the parts of a TPU slice have, as data; see `flags.py`."""

from spotwarden.create_script.gcloud.rows import FlagRow, chosen, switch
from spotwarden.create_script.gcloud.tables import words
from spotwarden.create_script.gcloud.values import dashed, enum, text, whole

_ACTIONS = {"delete": "DELETE", "do-nothing": "DO_NOTHING", "repair": "REPAIR"}
_MODES = {"bulk": "BULK", "individual": "INDIVIDUAL"}
_RESULTS = {"pageless": "PAGELESS", "paginated": "PAGINATED"}

NO_SLICE = words(
    """
    action-on-vm-failed-health-check health-check http-health-check https-health-check initial-delay
    instance-flexibility-policy instance-redistribution-type instance-selection
    instance-selection-machine-types on-repair-allow-changing-zone region resource-manager-tags
    standby-policy-initial-delay standby-policy-mode stateful-disk stateful-external-ip stateful-internal-ip
    stopped-size suspended-size target-distribution-shape target-pool update-policy-max-surge
    update-policy-max-unavailable update-policy-min-ready update-policy-minimal-action
    update-policy-most-disruptive-action update-policy-replacement-method update-policy-type zones
    """
)
"""Flags of a group that is no slice in one zone: they are refused, whatever they say."""
OF_ONE_VM = words(
    """
    address external-ipv6-address external-ipv6-prefix-length internal-ipv6-address
    internal-ipv6-prefix-length ipv6-address ipv6-prefix-length private-network-ip
    """
)
"""Addresses, which several VMs cannot have; keys of a network card are called so, too."""
NO_SLICE_TEMPLATE = OF_ONE_VM | words(
    """
    configure-disk instance-template-region mesh service-proxy service-proxy-agent-location
    service-proxy-labels service-proxy-xds-version source-instance source-instance-zone subnet-region
    """
)
"""Flags of a template whose VMs cannot be told from the command, or that is of one region."""
_ELSEWHERE = OF_ONE_VM | words(
    """
    instance-selection instance-selection-machine-types region resource-manager-tags target-distribution-shape
    """
)

GROUP_FLAGS: tuple[FlagRow, ...] = (
    FlagRow("accelerator-topology", text),
    chosen("accelerator-topology-mode", enum),
    chosen("max-topology-distance", enum),
    chosen("type", enum),
    FlagRow("base-instance-name", text),
    chosen("default-action-on-vm-failure", dashed, means=_ACTIONS),
    switch("force-update-on-repair"),
    chosen("list-managed-instances-results", dashed, means=_RESULTS),
    FlagRow("size", whole(low=0)),
    chosen("target-size-policy-mode", dashed, means=_MODES),
    FlagRow("template", text),
    FlagRow("workload-policy", text),
    *(FlagRow(name, text) for name in sorted(NO_SLICE | NO_SLICE_TEMPLATE) if name not in _ELSEWHERE),
)
