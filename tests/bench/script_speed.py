"""Create scripts read a second on one core, beside one call of the real gcloud: `script_speed.py [SECONDS]`.

The scripts are those of tests/create_script/corpus that gcloud accepts; the same ones again and
again, each read whole: bash, gcloud's command line, request. The peer is gcloud's own
parse of one create, dry: `--help` is the least it can do, a real create costs more.
"""

import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

from spotwarden.create_script import Defaults, ScriptRefused, requests

CORPUS = Path(__file__).parents[1] / "script" / "corpus"
DEFAULTS = Defaults(project="demo-project", zone="us-central1-a", region="us-central1")
GCLOUD = ["gcloud", "compute", "instances", "create", "vm", "--zone=us-central1-a", "--no-such-flag"]


def scripts() -> list[tuple[bytes, dict[str, bytes]]]:
    """Every script of the corpus that comes to a request, with the files beside it."""
    found = []
    for file in sorted(CORPUS.glob("*.sh")):
        folder = file.with_suffix(".files")
        inner = [one for one in folder.rglob("*") if one.is_file()] if folder.is_dir() else []
        files = {str(one.relative_to(folder)): one.read_bytes() for one in inner}
        try:
            if requests(file.read_bytes(), files=files, defaults=DEFAULTS):
                found.append((file.read_bytes(), files))
        except ScriptRefused:
            continue
    return found


def gcloud_seconds() -> float | None:
    """The median of three refused creates: gcloud starts, reads its tables and the command line, and ends."""
    if not shutil.which("gcloud"):
        return None
    times = []
    for _ in range(3):
        began = time.perf_counter()
        subprocess.run(GCLOUD, capture_output=True, check=False)
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def import_seconds() -> float:
    """The median of nine imports in fresh processes, the interpreter's own start taken off."""

    def fresh(code: str) -> float:
        times = []
        for _ in range(9):
            began = time.perf_counter()
            subprocess.run([sys.executable, "-c", code], check=True)
            times.append(time.perf_counter() - began)
        return statistics.median(times)

    return fresh("import spotwarden.create_script") - fresh("pass")


def main(seconds: float) -> None:
    """Measure and print a table."""
    work = scripts()
    times: list[float] = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for text, files in work:
            began = time.process_time()
            requests(text, files=files, defaults=DEFAULTS)
            times.append(time.process_time() - began)
    middle = statistics.median(times)
    print("| what | value |\n|---|---|")
    rate = len(times) / sum(times)
    print(f"| scripts read a second, one core ({len(work)} scripts of the corpus) | {rate:.0f} |")
    print(f"| one script, median | {middle * 1000:.2f} ms |")
    print(f"| import of spotwarden.create_script | {import_seconds() * 1000:.0f} ms |")
    if gcloud := gcloud_seconds():
        print(f"| one gcloud call, median | {gcloud * 1000:.0f} ms |")
        print(f"| ratio gcloud / script | {gcloud / middle:.0f} |")


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 5.0)
