"""A stored script → the launch of its job."""

import gc
import sys
from collections import UserDict
from hashlib import sha256

import msgspec
import pytest

from spotwarden.create_script import Defaults, requests
from spotwarden.create_script.request import stored as stored_module
from spotwarden.create_script.request.stored import launch_of, with_launch
from spotwarden.model.facts import JobFacts
from spotwarden.model.launch import Launch, NoLaunch, StoredScript

PLAIN = "gcloud compute instances create trainer --zone=us-central1-a\n"
WITH_FILE = PLAIN.rstrip() + " --metadata-from-file=startup-script=start.sh\n"
SHORT_NAMES = ("--machine-type=n1-standard-8", "--accelerator=type=nvidia-tesla-t4,count=2")
PATTERN = ("--name-pattern=w-#", "--count=2")


class Folder(UserDict):
    """Files that are read when asked for."""

    def items(self):
        """Read all of them."""
        pytest.fail("every file was read")


def text_of(launch):
    """The text of the startup script in a launch."""
    (item,) = launch.request.body["metadata"]["items"]
    return item["value"]


def test_a_single_create_launches_one_node_at_home(one):
    """The request is the one that gcloud sends."""
    launch = one("--machine-type=e2-small")
    assert (launch.nodes, launch.place, launch.gang) == (("trainer",), "us-central1-a", False)
    assert [choice.place for choice in launch.choices] == ["us-central1-a"]
    text = b"gcloud compute instances create trainer --zone=us-central1-a --machine-type=e2-small"
    (sent,) = requests(text, defaults=Defaults(project="demo-project"))
    assert launch.request == sent


def test_the_version_of_the_script_is_kept(read):
    """Its generation and digest go into the attempt's record."""
    script = read(PLAIN).script
    assert (script.generation, script.sha256) == (7, sha256(PLAIN.encode()).hexdigest())


def test_what_a_place_must_offer_is_told_by_short_names(one, gang):
    """Whether the request has URLs, as one for an instance, or bare names, as a bulk request."""
    for launch in (one(*SHORT_NAMES), gang(*PATTERN, *SHORT_NAMES)):
        assert launch.machine == "n1-standard-8"
        assert launch.accelerators == ("nvidia-tesla-t4",)


@pytest.mark.parametrize(
    ("flag", "spot"),
    [("--provisioning-model=SPOT", True), ("--preemptible", True), ("--provisioning-model=STANDARD", False)],
)
def test_spot_is_told_by_either_word(flag, spot, one, gang):
    """The old flag asks for a machine that may be taken away, too."""
    assert one(flag).spot is spot
    assert gang(*PATTERN, flag).spot is spot


def test_what_is_asked_beside_the_body_can_be_written_down(one):
    """A template stands in the query, which goes into the audit with the rest of the request."""
    query = one("--source-instance-template=t").request.query
    assert msgspec.json.decode(msgspec.json.encode(query)) == query


def test_a_machine_of_a_template_has_no_known_type(one):
    """What the template says is known to the API only."""
    launch = one("--source-instance-template=t")
    assert (launch.machine, launch.accelerators, launch.spot) == ("", (), False)


def test_several_creates_are_no_job_and_the_reason_shows_the_way(read):
    """The names of one command go out as one insert each, and some may fail."""
    launch = read("gcloud compute instances create a b --zone=us-central1-a")
    assert isinstance(launch, NoLaunch)
    assert launch.reason.startswith("create.sh: it makes 2 create requests")
    assert "--predefined-names=a,b" in launch.reason


def test_a_script_that_creates_nothing_is_no_job(read):
    """There is nothing to send."""
    assert read("echo hello\n") == NoLaunch(
        reason="create.sh: it makes 0 create requests, and a job must have exactly one"
    )


def test_a_script_for_another_project_is_refused(read):
    """Its machines would never be seen again from here."""
    launch = read(PLAIN.rstrip() + " --project=elsewhere\n")
    assert launch == NoLaunch(
        reason="create.sh: it creates in project elsewhere, but jobs run in demo-project"
    )


def test_a_refusal_says_where_and_why(read):
    """File, line and reason."""
    launch = read("\ngcloud compute instances create $USER --zone=us-central1-a\n")
    assert isinstance(launch, NoLaunch)
    assert launch.reason.startswith("create.sh:2: ")


def test_the_same_script_is_read_once(read, monkeypatch):
    """Sweeps read it again each minute."""
    stored_module._remembered.cache_clear()
    first = read(PLAIN)
    monkeypatch.setattr(stored_module, "_read", lambda *_: pytest.fail("read again"))
    assert read(PLAIN) is first


@pytest.mark.parametrize(
    "other",
    [
        {"text": (WITH_FILE + "\n").encode()},
        {"files": {"start.sh": b"train --fast"}},
        {"generation": 8},
        {"name": "other.sh"},
    ],
)
def test_a_script_that_differs_in_anything_is_read_anew(other):
    """What is remembered is never another script's, file's or version's."""
    fields = {
        "name": "create.sh",
        "text": WITH_FILE.encode(),
        "generation": 7,
        "files": {"start.sh": b"train"},
    }
    script, same, another = (StoredScript(**each) for each in (fields, dict(fields), fields | other))
    launch = launch_of(another, "demo-project")
    assert launch_of(same, "demo-project") is launch_of(script, "demo-project") is not launch
    assert launch.script.generation == another.generation
    assert text_of(launch) == another.files["start.sh"].decode()


def test_the_project_counts_among_what_is_remembered(stored):
    """The same text means another request in another project."""
    script = stored(PLAIN)
    for project in ("demo-project", "other-project"):
        assert f"/projects/{project}/" in launch_of(script, project).request.path


def test_the_version_of_gcloud_counts_among_what_is_remembered(stored):
    """The same text means another request to another gcloud, or none."""
    script = stored(PLAIN.rstrip() + " --skip-guest-os-shutdown\n")
    for version, kind in ((578, Launch), (528, NoLaunch), (578, Launch)):
        assert isinstance(launch_of(script, "demo-project", version), kind)


def test_files_that_are_read_on_demand_are_not_all_read(stored):
    """A whole home folder may lie beside the script."""
    script = stored(WITH_FILE, files=Folder({"start.sh": b"train"}))
    assert text_of(launch_of(script, "demo-project")) == "train"


def test_facts_without_a_script_have_no_launch(stored):
    """With one, they have what it comes to."""
    facts = JobFacts(job="trainer")
    assert with_launch(facts, "demo-project").launch is None
    with_script = JobFacts(job="trainer", script=stored(PLAIN))
    assert isinstance(with_launch(with_script, "demo-project").launch, Launch)


@pytest.mark.parametrize(
    ("sizes", "reason"),
    [
        ((262_144,), ""),
        ((262_145,), "the metadata k0 has 262145 bytes, and Compute Engine takes 262144"),
        ((262_000, 262_000), ""),
        ((262_144, 262_144), "the metadata has 524292 bytes, and Compute Engine takes less than 524288"),
    ],
)
def test_metadata_that_compute_engine_does_not_take_launches_nothing(stored, sizes, reason):
    """It would be written again for each place that is asked, and refused by each."""
    files = {f"f{number}": b"x" * size for number, size in enumerate(sizes)}
    named = ",".join(f"k{number}=f{number}" for number in range(len(sizes)))
    text = f"{PLAIN.rstrip()} --metadata-from-file={named}\n"
    found = launch_of(stored(text, files=files), "demo-project")
    assert (found.reason if isinstance(found, NoLaunch) else "") == (f"create.sh: {reason}" if reason else "")


def test_a_script_that_is_remembered_keeps_no_file_in_memory(stored):
    """A thousand are remembered, and each may have megabytes beside it."""
    files = {"start.sh": b"# " + b"x" * 1_000, "other.bin": bytes(1_000)}
    before = [sys.getrefcount(data) for data in files.values()]
    first = launch_of(stored(WITH_FILE, files=dict(files)), "demo-project")
    gc.collect()
    assert [sys.getrefcount(data) for data in files.values()] == before
    assert launch_of(stored(WITH_FILE, files=dict(files)), "demo-project") is first
    other = launch_of(stored(WITH_FILE, files={**files, "start.sh": b"# y"}), "demo-project")
    assert text_of(other) == "# y"
