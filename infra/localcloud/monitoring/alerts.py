"""The AlertPolicyService and the NotificationChannelService."""

from collections.abc import Iterator, Mapping

from google.protobuf.empty_pb2 import Empty

from localcloud.clock import Clock
from localcloud.google_types import monitoring as types
from localcloud.monitoring.aggregation import read_step
from localcloud.monitoring.align import MINUTE
from localcloud.monitoring.filter import series_filter
from localcloud.monitoring.kept import KeptPoints
from localcloud.rpc import Method, Raw, RpcError, plain, table

POLICY_SERVICE = "google.monitoring.v3.AlertPolicyService"
CHANNEL_SERVICE = "google.monitoring.v3.NotificationChannelService"
MOST_CONDITIONS = 6

_POLICIES, _POLICY = "/v3/{name=projects/*}/alertPolicies", "/v3/{name=projects/*/alertPolicies/*}"
POLICY_ROWS = (
    (
        "CreateAlertPolicy",
        types.CreateAlertPolicyRequest,
        types.AlertPolicy,
        f"POST {_POLICIES} alert_policy",
    ),
    ("GetAlertPolicy", types.GetAlertPolicyRequest, types.AlertPolicy, f"GET {_POLICY}"),
    (
        "ListAlertPolicies",
        types.ListAlertPoliciesRequest,
        types.ListAlertPoliciesResponse,
        f"GET {_POLICIES}",
    ),
    (
        "UpdateAlertPolicy",
        types.UpdateAlertPolicyRequest,
        types.AlertPolicy,
        "PATCH /v3/{alert_policy.name=projects/*/alertPolicies/*} alert_policy",
    ),
    ("DeleteAlertPolicy", types.DeleteAlertPolicyRequest, Empty, f"DELETE {_POLICY}"),
)

_CHANNELS = "/v3/{name=projects/*}/notificationChannels"
_CHANNEL = "/v3/{name=projects/*/notificationChannels/*}"
CHANNEL_ROWS = (
    (
        "CreateNotificationChannel",
        types.CreateNotificationChannelRequest,
        types.NotificationChannel,
        f"POST {_CHANNELS} notification_channel",
    ),
    (
        "GetNotificationChannel",
        types.GetNotificationChannelRequest,
        types.NotificationChannel,
        f"GET {_CHANNEL}",
    ),
    (
        "ListNotificationChannels",
        types.ListNotificationChannelsRequest,
        types.ListNotificationChannelsResponse,
        f"GET {_CHANNELS}",
    ),
    (
        "UpdateNotificationChannel",
        types.UpdateNotificationChannelRequest,
        types.NotificationChannel,
        "PATCH /v3/{notification_channel.name=projects/*/notificationChannels/*} notification_channel",
    ),
    ("DeleteNotificationChannel", types.DeleteNotificationChannelRequest, Empty, f"DELETE {_CHANNEL}"),
)

CHANNEL_LABELS: Mapping[str, str] = {
    "email": "email_address",
    "webhook_tokenauth": "url",
    "webhook_basicauth": "url",
    "pubsub": "topic",
    "sms": "number",
    "slack": "channel_name",
    "pagerduty": "service_key",
}
"""The label that each type of channel must have ("Creating channels" in Monitoring's documentation)."""


class Channels:
    """Notification channels: checked and kept."""

    def __init__(self, *, project: str, clock: Clock) -> None:
        self.kept = KeptPoints(
            project=project, kind="notificationChannels", clock=clock, check=_check_channel
        )
        self.policies: KeptPoints | None = None

    def methods(self) -> Iterator[Method]:
        """The table of methods."""
        return table(CHANNEL_SERVICE, self, CHANNEL_ROWS)

    def create_notification_channel(self, request: Raw) -> Raw:
        """Keep a new channel."""
        return self.kept.create(request.name, request.notification_channel)

    def get_notification_channel(self, request: Raw) -> Raw:
        """One channel."""
        return self.kept.get(request.name)

    def list_notification_channels(self, request: Raw) -> Raw:
        """One page of channels."""
        found, token = self.kept.page(request)
        return plain(types.ListNotificationChannelsResponse)(
            notification_channels=found, next_page_token=token, total_size=len(list(self.kept.all()))
        )

    def update_notification_channel(self, request: Raw) -> Raw:
        """Change a channel."""
        return self.kept.update(request.notification_channel, request.update_mask)

    def delete_notification_channel(self, request: Raw) -> Raw:
        """Remove a channel; one that a policy uses only by force, and then from the policy too."""
        self.kept.get(request.name)
        policies = list(self.policies.all()) if self.policies else []
        users = [policy for policy in policies if request.name in policy.notification_channels]
        if users and not request.force:
            text = f"Cannot delete the notification channel {request.name}: {users[0].name} uses it."
            raise RpcError("FAILED_PRECONDITION", text)
        for policy in users:
            policy.notification_channels.remove(request.name)
        self.kept.delete(request.name)
        return Empty()


def _check_channel(channel: Raw) -> None:
    label = CHANNEL_LABELS.get(channel.type_)
    if label is None:
        known = ", ".join(CHANNEL_LABELS)
        raise _invalid("notification_channel.type", channel.type_, f"Must be one of {known}.")
    if not channel.labels.get(label):
        raise _invalid(f"notification_channel.labels['{label}']", "", "It must be given.")
    if not channel.HasField("enabled"):
        channel.enabled.value = True


class AlertPolicies:
    """Alert policies: checked against what Monitoring takes, and kept."""

    def __init__(self, *, project: str, clock: Clock, channels: Channels) -> None:
        self._project = project
        self._channels = channels
        self.kept = KeptPoints(project=project, kind="alertPolicies", clock=clock, check=self._check)
        channels.policies = self.kept

    def methods(self) -> Iterator[Method]:
        """The table of methods."""
        return table(POLICY_SERVICE, self, POLICY_ROWS)

    def create_alert_policy(self, request: Raw) -> Raw:
        """Keep a new policy."""
        return self.kept.create(request.name, request.alert_policy)

    def get_alert_policy(self, request: Raw) -> Raw:
        """One policy."""
        return self.kept.get(request.name)

    def list_alert_policies(self, request: Raw) -> Raw:
        """One page of policies."""
        found, token = self.kept.page(request)
        return plain(types.ListAlertPoliciesResponse)(
            alert_policies=found, next_page_token=token, total_size=len(list(self.kept.all()))
        )

    def update_alert_policy(self, request: Raw) -> Raw:
        """Change a policy."""
        return self.kept.update(request.alert_policy, request.update_mask)

    def delete_alert_policy(self, request: Raw) -> Raw:
        """Remove a policy."""
        self.kept.delete(request.name)
        return Empty()

    def _check(self, policy: Raw) -> None:
        if not policy.display_name:
            raise _invalid("alert_policy.display_name", "", "It must be given.")
        if not policy.combiner:
            raise _invalid("alert_policy.combiner", "COMBINE_UNSPECIFIED", "It must be given.")
        if not 1 <= len(policy.conditions) <= MOST_CONDITIONS:
            text = f"A policy has 1 to {MOST_CONDITIONS} conditions."
            raise _invalid("alert_policy.conditions", str(len(policy.conditions)), text)
        known = {channel.name for channel in self._channels.kept.all()}
        for number, name in enumerate(policy.notification_channels):
            if name not in known:
                field = f"alert_policy.notification_channels[{number}]"
                raise _invalid(field, name, "There is no such notification channel.")
        for number, condition in enumerate(policy.conditions):
            self._check_condition(condition, f"alert_policy.conditions[{number}]")
            condition.name = condition.name or f"{policy.name}/conditions/{self.kept.number()}"
        if not policy.HasField("enabled"):
            policy.enabled.value = True

    def _check_condition(self, condition: Raw, field: str) -> None:
        if not condition.display_name:
            raise _invalid(f"{field}.display_name", "", "It must be given.")
        which = condition.WhichOneof("condition")
        if which is None:
            raise _invalid(field, "", "One kind of condition must be given.")
        body = getattr(condition, which)
        if which in ("condition_threshold", "condition_absent"):
            series_filter(body.filter, self._project)
            for number, aggregation in enumerate(body.aggregations):
                read_step(aggregation, f"{field}.{which}.aggregations[{number}]")
        if hasattr(body, "duration") and body.duration.ToNanoseconds() % MINUTE:
            text = "It must be a multiple of a minute."
            raise _invalid(f"{field}.{which}.duration", body.duration.ToJsonString(), text)


def _invalid(field: str, value: str, why: str) -> RpcError:
    return RpcError("INVALID_ARGUMENT", f'Field {field} had an invalid value of "{value}": {why}')
