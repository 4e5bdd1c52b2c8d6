"""Derives the tables by which some services read JSON from Google's discovery documents.

Run it after an update of google-api-python-client: `python -m tests.localcloud.rpc.write_schemas`.
"""

import json
from collections.abc import Mapping
from pathlib import Path

from googleapiclient.discovery_cache import get_static_doc

from tests.localcloud.compute.write_schema import derive, render

LOCAL_CLOUD = Path(__file__).parents[3] / "infra" / "localcloud"
TABLES: Mapping[str, tuple[str, str, tuple[str, ...]]] = {
    "logs": ("logging", "v2", ("ListLogEntriesRequest", "LogSink", "WriteLogEntriesRequest")),
    "projects": (
        "cloudresourcemanager",
        "v1",
        ("GetIamPolicyRequest", "SetIamPolicyRequest", "TestIamPermissionsRequest"),
    ),
    "scheduler": ("cloudscheduler", "v1", ("Job",)),
    "service_accounts": ("iam", "v1", ("CreateServiceAccountRequest",)),
}
"""For each package of the local cloud: the API, its version, the messages that callers send."""


def table(package: str) -> str:
    """The text of the `schema.json` of a package."""
    api, version, roots = TABLES[package]
    return render(derive(json.loads(get_static_doc(api, version)), roots))


if __name__ == "__main__":
    for name in TABLES:
        (LOCAL_CLOUD / name / "schema.json").write_text(table(name), encoding="utf-8")
