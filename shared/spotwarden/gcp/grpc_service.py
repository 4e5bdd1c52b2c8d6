"""gRPC APIs of Google through Google's own clients: with retries, deadlines and errors of ours."""

import os
from collections.abc import Callable
from datetime import timedelta
from functools import cached_property
from threading import Lock
from typing import Any, Generic, TypeVar
from urllib.parse import urlsplit

import grpc
from google.api_core.gapic_v1.client_info import ClientInfo

from spotwarden.gcp.endpoint import checked_endpoint, is_loopback
from spotwarden.gcp.errors import unanswered
from spotwarden.gcp.rest import agent
from spotwarden.gcp.retry_policy import RetryPolicy
from spotwarden.gcp.tally import count

Client = TypeVar("Client")
T = TypeVar("T")

ON_LOOPBACK = (
    # A company's proxy knows nothing of this machine's loopback.
    ("grpc.enable_http_proxy", 0),
    # A page of Monitoring's is larger than the 4 MB that a channel takes by default.
    ("grpc.max_receive_message_length", -1),
    # A local cloud that is started again is found soon, not after two minutes.
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 1000),
)


class Typed(Generic[Client]):
    """One client of Google's, opened by the first call. Safe to use from several threads.

    `service` is what its calls are counted as. `endpoint` is "" for Google's own, else https, or plain http
    on loopback, where a gRPC server of one's own is spoken to without credentials. `answer` is how long one
    try waits, where that is not the policy's.

    Raises:
        ValueError: the endpoint would take a token over the net in the clear.
    """

    def __init__(
        self,
        kind: Callable[..., Client],
        *,
        service: str,
        endpoint: str,
        retry_policy: RetryPolicy,
        answer: timedelta | None = None,
    ) -> None:
        self._kind: Any = kind
        self._service = service
        self._endpoint = checked_endpoint(endpoint) if endpoint else ""
        self._retry_policy = retry_policy
        self._answer = (answer or retry_policy.answer).total_seconds()
        self._opening = Lock()

    @property
    def _client(self) -> Any:
        # Several threads may ask their first question at the same time.
        with self._opening:
            return self._opened

    @cached_property
    def _opened(self) -> Any:
        info = ClientInfo(user_agent=agent(os.environ))
        host = urlsplit(self._endpoint).netloc
        if is_loopback(self._endpoint):
            channel = grpc.insecure_channel(host, options=ON_LOOPBACK)
            transport = self._kind.get_transport_class("grpc")
            return self._kind(transport=transport(channel=channel, client_info=info))
        # The transport is named: some clients would choose another one by the environment.
        options = {"api_endpoint": host} if host else None
        return self._kind(transport="grpc", client_options=options, client_info=info)

    def call(self, ask: Callable[[Client, float], T]) -> T:
        """Ask, again and again within the patience; `ask` is given the client and the seconds for one try.

        It passes `retry=None` on: Google's own retries would know neither our limits nor our count.

        Raises:
            UnansweredError: no answer within the patience, or nobody knows what became of the call.
            google.api_core.exceptions.GoogleAPICallError: a refusal.
        """

        def once() -> T:
            count(self._service)
            with unanswered():
                return ask(self._client, self._answer)

        return self._retry_policy.insist(once)

    def close(self) -> None:
        """Give the connection back; the next call opens a new one."""
        if "_opened" in self.__dict__:
            self.__dict__.pop("_opened").transport.close()
