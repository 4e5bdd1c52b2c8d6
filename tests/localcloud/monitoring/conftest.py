"""A Monitoring behind real listeners, and Google's own clients pointed at it."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import grpc
import httpx
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
from tests.localcloud.stand import PROJECT, Stand

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
    stand = Stand()
    stand.service = stand.call(MonitoringService, project=PROJECT, clock=clock, retention=timedelta(hours=2))
    stand.serve([stand.service])
    yield stand
    stand.close()
    found = stand.findings("monitoring", "v3")
    assert not found, "\n".join(found)


@pytest.fixture
def http(stand: Stand) -> Iterator[httpx.Client]:
    """A plain HTTP client of the service."""
    with stand.client() as client:
        yield client


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
