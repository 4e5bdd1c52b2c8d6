"""Which gcloud command a line is, and the names by which a misspelt create is told from another command."""

from collections.abc import Sequence

import msgspec

from spotwarden.create_script.gcloud.argv import ArgToken, nearest
from spotwarden.create_script.gcloud.flagset import global_flags
from spotwarden.create_script.gcloud.letters import BULK, CONTAINER, CREATE
from spotwarden.create_script.gcloud.tables import words
from spotwarden.create_script.refusal import ScriptRefused
from spotwarden.create_script.request.command import Unknown

_INSTANCES = ("compute", "instances")
_LEAVES = {
    (*_INSTANCES, "create"): CREATE,
    (*_INSTANCES, "bulk", "create"): BULK,
    (*_INSTANCES, "create-with-container"): CONTAINER,
}
PREVIEW = "preview"
"""The track that came between gcloud 528 and 578."""
_TRACKS = ("alpha", "beta", PREVIEW)

# The commands of Google Cloud SDK 528 that stand beside the creates, level by level.
_TOP = words(
    """
    access-approval access-context-manager active-directory ai ai-platform alloydb alpha anthos
    api-gateway apigee app apphub artifacts asset assured audit-manager auth backup-dr batch beta
    beyondcorp bigtable billing blockchain-node-engine bms bq builds certificate-manager cheat-sheet
    cloud-shell code colab components composer compute config container data-catalog data-fusion
    database-migration dataflow dataplex dataproc datastore datastream deploy deployment-manager dns
    docker domains edge-cache edge-cloud emulators endpoints essential-contacts eventarc feedback
    filestore firebase firestore functions gemini healthcare help iam iap identity ids
    immersive-stream info infra-manager init interactive kms logging looker lustre managed-kafka
    media memcache memorystore meta metastore migration ml model-armor monitoring netapp
    network-connectivity network-management network-security network-services notebooks
    observability oracle-database org-policies organizations pam parallelstore parametermanager
    policy-intelligence policy-troubleshoot preview privateca projects publicca pubsub quotas
    recaptcha recommender redis remote-build-execution resource-manager run scc scheduler secrets
    service-directory service-extensions services source source-manager spanner sql storage survey
    tasks telco-automation topic trace transcoder transfer version vmware web-security-scanner
    workbench workflows workspace-add-ons workstations
    """
)
_COMPUTE = words(
    """
    accelerator-types addresses advice backend-buckets backend-services commitments config-ssh
    connect-to-serial-port copy-files diagnose disk-settings disk-types disks external-vpn-gateways
    firewall-policies firewall-rules forwarding-rules future-reservations health-checks
    http-health-checks https-health-checks images instance-groups instance-settings
    instance-templates instances instant-snapshot-groups instant-snapshots interconnects
    machine-images machine-types multi-migs network-attachments network-edge-security-services
    network-endpoint-groups network-firewall-policies network-profiles networks operations
    org-security-policies os-config os-login packet-mirrorings preview-features project-info
    project-zonal-metadata public-advertised-prefixes public-delegated-prefixes queued-resources
    regions reliability-risks reservations reset-windows-password resource-policies routers routes
    scp security-policies service-attachments shared-vpc sign-url snapshot-groups snapshot-settings
    snapshots sole-tenancy ssh ssl-certificates ssl-policies start-iap-tunnel storage-pool-types
    storage-pools target-grpc-proxies target-http-proxies target-https-proxies target-instances
    target-pools target-ssl-proxies target-tcp-proxies target-vpn-gateways tpus url-maps
    vpn-gateways vpn-tunnels xpn zones
    """
)
_INSTANCE_COMMANDS = words(
    """
    add-access-config add-iam-policy-binding add-labels add-metadata add-partner-metadata
    add-resource-policies add-tags attach-disk bulk config create create-with-container delete
    delete-access-config describe detach-disk export get-guest-attributes get-iam-policy
    get-partner-metadata get-screenshot get-serial-port-output get-shielded-identity import list
    move network-interfaces ops-agents os-inventory patch-partner-metadata perform-maintenance
    remove-iam-policy-binding remove-labels remove-metadata remove-partner-metadata
    remove-resource-policies remove-tags report-host-as-faulty reset resume
    send-diagnostic-interrupt set-disk-auto-delete set-iam-policy set-machine-type
    set-min-cpu-platform set-name set-scheduling set-scopes set-service-account
    simulate-maintenance-event start stop suspend tail-serial-port-output update
    update-access-config update-container update-from-file vulnerabilities
    """
)
_LEVELS = (
    ((), _TOP),
    (("compute",), _COMPUTE),
    (_INSTANCES, _INSTANCE_COMMANDS),
    ((*_INSTANCES, "bulk"), {"create"}),
)


class CommandLine(msgspec.Struct, frozen=True, kw_only=True):
    """One gcloud command: the words of its name, its track, and what stands before and behind the name.

    `leaf` is one of the three create commands, or None for any other.
    """

    path: tuple[str, ...]
    leaf: str | None
    track: str
    before: tuple[ArgToken, ...]
    behind: tuple[ArgToken, ...]
    unknown: Unknown | None = None


def read_line(tokens: Sequence[ArgToken]) -> CommandLine:
    """Find out which command this is; flags may stand between the words of its name.

    `unknown` is a word that may belong to the name and whose value depends on something outside the script.
    """
    names: list[str] = []
    before: list[ArgToken] = []
    position, track = 0, "v1"
    while position < len(tokens):
        word = tokens[position].value
        if isinstance(word, Unknown):
            return _line(names, track, before, tokens[position:], unknown=word)
        if not word.startswith("-") or word == "-":
            if not names and word in _TRACKS and track == "v1":
                track = word
            else:
                names.append(word)
            position += 1
            if tuple(names) in _LEAVES:
                break
            continue
        taken = 2 if _takes_next(word) else 1
        before += tokens[position : position + taken]
        position += taken
    return _line(names, track, before, tokens[position:])


def _line(
    names: Sequence[str],
    track: str,
    before: Sequence[ArgToken],
    behind: Sequence[ArgToken],
    unknown: Unknown | None = None,
) -> CommandLine:
    path = tuple(names)
    leaf = _LEAVES.get(path)
    return CommandLine(
        path=path, leaf=leaf, track=track, before=tuple(before), behind=tuple(behind), unknown=unknown
    )


def _takes_next(word: str) -> bool:
    """Say whether the value of this flag is the next word."""
    flag = global_flags().get(word.removeprefix("--"))
    return word == "--flags-file" or (word.startswith("--") and flag is not None and flag.read is not None)


def may_create(line: CommandLine) -> bool:
    """Say whether the words known so far may go on to one of the create commands."""
    return any(leaf[: len(line.path)] == line.path for leaf in _LEAVES)


def check_name(line: CommandLine, number: int) -> None:
    """Raise `ScriptRefused` for a command that gcloud does not have and that may be meant for a create."""
    if line.track != "v1" and line.path[:1] and line.path[0] in _TRACKS:
        raise ScriptRefused(f"gcloud {line.track} has no command {line.path[0]!r}", line=number)
    for prefix, known in _LEVELS:
        word = line.path[len(prefix)] if len(line.path) > len(prefix) else None
        if line.path[: len(prefix)] != prefix or word is None or word in known:
            continue
        if prefix[:2] == _INSTANCES or any(name.startswith("creat") for name in line.path):
            near = nearest(word, known)
            hint = f"; did you mean {near.removeprefix('--')}?" if near else ""
            raise ScriptRefused(
                f"gcloud {' '.join(prefix)} has no command {word!r}{hint}".replace("  ", " "), line=number
            )
        return
