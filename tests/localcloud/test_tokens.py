"""Access tokens of service accounts' keys: whom they name."""

import asyncio
import base64
import json
from pathlib import Path

import httpx
import pytest

from localcloud.cloud import LocalCloud, Options

GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"


def assertion(told: object) -> str:
    """A signed assertion, as google-auth sends it; of its signature nothing is asked."""
    payload = base64.urlsafe_b64encode(json.dumps(told).encode()).decode().rstrip("=")
    return f"head.{payload}.signature"


@pytest.mark.parametrize(
    ("sent", "named"),
    [
        (assertion({"iss": "ada@example.com"}), "ada@example.com"),
        (assertion({"iss": 7}), "functions@demo.iam.gserviceaccount.com"),
        (assertion({"iss": "a@b\r\n"}), "functions@demo.iam.gserviceaccount.com"),
        (assertion([]), "functions@demo.iam.gserviceaccount.com"),
        ("garbage", "functions@demo.iam.gserviceaccount.com"),
        ("head.%%%.x", "functions@demo.iam.gserviceaccount.com"),
        ("", "functions@demo.iam.gserviceaccount.com"),
    ],
)
def test_a_token_names_the_account_whose_key_it_was_asked_with(tmp_path: Path, sent: str, named: str):
    """What says nothing of the kind gets that of the owner."""

    async def ask() -> str:
        async with (
            LocalCloud(Options(project="demo", state=tmp_path, machines=False)) as cloud,
            httpx.AsyncClient(base_url=cloud.endpoints.http, trust_env=False) as client,
        ):
            answer = await client.post("/token", data={"grant_type": GRANT, "assertion": sent})
            return str(answer.json()["access_token"])

    assert asyncio.run(ask()) == f"local-{named}"
