"""The VMs of a project as google-cloud-compute lists them: an independent second opinion on our own door.

Nothing of our door's reading is used here, only its way of opening a connection. It takes a second to import
and lists every field, so no function does this: `spotwarden doctor` does.
"""

import os
from collections.abc import Iterator
from typing import Any

import requests
from google.api_core import exceptions as api
from google.api_core.gapic_v1.client_info import ClientInfo
from google.auth.credentials import AnonymousCredentials
from google.cloud.compute_v1 import AggregatedListInstancesRequest, Instance, InstancesClient

from spotwarden.gcp.endpoint import checked_endpoint, is_loopback
from spotwarden.gcp.errors import is_unanswered, unanswered
from spotwarden.gcp.rest import agent
from spotwarden.gcp.retry_policy import RetryPolicy
from spotwarden.gcp.session import settle
from spotwarden.model.fleet import Listed
from spotwarden.ports import RejectedError

MOST = 500


def fleet(
    project: str,
    *,
    endpoint: str = "",
    retry_policy: RetryPolicy = RetryPolicy(),
) -> tuple[Listed, ...]:
    """All VMs of the project; `endpoint` is "" for Google's Compute Engine.

    Raises:
        RejectedError: the list was refused. So it is where one zone is down: the client has no
            `returnPartialSuccess`.
        UnansweredError: no answer within the patience.
        ValueError: the endpoint would take a token over the net in the clear.
    """
    url = checked_endpoint(endpoint)
    client = InstancesClient(
        credentials=AnonymousCredentials() if is_loopback(url) else None,
        transport="rest",
        client_options={"api_endpoint": url if endpoint else None},
        client_info=ClientInfo(user_agent=agent(os.environ)),
    )
    # The client reads the environment's proxies, also for this machine's loopback.
    settle(_session(client.transport), url)
    with client, unanswered():
        try:
            return tuple(_listed(client, project, retry_policy))
        except api.GoogleAPICallError as error:
            if is_unanswered(error):
                raise
            raise RejectedError(error.reason or type(error).__name__, str(error)) from error


def _listed(client: InstancesClient, project: str, retry_policy: RetryPolicy) -> Iterator[Listed]:
    pages = client.aggregated_list(
        request=AggregatedListInstancesRequest(project=project, max_results=MOST),
        retry=retry_policy.retry(is_unanswered),
        timeout=retry_policy.answer.total_seconds(),
    )
    for scope, content in pages:
        zone = scope.rpartition("/")[2]
        yield from (_vm(instance, zone) for instance in content.instances)


def _session(transport: Any) -> requests.Session:
    session: requests.Session = transport._session  # noqa: SLF001 - as above
    return session


def _vm(instance: Instance, zone: str) -> Listed:
    scheduling = instance.scheduling
    return Listed(
        id=str(instance.id),
        name=instance.name,
        zone=zone,
        status=instance.status,
        machine_type=instance.machine_type.rpartition("/")[2],
        provisioning="SPOT" if scheduling.preemptible else scheduling.provisioning_model or "STANDARD",
        labels=dict(instance.labels),
    )
