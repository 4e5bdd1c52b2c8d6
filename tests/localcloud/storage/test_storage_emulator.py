"""Clients that ask at STORAGE_EMULATOR_HOST without the path of the JSON API."""

import asyncio
from pathlib import Path

import httpx
import pytest

from localcloud.cloud import LocalCloud, Options


async def asked(state: Path, path: str) -> tuple[int, str]:
    """The status and the text that a whole local cloud answers, which has the bucket `data` with `a/b`."""
    async with LocalCloud(Options(project="demo", state=state, machines=False)) as cloud:
        async with httpx.AsyncClient(base_url=cloud.endpoints.http, trust_env=False) as client:
            await client.post("/storage/v1/b?project=demo", json={"name": "data"})
            await client.post("/upload/storage/v1/b/data/o?uploadType=media&name=a/b", content=b"x")
            answer = await client.get(path)
        return answer.status_code, answer.text


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("/b?project=demo", (200, '"name":"data"')),
        ("/b/data/o/a%2Fb", (200, '"name":"a/b"')),
        ("/b/data/o/a%2Fb?alt=media", (200, "x")),
        ("/b/nothing", (404, "The specified bucket does not exist.")),
        ("/projects/demo/serviceAccount", (200, "email_address")),
        ("/projects/demo/hmacKeys", (200, "storage#hmacKeysMetadata")),
        ("/bucket", (404, "does not know GET /bucket")),
    ],
)
def test_a_short_path_is_one_of_the_json_api(path, told, tmp_path):
    """Only those that can be no other's."""
    status, text = asyncio.run(asked(tmp_path, path))
    assert status == told[0]
    assert told[1] in text
