"""A local cloud with limits, over HTTP and gRPC."""

import asyncio
from pathlib import Path

import grpc.aio
import httpx
import pytest
from google.pubsub_v1 import PublisherAsyncClient
from google.pubsub_v1.services.publisher.transports import PublisherGrpcAsyncIOTransport

from localcloud.cloud import LocalCloud, Options
from localcloud.limits import Latency, Limits

TOPIC = "projects/demo/topics/news"


def test_every_call_by_http_and_grpc_takes_its_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One draw for each."""
    drawn: list[Limits] = []

    def draw(latency: Latency) -> float:
        drawn.append(latency._limits())
        return 0.001

    monkeypatch.setattr(Latency, "draw", draw)
    limits = Limits(seed=3)

    async def story() -> None:
        options = Options(project="demo", state=tmp_path, machines=False, limits=limits)
        async with LocalCloud(options) as cloud, httpx.AsyncClient(base_url=cloud.endpoints.http) as http:
            (await http.post("/storage/v1/b?project=demo", json={"name": "jobs"})).raise_for_status()
            assert drawn == [limits]
            async with grpc.aio.insecure_channel(cloud.endpoints.grpc) as channel:
                transport = PublisherGrpcAsyncIOTransport(channel=channel)
                await PublisherAsyncClient(transport=transport).create_topic(name=TOPIC)
            assert drawn == [limits, limits]

    asyncio.run(story())
