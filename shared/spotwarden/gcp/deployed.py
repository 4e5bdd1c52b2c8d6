"""What is deployed, as Google shows it: read only, for `spotwarden doctor`.

Each answer is Google's own JSON, None where there is no such thing. What may not be seen rises as
`RejectedError`, whose message names the permission.
"""

from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any

from spotwarden import typed
from spotwarden.gcp.calls import decode
from spotwarden.gcp.errors import refusal
from spotwarden.gcp.rest import Rest
from spotwarden.gcp.retry_policy import RetryPolicy

typed.prepare(dict[str, Any])

Json = Mapping[str, Any]


class _NotThereError(Exception):
    """There is no such thing."""


def _refused(call: str, status: int, body: bytes) -> Exception:
    return _NotThereError(call) if status == HTTPStatus.NOT_FOUND else refusal(call, status, body)


def _holders(policy: Json, role: str) -> frozenset[str]:
    bindings = [item for item in policy.get("bindings", ()) if item.get("role") == role]
    return frozenset(member for binding in bindings for member in binding.get("members", ()))


class Deployed:
    """One project's deployment; `endpoint` is "" for Google, else where all of its services are."""

    def __init__(self, *, project: str, region: str, endpoint: str = "") -> None:
        self._project, self._region, self._endpoint = project, region, endpoint
        self._services: dict[str, Rest] = {}

    @property
    def at_google(self) -> bool:
        """Whether it is Google's own: elsewhere functions are no Cloud Run services, and nobody has roles."""
        return not self._endpoint

    def topic(self, name: str) -> Json | None:
        """A topic ("Method: projects.topics.get")."""
        return self._get("pubsub", f"/v1/projects/{self._project}/topics/{name}")

    def publishers(self, name: str) -> frozenset[str]:
        """Who may publish to a topic by a grant on it ("Method: projects.topics.getIamPolicy")."""
        policy = self._get("pubsub", f"/v1/projects/{self._project}/topics/{name}:getIamPolicy") or {}
        return _holders(policy, "roles/pubsub.publisher")

    def storage_agent(self) -> str:
        """In whose name Cloud Storage tells of changes ("Projects.serviceAccount: get")."""
        found = self._get("storage", f"/storage/v1/projects/{self._project}/serviceAccount") or {}
        return f"serviceAccount:{found.get('email_address', '')}"

    def subscription(self, name: str) -> Json | None:
        """A subscription ("Method: projects.subscriptions.get")."""
        return self._get("pubsub", f"/v1/projects/{self._project}/subscriptions/{name}")

    def tick(self, name: str) -> Json | None:
        """A job of the Scheduler ("Method: projects.locations.jobs.get")."""
        return self._get("cloudscheduler", f"/v1/{self._place()}/jobs/{name}")

    def sink(self, name: str) -> Json | None:
        """A log sink ("Method: projects.sinks.get")."""
        return self._get("logging", f"/v2/projects/{self._project}/sinks/{name}")

    def notifications(self, bucket: str) -> tuple[Json, ...]:
        """What a bucket tells of its changes ("Notifications: list")."""
        found = self._get("storage", f"/storage/v1/b/{bucket}/notificationConfigs")
        return tuple((found or {}).get("items", ()))

    def function(self, name: str) -> Json | None:
        """A function ("Method: projects.locations.functions.get", version 2)."""
        return self._get("cloudfunctions", f"/v2/{self._place()}/functions/{name}")

    def role(self, name: str) -> Json | None:
        """A custom role of the project ("Method: projects.roles.get")."""
        return self._get("iam", f"/v1/projects/{self._project}/roles/{name}")

    def members(self, role: str) -> frozenset[str]:
        """Who has a custom role on the project ("Method: projects.getIamPolicy")."""
        path = f"/v1/projects/{self._project}:getIamPolicy"
        policy = self._ask(lambda: self._rest("cloudresourcemanager").post(path, {}, {})) or {}
        return _holders(policy, f"projects/{self._project}/roles/{role}")

    def _place(self) -> str:
        return f"projects/{self._project}/locations/{self._region}"

    def _get(self, service: str, path: str) -> Json | None:
        return self._ask(lambda: self._rest(service).get(path, {}))

    def _ask(self, call: Callable[[], bytes]) -> Json | None:
        try:
            answer: Json = decode(call(), dict[str, Any])
        except _NotThereError:
            return None
        return answer

    def _rest(self, service: str) -> Rest:
        if service not in self._services:
            endpoint = self._endpoint or f"https://{service}.googleapis.com"
            self._services[service] = Rest(endpoint=endpoint, retry_policy=RetryPolicy(), refused=_refused)
        return self._services[service]
