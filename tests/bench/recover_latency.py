"""Marker written → create request, over the event path of a local cloud: `recover_latency.py [ROUNDS]`.

The VM is preempted and gone before its marker is written, so what is measured is ours alone: bucket
notification, Pub/Sub, the function's sweep and the request. The ratio compares it with one start of the
real gcloud, which is what a function that ran the script would pay before it could ask for anything.

No message is late: the local cloud holds one in fifty back for up to three seconds, and the 99th percentile
of some rounds would tell whether one of them was among those, and nothing of the function.

Then the events are taken away, as if each were lost: only the tick is left. What is measured is from the tick
to the request, with the marker there and with the marker lost as well. The wait for the tick comes on top: a
Scheduler job comes once a minute, so it is anything from 0 to 60 s. That part is arithmetic, not measured.
"""

import contextlib
import io
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from spotwarden.ports import Cloud as Ports
from tests.fakes.world import World, load
from tests.recovery.crowd_world import Crowded, Slow

SPOTWARDEN = Path(sys.executable).with_name("spotwarden")
SCRIPT = (
    "gcloud compute instances create {job} --zone=us-central1-a --machine-type=e2-small"
    " --scopes=cloud-platform --image-family=debian-12 --image-project=debian-cloud --provisioning-model=SPOT"
    " --instance-termination-action=DELETE\n"
)
JOB = "spotwarden-recover-spot"
SCHEDULE = f"/v1/projects/demo/locations/us-central1/jobs/{JOB}"
CONFIGS = "/storage/v1/b/demo-jobs/notificationConfigs"
LOG_LAG = 2.0
"""Seconds until the operation log tells of a preemption (`log_lag_seconds`); a VM takes 30 s to stop."""
P50_GOAL, P99_GOAL = 150, 500
"""Milliseconds, on an idle machine, with one write a second to an object."""
A_CALL = 0.1
"""Seconds of a call over the cloud in memory: much more than what a loaded machine delays a thread by."""


class Cloud:
    """A running local cloud, spoken to over HTTP."""

    def __init__(self, ready: dict[str, str]) -> None:
        self.http = httpx.Client(base_url=ready["http"], timeout=30, trust_env=False)

    def put(self, name: str, data: bytes) -> int:
        """Write an object; gives its generation, which is the microsecond it was written in."""
        path = f"/upload/storage/v1/b/demo-jobs/o?uploadType=media&name={name}"
        return int(self.http.post(path, content=data).raise_for_status().json()["generation"])

    def lose_all_but_markers(self) -> None:
        """Let nothing wake the function but a marker, and a tick that is asked for."""
        self.http.delete(f"/v2/projects/demo/sinks/{JOB}").raise_for_status()
        self.http.post(f"{SCHEDULE}:pause", json={}).raise_for_status()

    def lose_markers(self) -> None:
        """Nor a marker."""
        for one in self.http.get(CONFIGS).raise_for_status().json()["items"]:
            self.http.delete(f"{CONFIGS}/{one['id']}").raise_for_status()

    def tick(self) -> float:
        """Tick; gives when, in seconds since the epoch."""
        now = time.time()
        self.http.post("/local/tick", json={"job": JOB}).raise_for_status()
        return now

    def vms(self, job: str) -> list[dict[str, str]]:
        """The VMs of this name, in whatever zone."""
        found = self.http.get("/local/instances").raise_for_status().json()["instances"]
        return [one for one in found if one["name"] == job]

    def inserts(self, job: str) -> list[float]:
        """When each create request for this name was accepted, in seconds since the epoch."""
        changes = self.http.get("/local/history").raise_for_status().json()["changes"]
        made = [one for one in changes if (one["name"], one["status"]) == (job, "PROVISIONING")]
        return sorted(datetime.fromisoformat(one["at"]).timestamp() for one in made)


def until(look: Callable[[], Any], seconds: float = 90.0) -> Any:
    """Look until there is something."""
    end = time.monotonic() + seconds
    while not (seen := look()):
        if time.monotonic() > end:
            sys.exit("waited in vain")
        time.sleep(0.005)
    return seen


def fallen(cloud: Cloud, job: str, environment: dict[str, str]) -> str:
    """A job whose VM was preempted and is gone; gives the VM's id."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "create-instance.sh"
        script.write_text(SCRIPT.format(job=job))
        subprocess.run([SPOTWARDEN, "submit", script], env=environment, check=True, capture_output=True)
    first = cloud.vms(job)[0]["id"]
    cloud.http.post("/local/preempt", json={"node": job}).raise_for_status()
    until(lambda: not cloud.vms(job))
    time.sleep(LOG_LAG)
    return first


def one_round(cloud: Cloud, job: str, environment: dict[str, str]) -> float:
    """Milliseconds from the marker to the request."""
    first = fallen(cloud, job, environment)
    marker = {"job": job, "instance_id": first}
    written = cloud.put(f"preempted-jobs/{job}", json.dumps(marker).encode()) / 1e6
    times = until(lambda: [at for at in cloud.inserts(job) if at > written])
    found: float = (times[0] - written) * 1000
    return found


def tick_round(cloud: Cloud, job: str, environment: dict[str, str], *, marker: bool) -> float:
    """Milliseconds from the tick to the request, with the marker there or lost."""
    first = fallen(cloud, job, environment)
    if marker:
        cloud.put(f"preempted-jobs/{job}", json.dumps({"job": job, "instance_id": first}).encode())
    ticked = cloud.tick()
    times = until(lambda: [at for at in cloud.inserts(job) if at > ticked])
    cloud.tick()
    found: float = (times[0] - ticked) * 1000
    return found


class Chained(Slow):
    """A cloud whose calls take long enough to tell which of them waited for which."""

    def __init__(self, cloud: Ports) -> None:
        super().__init__(cloud)
        self.spans: list[tuple[str, float, float, int]] = []

    def _note(self, call: str, about: object, pages: int) -> None:
        super()._note(call, about, pages)
        began = time.monotonic()
        time.sleep(pages * A_CALL)
        self.spans.append((call, began, time.monotonic(), pages))

    def row(self, last: str) -> int:
        """The calls that waited for one another, up to the first so called."""
        rows: list[tuple[float, int]] = []
        for call, began, ended, calls in sorted(self.spans, key=lambda span: span[1]):
            row = calls + max((row for end, row in rows if end <= began), default=0)
            if call == last:
                return row
            rows.append((ended, row))
        sys.exit(f"nobody asked for {last}")


def in_a_row() -> int:
    """The calls that wait for one another from the event to the request, over a cloud in memory."""
    with contextlib.redirect_stdout(io.StringIO()):
        world = World(load("recover_spot"))
        crowd = Crowded(world)
        world.settle()
        crowd.preempt("test-vm")
        world.wait(minutes=2)
        slow = Chained(world.cloud.ports())
        world.sweep_over(slow.cloud, "test-vm")
    return slow.row("launch")


def gcloud_start() -> float | None:
    """Milliseconds of one start of the real gcloud; None where there is none."""
    if not shutil.which("gcloud"):
        return None
    began = time.monotonic()
    subprocess.run(["gcloud", "version"], check=True, capture_output=True)
    return (time.monotonic() - began) * 1000


def ends(times: list[float]) -> tuple[float, float]:
    """Median and 99th percentile."""
    times = sorted(times)
    return statistics.median(times), times[min(len(times) - 1, int(len(times) * 0.99))]


def main(rounds: int) -> None:
    """Measure and print a table; with no rounds, only what is counted."""
    if not rounds:
        print(f"{in_a_row()} calls in a row")
        return
    words = [str(SPOTWARDEN), "local", "serve", "--functions", "--project", "demo", "--no-machines"]
    # Of the limits neither late messages nor the time that a VM takes to be made: it is asked for by then.
    words += ["--limit", "insert_times=0.02", "--limit", "late=0"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as serving:
        try:
            assert serving.stdout is not None
            cloud = Cloud(json.loads(serving.stdout.readline()))
            environment = cloud.http.get("/local/env").json()
            environment = {**environment, "PATH": "/usr/bin:/bin", "SPOTWARDEN_OWNER": "bench"}
            cloud.lose_all_but_markers()
            cold, *warm = [one_round(cloud, f"job-{number}", environment) for number in range(rounds + 1)]
            cloud.lose_markers()
            marked, lost = (
                [tick_round(cloud, f"{word}-{n}", environment, marker=word == "tick") for n in range(rounds)]
                for word in ("tick", "lost")
            )
        finally:
            serving.terminate()
    p50, p99 = ends(warm)
    print("| marker → create request | ms |\n|---|---|")
    print(f"| first event of the function | {cold:.0f} |")
    print(f"| warm, p50 of {rounds} (aim: at most {P50_GOAL}) | {p50:.0f} |")
    print(f"| warm, p99 (aim: at most {P99_GOAL}) | {p99:.0f} |")
    for what, times in (("event lost", marked), ("event and marker lost", lost)):
        middle, worst = ends(times)
        print(f"| {what}: tick → create request, p50 of {rounds} | {middle:.0f} |")
        print(f"| {what}: tick → create request, p99 | {worst:.0f} |")
        print(f"| {what}: with the wait of 0 to 60 s for the tick, on average | {30_000 + middle:.0f} |")
    row = in_a_row()
    print(f"| calls in a row from the event to the request; at 20 ms each (aim: 150) | {row}; {row * 20} |")
    if gcloud := gcloud_start():
        print(f"| one start of gcloud alone | {gcloud:.0f} |\n| ratio gcloud / p50 | {gcloud / p50:.1f} |")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 30)
