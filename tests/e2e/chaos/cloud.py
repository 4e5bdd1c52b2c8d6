"""A local cloud in a process of its own, with its real functions, spoken to over HTTP."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx

SPOTWARDEN = Path(sys.executable).with_name("spotwarden")
PROJECT = "demo"
BUCKET = "demo-jobs"
BASE = f"/compute/v1/projects/{PROJECT}"
TOPIC = "spotwarden-recover-spot"
NOTICES = "spotwarden-notices"
LISTENER = f"/v1/projects/{PROJECT}/subscriptions/chaos-notices"
GONE = httpx.codes.NOT_FOUND
TRIES = 10
OTHERS_EACH = 5
A_WRITE_EACH_SECONDS = 1.0
INSERTS = "insert_times=0.02"
"""As in the stories: nobody waits for minutes."""


class Cloud:
    """What a developer, an owner and fate can do to it."""

    def __init__(self, http: str, log: Path) -> None:
        self._http = httpx.Client(base_url=http, timeout=60, trust_env=False)
        self.log = log
        self._minutes = 0
        self._told: set[str] = set()

    def close(self) -> None:
        """Give the connections back."""
        self._http.close()

    def post(self, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """What a POST gives; it must succeed."""
        return self._http.post(path, json=body or {}).raise_for_status().json()

    def try_post(self, path: str, body: Mapping[str, Any]) -> bool:
        """Whether a POST was taken: what it is about may have gone in the meantime."""
        answer = self._http.post(path, json=body)
        if answer.status_code in (httpx.codes.BAD_REQUEST, GONE):
            return False
        answer.raise_for_status()
        return True

    def call_as(
        self, who: str, method: str, path: str, body: Mapping[str, Any] | None = None
    ) -> dict[str, Any] | None:
        """The operation of a call by somebody whose token says who it is; None where it was refused."""
        headers = {"Authorization": f"Bearer local-{who}"}
        answer = self._http.request(method, path, json=body or {}, headers=headers)
        return None if answer.is_error else dict(answer.json())

    def operations(self) -> list[dict[str, Any]]:
        """Compute Engine's own record: all operations."""
        found: list[dict[str, Any]] = []
        query: dict[str, Any] = {"maxResults": 500}
        while True:
            page = self._answered(f"{BASE}/aggregated/operations", **query)
            found += [one for scope in page["items"].values() for one in scope.get("operations", ())]
            if not page.get("nextPageToken"):
                return found
            query["pageToken"] = page["nextPageToken"]

    def _answered(self, path: str, **query: Any) -> Any:
        """What a GET gives that a fault of the history may refuse: who judges asks again."""
        for _ in range(TRIES):
            answer = self._http.get(path, params=query)
            if not answer.is_error:
                return answer.json()
        return answer.raise_for_status()

    def get(self, path: str, **query: Any) -> Any:
        """What a GET gives; it must succeed."""
        return self._http.get(path, params=query).raise_for_status().json()

    def end(self, path: str, body: Mapping[str, Any] | None = None) -> None:
        """DELETE; it is no matter whether there was anything."""
        answer = self._http.request("DELETE", path, json=body or {})
        if answer.status_code != GONE:
            answer.raise_for_status()

    def replace(self, name: str, data: bytes, generation: int) -> None:
        """Write an object unless somebody has since that generation."""
        path = f"/upload/storage/v1/b/{BUCKET}/o?uploadType=media&name={quote(name, safe='')}"
        condition = f"ifGenerationMatch={generation}"
        answer = self._insist(lambda: self._http.post(f"{path}&{condition}", content=data))
        if answer.status_code != httpx.codes.PRECONDITION_FAILED:
            answer.raise_for_status()

    def write(self, name: str, data: bytes) -> int:
        """Write an object; gives its generation."""
        path = f"/upload/storage/v1/b/{BUCKET}/o?uploadType=media&name={quote(name, safe='')}"
        answer = self._insist(lambda: self._http.post(path, content=data))
        return int(answer.raise_for_status().json()["generation"])

    def read(self, name: str) -> bytes | None:
        """The content of an object; None where there is none."""
        path = f"/storage/v1/b/{BUCKET}/o/{quote(name, safe='')}?alt=media"
        answer = self._insist(lambda: self._http.get(path))
        return None if answer.status_code == GONE else answer.raise_for_status().content

    def _insist(self, call: Callable[[], httpx.Response]) -> httpx.Response:
        """Call again while a fault of our own cuts the connection, or a write comes too soon."""
        for _ in range(TRIES):
            with suppress(httpx.TransportError):
                answer = call()
                if answer.status_code != httpx.codes.TOO_MANY_REQUESTS:
                    return answer
                time.sleep(A_WRITE_EACH_SECONDS)
        return call()

    def remove(self, name: str) -> bool:
        """Delete an object; False where there is none."""
        path = f"/storage/v1/b/{BUCKET}/o/{quote(name, safe='')}"
        answer = self._insist(lambda: self._http.delete(path))
        if answer.status_code == GONE:
            return False
        answer.raise_for_status()
        return True

    def metadata(self, name: str) -> dict[str, str]:
        """An object's custom metadata; none where there is no such object."""
        page = self.get(f"/storage/v1/b/{BUCKET}/o", prefix=name)
        found = {one["name"]: one for one in page.get("items", ())}.get(name, {})
        return dict(found.get("metadata", {}))

    def objects(self, prefix: str) -> dict[str, int]:
        """The generations of the objects whose name begins so."""
        found: dict[str, int] = {}
        query = {"prefix": prefix}
        while True:
            page = self.get(f"/storage/v1/b/{BUCKET}/o", **query)
            found |= {one["name"]: int(one["generation"]) for one in page.get("items", ())}
            if "nextPageToken" not in page:
                return found
            query["pageToken"] = page["nextPageToken"]

    def instances(self) -> list[dict[str, Any]]:
        """All VMs: name, id, zone, status."""
        found: list[dict[str, Any]] = self.get("/local/instances", limit=100_000)["instances"]
        return found

    def delete_vm(self, zone: str, vm_id: str) -> None:
        """Delete a VM as its owner; one that is gone already is no matter."""
        self.end(f"{BASE}/zones/{zone}/instances/{vm_id}")

    def function(self) -> dict[str, Any]:
        """The process of recover_spot: its pid, how often it was started."""
        all_of_them = self.get("/local/functions")["functions"]
        [found] = [one for one in all_of_them if one["name"] == "recover_spot"]
        return dict(found)

    def kill_function(self) -> bool:
        """Kill -9 the function with everything that came of it; False where it is down already."""
        with suppress(ProcessLookupError):
            os.killpg(self.function()["pid"], signal.SIGKILL)
            return True
        return False

    def tick(self, service: str = "") -> None:
        """Let Scheduler's minute come now, or that of this service alone.

        As deployed: recover_spot has a tick each minute, most of the others each fifth or tenth.
        """
        is_everybodys = not service and self._minutes % OTHERS_EACH == 0
        self._minutes += not service
        self.post("/local/tick", {} if is_everybodys else {"job": f"spotwarden-{service or 'recover-spot'}"})

    def put_topic(self) -> None:
        """Make the topic of notices, where no deployment has."""
        self._http.put(f"/v1/projects/{PROJECT}/topics/{NOTICES}", json={}).raise_for_status()

    def subscribe(self) -> None:
        """Keep all that people are told from now on."""
        body = {"topic": f"projects/{PROJECT}/topics/{NOTICES}"}
        self._http.put(LISTENER, json=body).raise_for_status()

    def notices(self) -> list[dict[str, str]]:
        """The attributes of each notice that people were told of since the last time.

        Pub/Sub delivers at least once, and a function that is killed publishes again: a notice is its id.
        """
        told: list[dict[str, str]] = []
        while True:
            answer = self.post(f"{LISTENER}:pull", {"maxMessages": 1000, "returnImmediately": True})
            received = answer.get("receivedMessages", [])
            if not received:
                return told
            for attributes in (one["message"]["attributes"] for one in received):
                if attributes["id"] not in self._told:
                    self._told.add(attributes["id"])
                    told.append(attributes)
            self.post(f"{LISTENER}:acknowledge", {"ackIds": [one["ackId"] for one in received]})


@contextmanager
def served(home: Path, policy: Path, *more: str, functions: bool = True) -> Iterator[Cloud]:
    """A local cloud, as a rule with functions, for as long as the block runs; its logs stay in `home`.

    None of the functions was refused anything in the end: each may do what it does.
    """
    words = [
        SPOTWARDEN,
        "local",
        "serve",
        *(["--functions"] if functions else []),
        "--project",
        PROJECT,
        "--bucket",
        BUCKET,
    ]
    limits = ["--limit", INSERTS] if functions else []
    words += ["--policy", policy, "--state", home / "cloud", *limits, *more]
    environment = {**os.environ, "XDG_STATE_HOME": str(home)}
    log = home / "cloud.log"
    with log.open("wb") as errors:
        serving = subprocess.Popen(
            [str(word) for word in words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env=environment,
            # Ctrl-C is for who plays the history: the cloud is still asked what has happened.
            start_new_session=True,
        )
    try:
        assert serving.stdout is not None
        line = serving.stdout.readline()
        assert line, f"the local cloud did not start: {log.read_text()[-2000:]}"
        cloud = Cloud(json.loads(line)["http"], home / "cloud" / "logs" / "recover-spot.log")
        try:
            yield cloud
            shown = cloud.get("/local/permissions")["permissions"]
            assert {one["function"]: one["refused"] for one in shown if one["refused"]} == {}
        finally:
            cloud.close()
    finally:
        serving.terminate()
        try:
            serving.wait(60)
        finally:
            serving.kill()
            serving.communicate()
