"""Facts that belong to a release of the Google Cloud SDK and not to the API, pinned in one place.

Taken from Google Cloud SDK 528.0.0 (June 2025) and 578.0.0 (July 2026). Where the two differ, the setting
`gcloud_version` says which of them a script was written for.
"""

from spotwarden.create_script.gcloud.tables import words
from spotwarden.model.gcloud import NEWEST, OLDEST

MACHINE_TYPE = "n1-standard-1"
IMAGE_FAMILY = "debian-12"
IMAGE_PROJECT = "debian-cloud"

CONFIDENTIAL_MACHINE_TYPES = {"SEV": "n2d-standard-2", "SEV_SNP": "n2d-standard-2", "TDX": "c3-standard-4"}
CONFIDENTIAL_IMAGE_FAMILY = "ubuntu-2204-lts"
CONFIDENTIAL_IMAGE_PROJECT = "ubuntu-os-cloud"

# Image families of these projects are asked for by zone, so that a rollout can go zone by zone.
_PUBLIC = words(
    """
    centos-cloud cos-cloud debian-cloud fedora-coreos-cloud opensuse-cloud oracle-linux-cloud
    rhel-cloud rhel-sap-cloud rocky-linux-accelerator-cloud rocky-linux-cloud suse-cloud
    suse-sap-cloud ubuntu-os-accelerator-images ubuntu-os-cloud ubuntu-os-pro-cloud windows-cloud
    windows-sql-cloud
    """
)
PUBLIC_IMAGE_PROJECTS = {OLDEST: _PUBLIC, NEWEST: _PUBLIC | {"almalinux-cloud"}}

# Names of images that gcloud replaces by the newest image it finds in a list it asks for.
IMAGE_ALIASES = words(
    """
    centos-6 centos-7 container-vm cos debian-8 fedora-coreos-stable gae-builder-vm opensuse-13
    rhel-6 rhel-7 rhel-8 sles-11 sles-12 ubuntu-12-04 ubuntu-14-04 windows-2008-r2 windows-2012-r2
    """
)

# Disk types for which gcloud lets a script ask for IOPS or throughput on the boot disk.
IOPS_DISK_TYPES = frozenset(
    (
        "cs-extreme",
        "hyperdisk-balanced",
        "hyperdisk-balanced-high-availability",
        "hyperdisk-extreme",
        "pd-extreme",
    )
)
THROUGHPUT_DISK_TYPES = words(
    """
    cs-throughput hyperdisk-balanced hyperdisk-balanced-high-availability hyperdisk-ml
    hyperdisk-throughput
    """
)
# Boot disks of these types may not be smaller than 10 GB.
LEGACY_DISK_TYPES = frozenset(("pd-balanced", "pd-extreme", "pd-ssd", "pd-standard"))
LOCAL_SSD_SIZES_GB = (375, 3000, 6000)

_AUTH = "https://www.googleapis.com/auth/"
_SCOPE_NAMES = {
    "bigquery": "bigquery",
    "cloud-platform": "cloud-platform",
    "cloud-source-repos": "source.full_control",
    "cloud-source-repos-ro": "source.read_only",
    "compute-ro": "compute.readonly",
    "compute-rw": "compute",
    "datastore": "datastore",
    "default": "devstorage.read_only logging.write monitoring.write pubsub service.management.readonly "
    "servicecontrol trace.append",
    "gke-default": "devstorage.read_only logging.write monitoring service.management.readonly servicecontrol "
    "trace.append",
    "logging-write": "logging.write",
    "monitoring": "monitoring",
    "monitoring-read": "monitoring.read",
    "monitoring-write": "monitoring.write",
    "pubsub": "pubsub",
    "service-control": "servicecontrol",
    "service-management": "service.management.readonly",
    "sql": "sqlservice",
    "sql-admin": "sqlservice.admin",
    "storage-full": "devstorage.full_control",
    "storage-ro": "devstorage.read_only",
    "storage-rw": "devstorage.read_write",
    "taskqueue": "taskqueue",
    "trace": "trace.append",
    "userinfo-email": "userinfo.email",
}
# Alias of a scope → the scopes it stands for.
SCOPES = {alias: tuple(_AUTH + name for name in names.split()) for alias, names in _SCOPE_NAMES.items()}
