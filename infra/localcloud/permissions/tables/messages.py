"""Pub/Sub and Cloud Monitoring, by the method of their gRPC services: REST comes to the same.

From "Access control with IAM" (Pub/Sub, permissions by method: a subscription is created in a project and
attached to a topic) and "Control access with Identity and Access Management" (Cloud Monitoring). Behind the
`@` stands the field of the request that names the resource; `*` is its kind.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple


class AskedMessage(NamedTuple):
    """A permission, and the field of the request that says on what."""

    permission: str
    field: str


_PUBLISHER = """
    CreateTopic             pubsub.topics.create@name
    UpdateTopic             pubsub.topics.update@topic.name
    Publish                 pubsub.topics.publish@topic
    GetTopic                pubsub.topics.get@topic
    ListTopics              pubsub.topics.list@project
    ListTopicSubscriptions  pubsub.topics.get@topic
    ListTopicSnapshots      pubsub.topics.get@topic
    DeleteTopic             pubsub.topics.delete@topic
"""
_SUBSCRIBER = """
    CreateSubscription      pubsub.subscriptions.create@name pubsub.topics.attachSubscription@topic
    GetSubscription         pubsub.subscriptions.get@subscription
    UpdateSubscription      pubsub.subscriptions.update@subscription.name
    ListSubscriptions       pubsub.subscriptions.list@project
    DeleteSubscription      pubsub.subscriptions.delete@subscription
    ModifyAckDeadline       pubsub.subscriptions.consume@subscription
    Acknowledge             pubsub.subscriptions.consume@subscription
    Pull                    pubsub.subscriptions.consume@subscription
    StreamingPull           pubsub.subscriptions.consume@subscription
    ModifyPushConfig        pubsub.subscriptions.update@subscription
    Seek                    pubsub.subscriptions.consume@subscription
    CreateSnapshot          pubsub.snapshots.create@name pubsub.subscriptions.consume@subscription
    GetSnapshot             pubsub.snapshots.get@snapshot
    UpdateSnapshot          pubsub.snapshots.update@snapshot.name
    ListSnapshots           pubsub.snapshots.list@project
    DeleteSnapshot          pubsub.snapshots.delete@snapshot
"""
_POLICIES = """
    GetIamPolicy            pubsub.*.getIamPolicy@resource
    SetIamPolicy            pubsub.*.setIamPolicy@resource
    TestIamPermissions      -
"""
_METRICS = """
    ListTimeSeries          monitoring.timeSeries.list@name
    CreateTimeSeries        monitoring.timeSeries.create@name
    ListMetricDescriptors   monitoring.metricDescriptors.list@name
    GetMetricDescriptor     monitoring.metricDescriptors.get@name
    CreateMetricDescriptor  monitoring.metricDescriptors.create@name
    DeleteMetricDescriptor  monitoring.metricDescriptors.delete@name
    ListMonitoredResourceDescriptors  monitoring.monitoredResourceDescriptors.list@name
    GetMonitoredResourceDescriptor    monitoring.monitoredResourceDescriptors.get@name
"""
_CHANNELS = """
    ListNotificationChannels   monitoring.notificationChannels.list@name
    GetNotificationChannel     monitoring.notificationChannels.get@name
    CreateNotificationChannel  monitoring.notificationChannels.create@name
    UpdateNotificationChannel  monitoring.notificationChannels.update@notification_channel.name
    DeleteNotificationChannel  monitoring.notificationChannels.delete@name
"""
_ALERTS = """
    ListAlertPolicies       monitoring.alertPolicies.list@name
    GetAlertPolicy          monitoring.alertPolicies.get@name
    CreateAlertPolicy       monitoring.alertPolicies.create@name
    UpdateAlertPolicy       monitoring.alertPolicies.update@alert_policy.name
    DeleteAlertPolicy       monitoring.alertPolicies.delete@name
"""


def _read(service: str, text: str) -> Iterator[tuple[str, Sequence[AskedMessage]]]:
    for line in text.strip().splitlines():
        method, *asked = line.split()
        yield f"{service}/{method}", [AskedMessage(*part.split("@")) for part in asked if part != "-"]


METHODS: Mapping[str, Sequence[AskedMessage]] = {
    **dict(_read("google.pubsub.v1.Publisher", _PUBLISHER)),
    **dict(_read("google.pubsub.v1.Subscriber", _SUBSCRIBER)),
    **dict(_read("google.iam.v1.IAMPolicy", _POLICIES)),
    **dict(_read("google.monitoring.v3.MetricService", _METRICS)),
    **dict(_read("google.monitoring.v3.NotificationChannelService", _CHANNELS)),
    **dict(_read("google.monitoring.v3.AlertPolicyService", _ALERTS)),
}
"""By service and method."""
