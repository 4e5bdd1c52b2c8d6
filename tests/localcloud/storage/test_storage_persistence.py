"""What survives: a restart, a kill at any instruction, a damaged folder."""

import base64
import hashlib
import random
import signal
import subprocess
import sys
import threading
from datetime import timedelta
from pathlib import Path

import httpx
import pytest
from google.cloud import storage

from localcloud.clock import Clock
from localcloud.storage import StateInUseError, StorageService
from tests.localcloud.storage.conftest import Served

STEP = 256 * 1024
UPLOAD = "/upload/storage/v1/b/bucket/o"


def test_everything_survives_a_restart(served: Served, bucket: storage.Bucket):
    """Buckets with their settings, objects with content, metadata and versions."""
    bucket.versioning_enabled = True
    bucket.patch()
    blob = bucket.blob("a/ü")
    blob.metadata = {"k": "v"}
    for content in ("1", "2"):
        blob.upload_from_string(content)
    before = [item._properties for item in bucket.list_blobs(versions=True)]
    served.restart()
    bucket.reload()
    assert bucket.versioning_enabled
    assert [item._properties for item in bucket.list_blobs(versions=True)] == before
    assert bucket.blob("a/ü").download_as_bytes() == b"2"


def test_generations_grow_across_a_restart_with_the_clock_set_back(served: Served, bucket: storage.Bucket):
    """A new generation is higher than every one before, whatever the clock says, and deletions count, too."""
    blob = bucket.blob("a")
    blob.upload_from_string("x")
    highest = blob.generation
    blob.delete()
    served.restart()
    served.clock.skew = timedelta(days=-30)
    for _ in range(3):
        fresh = bucket.blob("a")
        fresh.upload_from_string("x")
        assert fresh.generation > highest
        highest = fresh.generation


def test_orphans_are_removed_at_the_start(served: Served, bucket: storage.Bucket, http: httpx.Client):
    """A file that no object and no upload names goes; the others stay."""
    bucket.blob("a").upload_from_string("x")
    params = {"uploadType": "resumable", "name": "b"}
    url = http.post(UPLOAD, params=params).headers["location"]
    http.put(url, content=bytes(STEP), headers={"content-range": f"bytes 0-{STEP - 1}/*"})
    kept = served.files()
    (served.folder / "content" / "orphan").write_bytes(b"x")
    served.restart()
    assert served.files() == kept
    assert len(kept) == 2


def test_an_object_whose_content_was_lost_is_dropped(served: Served, bucket: storage.Bucket):
    """As after a power cut: what cannot be served whole is not listed; everything else is."""
    for name in ("lost", "short", "whole"):
        bucket.blob(name).upload_from_string("content of " + name)
    for path in (served.folder / "content").iterdir():
        if path.read_bytes() == b"content of lost":
            path.unlink()
        elif path.read_bytes() == b"content of short":
            path.write_bytes(b"cont")
    served.restart()
    assert [blob.name for blob in bucket.list_blobs()] == ["whole"]


def test_an_upload_is_forgotten_after_a_week(served: Served, bucket: storage.Bucket, http: httpx.Client):
    """Its file goes with it; on the day before, both are there."""
    assert bucket.exists()
    params = {"uploadType": "resumable", "name": "b"}
    url = http.post(UPLOAD, params=params).headers["location"]
    http.put(url, content=bytes(STEP), headers={"content-range": f"bytes 0-{STEP - 1}/*"})
    served.clock.skew = timedelta(days=6, hours=23)
    served.restart()
    assert len(served.files()) == 1
    served.clock.skew = timedelta(days=7, hours=1)
    served.restart()
    assert served.files() == []


def _open(folder: Path | None) -> StorageService:
    return StorageService(
        project="project",
        folder=folder,
        publish=lambda _topic, _data, _attributes: "1",
        clock=Clock(),
        base_url=lambda: "http://127.0.0.1:1",
    )


def test_a_folder_belongs_to_one_process(served: Served):
    """A second one is refused, and told what to do."""
    with pytest.raises(StateInUseError, match="stop that one or choose another folder"):
        _open(served.folder)


def test_without_a_folder_nothing_stays(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """A temporary folder is made, and removed by `close`."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    service = _open(None)
    assert len(list(tmp_path.iterdir())) == 1
    service.close()
    assert list(tmp_path.iterdir()) == []


def test_a_bucket_is_ensured_once(tmp_path: Path):
    """The second time does nothing."""
    service = _open(tmp_path / "state")
    service.ensure_bucket("bucket")
    service.ensure_bucket("bucket")
    assert service._index.bucket("bucket") is not None
    service.close()


SERVER = """
import asyncio, sys
from pathlib import Path
from localcloud.clock import Clock
from localcloud.http import Listener, build_app
from localcloud.storage import StorageService

async def main() -> None:
    url = [""]
    service = StorageService(project="project", folder=Path(sys.argv[1]), publish=lambda t, d, a: "1",
                             clock=Clock(), base_url=lambda: url[0])
    service.ensure_bucket("bucket")
    async with Listener(build_app(service.routes())) as listener:
        url[0] = listener.url
        print(listener.url, flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""


class Killable:
    """A server in a process of its own."""

    def __init__(self, folder: Path) -> None:
        command = [sys.executable, "-c", SERVER, str(folder)]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self.url = self._process.stdout.readline().strip()

    def kill(self) -> None:
        """End it at whatever it is doing."""
        self._process.send_signal(signal.SIGKILL)
        self._process.wait(timeout=10)
        assert self._process.stdout is not None
        self._process.stdout.close()


class Writer:
    """Writes objects until the server is gone; knows what was confirmed last, and what not any more."""

    def __init__(self, url: str, dice: random.Random) -> None:
        self.confirmed: dict[str, bytes] = {}
        self.trying: tuple[str, bytes] | None = None
        self._url = url
        self._dice = dice
        self._more = threading.Condition()
        self._count = 0
        self._thread = threading.Thread(target=self._write, daemon=True)
        self._thread.start()

    def wait(self, count: int) -> None:
        """Return when so many writes were confirmed."""
        with self._more:
            assert self._more.wait_for(lambda: self._count >= count, timeout=60)

    def join(self) -> None:
        """Return when it has noticed that the server is gone."""
        self._thread.join(timeout=60)
        assert not self._thread.is_alive()

    def _write(self) -> None:
        with httpx.Client(base_url=self._url, trust_env=False, timeout=60) as client:
            while True:
                name = f"object-{self._dice.randrange(7)}"
                content = self._dice.randbytes(self._dice.choice([0, 10, 70_000, 3_000_000]))
                self.trying = name, content
                try:
                    client.post(UPLOAD, params={"uploadType": "media", "name": name}, content=content)
                except httpx.TransportError:
                    return
                self.confirmed[name] = content
                with self._more:
                    self._count += 1
                    self._more.notify()


def _read(url: str) -> dict[str, tuple[bytes, str]]:
    """Content and MD5 of every object."""
    with httpx.Client(base_url=url, trust_env=False) as client:
        items = client.get("/storage/v1/b/bucket/o").json().get("items", [])
        return {item["name"]: (client.get(item["mediaLink"]).content, item["md5Hash"]) for item in items}


def test_a_kill_at_any_moment_loses_and_mixes_nothing(tmp_path: Path):
    """Killed while writing, again and again: every object is whole and as confirmed or tried last."""
    dice = random.Random(7)
    expected: dict[str, set[bytes]] = {}
    certain: set[str] = set()
    for _ in range(10):
        server = Killable(tmp_path)
        found = _read(server.url)
        assert certain <= found.keys() <= expected.keys()
        assert len(list((tmp_path / "content").iterdir())) == len(found)
        for name, (content, md5) in found.items():
            assert content in expected[name]
            assert base64.b64encode(hashlib.md5(content).digest()).decode() == md5
        writer = Writer(server.url, dice)
        writer.wait(dice.randrange(1, 12))
        server.kill()
        writer.join()
        expected = {name: {content} for name, (content, _) in found.items()}
        expected |= {name: {content} for name, content in writer.confirmed.items()}
        if writer.trying:
            name, content = writer.trying
            expected[name] = expected.get(name, set()) | {content}
        certain = found.keys() | writer.confirmed.keys()
