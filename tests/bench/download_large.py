"""How fast `spotwarden download` fetches a large output, beside `gcloud storage cp`.

    python -m tests.bench.download_large [--megabytes 1024]

Prints a table. Both are whole commands against one local cloud on this machine, as in `submit_large.py`: the
ratio is what counts. Then it is run again, where everything is there already.
"""

import argparse
import shutil
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx

from tests.bench.submit_large import LARGE_FILES, MEGABYTE, SMALL_FILES, SPOTWARDEN, fill, local_cloud, timed


def put(work: Path, environment: dict[str, str]) -> None:
    """Have a job with this output."""
    url = f"{environment['STORAGE_EMULATOR_HOST']}/upload/storage/v1/b/jobs/o"
    files = [one for one in (work / "output").rglob("*") if one.is_file()]

    def send(file: Path) -> None:
        name = f"big/{file.relative_to(work)}"
        query = {"uploadType": "media", "name": name}
        httpx.post(
            url, params=query, content=file.read_bytes(), trust_env=False, timeout=60
        ).raise_for_status()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(send, files))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=1024)
    total = parser.parse_args().megabytes * MEGABYTE
    with tempfile.TemporaryDirectory() as folder, local_cloud(Path(folder) / "home") as environment:
        work = Path(folder) / "work"
        fill(work / "output/large", total * 9 // 10, LARGE_FILES)
        fill(work / "output/small", total // 10, SMALL_FILES)
        put(work, environment)
        ours = [str(SPOTWARDEN), "download", "big", "ours"]
        mine, said = timed(ours, work, environment)
        sys.stderr.write(said)
        again, _ = timed(ours, work, environment)
        print(f"spotwarden download            {mine:7.2f} s {total / mine / MEGABYTE:6.0f} MB/s")
        print(f"  again, everything is there   {again:7.2f} s")
        if not shutil.which("gcloud"):
            print("gcloud is not installed: there is nothing to compare with")
            return
        (work / "theirs").mkdir()
        theirs, _ = timed(
            ["gcloud", "storage", "cp", "-r", "gs://jobs/big/output", "theirs"], work, environment
        )
        print(f"gcloud storage cp -r           {theirs:7.2f} s {total / theirs / MEGABYTE:6.0f} MB/s")
        print(f"our throughput is {theirs / mine:.2f} of gcloud's")


if __name__ == "__main__":
    main()
