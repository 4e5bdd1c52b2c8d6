"""What it costs to list 10,000 and 100,000 instances of the local cloud.

    python tests/bench/compute_lists.py [--counts 10000 100000]

Prints a table: the same list asked for as plain HTTP, where it is the server that is measured, with only the
fields that a sweep needs, and through google-cloud-compute, which then mostly measures the client. The server
runs in a process of its own, as `spotwarden local serve` runs it; each client too, for its peak of memory.
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import httpx
import psutil

SERVER = """
import asyncio
from localcloud.clock import Clock
from localcloud.compute import ComputeService, Timings
from localcloud.http import Listener, build_app

async def main() -> None:
    url = [""]
    service = ComputeService(project="project", clock=Clock(), machines=None, audit=lambda entry: None,
                             base_url=lambda: url[0], timings=Timings())
    async with Listener(build_app([*service.routes(), *service.admin_routes()])) as listener:
        url[0] = listener.url
        print(listener.url, flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""

PLAIN = """
import json, resource, sys, time
import httpx
url, fields = sys.argv[1], sys.argv[2]
times, count, size, token = [], 0, 0, ""
with httpx.Client(base_url=url, trust_env=False, timeout=60) as http:
    while True:
        query = {"pageToken": token} | ({"fields": fields} if fields else {})
        start = time.perf_counter()
        answer = http.get("/compute/v1/projects/project/aggregated/instances", params=query)
        times.append(time.perf_counter() - start)
        page = answer.json()
        size += len(answer.content)
        count += sum(len(scoped.get("instances", ())) for scoped in page["items"].values())
        token = page.get("nextPageToken", "")
        if not token:
            break
print(json.dumps([count, times, size, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss]))
"""

CLIENT = """
import json, resource, sys, time
from google.auth.credentials import AnonymousCredentials
from google.cloud import compute_v1
client = compute_v1.InstancesClient(credentials=AnonymousCredentials(), transport="rest",
                                    client_options={"api_endpoint": sys.argv[1]})
request = compute_v1.AggregatedListInstancesRequest(project="project", max_results=500)
times, count, start = [], 0, time.perf_counter()
for page in client.aggregated_list(request=request).pages:
    count += sum(len(scoped.instances) for scoped in page.items.values())
    times.append(time.perf_counter() - start)
    start = time.perf_counter()
print(json.dumps([count, times, 0, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss]))
"""

FIELDS = "items/*/instances(id,name,status,creationTimestamp,labels),items/*/warning,nextPageToken"
WAYS: tuple[tuple[str, str, list[str]], ...] = (
    ("plain HTTP, everything", PLAIN, [""]),
    ("plain HTTP, the fields of a sweep", PLAIN, [FIELDS]),
    ("google-cloud-compute", CLIENT, []),
)


@dataclass(frozen=True, kw_only=True)
class Measured:
    """One way to list them all."""

    count: int
    times: list[float]
    size: int
    peak_kb: int


@contextmanager
def serving() -> Iterator[tuple[str, psutil.Process]]:
    """Run a server; yield its URL and its process."""
    process = subprocess.Popen([sys.executable, "-c", SERVER], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip(), psutil.Process(process.pid)
    finally:
        process.terminate()
        process.wait()


def measure(script: str, *arguments: str) -> Measured:
    """Run a client in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments], stdout=subprocess.PIPE, text=True, check=True
    )
    count, times, size, peak = json.loads(done.stdout)
    return Measured(count=count, times=times, size=size, peak_kb=peak)


def row(way: str, found: Measured) -> str:
    """One line of the table."""
    pages = sorted(found.times)
    median, worst = pages[len(pages) // 2] * 1000, pages[-1] * 1000
    size = f"{found.size / 1e6:7.1f} MB" if found.size else "         -"
    return (
        f"{found.count:>9,}  {way:<34} {sum(pages):7.2f} s {len(pages):5} pages "
        f"{median:7.1f} ms median {worst:7.1f} ms worst {size} {found.peak_kb / 1024:7.0f} MB peak"
    )


def run(count: int) -> None:
    """Create a fleet and list it in every way."""
    with serving() as (url, process):
        empty = process.memory_info().rss
        start = time.perf_counter()
        httpx.post(
            f"{url}/local/fleet", json={"count": count}, timeout=300, trust_env=False
        ).raise_for_status()
        took, full = time.perf_counter() - start, process.memory_info().rss
        each = (full - empty) / count
        print(f"{count:>9,}  created in {took:.2f} s, {(full - empty) / 1e6:.0f} MB, {each:.0f} B each")
        for way, script, arguments in WAYS:
            print(row(way, measure(script, url, *arguments)), flush=True)
        print(f"{count:>9,}  server: {process.memory_info().rss / 1e6:.0f} MB in the end")


def main() -> None:
    """Read the arguments and print the table."""
    parser = argparse.ArgumentParser(description="List fleets of the local cloud.")
    parser.add_argument("--counts", type=int, nargs="+", default=[10_000, 100_000])
    for count in parser.parse_args().counts:
        run(count)


if __name__ == "__main__":
    main()
