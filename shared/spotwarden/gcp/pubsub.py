"""A Pub/Sub topic behind `Topic`: one call (Google: "Method: projects.topics.publish").

Spoken as REST through google-auth rather than through google-cloud-pubsub; `README.md` has the figures.
"""

from base64 import b64encode
from collections.abc import Mapping, Sequence

import msgspec
from google.api_core import exceptions as api

from spotwarden import clock, typed
from spotwarden.gcp.calls import decode
from spotwarden.gcp.errors import refusal
from spotwarden.gcp.patience import Patience
from spotwarden.gcp.rest import Rest
from spotwarden.ports import Published, UnansweredError

GOOGLE = "https://pubsub.googleapis.com"


class _Accepted(msgspec.Struct, frozen=True, rename="camel"):
    message_ids: Sequence[str] = ()


typed.prepare(_Accepted)


class CloudTopic:
    """`Topic` over one topic, given by its short name. Safe to use from several threads."""

    def __init__(
        self,
        *,
        project: str,
        topic: str,
        endpoint: str = "",
        patience: Patience = Patience(),  # noqa: B008 - frozen
    ) -> None:
        self._path = f"/v1/projects/{project}/topics/{topic}:publish"
        self._rest = Rest(endpoint=endpoint or GOOGLE, patience=patience, refused=_risen)

    def close(self) -> None:
        """Give the connections back; the next call opens new ones."""
        self._rest.close()

    def publish(self, data: bytes, attributes: Mapping[str, str]) -> Published:
        """As `Topic.publish`; any attribute name is allowed. A topic that does not exist rises as NotFound.

        Tried again within the patience, so a message may be published twice: readers tell by its content.
        """
        message = {"data": b64encode(data).decode(), "attributes": dict(attributes)}
        answer = self._rest.post(self._path, {}, {"messages": [message]})
        accepted = decode(answer, _Accepted).message_ids
        if not accepted:
            raise UnansweredError(f"{self._path} gave no id for the message")
        return Published(id=accepted[0], at=clock.now())


def _risen(call: str, status: int, body: bytes) -> Exception:
    """What rises instead of a refusal: a topic that is gone or forbidden is a fault of the deployment."""
    error = refusal(call, status, body)
    return error if isinstance(error, UnansweredError) else api.from_http_status(status, str(error))
