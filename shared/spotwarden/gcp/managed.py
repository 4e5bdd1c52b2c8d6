"""Which VMs and disks a Google service has made and makes anew, told by labels and metadata of its own.

Labels that begin with `goog-` are reserved for Google's services, which put them on what they make (Google:
"Create and manage labels", for Dataproc; "Organize resources using labels", for Batch, whose own begin with
`batch-`; "View usage of GKE cluster resources"). Some only say by which tool somebody has made a VM of their
own. A managed instance group writes its own name and that of its template into the metadata of its VMs.
"""

from collections.abc import Collection, Mapping

from spotwarden.model.fleet import A_GROUP

RESERVED = "goog-"
SERVICES: Mapping[str, str] = {
    "goog-gke-": "GKE",
    "goog-k8s-": "GKE",
    "goog-dataproc-": "Dataproc",
    "goog-batch-": "Batch",
    "goog-dataflow-": "Dataflow",
    "goog-composer-": "Cloud Composer",
}
"""Who puts labels with this beginning on its VMs; what is not listed is told by the label itself."""
ONLY_TOLD = (
    "goog-terraform-provisioned",
    "goog-ops-agent-policy",
    "goog-ec-src",
    "goog-gcp-marketplace",
    "goog-solutions-console",
)
"""Beginnings of labels that say how somebody has made a VM; nobody makes it anew."""
BATCH = frozenset({"batch-job-uid", "batch-node"})
"""What Batch puts on its VMs and disks, besides a name that anybody may use (`batch-job-id`)."""
GROUP = frozenset({"created-by", "instance-template"})
"""The metadata of each VM of a managed instance group. One alone may be anybody's, such as `created-by`."""


def manager_of(labels: Mapping[str, str], metadata: Collection[str] = ()) -> str:
    """Who has made it and makes it anew, from its labels and the keys of its metadata; "" for nobody."""
    for label in sorted(labels):
        if label in BATCH:
            return "Batch"
        if label.startswith(RESERVED) and not label.startswith(ONLY_TOLD):
            found = next((who for begin, who in SERVICES.items() if label.startswith(begin)), "")
            return found or f"a Google service, by its label {label},"
    return A_GROUP if GROUP.issubset(metadata) else ""
