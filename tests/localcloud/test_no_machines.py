"""A local cloud whose VMs have no processes, for who measures thousands of them."""

import asyncio
from pathlib import Path

import httpx

from localcloud.cloud import LocalCloud, Options
from tests.localcloud.compute.world import request, spot

TIMEOUT_SECONDS = 30
INSTANCES = "/compute/v1/projects/demo/zones/us-central1-a/instances"


async def statuses(http: httpx.AsyncClient) -> list[str]:
    """What the VM went through so far."""
    return [one["status"] for one in (await http.get("/local/history")).json()["changes"]]


async def came_to(http: httpx.AsyncClient, status: str) -> None:
    """Return once the VM has this status."""
    async with asyncio.timeout(TIMEOUT_SECONDS):
        while True:
            if status in await statuses(http):
                return


def test_a_vm_without_processes_lives_and_dies_like_any_other(tmp_path: Path):
    """It runs, none of its scripts does, and a preemption takes it at once."""
    script = {"items": [{"key": "startup-script", "value": f"touch {tmp_path}/ran"}]}

    async def story() -> list[str]:
        options = Options(project="demo", state=tmp_path / "state", machines=False)
        async with (
            LocalCloud(options) as cloud,
            httpx.AsyncClient(base_url=cloud.endpoints.http, trust_env=False) as http,
        ):
            body = request(scheduling=spot(), metadata=script)
            (await http.post(INSTANCES, json=body)).raise_for_status()
            await came_to(http, "RUNNING")
            (await http.post("/local/preempt", json={"node": "vm"})).raise_for_status()
            await came_to(http, "GONE")
            return await statuses(http)

    assert asyncio.run(story()) == ["PROVISIONING", "STAGING", "RUNNING", "STOPPING", "GONE"]
    assert not (tmp_path / "ran").exists()
