"""A function that runs, as Cloud Functions and Cloud Run show it."""

from dataclasses import dataclass
from typing import Any

from localcloud.project import number_of

LOCATION = "us-central1"
RUNTIME = "python311"


@dataclass(frozen=True, kw_only=True)
class DeployedFunction:
    """A function: its name as deployed, where it listens, and what its row says. `topic` is "" for HTTP."""

    name: str
    entry_point: str
    url: str
    memory: str
    timeout_seconds: int
    topic: str


def _account(running: DeployedFunction, project: str) -> str:
    return f"spotwarden-{running.name}@{project}.iam.gserviceaccount.com"


def function_of(running: DeployedFunction, project: str, since: str) -> dict[str, Any]:
    """The `Function` of Cloud Functions v2."""
    place = f"projects/{project}/locations/{LOCATION}"
    trigger = {
        "eventType": "google.cloud.pubsub.topic.v1.messagePublished",
        "pubsubTopic": f"projects/{project}/topics/{running.topic}",
        "triggerRegion": LOCATION,
        "retryPolicy": "RETRY_POLICY_RETRY",
    }
    return {
        "name": f"{place}/functions/{running.name}",
        "environment": "GEN_2",
        "state": "ACTIVE",
        "url": running.url,
        "createTime": since,
        "updateTime": since,
        "buildConfig": {"runtime": RUNTIME, "entryPoint": running.entry_point},
        "serviceConfig": {
            "service": f"{place}/services/{running.name}",
            "uri": running.url,
            "timeoutSeconds": running.timeout_seconds,
            "availableMemory": running.memory,
            "serviceAccountEmail": _account(running, project),
            "revision": f"{running.name}-00001-loc",
            "allTrafficOnLatestRevision": True,
        },
        **({"eventTrigger": trigger} if running.topic else {}),
    }


def service_of(running: DeployedFunction, project: str, since: str) -> dict[str, Any]:
    """The `Service` of Cloud Run v1."""
    revision = f"{running.name}-00001-loc"
    return {
        "apiVersion": "serving.knative.dev/v1",
        "kind": "Service",
        "metadata": {
            "name": running.name,
            "namespace": number_of(project),
            "labels": {"cloud.googleapis.com/location": LOCATION, "goog-managed-by": "cloudfunctions"},
            "annotations": {"serving.knative.dev/lastModifier": _account(running, project)},
            "creationTimestamp": since,
        },
        "spec": {
            "template": {
                "spec": {
                    "serviceAccountName": _account(running, project),
                    "timeoutSeconds": running.timeout_seconds,
                }
            }
        },
        "status": {
            "url": running.url,
            "latestReadyRevisionName": revision,
            "latestCreatedRevisionName": revision,
            "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": since}],
        },
    }
