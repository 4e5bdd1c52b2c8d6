"""What a person can type next after a refusal of Google Cloud's, each on a line of its own."""

import re

from spotwarden.recovery.requests.refusals import RefusalKind, refusal

_DOCS = "docs/deploy/permissions.md"
_VIEW_OBJECTS = "roles/storage.objectViewer on the bucket (to launch jobs: roles/storage.objectUser)"
_VIEW_VMS = "roles/compute.viewer on the project (to launch and stop jobs: roles/compute.instanceAdmin.v1)"
_ROLES = (
    (r"storage\.objects\.(?:get|list)\b", _VIEW_OBJECTS),
    (r"storage\.objects\.", "roles/storage.objectUser on the bucket"),
    (
        r"iam\.serviceAccounts\.actAs|access to service account",
        "roles/iam.serviceAccountUser on the service account that the VM runs as",
    ),
    (r"compute\.\w+\.(?:get|list)\b", _VIEW_VMS),
    (r"compute\.\w+\.\w", "roles/compute.instanceAdmin.v1 on the project"),
    (r"logging\.\w+\.", "roles/logging.viewer on the project"),
    (
        r"pubsub\.topics\.publish|User not authorized to perform this action",
        "roles/pubsub.publisher on the topic of notices",
    ),
)
"""The role that has a permission, by how Google names what is missing. The first that fits counts."""
_QUOTA = (
    "To see your quotas: gcloud compute project-info describe. For those of a region: gcloud compute regions"
    " describe REGION\nRequest more, or use a smaller machine or another region"
)


def role_to_ask_for(error: str) -> str:
    """Which role to ask for, and on what; without its name where Google does not say what is missing."""
    role = next((role for words, role in _ROLES if re.search(words, error)), "the role that this needs")
    return f"Ask an administrator of the project for {role}. Roles: {_DOCS}"


def next_step(error: str) -> str:
    """By what Compute Engine answered, its reason word first; "" where no step is known."""
    match refusal(error):
        case RefusalKind.FORBIDDEN:
            return f"\n{role_to_ask_for(error)}"
        case RefusalKind.QUOTA:
            return f"\n{_QUOTA}"
        case _:
            return ""
