"""A Pub/Sub topic behind `Topic`: one call through google-cloud-pubsub (Google: "rpc Publish").

The generated client, not the one in `google.cloud.pubsub_v1`: that one publishes from a thread of its own,
and a function that has answered gets no time for threads. Import this where something is published; the
client brings gRPC's channel and the messages of Pub/Sub along.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime

from google.api_core.exceptions import GoogleAPICallError
from google.pubsub_v1 import PublisherClient, PublishResponse, PubsubMessage

from spotwarden import clock
from spotwarden.gcp.grpc_service import Typed
from spotwarden.gcp.retry_policy import RetryPolicy
from spotwarden.ports import InTime, Published, RejectedError, UnansweredError


class CloudTopic:
    """`Topic` over one topic, given by its short name. Safe to use from several threads."""

    def __init__(
        self,
        *,
        project: str,
        topic: str,
        endpoint: str = "",
        retry_policy: RetryPolicy = RetryPolicy(),
    ) -> None:
        self._topic = f"projects/{project}/topics/{topic}"
        self._pubsub = Typed(
            PublisherClient,
            service="pubsub",
            endpoint=endpoint,
            retry_policy=retry_policy,
            answer=retry_policy.small_answer,
        )

    def close(self) -> None:
        """Give the connection back; the next call opens a new one."""
        self._pubsub.close()

    def publish(
        self, data: bytes, attributes: Mapping[str, str], *, before: datetime | None = None
    ) -> Published:
        """As `Topic.publish`; any attribute name is allowed. A topic that does not exist rises as NotFound.

        Tried again within the patience, so a message may be published twice: readers tell by its content.
        """
        message = PubsubMessage(data=data, attributes=dict(attributes))
        ready = InTime(before, clock.machine)

        def once(client: PublisherClient, seconds: float) -> PublishResponse:
            ready()
            return client.publish(topic=self._topic, messages=[message], retry=None, timeout=seconds)

        answer = self._pubsub.call(once)
        if not answer.message_ids:
            raise UnansweredError(f"{self._topic} gave no id for the message")
        return Published(id=answer.message_ids[0], at=clock.now())

    def publish_all(self, messages: Sequence[bytes], attributes: Mapping[str, str]) -> None:
        """As `Topic.publish_all`; readers tell by its content what was published twice."""
        wrapped = [PubsubMessage(data=data, attributes=dict(attributes)) for data in messages]
        try:
            answer = self._pubsub.call(
                lambda client, seconds: client.publish(
                    topic=self._topic, messages=wrapped, retry=None, timeout=seconds
                )
            )
        except GoogleAPICallError as refused:
            raise RejectedError(type(refused).__name__, f"{self._topic}: {refused.message}") from refused
        if len(answer.message_ids) != len(wrapped):
            raise UnansweredError(f"{self._topic} gave no id for each message")
