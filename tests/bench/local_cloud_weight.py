"""What the local cloud weighs: memory and processor time of its process under five loads.

    python tests/bench/local_cloud_weight.py [--fleet 10000] [--vms 10000] [--objects 100000]
                                             [--gigabytes 5] [--connections 1000]

Prints a table. Each load has a `spotwarden local serve --no-machines` of its own, which is asked over HTTP:
VMs of `/local/fleet` and VMs made by `bulkInsert`, both then listed, objects of 1 KB written by eight clients
and then listed, one resumable upload in pieces of 8 MiB and its download, and connections that are all open
at once and make two calls each. The memory is the highest that the process ever had (VmHWM), on Linux.
"""

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote, urlsplit

import psutil

SPOTWARDEN = str(Path(sys.executable).with_name("spotwarden"))
SERVE = [SPOTWARDEN, "local", "serve", "--no-machines", "--project", "p"]
COMPUTE = "/compute/v1/projects/p"
UPLOAD = "/upload/storage/v1/b/bucket/o"
ZONES = ("us-central1-a", "us-west1-a", "us-east1-b", "europe-west4-a")
"""Each in a region of its own: the default subnetwork of a region has 4,092 addresses."""
BATCH = 500
PIECE = 8 << 20
BLOCK = 1 << 20
WRITERS = 8
AIM_MB = 150
"""What issue M asks for, for the memory of each."""


@contextmanager
def serving() -> Iterator[tuple[str, psutil.Process]]:
    """Run a local cloud; yield its address and its process."""
    with tempfile.TemporaryDirectory() as state:
        process = subprocess.Popen([*SERVE, "--state", state], stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        try:
            told = json.loads(process.stdout.readline())
            yield urlsplit(told["http"]).netloc, psutil.Process(process.pid)
        finally:
            process.terminate()
            process.wait()
            process.stdout.close()


def peak_mb(process: psutil.Process) -> float:
    """The highest resident memory that it ever had."""
    for line in Path(f"/proc/{process.pid}/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    raise RuntimeError("VmHWM is not told here")


class Client:
    """One kept connection."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._connection = HTTPConnection(address, timeout=600)

    def __call__(self, verb: str, path: str, body: Any = None, **headers: str) -> bytes:
        """The body of an answer, which must be a success or 308."""
        data = json.dumps(body).encode() if isinstance(body, dict) else body
        kind = {"content-type": "application/json"} if isinstance(body, dict) else {}
        self._connection.request(verb, path, data, {**kind, **headers})
        answer = self._connection.getresponse()
        self.headers = answer.headers
        content = answer.read()
        assert answer.status < 309, content[:500]
        return content

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        self._connection.close()

    def stream(self, path: str) -> int:
        """Read a large answer, and give its size."""
        self._connection.request("GET", path)
        answer, size = self._connection.getresponse(), 0
        while data := answer.read(BLOCK):
            size += len(data)
        return size


def pages(call: Client, path: str) -> Iterator[dict[str, Any]]:
    """All pages of a list."""
    token = ""
    while True:
        page = json.loads(call("GET", f"{path}{'&' if '?' in path else '?'}pageToken={quote(token)}"))
        yield page
        token = page.get("nextPageToken", "")
        if not token:
            return


def listed_vms(call: Client) -> int:
    """How many VMs the aggregated list has."""
    return sum(
        len(scope.get("instances", ()))
        for page in pages(call, f"{COMPUTE}/aggregated/instances")
        for scope in page["items"].values()
    )


def fleet(call: Client, count: int) -> str:
    """VMs for long lists, with no operations, disks and log entries of their own."""
    call("POST", "/local/fleet", {"count": count})
    assert listed_vms(call) == count
    return f"{count:,} VMs of /local/fleet, listed"


def many_vms(call: Client, count: int) -> str:
    """Make them by bulkInsert, wait until they run, and list them once."""
    image = "projects/debian-cloud/global/images/family/debian-12"
    properties = {
        "machineType": "n1-standard-8",
        "disks": [{"boot": True, "autoDelete": True, "initializeParams": {"sourceImage": image}}],
        "networkInterfaces": [{"network": "global/networks/default"}],
        "scheduling": {"provisioningModel": "SPOT", "instanceTerminationAction": "DELETE"},
        "labels": {"spotwarden-job": "weight"},
        "metadata": {"items": [{"key": "startup-script", "value": "#!/bin/bash\nexit 0\n" * 20}]},
    }
    waited = []
    for batch in range(count // BATCH):
        zone = ZONES[batch % len(ZONES)]
        body = {"count": str(BATCH), "namePattern": f"b{batch}-####", "instanceProperties": properties}
        made = json.loads(call("POST", f"{COMPUTE}/zones/{zone}/instances/bulkInsert", body))
        waited.append(f"{COMPUTE}/zones/{zone}/operations/{made['name']}/wait")
    for path in waited:
        while json.loads(call("POST", path))["status"] != "DONE":
            pass
    seen = listed_vms(call)
    assert seen == count, seen
    return f"{seen:,} VMs made by bulkInsert, listed"


def many_objects(call: Client, count: int) -> str:
    """Write them side by side, and list them once."""
    call("POST", "/storage/v1/b?project=p", {"name": "bucket"})

    def write(writer: int) -> None:
        with Client(call.address) as mine:
            for number in range(count // WRITERS):
                mine("POST", f"{UPLOAD}?uploadType=media&name=job-{writer}/{number}", b"x" * 1024)

    with ThreadPoolExecutor(WRITERS) as pool:
        list(pool.map(write, range(WRITERS)))
    seen = sum(len(page["items"]) for page in pages(call, "/storage/v1/b/bucket/o"))
    assert seen == count // WRITERS * WRITERS, seen
    return f"{seen:,} objects of 1 KB written, listed"


def large_object(call: Client, gigabytes: float) -> str:
    """One resumable upload in pieces, and its download."""
    total = int(gigabytes * (1 << 30)) // PIECE * PIECE
    call("POST", "/storage/v1/b?project=p", {"name": "bucket"})
    call("POST", f"{UPLOAD}?uploadType=resumable&name=large", {})
    place = urlsplit(call.headers["location"])
    piece = bytes(range(256)) * (PIECE // 256)
    for start in range(0, total, PIECE):
        span = f"bytes {start}-{start + PIECE - 1}/{total}"
        call("PUT", f"{place.path}?{place.query}", piece, **{"content-range": span})
    size = call.stream("/download/storage/v1/b/bucket/o/large?alt=media")
    assert size == total, size
    return f"{total / (1 << 30):g} GB resumable upload in pieces of 8 MiB, download"


def many_connections(call: Client, count: int) -> str:
    """Open all of them, let each make a call while all are open, and again."""
    address = call.address

    async def ask(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(f"GET {COMPUTE}/zones HTTP/1.1\r\nHost: {address}\r\n\r\n".encode())
        head = await reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200"), head
        length = next(
            int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.startswith(b"content-length")
        )
        await reader.readexactly(length)

    async def go() -> None:
        host, port = address.split(":")
        opened = [await asyncio.open_connection(host, int(port)) for _ in range(count)]
        for _ in range(2):
            await asyncio.gather(*(ask(*ends) for ends in opened))
        for _, writer in opened:
            writer.close()

    asyncio.run(go())
    return f"{count:,} connections at once, two calls each"


Work = Callable[[Client, Any], str]
Load = tuple[Work, float]


def measured(load: Load) -> str:
    """One line of the table."""
    work, amount = load
    with serving() as (address, process):
        idle, began, start = peak_mb(process), process.cpu_times(), time.perf_counter()
        with Client(address) as call:
            said = work(call, amount)
        took, spent, peak = time.perf_counter() - start, process.cpu_times(), peak_mb(process)
    processor = spent.user + spent.system - began.user - began.system
    verdict = "met" if peak <= AIM_MB else "MISSED"
    return (
        f"{said:<58} {peak:5.0f} MB (aim {AIM_MB}: {verdict}; {idle:.0f} idle) "
        f"{processor:7.1f} s of processor {took:7.1f} s"
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print; an amount of 0 leaves a load out."""
    parser = argparse.ArgumentParser(description="What the local cloud weighs.")
    parser.add_argument("--fleet", type=int, default=10_000)
    parser.add_argument("--vms", type=int, default=10_000)
    parser.add_argument("--objects", type=int, default=100_000)
    parser.add_argument("--gigabytes", type=float, default=5)
    parser.add_argument("--connections", type=int, default=1_000)
    asked = parser.parse_args(arguments)
    loads: Sequence[Load] = (
        (fleet, asked.fleet),
        (many_vms, asked.vms),
        (many_objects, asked.objects),
        (large_object, asked.gigabytes),
        (many_connections, asked.connections),
    )
    for load in loads:
        if load[1]:
            print(measured(load), flush=True)


if __name__ == "__main__":
    main()
