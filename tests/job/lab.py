"""A local cloud in a thread of the tests, and VMs in it that run the job kit."""

import asyncio
import itertools
import json
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx

from localcloud.cloud import LocalCloud, Options
from tests.waiting import wait

KIT = Path(__file__).parents[2] / "infra/job/kit"
ZONE = "projects/demo/zones/us-central1-a"
LIMIT_SECONDS = 60
"""So long nothing may move."""
LOOK_SECONDS = 0.1
"""How often a test looks: each look is a call to the cloud, and most of the time tests of the kit wait."""
HARD_SECONDS = 300
"""What only ends a call that hangs."""
QUICK = {"spotwarden-heartbeat": "1", "spotwarden-sync": "1", "spotwarden-grace": "2"}
"""What lets a test see within seconds what takes minutes by default."""
SPOT = {"provisioningModel": "SPOT", "instanceTerminationAction": "DELETE"}


class Lab:
    """The cloud and its one bucket, `jobs`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._names = (f"job{number}" for number in itertools.count(1))
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._cloud = LocalCloud(Options(project="demo", state=folder))
        self._run(self._cloud.__aenter__())
        self.url = self._cloud.endpoints.http
        self._client = httpx.Client(base_url=self.url, trust_env=False, timeout=HARD_SECONDS)
        self.post("/storage/v1/b?project=demo", {"name": "jobs"})

    def close(self) -> None:
        """End everything."""
        self._client.close()
        self._run(self._cloud.__aexit__(None, None, None))
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def post(self, path: str, body: Mapping[str, Any]) -> Any:
        """Make a call that has to succeed."""
        answer = self._client.post(path, json=body)
        assert answer.is_success, answer.text
        return answer.json()

    def job(self, command: str, *, name: str = "", attempt: int = 1, **more: Any) -> "Vm":
        """Boot a VM that runs this command as a job of its own; `more` is as for `boot`."""
        name = name or next(self._names)
        given: dict[str, Any] = {"spotwarden_command": command, "spotwarden_attempt": str(attempt), **more}
        return self.boot(name, **{"spotwarden_job": name, **given})

    def gang(self, command: str, *, nodes: int = 2, name: str = "", **given: Any) -> list["Vm"]:
        """Boot the VMs of one job, each with this command; what else is `given` is as for `boot`."""
        job = name or next(self._names)
        more = {"spotwarden_job": job, "spotwarden_command": command, "NODES": str(nodes), **given}
        return [self.boot(f"{job}-{rank + 1}", **more) for rank in range(nodes)]

    def boot(
        self, name: str, *, scheduling: Mapping[str, Any] = SPOT, zone: str = ZONE, **metadata: str
    ) -> "Vm":
        """Create an instance with the kit and this metadata; `_` in a name of it is `-`."""
        scripts = {
            f"{phase}-script": (KIT / f"{phase}.sh").read_text(encoding="utf-8")
            for phase in ("startup", "shutdown")
        }
        given = {key.replace("_", "-") if key.islower() else key: text for key, text in metadata.items()}
        settings = {**scripts, **QUICK, "spotwarden-bucket": "jobs", **given}
        image = "projects/debian-cloud/global/images/family/debian-12"
        body = {
            "name": name,
            "machineType": f"zones/{zone.rpartition('/')[2]}/machineTypes/e2-medium",
            "disks": [{"boot": True, "autoDelete": True, "initializeParams": {"sourceImage": image}}],
            "networkInterfaces": [{"network": "global/networks/default"}],
            "metadata": {"items": [{"key": key, "value": text} for key, text in settings.items()]},
            "scheduling": dict(scheduling),
            "serviceAccounts": [
                {"email": "default", "scopes": ["https://www.googleapis.com/auth/cloud-platform"]}
            ],
        }
        before = set(self.folder.glob(f"vms/{name}-*"))
        self.post(f"/compute/v1/{zone}/instances", body)
        folder = self.until(lambda: set(self.folder.glob(f"vms/{name}-*")) - before, f"{name} to boot").pop()
        return Vm(lab=self, name=name, folder=folder, job=settings["spotwarden-job"])

    def read(self, name: str) -> str | None:
        """An object's content; None where there is none, or a fault hides it."""
        answer = self._client.get(f"/storage/v1/b/jobs/o/{quote(name, safe='')}?alt=media")
        return answer.text if answer.is_success else None

    def write(self, name: str, content: str | bytes, **metadata: str) -> None:
        """Put an object into the bucket, with custom metadata where any is given."""
        path = f"/upload/storage/v1/b/jobs/o?uploadType=media&name={quote(name, safe='')}"
        assert self._client.post(path, content=content).is_success
        if metadata:
            resource = f"/storage/v1/b/jobs/o/{quote(name, safe='')}"
            assert self._client.patch(resource, json={"metadata": metadata}).is_success

    def metadata(self, name: str) -> dict[str, str]:
        """An object's custom metadata."""
        answer = self._client.get(f"/storage/v1/b/jobs/o/{quote(name, safe='')}")
        return dict(answer.json().get("metadata", {})) if answer.is_success else {}

    def delete(self, name: str) -> None:
        """Remove an object."""
        assert self._client.delete(f"/storage/v1/b/jobs/o/{quote(name, safe='')}").is_success

    def names(self, prefix: str) -> list[str]:
        """The names of the objects below a prefix, without it."""
        answer = self._client.get("/storage/v1/b/jobs/o", params={"prefix": prefix}).json()
        return [one["name"].removeprefix(prefix) for one in answer.get("items", [])]

    def fault(self, **rule: Any) -> None:
        """Let something befall the calls of others; the test's fixture ends it."""
        self.post("/local/faults", rule)

    def well(self) -> None:
        """End all faults."""
        self._client.delete("/local/faults")

    def until(self, fact: Callable[[], Any], what: str) -> Any:
        """Wait until something is so; fail if it never is."""
        return wait(LIMIT_SECONDS, fact, f"waited in vain for {what}", every=LOOK_SECONDS)

    def call(self, method: str, path: str) -> Any:
        """Call the API of Compute Engine, with success."""
        answer = self._client.request(method, f"/compute/v1/{path}")
        assert answer.is_success, answer.text
        return answer.json()

    def has(self, path: str) -> bool:
        """Whether the API knows this resource."""
        return self._client.get(f"/compute/v1/{path}").is_success

    def status(self, name: str) -> str:
        """The status of an instance; "" where there is none."""
        answer = self._client.get(f"/compute/v1/{ZONE}/instances/{name}")
        return str(answer.json()["status"]) if answer.is_success else ""

    def remove(self, path: str) -> None:
        """Delete a resource as its owner would."""
        assert self._client.delete(f"/compute/v1/{path}").is_success

    def _run(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(LIMIT_SECONDS)


def told(metadata: Mapping[str, str]) -> dict[str, Any]:
    """What a heartbeat's custom metadata say, with numbers and metrics for what they are."""
    values = ("attempt", "step", "steps", "first_step", "round", "longest_gap", "metrics")
    return {name: json.loads(text) if name in values else text for name, text in metadata.items()}


class Vm:
    """One VM, and what it has in the bucket as a job of its name, or of another one's."""

    def __init__(self, *, lab: Lab, name: str, folder: Path, job: str) -> None:
        self.lab, self.name, self.folder, self.job = lab, name, folder, job
        self.id = folder.name.rpartition("-")[2]

    @property
    def said(self) -> str:
        """What its scripts have printed."""
        logs = [self.folder / "var/log" / f"{phase}.log" for phase in ("startup", "shutdown")]
        return "".join(log.read_text(errors="replace") for log in logs if log.exists())

    @property
    def console(self) -> str:
        """Its serial port."""
        return (self.folder / "console.log").read_text(errors="replace")

    def object(self, path: str) -> str | None:
        """An object of its job."""
        return self.lab.read(f"{self.job}/{path}")

    @property
    def beat(self) -> dict[str, Any]:
        """Its newest heartbeat."""
        return told(self.lab.metadata(f"heartbeats/{self.name}"))

    @property
    def marker(self) -> dict[str, Any] | None:
        """Its marker."""
        said = self.lab.read(f"preempted-jobs/{self.name}")
        return None if said is None else json.loads(said)

    def status(self) -> str:
        """The job's status, once there is one."""
        return str(self._until(lambda: self.object("metadata/status-code"), "a status")).strip()

    def until_said(self, words: str) -> None:
        """Wait until it has printed something."""
        self._until(lambda: words in self.said, repr(words))

    def preempt(self, *, called_off: bool = False) -> None:
        """Take it away, as Compute Engine does; or tell it so, and do not, where that is `called_off`."""
        self.lab.post("/local/preempt", {"id": self.id, "called_off": called_off})

    def delete(self) -> None:
        """Delete it, as its owner does."""
        self.lab.remove(f"{ZONE}/instances/{self.name}")

    def until_off(self) -> None:
        """Wait until it is stopped."""
        self.lab.until(lambda: "Power off" in self.console, f"{self.name} to be off")
        self.lab.until(lambda: self.lab.status(self.name) in {"TERMINATED", ""}, f"{self.name} to be stopped")

    def until_gone(self) -> None:
        """Wait until there is no VM of this name any more."""
        self.lab.until(lambda: not self.lab.has(f"{ZONE}/instances/{self.name}"), f"the end of {self.name}")

    def _until(self, fact: Callable[[], Any], what: str) -> Any:
        try:
            return self.lab.until(fact, what)
        except AssertionError as error:
            raise AssertionError(f"{error}; the VM said:\n{self.said}") from error
