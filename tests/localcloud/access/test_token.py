"""A machine on which users cannot be told from each other: calls carry the token of the run."""

import asyncio
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import grpc
import httpx
import pytest
from google.api_core.client_options import ClientOptions
from google.auth.credentials import AnonymousCredentials
from google.cloud import compute_v1, storage

from localcloud.access.gate import NO_TOKEN
from localcloud.access.peers import owner
from localcloud.cloud import LocalCloud, Options
from tests.localcloud.access.conftest import SPOTWARDEN, STILL_SECONDS, vm
from tests.long import ASKED
from tests.waiting import wait

INSTANCES = "/compute/v1/projects/demo/zones/us-central1-a/instances"


@pytest.fixture(autouse=True)
def blind(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No table of connections can be had."""
    monkeypatch.setattr("localcloud.access.peers.best_table", lambda: None)
    owner.cache_clear()
    yield
    owner.cache_clear()


def visit(state: Path, *steps: Callable[[LocalCloud], None], machines: bool = False) -> None:
    """Take these steps, each in a thread, while a local cloud is up."""

    async def story() -> None:
        async with LocalCloud(Options(project="demo", state=state, machines=machines)) as cloud:
            for step in steps:
                await asyncio.to_thread(step, cloud)

    asyncio.run(story())


def test_a_call_without_the_token_is_refused(tmp_path: Path):
    """Also with one that is nearly right; the sentence says where the token is."""

    def step(cloud: LocalCloud) -> None:
        base, _, token = cloud.endpoints.http.partition("/~")
        assert len(token) > 16
        for path in (INSTANCES, f"/~{token[:-1]}{INSTANCES}", f"/~{token}x{INSTANCES}", "/~/", f"/~{token}"):
            answer = httpx.get(base + path, trust_env=False)
            assert (answer.status_code, answer.json()["error"]["message"]) == (403, NO_TOKEN)
        assert httpx.post(base + INSTANCES, json=vm("x"), trust_env=False).status_code == 403
        assert httpx.get(cloud.endpoints.http + INSTANCES, trust_env=False).json().get("items", []) == []

    visit(tmp_path, step)


def test_a_call_may_bear_it_as_its_access_token(tmp_path: Path):
    """The right one, and once (RFC 6750); a page cannot send that without being asked first (CORS)."""

    def step(cloud: LocalCloud) -> None:
        base, _, token = cloud.endpoints.http.partition("/~")

        def status(*bearers: str) -> int:
            headers = [("authorization", bearer) for bearer in bearers]
            return httpx.get(base + INSTANCES, headers=headers, trust_env=False).status_code

        assert status(f"Bearer {token}") == 200
        wrong = ["", "Bearer", f"Bearer {token[:-1]}", f"Bearer {token}x", token, "Bearer local-cloud"]
        assert [status(bearer) for bearer in wrong] == [403] * len(wrong)
        assert status(f"Bearer {token}", f"Bearer {token}") == 403

    visit(tmp_path, step)


def test_googles_clients_carry_it_in_their_urls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """What `spotwarden local env` exports is enough for Compute Engine and Cloud Storage."""

    def step(cloud: LocalCloud) -> None:
        told = cloud.client_environment()
        options = ClientOptions(api_endpoint=told["SPOTWARDEN_COMPUTE_ENDPOINT"])
        instances = compute_v1.InstancesClient(credentials=AnonymousCredentials(), client_options=options)
        assert list(instances.list(project="demo", zone="us-central1-a")) == []
        monkeypatch.setenv("STORAGE_EMULATOR_HOST", told["STORAGE_EMULATOR_HOST"])
        bucket = storage.Client(project="demo", credentials=AnonymousCredentials()).create_bucket("bucket")
        blob = bucket.blob("some/object")
        blob.chunk_size = 256 * 1024
        blob.upload_from_string("x" * 600_000)
        assert blob.download_as_bytes() == b"x" * 600_000

    visit(tmp_path, step)


def test_grpc_carries_it_as_metadata(tmp_path: Path):
    """A call without it is refused; `SPOTWARDEN_LOCAL_TOKEN` has it."""

    def step(cloud: LocalCloud) -> None:
        token = cloud.client_environment()["SPOTWARDEN_LOCAL_TOKEN"]
        with grpc.insecure_channel(cloud.endpoints.grpc) as channel:
            call = channel.unary_unary("/google.pubsub.v1.Publisher/ListTopics")
            with pytest.raises(grpc.RpcError) as refused:
                call(b"")
            assert refused.value.code() is grpc.StatusCode.PERMISSION_DENIED
            with pytest.raises(grpc.RpcError) as answered:
                call(b"", metadata=[("x-spotwarden-token", token)])
            assert answered.value.code() is grpc.StatusCode.INVALID_ARGUMENT

    visit(tmp_path, step)


def test_a_vm_carries_it_by_itself(tmp_path: Path):
    """Its gcloud lists and deletes, as everywhere."""
    script = "gcloud compute instances delete $(hostname) --quiet 2> said"

    def step(cloud: LocalCloud) -> None:
        url = cloud.endpoints.http + INSTANCES
        httpx.post(url, json=vm("mortal", script), trust_env=False).raise_for_status()
        wait(STILL_SECONDS, lambda: not httpx.get(url, trust_env=False).json().get("items"), "it lives on")

    visit(tmp_path, step, machines=True)


@pytest.mark.skipif(not shutil.which("gcloud"), reason="gcloud is not installed")
def test_gcloud_carries_it_in_its_endpoints(tmp_path: Path):
    """The real one, with what `spotwarden local env` exports: Compute Engine, Cloud Storage and Pub/Sub."""

    def step(cloud: LocalCloud) -> None:
        env = {**os.environ, **cloud.client_environment()}

        def gcloud(*words: str) -> str:
            return subprocess.run(
                ["gcloud", *words], env=env, capture_output=True, text=True, check=True
            ).stdout

        httpx.post(cloud.endpoints.http + INSTANCES, json=vm("seen"), trust_env=False).raise_for_status()
        assert gcloud("compute", "instances", "list", "--format=value(name)") == "seen\n"
        if not ASKED:
            return
        source = tmp_path / "model"
        source.write_text("weights")
        gcloud("storage", "buckets", "create", "gs://bucket")
        gcloud("storage", "cp", str(source), "gs://bucket/model")
        assert gcloud("storage", "cat", "gs://bucket/model") == "weights"
        gcloud("pubsub", "topics", "create", "news")
        assert gcloud("pubsub", "topics", "list", "--format=value(name)") == "projects/demo/topics/news\n"

    visit(tmp_path / "state", step)


def test_local_status_prints_the_addresses_with_it(tmp_path: Path):
    """What a browser needs, and what the pages of the documentation promise."""

    def step(cloud: LocalCloud) -> None:
        env = {**os.environ, "SPOTWARDEN_LOCAL_URL": cloud.endpoints.http}
        argv = [SPOTWARDEN, "local", "status"]
        told = subprocess.run(argv, env=env, capture_output=True, text=True, check=True).stdout.splitlines()
        assert f"the local cloud: {cloud.endpoints.http}" in told
        (mailbox,) = [line for line in told if line.startswith("the mailbox: ")]
        page = httpx.get(mailbox.removeprefix("the mailbox: "), trust_env=False)
        assert "Nothing yet" in page.text

    visit(tmp_path, step)


def test_the_mailbox_is_walked_with_it(tmp_path: Path):
    """Links of its pages are relative, so they go on carrying it."""

    def step(cloud: LocalCloud) -> None:
        notice = {"what": "a", "why": "b"}
        cloud.mailbox.notice(notice)
        page = httpx.get(f"{cloud.endpoints.http}/local/mailbox", trust_env=False)
        assert page.status_code == 200
        assert 'href="/' not in page.text

    visit(tmp_path, step)


def test_where_users_can_be_told_apart_no_token_is_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """One fact apart: the URL is bare, and nothing about a token is exported."""
    monkeypatch.undo()
    owner.cache_clear()
    if owner().token:
        pytest.skip("users cannot be told apart here")

    def step(cloud: LocalCloud) -> None:
        assert "/~" not in cloud.endpoints.http
        assert "SPOTWARDEN_LOCAL_TOKEN" not in cloud.client_environment()

    visit(tmp_path, step)
