"""The Publisher service: topics, and publishing to them."""

from collections.abc import Iterator

from google.protobuf.empty_pb2 import Empty

from localcloud.google_types import pubsub as types
from localcloud.pubsub.checks import check_messages, check_topic, updated
from localcloud.pubsub.names import already_exists, check_project, not_found
from localcloud.pubsub.registry import PubSubRegistry, Topic
from localcloud.rpc import Method, Raw, page, plain, table

SERVICE = "google.pubsub.v1.Publisher"
_NAME = "projects/*/topics/*"
ROWS = (
    ("CreateTopic", types.Topic, types.Topic, f"PUT /v1/{{name={_NAME}}} *"),
    ("UpdateTopic", types.UpdateTopicRequest, types.Topic, f"PATCH /v1/{{topic.name={_NAME}}} *"),
    ("GetTopic", types.GetTopicRequest, types.Topic, f"GET /v1/{{topic={_NAME}}}"),
    ("ListTopics", types.ListTopicsRequest, types.ListTopicsResponse, "GET /v1/{project=projects/*}/topics"),
    ("DeleteTopic", types.DeleteTopicRequest, Empty, f"DELETE /v1/{{topic={_NAME}}}"),
    ("Publish", types.PublishRequest, types.PublishResponse, f"POST /v1/{{topic={_NAME}}}:publish *"),
    (
        "ListTopicSubscriptions",
        types.ListTopicSubscriptionsRequest,
        types.ListTopicSubscriptionsResponse,
        f"GET /v1/{{topic={_NAME}}}/subscriptions",
    ),
)


class Publisher:
    """Answers the calls that google-cloud-pubsub's `PublisherClient` and `gcloud pubsub topics` make."""

    def __init__(self, registry: PubSubRegistry) -> None:
        self._registry = registry

    def methods(self) -> Iterator[Method]:
        """The table of methods."""
        return table(SERVICE, self, ROWS)

    def create_topic(self, request: Raw) -> Raw:
        """Make a topic."""
        check_topic(request)
        check_project(request.name, self._registry.project)
        if request.name in self._registry.topics:
            raise already_exists(request.name)
        config = plain(types.Topic)()
        config.CopyFrom(request)
        self._registry.topics[config.name] = Topic(config=config)
        return config

    def get_topic(self, request: Raw) -> Raw:
        """The configuration of a topic."""
        return self._registry.topic(request.topic).config

    def update_topic(self, request: Raw) -> Raw:
        """Change the fields that the mask names."""
        topic = self._registry.topic(request.topic.name)
        config = updated(topic.config, request.topic, request.update_mask)
        check_topic(config)
        topic.config = config
        return config

    def list_topics(self, request: Raw) -> Raw:
        """One page of the project's topics, by name."""
        check_project(request.project, self._registry.project)
        topics = self._registry.topics
        names, token = page(topics, size=request.page_size, token=request.page_token)
        return plain(types.ListTopicsResponse)(
            topics=[topics[name].config for name in names], next_page_token=token
        )

    def list_topic_subscriptions(self, request: Raw) -> Raw:
        """One page of the names of a topic's subscriptions."""
        topic = self._registry.topic(request.topic)
        names, token = page(topic.subscriptions, size=request.page_size, token=request.page_token)
        return plain(types.ListTopicSubscriptionsResponse)(subscriptions=names, next_page_token=token)

    def delete_topic(self, request: Raw) -> Raw:
        """Remove a topic; its subscriptions stay."""
        if request.topic not in self._registry.topics:
            check_project(request.topic, self._registry.project)
            raise not_found(request.topic)
        self._registry.drop_topic(request.topic)
        return Empty()

    def publish(self, request: Raw) -> Raw:
        """Publish messages, all or none."""
        self._registry.topic(request.topic)
        check_messages(request.messages, request.ByteSize())
        ids = self._registry.publish(request.topic, request.messages)
        return plain(types.PublishResponse)(message_ids=ids)
