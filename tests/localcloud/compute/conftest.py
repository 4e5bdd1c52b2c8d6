"""The world of a test, and Google's own clients of a Compute Engine behind a real listener."""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from typing import Any, TypeVar

import pytest
from google.auth.credentials import AnonymousCredentials
from google.cloud import compute_v1

from localcloud.clock import Clock
from localcloud.compute import ComputeService, Timings
from tests.localcloud.compute.world import PROJECT, Machines, Time, World
from tests.localcloud.conformance.discovery import Discovery
from tests.localcloud.conformance.recorder import Recorder
from tests.localcloud.stand import Stand


def fits(recorder: Recorder) -> None:
    """Hold everything that was said against Google's document."""
    compute = Discovery.load("compute", "v1")
    covered = [each for each in recorder.exchanges if compute.covers(each.path)]
    found = [finding for exchange in covered for finding in compute.check(exchange)]
    assert not found, "\n".join(found)


@pytest.fixture
def world() -> Iterator[World]:
    """A fresh world; at the end all that was said must fit Google's document, and nothing have failed."""
    world = World()
    yield world
    world.close()
    fits(world.recorder)
    assert not world.problems, world.problems


T = TypeVar("T")


class Cloud:
    """Compute Engine behind a real listener, with Google's own clients."""

    def __init__(self, stand: Stand) -> None:
        self.stand = stand
        self.machines = Machines(Time())
        self.log: list[Mapping[str, Any]] = []
        quick = timedelta(milliseconds=2)
        self.service: ComputeService = stand.call(
            ComputeService,
            project=PROJECT,
            clock=Clock(),
            machines=self.machines,
            audit=self.log.append,
            base_url=lambda: stand.http,
            timings=Timings(
                accepting=quick,
                changing=quick,
                provisioning=quick,
                staging=quick,
                stopping=quick,
                deleting=quick,
                regrouping=quick,
                suspending=quick,
            ),
        )
        self.machines.time = RealTime()
        stand.serve([self.service])

    def client(self, kind: Callable[..., T]) -> T:
        """A client of google-cloud-compute, by its documented settings alone."""
        return kind(
            credentials=AnonymousCredentials(),
            client_options={"api_endpoint": self.stand.http},
            transport="rest",
        )

    def done(self, operation: compute_v1.Operation) -> compute_v1.Operation:
        """Wait until an operation of any scope is done; give it as it is then.

        The client's own `result()` asks the default endpoint of the operations service, whatever endpoint the
        client has, so operations are waited for with a client of their own.
        """
        place: dict[str, Any] = {"project": PROJECT, "operation": operation.name}
        if operation.zone:
            zonal = self.client(compute_v1.ZoneOperationsClient)
            return zonal.wait(zone=operation.zone.rpartition("/")[2], **place)
        if operation.region:
            regional = self.client(compute_v1.RegionOperationsClient)
            return regional.wait(region=operation.region.rpartition("/")[2], **place)
        return self.client(compute_v1.GlobalOperationsClient).wait(**place)


class RealTime(Time):
    """The machines of a real listener need no time at all."""

    async def pause(self, duration: timedelta) -> None:
        """Do not wait."""
        del duration
        await asyncio.sleep(0)


@pytest.fixture
def cloud() -> Iterator[Cloud]:
    """A fresh one; at the end everything said must fit Google's document."""
    stand = Stand()
    cloud = Cloud(stand)
    yield cloud
    stand.close()
    fits(stand.recorder)


@pytest.fixture
def instances(cloud: Cloud) -> compute_v1.InstancesClient:
    """Google's client of instances."""
    return cloud.client(compute_v1.InstancesClient)
