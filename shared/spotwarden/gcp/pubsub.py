"""A Pub/Sub topic behind `Topic`, through google-cloud-pubsub."""

from collections.abc import Mapping
from functools import cached_property

from google.cloud import pubsub_v1
from google.pubsub_v1 import PublisherClient

from spotwarden import clock
from spotwarden.gcp.errors import is_unanswered, unanswered
from spotwarden.gcp.patience import Patience
from spotwarden.ports import Published


class CloudTopic:
    """`Topic` over one topic, given by its short name. Safe to use from several threads."""

    def __init__(
        self,
        *,
        project: str,
        topic: str,
        patience: Patience = Patience(),  # noqa: B008 - frozen
    ) -> None:
        self._path = f"projects/{project}/topics/{topic}"
        self._patience = patience

    @cached_property
    def _client(self) -> pubsub_v1.PublisherClient:
        return pubsub_v1.PublisherClient()

    def close(self) -> None:
        """Give the connection back. A topic that was closed cannot be used again."""
        if "_client" in self.__dict__:
            self._client.transport.close()

    def publish(self, data: bytes, attributes: Mapping[str, str]) -> Published:
        """As `Topic.publish`; any attribute name is allowed. A topic that does not exist rises as NotFound.

        Tried again within the patience, so a message may be published twice: readers tell by its content.
        """
        # The library's own `publish` batches in a thread, which a function that has just answered no longer
        # gets time for, and takes attributes for its keyword arguments. The call below it does neither.
        with unanswered():
            answer = PublisherClient.publish(
                self._client,
                request={"topic": self._path, "messages": [{"data": data, "attributes": dict(attributes)}]},
                retry=self._patience.retry(is_unanswered),
                timeout=self._patience.answer.total_seconds(),
            )
        return Published(id=str(answer.message_ids[0]), at=clock.now())
