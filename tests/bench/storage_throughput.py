"""How fast the local bucket is, beside a plain copy of a file on the same disk.

    python tests/bench/storage_throughput.py [--megabytes 256] [--writes 2000]

Prints a table. The server runs in a process of its own, as `spotwarden local serve` runs it; the clients are
plain HTTP, so that it is the server that is measured. Upload and download are also given as a ratio to the
plain copy; the peak memory of the server shows that content passes through, not into memory.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import psutil

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
UPLOAD = "/upload/storage/v1/b/bucket/o"
BLOCK = 1 << 20
Row = tuple[str, str, str]


@contextmanager
def serving(folder: Path) -> Iterator[tuple[str, psutil.Process]]:
    """Run a server; yield its URL and its process."""
    process = subprocess.Popen([sys.executable, "-c", SERVER, str(folder)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip(), psutil.Process(process.pid)
    finally:
        process.terminate()
        process.wait()


def seconds(work: Callable[[], object]) -> float:
    """How long it takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def read(path: Path) -> Iterator[bytes]:
    """The blocks of a file."""
    with path.open("rb") as file:
        while data := file.read(BLOCK):
            yield data


def upload(client: httpx.Client, path: Path) -> None:
    """Send a file as one media upload."""
    params = {"uploadType": "media", "name": "large"}
    headers = {"content-length": str(path.stat().st_size)}
    client.post(UPLOAD, params=params, content=read(path), headers=headers).raise_for_status()


def download(client: httpx.Client, path: Path) -> None:
    """Receive it into a file."""
    with (
        path.open("wb") as file,
        client.stream("GET", "/download/storage/v1/b/bucket/o/large?alt=media") as got,
    ):
        for data in got.iter_raw(BLOCK):
            file.write(data)


def large(client: httpx.Client, folder: Path, megabytes: int) -> list[Row]:
    """Rows of the large file: copy, upload, download; the best of three each."""
    source, target = folder / "source", folder / "target"
    with source.open("wb") as file:
        for _ in range(megabytes):
            file.write(os.urandom(BLOCK))
    works: dict[str, Callable[[], object]] = {
        "plain copy of a file": lambda: shutil.copyfileobj(source.open("rb"), target.open("wb"), BLOCK),
        "upload": lambda: upload(client, source),
        "download": lambda: download(client, target),
    }
    times = {name: min(seconds(work) for _ in range(3)) for name, work in works.items()}
    plain = times["plain copy of a file"]
    label = f"{megabytes} MB, "
    return [
        (label + name, f"{megabytes / taken:,.0f} MB/s", f"{taken / plain:.1f} x the copy")
        for name, taken in times.items()
    ]


def small(url: str, writes: int, threads: int) -> Row:
    """The row of small writes by so many clients at once."""

    def write(number: int) -> None:
        connection = HTTPConnection(urlsplit(url).netloc)
        for count in range(writes // threads):
            connection.request("POST", f"{UPLOAD}?uploadType=media&name={number}/{count}", b"x" * 1024)
            answer = connection.getresponse()
            answer.read()
            assert answer.status == 200
        connection.close()

    with ThreadPoolExecutor(threads) as pool:
        taken = seconds(lambda: list(pool.map(write, range(threads))))
    return (
        f"1 KB writes, {threads} clients",
        f"{writes / taken:,.0f} /s",
        f"{taken / writes * 1000:.2f} ms each",
    )


def listing(client: httpx.Client) -> Row:
    """The row of listing everything that the small writes left."""

    def pages() -> int:
        count, token = 0, ""
        while True:
            page = client.get("/storage/v1/b/bucket/o", params={"pageToken": token}).json()
            count += len(page.get("items", ()))
            token = page.get("nextPageToken", "")
            if not token:
                return count

    count = pages()
    taken = seconds(pages)
    return f"list {count:,} objects", f"{count / taken:,.0f} /s", f"{taken * 1000:.0f} ms"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Throughput of the local bucket.")
    parser.add_argument("--megabytes", type=int, default=256)
    parser.add_argument("--writes", type=int, default=2000)
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        serving(Path(folder) / "state") as (url, server),
        httpx.Client(base_url=url, trust_env=False, timeout=600) as client,
    ):
        idle = server.memory_info().rss
        rows = large(client, Path(folder), options.megabytes)
        peak = server.memory_info().rss
        rows += [small(url, options.writes, threads) for threads in (1, 8)]
        rows.append(listing(client))
        rows.append(("server memory after the large file", f"{peak >> 20} MB", f"{idle >> 20} MB before"))
    for name, rate, note in rows:
        print(f"{name:40} {rate:>14}   {note}")


if __name__ == "__main__":
    main()
