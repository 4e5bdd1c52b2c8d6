"""A Monitoring behind real listeners, and Google's own clients pointed at it."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import grpc
import pytest
from google.cloud import monitoring_v3
from google.cloud.monitoring_v3.services.alert_policy_service.transports import (
    AlertPolicyServiceGrpcTransport,
)
from google.cloud.monitoring_v3.services.metric_service.transports import MetricServiceGrpcTransport
from google.cloud.monitoring_v3.services.notification_channel_service.transports import (
    NotificationChannelServiceGrpcTransport,
)

from localcloud.clock import Clock
from localcloud.monitoring import MonitoringService
from tests.localcloud.stand import PROJECT, Stand, standing

NOW = datetime(2026, 11, 21, 8, 0, tzinfo=UTC)


@dataclass
class Fixed(Clock):
    """A clock that stands at `moment`."""

    moment: datetime = NOW

    def now(self) -> datetime:
        """The moment."""
        return self.moment


@pytest.fixture
def clock() -> Fixed:
    """The clock of the service."""
    return Fixed()


@pytest.fixture
def stand(clock: Fixed) -> Iterator[Stand]:
    """A fresh Monitoring; at the end all that was said over REST must fit Google's document."""

    def make(_: Stand) -> MonitoringService:
        return MonitoringService(project=PROJECT, clock=clock, retention=timedelta(hours=2))

    with standing("monitoring", "v3", make) as stand:
        yield stand


@pytest.fixture
def channel(stand: Stand) -> Iterator[grpc.Channel]:
    """The channel that the clients are given."""
    with grpc.insecure_channel(stand.grpc) as channel:
        yield channel


@pytest.fixture
def metrics(channel: grpc.Channel) -> monitoring_v3.MetricServiceClient:
    """Google's client of the MetricService."""
    return monitoring_v3.MetricServiceClient(transport=MetricServiceGrpcTransport(channel=channel))


@pytest.fixture
def policies(channel: grpc.Channel) -> monitoring_v3.AlertPolicyServiceClient:
    """Google's client of the AlertPolicyService."""
    return monitoring_v3.AlertPolicyServiceClient(transport=AlertPolicyServiceGrpcTransport(channel=channel))


@pytest.fixture
def channels(channel: grpc.Channel) -> monitoring_v3.NotificationChannelServiceClient:
    """Google's client of the NotificationChannelService."""
    return monitoring_v3.NotificationChannelServiceClient(
        transport=NotificationChannelServiceGrpcTransport(channel=channel)
    )
