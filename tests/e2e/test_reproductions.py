"""What once went wrong with real processes, people among them, each played once more on one local cloud.

Who launches, stops, starts and deletes does it as people do: with gcloud where it is installed and all tests
are asked for, else by Compute Engine's API. What is right is read from Compute Engine's own record.
Functions, commands and HTTP are the real ones.

`tests/e2e/README.md` is the table of what went wrong, and of the tests that play it.
"""

import re
import shutil
import subprocess
import tarfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.chaos.cast import RUNNING, Job, Kind
from tests.e2e.chaos.cloud import BASE, SPOTWARDEN, Cloud, served
from tests.e2e.chaos.judge import ledger
from tests.e2e.chaos.people import COLLEAGUE, OWNER, shell_environment
from tests.long import ASKED, long, some
from tests.waiting import wait

POLICY = """\
version = "reproductions"
mode = "enforce"

[recovery]
settle = "1s"
first_backoff = "1s"
longest_backoff = "2s"

[placement]
block = "1m"
"""
HOME, ELSEWHERE = "us-central1-a", "us-central1-f"
SECONDS = 60
MOST_SWEEPS = 240
MINUTE = 60.0
TESTS = Path(__file__).parents[1]
PLAYED = ("e2e", "recovery", "governance")
GCLOUD = shutil.which("gcloud") if ASKED else None
"""It starts for each word: only where what takes long is asked for."""


class Person:
    """Somebody at a shell, whom Compute Engine knows by a token."""

    def __init__(self, cloud: Cloud, environment: dict[str, str], home: Path, who: str) -> None:
        self._cloud = cloud
        token = home / f"{who}.token"
        token.write_text(f"local-{who}\n", encoding="utf-8")
        self._environment = {**environment, "CLOUDSDK_AUTH_ACCESS_TOKEN_FILE": str(token)}
        self._who = who

    def create(self, name: str, zone: str = ELSEWHERE) -> str:
        """A VM of that name, without labels, of another machine type; gives its id."""
        if GCLOUD:
            self._gcloud("create", name, zone, "--machine-type=e2-medium", "--image-family=debian-12", DEBIAN)
        else:
            image = {"sourceImage": "projects/debian-cloud/global/images/family/debian-12"}
            body = {
                "name": name,
                "machineType": f"zones/{zone}/machineTypes/e2-medium",
                "disks": [{"boot": True, "autoDelete": True, "initializeParams": image}],
                "networkInterfaces": [{"network": "global/networks/default"}],
            }
            self._cloud.call_as(self._who, "POST", f"{BASE}/zones/{zone}/instances", body)
        wait(SECONDS, lambda: living(self._cloud, name, zone), f"{name} does not run")
        [vm] = living(self._cloud, name, zone)
        return str(vm["id"])

    def do(self, verb: str, vm: dict[str, Any]) -> None:
        """Delete, stop or start a VM, and wait until it is done."""
        if GCLOUD:
            quiet = ("--quiet",) if verb == "delete" else ()
            self._gcloud(verb, vm["name"], vm["zone"], *quiet)
            return
        path = f"{BASE}/zones/{vm['zone']}/instances/{vm['id']}"
        method, path = ("DELETE", path) if verb == "delete" else ("POST", f"{path}/{verb}")
        made = self._cloud.call_as(self._who, method, path)
        assert made, f"{verb} of {vm['name']} was refused"
        done = f"{BASE}/zones/{vm['zone']}/operations/{made['name']}"
        wait(SECONDS, lambda: self._cloud.get(done)["status"] == "DONE", f"{verb} does not end")

    def _gcloud(self, verb: str, name: str, zone: str, *words: str) -> None:
        command = ["gcloud", "compute", "instances", verb, name, f"--zone={zone}", *words]
        done = subprocess.run(
            command, env=self._environment, capture_output=True, text=True, timeout=400, check=False
        )
        assert done.returncode == 0, done.stderr


DEBIAN = "--image-project=debian-cloud"


class Scene:
    """A local cloud with its functions, its people, and a shell for our own commands."""

    def __init__(self, cloud: Cloud, home: Path) -> None:
        self.cloud = cloud
        self._home = home
        self.owner = Person(cloud, shell_environment(home), home, OWNER)
        self.colleague = Person(cloud, shell_environment(home), home, COLLEAGUE)
        self._told: list[dict[str, str]] = []
        cloud.subscribe()

    def launch(self, name: str, kind: Kind = Kind.PLAIN) -> Job:
        """A job that runs, is registered, and was seen by a sweep."""
        job = Job(name=name, kind=kind, zone=HOME)
        job.launch(self.cloud)
        wait(SECONDS, lambda: len(self.running(job)) == len(job.nodes), f"{name} does not run")
        job.register(self.cloud, self.running(job))
        self.tick_until(lambda: self.state(job) == "running", f"{name} was not seen")
        # The operation log may tell late of the launch, and it is no launch that comes after.
        wait(SECONDS, lambda: self.inserts(job) >= len(job.nodes), f"the log does not tell of {name}")
        return job

    def running(self, job: Job) -> list[dict[str, Any]]:
        """The VMs with the names of its nodes that run, whosever they are."""
        return [vm for vm in self.cloud.instances() if vm["name"] in job.nodes and vm["status"] == RUNNING]

    def preempt(self, vm: dict[str, Any]) -> None:
        """Let Compute Engine take it."""
        assert self.cloud.try_post("/local/preempt", {"id": vm["id"]})

    def state(self, job: Job) -> str:
        """What the newest record of its chain says: how far the functions are."""
        records = ledger(self.cloud, job.name)
        return str(records[-1]["state"]) if records else ""

    def tick_until(self, fact: Callable[[], object], what: str, service: str = "") -> None:
        """Let ticks come, or those of one service, until it is so; after so many sweeps it never will be."""
        begun = self.sweeps()

        def ticked() -> bool:
            if fact():
                return True
            assert self.sweeps() < begun + MOST_SWEEPS, what
            self.cloud.tick(service)
            return bool(fact())

        wait(SECONDS, ticked, what, every=0.5)

    def sweep(self, times: int = 3, service: str = "") -> None:
        """Let so many sweeps look at everything, each to its end."""
        for _ in range(times):
            before = self.sweeps(service)
            self.tick_until(lambda before=before: self.sweeps(service) > before, "no sweep ends", service)

    def sweeps(self, service: str = "") -> int:
        """How many sweeps of a function have ended so far, by its service."""
        log = self.cloud.log.with_name(f"{service or 'recover-spot'}.log")
        return log.read_text(encoding="utf-8").count('"event":"sweep"')

    def comes_back(self, job: Job, but: Sequence[str]) -> list[dict[str, Any]]:
        """Its VMs, once all nodes run that are none of these."""

        def back() -> list[dict[str, Any]]:
            return [vm for vm in self.running(job) if vm["id"] not in but]

        self.tick_until(
            lambda: sorted(vm["name"] for vm in back()) == sorted(job.nodes) and self.state(job) == "running",
            f"{job.name} does not come back",
        )
        return back()

    def travel(self, seconds: float) -> None:
        """Let time pass."""
        self.cloud.post("/local/travel", {"seconds": seconds})

    def done_to(self, vm_id: str) -> list[tuple[str, str]]:
        """Kind and user of each operation on a VM, by Compute Engine's own record."""
        return [
            (one["operationType"], one["user"])
            for one in self.cloud.operations()
            if one.get("targetId") == vm_id
        ]

    def inserts(self, job: Job) -> int:
        """How often a VM with a name of the job's was asked for and made, or started, by whomever."""
        return sum(
            one["operationType"] in {"insert", "start"}
            and one["targetLink"].rpartition("/")[2] in job.nodes
            and "error" not in one
            for one in self.cloud.operations()
        )

    def told(self, job: Job) -> list[str]:
        """The kinds of what was told of a job so far."""
        self._told += self.cloud.notices()
        return [one["kind"] for one in self._told if one.get("job") == job.name]

    def type(self, *words: str) -> "subprocess.Popen[str]":
        """Start `spotwarden …`."""
        return subprocess.Popen(
            [str(SPOTWARDEN), *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=shell_environment(self._home),
        )

    def ok(self, *words: str, seconds: float = 120) -> str:
        """What a command of ours prints; it must succeed."""
        process = self.type(*words)
        said = process.communicate(timeout=seconds)[0]
        assert process.returncode == 0, said
        return said

    def no_room(self) -> "NoRoom":
        """For as long as the block lasts no zone has room for the machine of the jobs."""
        return NoRoom(self.cloud)


class NoRoom:
    """A stockout of the jobs' machine in every zone."""

    def __init__(self, cloud: Cloud) -> None:
        self._cloud = cloud
        self._zones = [zone["name"] for zone in cloud.get(f"{BASE}/zones")["items"]]

    def __enter__(self) -> None:
        for zone in self._zones:
            self._cloud.post("/local/stockout", {"zone": zone, "machine": "e2-small"})

    def __exit__(self, *_error: object) -> None:
        for zone in self._zones:
            self._cloud.end("/local/stockout", {"zone": zone, "machine": "e2-small"})


def living(cloud: Cloud, name: str, zone: str) -> list[dict[str, Any]]:
    """The VMs of this name in this zone that run."""
    return [vm for vm in cloud.instances() if (vm["name"], vm["zone"], vm["status"]) == (name, zone, RUNNING)]


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    """One local cloud for all tests of this file."""
    home = tmp_path_factory.mktemp("home")
    policy = home / "policy.toml"
    policy.write_text(POLICY, encoding="utf-8")
    with served(home, policy) as cloud:
        yield Scene(cloud, home)


def test_two_submits_at_once_make_one_vm(scene: Scene, tmp_path: Path):
    """Of two processes that start at the same moment; what each of them says runs is the same VM."""
    job = Job(name="twice", kind=Kind.PLAIN, zone=HOME)
    script = tmp_path / "create-instance.sh"
    script.write_bytes(job.script)
    both = [scene.type("submit", str(script), "--job", "twice") for _ in range(2)]
    said = [process.communicate(timeout=120)[0] for process in both]
    assert 0 in {process.returncode for process in both}, said
    assert scene.inserts(job) == 1
    [vm] = scene.running(job)
    for process, words in zip(both, said, strict=True):
        if process.returncode == 0:
            assert vm["id"] in words
        else:
            assert "spotwarden show twice" in words or "twice is already running as attempt 1" in words


@pytest.mark.parametrize("name", some(["pair-a", "pair-b", "pair-c"]))
def test_of_two_submits_at_once_the_vm_has_the_files_of_the_one_that_launched_it(
    scene: Scene, tmp_path: Path, name: str
):
    """Each brings code and a create script of its own; the loser says so, and has replaced nothing."""
    job = Job(name=name, kind=Kind.PLAIN, zone=HOME)
    processes = {}
    for who in ("ada", "bob"):
        (tmp_path / who / "code").mkdir(parents=True)
        (tmp_path / who / "code" / "who").write_text(who * 400_000)
        script = tmp_path / who / "create-instance.sh"
        script.write_bytes(job.script + f"# by {who}\n".encode())
        code = str(tmp_path / who / "code")
        processes[who] = scene.type("submit", str(script), "--job", name, "--code", code)
    said = {who: process.communicate(timeout=120)[0] for who, process in processes.items()}
    [winner] = [who for who, process in processes.items() if process.returncode == 0]
    [loser] = {"ada", "bob"} - {winner}
    assert scene.inserts(job) == 1, said
    assert f"# by {winner}".encode() in (scene.cloud.read(f"{name}/metadata/create-instance.sh") or b"")
    with tarfile.open(fileobj=BytesIO(scene.cloud.read(f"{name}/my-code.tar") or b"")) as tar:
        found = tar.extractfile("who")
        assert found is not None
        assert found.read().startswith(winner.encode()), said
    assert (
        "somebody else" in said[loser]
        or "another create script" in said[loser]
        or "is already running" in said[loser]
    )


def test_a_namesake_is_no_attempt_of_a_preempted_job_and_a_stop_leaves_it(scene: Scene):
    """The job comes back as a VM of its own; `stop --delete` deletes that one."""
    job = scene.launch("trainer")
    [mine] = scene.running(job)
    scene.preempt(mine)
    theirs = scene.colleague.create("trainer")
    [back] = scene.comes_back(job, but=[mine["id"], theirs])
    scene.ok("stop", "trainer", "--delete", "--yes")
    left = [vm["id"] for vm in scene.cloud.instances() if vm["name"] == "trainer"]
    assert (back["id"] in left, theirs in left) == (False, True)
    assert scene.done_to(theirs) == [("insert", COLLEAGUE)]


@long
def test_a_namesake_in_a_back_off_is_not_told_as_recovered(scene: Scene):
    """While there is no room anywhere the job waits, and says nothing of a VM that is not its own."""
    job = scene.launch("waiter")
    [mine] = scene.running(job)
    with scene.no_room():
        scene.preempt(mine)
        scene.tick_until(lambda: scene.state(job) == "backing off", "it does not back off")
        theirs = scene.colleague.create("waiter")
        scene.sweep()
        assert scene.state(job) in {"backing off", "placing"}
        assert "recovered" not in scene.told(job)
    scene.travel(2 * MINUTE)
    [back] = scene.comes_back(job, but=[mine["id"], theirs])
    scene.sweep(1)
    assert "recovered" in scene.told(job)
    assert back["zone"] != ELSEWHERE
    assert scene.done_to(theirs) == [("insert", COLLEAGUE)]


@long
def test_a_gang_with_a_namesake_of_a_node_comes_back_whole(scene: Scene):
    """All of its nodes, none of them the colleague's."""
    job = scene.launch("pair", Kind.GANG)
    before = scene.running(job)
    # Where the colleague's VM will be there is no room for the gang, however long gcloud takes to start.
    there = {"zone": ELSEWHERE, "machine": "e2-small"}
    scene.cloud.post("/local/stockout", there)
    try:
        scene.preempt(before[0])
        theirs = scene.colleague.create("pair-2")
        scene.comes_back(job, but=[theirs, *(vm["id"] for vm in before)])
    finally:
        scene.cloud.end("/local/stockout", there)
    assert scene.done_to(theirs) == [("insert", COLLEAGUE)]


@long
def test_a_stop_while_a_sweep_retries_is_the_last_word(scene: Scene):
    """Also where half of the looks at its chain fail afterwards."""
    job = scene.launch("retried")
    [mine] = scene.running(job)
    with scene.no_room():
        scene.preempt(mine)
        scene.tick_until(lambda: scene.state(job) == "backing off", "it does not back off")
        asked = scene.inserts(job)
        # Where a sweep has just taken the attempt, the command waits until its lease of five minutes is over.
        scene.ok("stop", "retried", "--yes", seconds=400)
        scene.cloud.post(
            "/local/faults",
            {"service": "storage", "path": "retried", "status": 503, "probability": 0.5, "seed": 7},
        )
    try:
        scene.cloud.tick()
        scene.sweep()
    finally:
        scene.cloud.end("/local/faults")
    scene.travel(2 * MINUTE)
    scene.sweep()
    assert scene.inserts(job) == asked
    assert scene.running(job) == []


def test_a_delete_within_a_preemption_ends_the_job(scene: Scene):
    """A person deletes the VM while Compute Engine takes it."""
    job = scene.launch("within")
    [mine] = scene.running(job)
    scene.cloud.post("/local/timings", {"deleting": 10 * MINUTE})
    try:
        asked = scene.inserts(job)
        scene.preempt(mine)
        with ThreadPoolExecutor(1) as typing:
            typed = typing.submit(scene.owner.do, "delete", mine)
            # It is being taken for as long as gcloud needs to start; then the time is over.
            wait(SECONDS, lambda: typed.done() or ("delete", OWNER) in scene.done_to(mine["id"]), "no delete")
            scene.cloud.post("/local/timings", {"deleting": 0.05})
            scene.travel(10 * MINUTE)
            typed.result()
    finally:
        scene.cloud.post("/local/timings", {"deleting": 0.05})
    assert ("delete", OWNER) in scene.done_to(mine["id"])
    scene.tick_until(lambda: scene.state(job) == "stopped", "it is not closed")
    scene.sweep()
    assert scene.inserts(job) == asked


@long
def test_a_log_that_lags_brings_no_deleted_job_back(scene: Scene):
    """Four minutes long it tells nothing of the owner's delete."""
    job = scene.launch("lagging")
    [mine] = scene.running(job)
    asked = scene.inserts(job)
    scene.cloud.post("/local/log-lag", {"seconds": 4 * MINUTE})
    try:
        scene.owner.do("delete", mine)
        for _ in range(3):
            scene.sweep()
            scene.travel(MINUTE)
        assert scene.state(job) == "running"
        scene.travel(2 * MINUTE)
        scene.tick_until(lambda: scene.state(job) == "stopped", "it is not closed")
        scene.sweep()
    finally:
        scene.cloud.post("/local/log-lag", {"seconds": 0})
    assert scene.inserts(job) == asked


@long
def test_a_stop_and_minutes_later_a_start_open_the_job_again(scene: Scene):
    """It is closed in between; the next preemption brings it back."""
    job = scene.launch("resumed")
    [mine] = scene.running(job)
    scene.owner.do("stop", mine)
    scene.tick_until(lambda: scene.state(job) == "stopped", "it is not closed")
    scene.travel(5 * MINUTE)
    scene.owner.do("start", mine)
    scene.tick_until(lambda: scene.state(job) == "running", "it is not open again")
    [again] = scene.running(job)
    scene.preempt(again)
    [back] = scene.comes_back(job, but=[again["id"]])
    assert back["id"] != again["id"]


@long
def test_a_gang_of_which_its_owner_deletes_one_node_keeps_the_others(scene: Scene):
    """80 minutes later as well; when Compute Engine then takes another node, the gang is closed."""
    job = scene.launch("crew", Kind.GANG)
    first, second = sorted(scene.running(job), key=lambda vm: str(vm["name"]))
    asked = scene.inserts(job)
    scene.owner.do("delete", first)
    scene.tick_until(lambda: "node_removed" in scene.told(job), "nobody is told")
    for _ in range(4):
        scene.travel(20 * MINUTE)
        scene.sweep(1)
        scene.sweep(1, "reap-vms")
    assert [vm["id"] for vm in scene.running(job)] == [second["id"]]
    assert "orphan_warning" not in scene.told(job)
    scene.preempt(second)
    scene.tick_until(lambda: scene.state(job) == "stopped", "it is not closed")
    scene.sweep()
    assert scene.inserts(job) == asked


def test_a_vm_that_a_google_service_made_is_never_touched(scene: Scene):
    """A node of GKE, and a VM of a managed instance group, with our label: hours later both run."""
    image = {"sourceImage": "projects/debian-cloud/global/images/family/debian-12"}
    ids = []
    for name, labels, items in (
        ("gke-node", {"goog-gke-node": ""}, []),
        (
            "group-vm",
            {},
            [{"key": "created-by", "value": f"projects/1/zones/{HOME}/instanceGroupManagers/workers"}],
        ),
    ):
        body = {
            "name": name,
            "machineType": f"zones/{HOME}/machineTypes/e2-small",
            "disks": [{"boot": True, "autoDelete": True, "initializeParams": image}],
            "networkInterfaces": [{"network": "global/networks/default"}],
            "labels": {"spotwarden-job": "nobodys", **labels},
            "metadata": {"items": items},
        }
        made = scene.cloud.call_as(COLLEAGUE, "POST", f"{BASE}/zones/{HOME}/instances", body)
        assert made
        ids.append(made["targetId"])
    before = scene.sweeps("reap-vms")
    for _ in range(6):
        scene.travel(30 * MINUTE)
        scene.sweep(1, "reap-vms")
    assert scene.sweeps("reap-vms") >= before + 6
    for vm_id in ids:
        assert scene.done_to(vm_id) == [("insert", COLLEAGUE)]


def test_the_table_names_tests_that_exist():
    """Of what once went wrong, each row says which tests play it."""
    rows = (TESTS / "e2e" / "README.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(test_\w+)`", rows))
    assert len(named) > len(
        re.findall(r"^def test", Path(__file__).read_text(encoding="utf-8"), re.MULTILINE)
    )
    missing = set(named)
    for folder in ("e2e", "recovery", "governance"):
        for path in (TESTS / folder).rglob("test_*.py"):
            missing -= {
                path.stem,
                *re.findall(r"^def (test_\w+)", path.read_text(encoding="utf-8"), re.MULTILINE),
            }
    assert missing == set()


def test_people_used_gcloud():
    """Else they called Compute Engine's API, with what gcloud sends."""
    if GCLOUD is None:
        pytest.skip("gcloud is not installed or not asked for: people called Compute Engine's API instead")
