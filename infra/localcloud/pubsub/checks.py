"""What Pub/Sub refuses, and what it fills in: messages, topics, subscriptions."""

from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

from google.protobuf.field_mask_pb2 import FieldMask

from localcloud.pubsub.filter import attribute_filter
from localcloud.pubsub.names import check_name, invalid
from localcloud.rpc import Raw, RpcError

DAY = 24 * 60 * 60

# "Quotas and limits" of Pub/Sub.
MOST_MESSAGES = 1000
MOST_REQUEST_BYTES = 10_000_000
MOST_ATTRIBUTES = 100
LONGEST_KEY_BYTES = 256
LONGEST_VALUE_BYTES = 1024

# What this local cloud does not do must be refused, or a test would pass here and not there.
UNSUPPORTED = (
    "bigquery_config",
    "cloud_storage_config",
    "bigtable_config",
    "message_transforms",
    "enable_exactly_once_delivery",
    "detached",
)

MUTABLE: Mapping[str, frozenset[str]] = {
    "Topic": frozenset({"labels", "message_retention_duration", "message_storage_policy", "kms_key_name"}),
    "Subscription": frozenset({
        "ack_deadline_seconds", "dead_letter_policy", "expiration_policy", "labels", "retry_policy",
        "message_retention_duration", "push_config", "retain_acked_messages",
    }),
    "Snapshot": frozenset({"expire_time", "labels"}),
}  # fmt: skip
"""The fields that an update may name, by the type of the resource."""


def check_messages(messages: Sequence[Raw], request_bytes: int) -> None:
    """Refuse what cannot be published.

    Raises:
        RpcError: INVALID_ARGUMENT.
    """
    _at_least("message_count", len(messages), 1)
    _at_most("message_count", len(messages), MOST_MESSAGES)
    _at_most("request_size", request_bytes, MOST_REQUEST_BYTES)
    for message in messages:
        if not message.data and not message.attributes:
            raise RpcError(
                "INVALID_ARGUMENT",
                "One or more messages in the publish request is empty. Each message must contain either "
                "non-empty data, or at least one attribute.",
            )
        _at_most("attribute_count", len(message.attributes), MOST_ATTRIBUTES)
        for key, value in message.attributes.items():
            _check_attribute(key, value)
        _at_most("ordering_key_size", len(message.ordering_key.encode()), LONGEST_VALUE_BYTES)


def _check_attribute(key: str, value: str) -> None:
    if not key:
        raise invalid("message.attributes", "An attribute's key is empty.")
    # Google's own clients add `googclient_…`; every other such key is kept for the service.
    if key.startswith("goog") and not key.startswith("googclient_"):
        raise invalid("message.attributes", f"The key {key!r} starts with 'goog', which is reserved.")
    _at_most("attribute_key_size", len(key.encode()), LONGEST_KEY_BYTES)
    _at_most("attribute_value_size", len(value.encode()), LONGEST_VALUE_BYTES)


def check_topic(config: Raw) -> None:
    """Refuse a topic that cannot be.

    Raises:
        RpcError: INVALID_ARGUMENT.
    """
    check_name(config.name, "topics")
    if config.HasField("message_retention_duration"):
        _duration("message_retention_duration", config.message_retention_duration, 10 * 60, 31 * DAY)


def complete_subscription(config: Raw) -> None:
    """Fill in the defaults of a subscription, and refuse one that cannot be.

    Raises:
        RpcError: INVALID_ARGUMENT, OUT_OF_RANGE, or UNIMPLEMENTED for what the local cloud does not do.
    """
    check_name(config.name, "subscriptions")
    check_name(config.topic, "topics", field="topic")
    _check_supported(config)
    _complete_times(config)
    _complete_policies(config)
    attribute_filter(config.filter)
    endpoint = config.push_config.push_endpoint
    if endpoint and not (urlsplit(endpoint).scheme in ("http", "https") and urlsplit(endpoint).hostname):
        raise RpcError(
            "INVALID_ARGUMENT",
            f"Invalid push endpoint given (endpoint={endpoint}). "
            "Refer to https://cloud.google.com/pubsub/docs/subscriber#create for more information.",
        )


def _check_supported(config: Raw) -> None:
    for field in UNSUPPORTED:
        is_set = bool(getattr(config, field)) if _is_plain(config, field) else config.HasField(field)
        if is_set:
            raise RpcError("UNIMPLEMENTED", f"The local cloud's Pub/Sub does not do {field}.")


def _is_plain(config: Raw, field: str) -> bool:
    descriptor = config.DESCRIPTOR.fields_by_name[field]
    return descriptor.is_repeated or descriptor.message_type is None


def _complete_times(config: Raw) -> None:
    config.ack_deadline_seconds = config.ack_deadline_seconds or 10
    check_ack_deadline(config.ack_deadline_seconds, least=10)
    if not config.HasField("message_retention_duration"):
        config.message_retention_duration.FromSeconds(7 * DAY)
    _duration("message_retention_duration", config.message_retention_duration, 10 * 60, 31 * DAY)
    if not config.HasField("expiration_policy"):
        config.expiration_policy.ttl.FromSeconds(31 * DAY)
    if config.expiration_policy.HasField("ttl"):
        _duration("expiration_policy.ttl", config.expiration_policy.ttl, DAY, None)


def _complete_policies(config: Raw) -> None:
    if config.HasField("dead_letter_policy"):
        policy = config.dead_letter_policy
        check_name(policy.dead_letter_topic, "topics", field="dead_letter_topic")
        policy.max_delivery_attempts = policy.max_delivery_attempts or 5
        _at_least("max_delivery_attempts", policy.max_delivery_attempts, 5, code="OUT_OF_RANGE")
        _at_most("max_delivery_attempts", policy.max_delivery_attempts, 100, code="OUT_OF_RANGE")
    if config.HasField("retry_policy"):
        policy = config.retry_policy
        if not policy.HasField("minimum_backoff"):
            policy.minimum_backoff.FromSeconds(10)
        if not policy.HasField("maximum_backoff"):
            policy.maximum_backoff.FromSeconds(600)
        _duration("minimum_backoff", policy.minimum_backoff, 0, 600)
        _duration("maximum_backoff", policy.maximum_backoff, 0, 600)
        least, most = policy.minimum_backoff.ToMicroseconds(), policy.maximum_backoff.ToMicroseconds()
        _at_least("maximum_backoff", most / 1e6, least / 1e6)


def check_ack_deadline(seconds: int, *, least: int) -> None:
    """Refuse an ack deadline out of range; the least is 10 for a subscription or stream, 0 for a message.

    Raises:
        RpcError: INVALID_ARGUMENT.
    """
    if not least <= seconds <= 600:  # noqa: PLR2004 - the sentence says it
        raise RpcError(
            "INVALID_ARGUMENT",
            f"Invalid ack deadline given (ack_deadline={seconds}). "
            f"The ack deadline must be between {least} and 600 seconds.",
        )


def updated(config: Raw, change: Raw, mask: FieldMask) -> Raw:
    """A copy of a resource with the fields that the mask names taken from `change`.

    Raises:
        RpcError: INVALID_ARGUMENT when the mask is empty or names what cannot be changed.
    """
    kind = config.DESCRIPTOR.name
    request = f"Update{kind}Request"
    if not mask.paths:
        text = f"The update_mask in the {request} must be set, and must contain a non-empty paths list."
        raise RpcError("INVALID_ARGUMENT", text)
    for path in mask.paths:
        field = path.partition(".")[0]
        if field not in config.DESCRIPTOR.fields_by_name:
            raise _bad_mask(
                request,
                f"{path} is not a known {kind} field. Note that field paths must be of "
                "the form 'push_config' rather than 'pushConfig'.",
            )
        if field not in MUTABLE[kind]:
            raise _bad_mask(request, f"the {path} field in the {kind} is not mutable.")
    fresh = type(config)()
    fresh.CopyFrom(config)
    try:
        mask.MergeMessage(change, fresh, replace_message_field=True, replace_repeated_field=True)
    except ValueError as error:
        raise _bad_mask(request, f"{error}.") from error
    return fresh


def _bad_mask(request: str, why: str) -> RpcError:
    return RpcError("INVALID_ARGUMENT", f"Invalid update_mask provided in the {request}: {why}")


def _duration(field: str, value: Raw, least: int, most: int | None) -> None:
    seconds = value.ToMicroseconds() / 1e6
    if seconds < least or (most is not None and seconds > most):
        upper = "" if most is None else f" and at most {most}s"
        raise RpcError(
            "INVALID_ARGUMENT",
            f"The value for {field} is out of bounds. You passed {seconds:g}s in the request, "
            f"but the value must be at least {least}s{upper}.",
        )


def _at_least(field: str, value: float, least: float, *, code: str = "INVALID_ARGUMENT") -> None:
    if value < least:
        raise RpcError(code, _too("small", field, value, f"minimum value is {least:g}"))


def _at_most(field: str, value: float, most: float, *, code: str = "INVALID_ARGUMENT") -> None:
    if value > most:
        raise RpcError(code, _too("large", field, value, f"maximum value is {most:.10g}"))


def _too(size: str, field: str, value: float, limit: str) -> str:
    return f"The value for {field} is too {size}. You passed {value:.10g} in the request, but the {limit}."
