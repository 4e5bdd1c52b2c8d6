"""Marker written → create request, over the event path of a local cloud: `recover_latency.py [ROUNDS]`.

The VM is preempted and gone before its marker is written, so what is measured is ours alone: bucket
notification, Pub/Sub, the function's sweep and the request. The ratio compares it with one start of the
real gcloud, which is what a function that ran the script would pay before it could ask for anything.
"""

import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import datetime
from pathlib import Path

import httpx

SPOTWARDEN = Path(sys.executable).with_name("spotwarden")
SCRIPT = (
    "gcloud compute instances create {job} --zone=us-central1-a --machine-type=e2-small"
    " --scopes=cloud-platform --image-family=debian-12 --image-project=debian-cloud --provisioning-model=SPOT"
    " --instance-termination-action=DELETE\n"
)
METHOD = 'protoPayload.methodName="v1.compute.instances.insert"'
RESOURCE = 'protoPayload.resourceName:"/instances/{job}"'


class Cloud:
    """A running local cloud, spoken to over HTTP."""

    def __init__(self, ready: dict[str, str]) -> None:
        self.http = httpx.Client(base_url=ready["http"], timeout=30, trust_env=False)

    def put(self, name: str, data: bytes) -> int:
        """Write an object; gives its generation, which is the microsecond it was written in."""
        path = f"/upload/storage/v1/b/demo-jobs/o?uploadType=media&name={name}"
        return int(self.http.post(path, content=data).raise_for_status().json()["generation"])

    def vms(self, job: str) -> list[dict[str, str]]:
        """The VMs of this name."""
        answer = self.http.get("/compute/v1/projects/demo/zones/us-central1-a/instances")
        return [one for one in answer.raise_for_status().json().get("items", ()) if one["name"] == job]

    def inserts(self, job: str) -> list[float]:
        """When each create request for this name came in, in seconds since the epoch."""
        body = {"resourceNames": ["projects/demo"], "filter": f"{METHOD} AND {RESOURCE.format(job=job)}"}
        entries = self.http.post("/v2/entries:list", json=body).raise_for_status().json().get("entries", ())
        return sorted(datetime.fromisoformat(one["timestamp"]).timestamp() for one in entries)


def until(look, patience: float = 30.0):
    """Look until there is something."""
    end = time.monotonic() + patience
    while not (seen := look()):
        if time.monotonic() > end:
            sys.exit("waited in vain")
        time.sleep(0.005)
    return seen


def one_round(cloud: Cloud, job: str, environment: dict[str, str]) -> float:
    """Milliseconds from the marker to the request."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "create-instance.sh"
        script.write_text(SCRIPT.format(job=job))
        subprocess.run([SPOTWARDEN, "submit", script], env=environment, check=True, capture_output=True)
    first = cloud.vms(job)[0]["id"]
    cloud.http.post("/local/preempt", json={"node": job}).raise_for_status()
    until(lambda: not cloud.vms(job))
    marker = {"job": job, "instance_id": first}
    written = cloud.put(f"preempted-jobs/{job}", json.dumps(marker).encode()) / 1e6
    times = until(lambda: [at for at in cloud.inserts(job) if at > written])
    return (times[0] - written) * 1000


def gcloud_start() -> float | None:
    """Milliseconds of one start of the real gcloud; None where there is none."""
    if not shutil.which("gcloud"):
        return None
    began = time.monotonic()
    subprocess.run(["gcloud", "version"], check=True, capture_output=True)
    return (time.monotonic() - began) * 1000


def main(rounds: int) -> None:
    """Measure and print a table."""
    words = [SPOTWARDEN, "local", "serve", "--functions", "--project", "demo"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as serving:
        try:
            assert serving.stdout is not None
            cloud = Cloud(json.loads(serving.stdout.readline()))
            environment = cloud.http.get("/local/env").json()
            environment = {**environment, "PATH": "/usr/bin:/bin", "SPOTWARDEN_OWNER": "bench"}
            cold, *warm = [one_round(cloud, f"job-{number}", environment) for number in range(rounds + 1)]
        finally:
            serving.terminate()
    warm.sort()
    p50, p99 = statistics.median(warm), warm[min(len(warm) - 1, int(len(warm) * 0.99))]
    print("| marker → create request | ms |\n|---|---|")
    print(f"| first event of the function | {cold:.0f} |")
    print(f"| warm, p50 of {rounds} | {p50:.0f} |\n| warm, p99 | {p99:.0f} |")
    if gcloud := gcloud_start():
        print(f"| one start of gcloud alone | {gcloud:.0f} |\n| ratio gcloud / p50 | {gcloud / p50:.1f} |")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 30)
