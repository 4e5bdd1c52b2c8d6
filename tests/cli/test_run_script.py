"""`spotwarden run` → a create script: what it would send, as our own reader and the real gcloud have it."""

import json
import os
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from spotwarden.cli.launching.package import FILE_AT_MOST, FolderFiles
from spotwarden.create_script import Defaults, requests
from spotwarden.create_script.lint import check
from spotwarden.create_script.request.stored import launch_of
from spotwarden.model.launch import Launch, StoredScript
from tests.contract.served import PROJECT
from tests.long import long

GOOGLE = "https://compute.googleapis.com"
ALL_METADATA_AT_MOST = 512 * 1024
"""Compute Engine's limit (Google: "About VM metadata")."""
PLAIN = ("--job", "job", "--machine", "e2-small", "--zone", "us-central1-a")
NASTY = [
    "", " ", "a  b", "it's", 'say "hi"', "$HOME", "`id`", "$(id)", "a\\b", "*", "~", "!x", "-x", "--lr=1e-4",
    "a;b|c&d", "#no", "ü €", "a,b=c", "^:^a", "{1,2}", "tab\there", "line\nbreak",
]  # fmt: skip


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """A folder with a little code, in which the commands are typed."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text("print(1)\n")
    return tmp_path


@pytest.fixture
def write(workstation):
    """Write a create script by `spotwarden run --script-only`; gives where it is."""

    def writer(*words: str, command: tuple[str, ...] = ("python", "train.py")) -> Path:
        workstation.ok("run", *words, "--script-only", "--", *command)
        job = words[words.index("--job") + 1]
        return Path(".spotwarden") / job / "create-instance.sh"

    return writer


def launch(script: Path) -> Launch:
    """What the script comes to, having no fault that its reader knows of."""
    files = FolderFiles(script.parent)
    report = check(script.read_bytes(), files=files, defaults=Defaults(project=PROJECT))
    assert report.warnings == ()
    stored = StoredScript(name="x", text=script.read_bytes(), generation=1, files=FolderFiles(script.parent))
    found = launch_of(stored, PROJECT)
    assert isinstance(found, Launch), found
    return found


def machine(found: Launch) -> Mapping[str, Any]:
    """The part of the request that says what each VM is."""
    return found.request.body.get("instanceProperties", found.request.body)


def metadata(found: Launch) -> dict[str, str]:
    """The attributes that a VM will find."""
    return {item["key"]: item["value"] for item in machine(found)["metadata"]["items"]}


def test_a_plain_line_makes_one_spot_vm_with_the_job_kit(write, workstation):
    """Deleted when it is preempted, with what the kit wants to know and nothing more."""
    found = launch(write(*PLAIN))
    assert (found.nodes, found.place) == (("job",), "us-central1-a")
    assert (found.machine, found.spot) == ("e2-small", True)
    assert machine(found)["scheduling"]["instanceTerminationAction"] == "DELETE"
    said = metadata(found)
    assert said.pop("startup-script").startswith("#!")
    assert said.pop("shutdown-script").startswith("#!")
    assert said == {
        "spotwarden-bucket": workstation.bucket,
        "spotwarden-job": "job",
        "spotwarden-code": "1",
        "spotwarden-early": "1",
        "spotwarden-command": "python train.py\n",
    }


@pytest.mark.parametrize(
    ("words", "nodes", "place"),
    [
        (["--zone", "us-west1-b"], ["j"], "us-west1-b"),
        (["--region", "us-west1"], ["j"], "us-west1"),
        (["--zone", "us-west1-b", "--nodes", "2"], ["j-1", "j-2"], "us-west1-b"),
        (["--region", "us-west1", "--nodes", "9"], [f"j-{n}" for n in range(1, 10)], "us-west1"),
        (["--zone", "us-west1-b", "--nodes", "10"], [f"j-{n:02}" for n in range(1, 11)], "us-west1-b"),
    ],
    ids=["zone", "region", "pair", "nine", "ten"],
)
def test_nodes_are_named_and_placed(write, words, nodes, place):
    """A gang is told how many they are and who is the first; one VM is told neither."""
    found = launch(write("--job", "j", "--machine", "e2-small", *words))
    assert (list(found.nodes), found.place) == (nodes, place)
    said = metadata(found)
    gang = (str(len(nodes)), nodes[0]) if len(nodes) > 1 else (None, None)
    assert (said.get("NODES"), said.get("MASTER_ADDR")) == gang


@pytest.mark.parametrize(
    ("words", "name", "attached"),
    [
        (["--gpu", "l4:1"], "g2-standard-4", None),
        (["--machine", "a2-highgpu-1g"], "a2-highgpu-1g", None),
        (["--gpu", "v100:2"], "n1-standard-16", ("nvidia-tesla-v100", 2)),
    ],
)
def test_gpus_bring_an_image_with_drivers_and_room_for_it(write, words, name, attached):
    """Attached only where the machine does not bring them."""
    found = launch(write("--job", "j", "--zone", "us-central1-a", *words))
    body = machine(found)
    assert found.machine == name
    assert body["scheduling"]["onHostMaintenance"] == "TERMINATE"
    asked = [(one["acceleratorType"], one["acceleratorCount"]) for one in body.get("guestAccelerators", [])]
    assert [(kind.rpartition("/")[2], count) for kind, count in asked] == ([attached] if attached else [])
    disk = body["disks"][0]["initializeParams"]
    assert "deeplearning-platform-release" in disk["sourceImage"]
    assert int(disk["diskSizeGb"]) == 200


@pytest.mark.parametrize(
    ("words", "look", "value"),
    [
        (["--on-demand"], lambda body: body["scheduling"].get("provisioningModel"), None),
        (["--disk-gb", "10"], lambda body: int(body["disks"][0]["initializeParams"]["diskSizeGb"]), 10),
        (
            ["--image", "my-image", "--image-project", "our-images"],
            lambda body: body["disks"][0]["initializeParams"]["sourceImage"].partition("projects/")[2],
            "our-images/global/images/my-image",
        ),
        (
            ["--image-family", "fam", "--image-project", "our-images"],
            lambda body: body["disks"][0]["initializeParams"]["sourceImage"].partition("projects/")[2],
            "our-images/global/images/family/fam",
        ),
        (
            ["--service-account", "job@demo.iam.gserviceaccount.com"],
            lambda body: body["serviceAccounts"][0]["email"],
            "job@demo.iam.gserviceaccount.com",
        ),
        (["--tag", "team=nlp", "--tag", "try=7"], lambda body: body["labels"], {"team": "nlp", "try": "7"}),
        (["--flag=--no-address"], lambda body: body["networkInterfaces"][0].get("accessConfigs"), None),
        (["--flag=--network-tier=STANDARD"],
         lambda body: body["networkInterfaces"][0]["accessConfigs"][0]["networkTier"], "STANDARD"),
    ],
    ids=["on demand", "disk", "image", "family", "account", "tags", "no address", "another flag"],
)  # fmt: skip
def test_what_was_said_of_the_machine_is_in_the_request(write, words, look, value):
    """And the script has no fault."""
    assert look(machine(launch(write(*PLAIN, *words)))) == value


FLEX = ("--flag=--provisioning-model=flex-start", "--flag=--max-run-duration=4h")


def test_a_flag_of_gcloud_replaces_what_run_would_write(write, workstation):
    """Once is enough: nothing is warned of. A Flex-start VM is told no 120 s before, so none is asked for."""
    words = (*FLEX, "--flag=--instance-termination-action=DELETE", "--flag=--boot-disk-size=300GB")
    text = write(*PLAIN, *words).read_text()
    assert [text.count(f"--{name}=") for name in ("provisioning-model", "boot-disk-size")] == [1, 1]
    found = launch(write(*PLAIN, *words))
    assert (found.flexible, found.spot) == (True, False)
    assert "spotwarden-early" not in metadata(found)
    done = workstation.run("run", *PLAIN, *words, "--script-only", "--", "true")
    assert "warning" not in done.output
    assert launch(write(*PLAIN, "--overwrite", "--flag=--provisioning-model=SPOT")).spot


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--flag=--machine-type=g2-standard-8"], "--flag=--machine-type=g2-standard-8: use --machine"),
        (["--flag=--image-family=ours"], "--flag=--image-family=ours: use --image-family"),
        (["--flag=--provisioning-model=SPOT", "--on-demand"], "contradicts --on-demand"),
        (["--tag", "a=b", "--flag=--labels=c=d"], "would replace the labels of --tag: use --tag for all"),
        (["--handover", *FLEX], "--handover is for spot VMs"),
    ],
)
def test_a_flag_that_an_option_says_better_is_refused(workstation, words, says):
    """The job's prices and checks are those of its options."""
    assert says in workstation.refused("run", *PLAIN, *words, "--dry-run", "--", "true")


@pytest.mark.parametrize(
    ("words", "key", "value"),
    [
        (["--env", "A=b c", "--env", "B="], "spotwarden-env", "A=b c\nB=\n"),
        (["--env", "FROM_HERE"], "spotwarden-env", "FROM_HERE=it's, here\n"),
        (["--setup", "make -C ext"], "spotwarden-setup", "make -C ext\n"),
        (["--metric", "loss=loss[:=] ([0-9.]+)"], "spotwarden-metrics", "loss=loss[:=] ([0-9.]+)\n"),
        (["--input", "gs://data/set/"], "spotwarden-inputs", "gs://data/set/ set\n"),
        (["--input", "x=gs://data/set.tar"], "spotwarden-inputs", "gs://data/set.tar x\n"),
        (["--keep-vm"], "spotwarden-keep-vm", "1"),
        (["--no-code"], "spotwarden-code", None),
        (["--container", "docker.io/a/b:1"], "spotwarden-container", "docker.io/a/b:1"),
        (
            ["--container", "a", "--container-flags", "--shm-size=8g -v '/a b:/c'"],
            "spotwarden-container-flags",
            "--shm-size=8g -v '/a b:/c'\n",
        ),
    ],
    ids=lambda one: "" if isinstance(one, str | None) else " ".join(one),
)
def test_what_was_said_of_the_program_reaches_the_kit(write, monkeypatch, words, key, value):
    """Word for word, through script and metadata."""
    monkeypatch.setenv("FROM_HERE", "it's, here")
    assert metadata(launch(write(*PLAIN, *words))).get(key) == value


def test_requirements_are_installed_unless_something_else_is_said(write, here):
    """By pip, before the command; not in a container, which brings its own."""
    assert "spotwarden-setup" not in metadata(launch(write(*PLAIN)))
    (here / "requirements.txt").write_text("numpy\n")
    assert "pip install" in metadata(launch(write(*PLAIN)))["spotwarden-setup"]
    assert metadata(launch(write(*PLAIN, "--setup", "true")))["spotwarden-setup"] == "true\n"
    assert "spotwarden-setup" not in metadata(launch(write(*PLAIN, "--container", "a")))


def test_inputs_of_this_machine_and_of_another_job(write, workstation, here):
    """A folder is told from a file by its slash; another job's output by the job."""
    (here / "data").mkdir()
    (here / "x.csv").write_text("1")
    words = ("--input", "./data", "--input", "x.csv", "--input", "again=data", "--input-job", "other")
    bucket = f"gs://{workstation.bucket}"
    assert metadata(launch(write(*PLAIN, *words)))["spotwarden-inputs"].splitlines() == [
        f"{bucket}/job/input/data/ data",
        f"{bucket}/job/input/x.csv x.csv",
        f"{bucket}/job/input/again/ again",
        f"{bucket}/other/output/ other",
    ]


def test_nasty_words_reach_the_program_as_they_are(write):
    """Through script, metadata and the VM's bash; one word alone is a line for that bash."""
    program = "import json, sys; print(json.dumps(sys.argv[1:]))"
    said = metadata(launch(write(*PLAIN, command=("python3", "-c", program, *NASTY))))
    heard = subprocess.run(
        ["bash", "-c", said["spotwarden-command"]], capture_output=True, text=True, check=True
    )
    assert json.loads(heard.stdout) == NASTY
    said = metadata(launch(write(*PLAIN, "--overwrite", command=("echo $((1 + 1)) | cat",))))
    heard = subprocess.run(
        ["bash", "-c", said["spotwarden-command"]], capture_output=True, text=True, check=True
    )
    assert heard.stdout == "2\n"


def test_the_kit_with_all_options_fits_into_metadata(write):
    """Each value and all of them together."""
    words = ["--env", "A=" + "x" * 30_000, "--setup", "true", "--metric", "a=(x)", "--container-flags=-v a:b"]
    said = metadata(launch(write(*PLAIN, "--container", "a", "--input", "gs://abc/b", *words)))
    assert max(len(value.encode()) for value in said.values()) <= FILE_AT_MOST
    assert sum(len(key.encode()) + len(value.encode()) for key, value in said.items()) <= ALL_METADATA_AT_MOST


def test_the_same_line_writes_the_same_bytes(write):
    """So that nothing is launched anew, or taken for an edit, which is not."""
    script = write(*PLAIN, "--tag", "b=1", "--tag", "a=2")
    before = script.read_bytes()
    assert write(*PLAIN, "--tag", "b=1", "--tag", "a=2").read_bytes() == before


def test_a_dry_run_shows_all_and_writes_nothing(workstation, here):
    """The script, and each file beside it but the kit."""
    said = workstation.ok(
        "run", *PLAIN, "--max-runtime", "90m", "--dry-run", "--", "python", "train.py", "a b"
    )
    assert "gcloud compute instances create job" in said
    assert "python train.py 'a b'" in said
    assert 'max_runtime = "1h30m"' in said
    assert not (here / ".spotwarden").exists()
    assert workstation.store.entries("") == []


ZONE, REGION = ("--zone", "us-west1-b"), ("--region", "us-west1")


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (ZONE, True),
        ((*ZONE, "--no-handover"), False),
        ((*ZONE, "--on-demand"), False),
        ((*ZONE, "--nodes", "2"), True),
        ((*ZONE, "--nodes", "1:2"), True),
        (REGION, True),
        ((*REGION, "--no-handover"), False),
    ],
)
def test_spot_vms_use_the_notice_unless_told_not_to(write, words, wanted):
    """The script tells the job kit. The notice is the launch's: older gclouds have no flag for it."""
    script = write("--job", "j", "--machine", "e2-small", *words)
    found = launch(script)
    assert metadata(found).get("spotwarden-early") == ("1" if wanted else None)
    assert "preemptionNoticeDuration" not in machine(found)["scheduling"]
    assert "gcloud compute instances" in script.read_text()
    # What bends says so there.
    assert script.with_name("job.toml").exists() is ("1:2" in words)


def test_a_job_toml_is_taken_as_it_is_behind_what_the_options_say(workstation, here):
    """So that what they say is in no table of the file."""
    (here / "more.toml").write_text("# stop\n[rules.early_stop]\nunreal = true\n")
    words = ("--max-runtime", "90m", "--job-toml", "more.toml", "--dry-run")
    said = workstation.ok("run", *PLAIN, *words, "--", "python", "train.py")
    assert 'max_runtime = "1h30m"\n# stop\n[rules.early_stop]\nunreal = true\n' in said


def test_more_metadata_stands_beside_our_own(write):
    """In one flag, as gcloud wants it; a flag of another name stays one of its own."""
    more = ("--flag=--metadata=spotwarden-sync=30,team=nlp", "--flag=--no-address", "--flag=--metadata=a=b")
    script = write(*PLAIN, *more)
    said = metadata(launch(script))
    assert (said["spotwarden-job"], said["spotwarden-sync"], said["team"], said["a"]) == (
        "job",
        "30",
        "nlp",
        "b",
    )
    assert script.read_text().count("--metadata=") == 1
    assert "--no-address" in script.read_text()


class _Api(BaseHTTPRequestHandler):
    """Compute Engine as far as gcloud needs it before a create, which is written down and refused."""

    asked: list[tuple[str, Any]] = []  # noqa: RUF012 — one test at a time

    def do_GET(self) -> None:
        """Say that there is one."""
        name = self.path.partition("?")[0].rpartition("/")[2]
        self._answer(200, {"name": name, "selfLink": f"http://{self.headers['host']}{self.path}"})

    def do_POST(self) -> None:
        """Write it down."""
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.asked.append((self.path.partition("?")[0], body))
        self._answer(400, {"error": {"code": 400, "message": "enough", "errors": [{"reason": "invalid"}]}})

    def _answer(self, status: int, body: object) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_words: object) -> None:
        """Say nothing."""


PARTS = (
    *("machineType", "metadata", "disks", "scheduling", "labels", "guestAccelerators"),
    *("workloadPolicy", "targetSize", "resourcePolicies", "instanceTemplate"),
)


@pytest.fixture
def gcloud(tmp_path) -> Iterator[dict[str, str]]:
    """The environment in which the real gcloud asks `_Api`."""
    if not shutil.which("gcloud"):
        pytest.skip("gcloud is not installed: what it sends for our scripts was not looked at")
    (tmp_path / "token").write_text("t")
    _Api.asked.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), _Api) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield {
            **os.environ,
            "CLOUDSDK_CONFIG": str(tmp_path / "gcloud"),
            "CLOUDSDK_CORE_PROJECT": PROJECT,
            "CLOUDSDK_CORE_DISABLE_PROMPTS": "1",
            "CLOUDSDK_CORE_DISABLE_USAGE_REPORTING": "true",
            "CLOUDSDK_COMPONENT_MANAGER_DISABLE_UPDATE_CHECK": "true",
            "CLOUDSDK_AUTH_ACCESS_TOKEN_FILE": str(tmp_path / "token"),
            "CLOUDSDK_API_ENDPOINT_OVERRIDES_COMPUTE": f"http://127.0.0.1:{server.server_port}/compute/v1/",
        }
        server.shutdown()


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(
            ["--gpu", "v100:1", "--zone", "us-central1-a", "--env", "A=it's, $B", "--tag", "a=b"], id="create"
        ),
        pytest.param(
            ["--gpu", "l4:1", "--nodes", "2", "--region", "us-central1", "--service-account", "a@b.c"],
            id="bulk create",
            marks=long,
        ),
        pytest.param(["--tpu", "v6e-16", "--zone", "us-east5-b", "--env", "A=it's"], id="slice"),
    ],
)
def test_the_real_gcloud_sends_the_same(write, gcloud, words):
    """The script run by bash, as a person would: the same path, machine, metadata, disks and scheduling."""
    script = write("--job", "j", *words)
    subprocess.run(["bash", script.name], cwd=script.parent, env=gcloud, capture_output=True, check=False)
    files = FolderFiles(script.parent)
    found = requests(script.read_bytes(), files=files, defaults=Defaults(project=PROJECT))
    assert [path for path, _ in _Api.asked] == [ours.path.partition("?")[0] for ours in found]
    for (_, body), ours in zip(_Api.asked, found, strict=True):
        theirs, wanted = (_properties(one) for one in (body, ours.body))
        for part in PARTS:
            assert _bare(theirs.get(part)) == _bare(wanted.get(part)), part


def _properties(body: Mapping[str, Any]) -> Mapping[str, Any]:
    return body.get("instanceProperties", body.get("properties", body))


def _bare(value: Any) -> Any:
    """With Google's address for that of the server here."""
    return json.loads(re.sub(r"http://127\.0\.0\.1:\d+", GOOGLE, json.dumps(value)))


def test_a_range_of_nodes_asks_for_the_most_and_says_the_least_in_the_job_file(workstation, here):
    """The script is that of a gang of sixteen."""
    words = ("--job", "j", "--machine", "e2-small", "--zone", "us-central1-a", "--nodes", "8:16")
    done = workstation.ok("run", *words, "--dry-run", "--", "true")
    assert "--count=16" in done
    assert 'nodes = "8:16"' in done
