"""What a developer types, against one local cloud that runs with its functions."""

import json
import os
import re
import subprocess
import urllib.request
from urllib.parse import quote

import pytest

from tests.e2e.chaos.cloud import INSERTS
from tests.e2e.conftest import SPOTWARDEN, marked
from tests.long import long, longest

PURE = """\
#!/bin/bash
gcloud compute instances create {name} --zone=us-central1-a --machine-type=e2-small --scopes=cloud-platform \\
  --image-family=debian-12 --image-project=debian-cloud \\
  --provisioning-model=SPOT --instance-termination-action=DELETE --metadata=startup-script='sleep 600'
"""
RUN = ["run", "--gpu", "l4:1", "--zone", "us-central1-a", "--no-follow", "--job"]
PROGRAM = ["--", "python", "train.py"]
IMPURE = PURE.replace("e2-small", "$(printf %s e2-small | rev | rev)")


class Shell:
    """A shell in which `eval "$(spotwarden local env)"` was said."""

    def __init__(self, environment):
        self.environment = environment

    def run(self, *words, at=None, **environment):
        """Run `spotwarden …`, in the folder `at` if there is one, and give what came of it."""
        return subprocess.run(
            [str(SPOTWARDEN), *words],
            cwd=at,
            capture_output=True,
            text=True,
            timeout=60,
            stdin=subprocess.DEVNULL,
            env={**self.environment, **environment},
            check=False,
        )

    def ok(self, *words):
        """Run it, expect success, give its output."""
        done = self.run(*words)
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture(scope="module")
def shell(tmp_path_factory):
    """One local cloud for all tests of this file."""
    home = tmp_path_factory.mktemp("home")
    base = {
        **{name: value for name, value in os.environ.items() if not name.startswith("SPOTWARDEN")},
        "XDG_STATE_HOME": str(home),
        # Whoever runs the tests may have configured something.
        "XDG_CONFIG_HOME": str(home),
        "SPOTWARDEN_OWNER": "ada@example.com",
    }
    serving = subprocess.Popen(
        [str(SPOTWARDEN), "local", "serve", "--functions", "--project", "demo", "--limit", INSERTS],
        stdout=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
        env=base,
    )
    try:
        assert serving.stdout is not None
        ready = json.loads(serving.stdout.readline())
        assert set(ready) == {"http", "grpc", "project", "pid"}
        assert ready["pid"] == serving.pid
        exports = subprocess.run(
            ["bash", "-c", f'eval "$({SPOTWARDEN} local env)" && env -0'],
            capture_output=True,
            text=True,
            env=base,
            check=True,
        )
        pairs = (line.split("=", 1) for line in exports.stdout.split("\0") if "=" in line)
        yield Shell({**base, **dict(pairs)})
    finally:
        serving.terminate()
        serving.communicate(timeout=60)
        assert marked(home) == []


@pytest.fixture
def script(tmp_path):
    """Write a create script of this name; gives its path."""

    def write(name, text=PURE):
        file = tmp_path / "create-instance.sh"
        file.write_text(text.format(name=name))
        return str(file)

    return write


def test_a_submitted_job_runs_and_is_in_the_table(shell, script):
    """Stored, launched, listed; the table as text and as JSON."""
    assert "attempt 1 runs in us-central1-a as instance" in shell.ok("submit", script("job-a"))
    assert "job-a" in shell.ok("jobs")
    (row,) = [one for one in json.loads(shell.ok("jobs", "--json")) if one["job"] == "job-a"]
    assert (row["status"], row["attempts"], row["owner"]) == ("running", 1, "ada@example.com")
    assert row["instance_id"] in shell.ok("show", "job-a")
    assert "job-a" in shell.ok("local", "status")


@long
def test_a_running_job_is_not_submitted_twice(shell, script):
    """The second submit says why, and launches nothing."""
    shell.ok("submit", script("job-b"))
    refused = shell.run("submit", script("job-b"))
    assert refused.returncode == 1
    assert "job-b is already running as attempt 1" in refused.stderr
    assert shell.ok("local", "status").count("job-b") == 1


def test_a_script_that_is_not_pure_is_refused_with_its_line_and_a_way_out(shell, script):
    """Nobody is turned away: the message names --resolve."""
    refused = shell.run("submit", script("job-c", IMPURE))
    assert refused.returncode == 1
    assert "create-instance.sh:2:" in refused.stderr
    assert "--resolve" in refused.stderr
    assert shell.run("show", "job-c").returncode == 1


def test_a_resolved_script_launches_and_is_what_recovery_reads(shell, script):
    """Run here with a gcloud that creates nothing; its commands are stored beside the script."""
    assert "attempt 1 runs" in shell.ok("submit", script("job-d", IMPURE), "--resolve")
    stored = (
        shell.environment["STORAGE_EMULATOR_HOST"] + "/storage/v1/b/demo-jobs/o?prefix=job-d/metadata/create"
    )
    names = subprocess.run(
        ["curl", "-s", "--noproxy", "*", stored], capture_output=True, text=True, check=True
    ).stdout
    assert "create-instance.resolved.sh" in names


@long
def test_a_stockout_at_home_goes_elsewhere(shell, script):
    """Another zone of the region is asked, and the command says which."""
    shell.ok("local", "stockout", "us-central1-a", "--for", "10m")
    told = shell.ok("submit", script("job-e"))
    shell.ok("local", "stockout", "us-central1-a", "--off")
    assert re.search("attempt 1 runs in us-central1-[bcf]", told)
    assert "us-central1-a has no capacity right now" in told
    assert "us-central1-a, refused: ZONE_RESOURCE_POOL_EXHAUSTED" in shell.ok("show", "job-e")


def test_the_end_of_one_stockout_is_not_told_as_the_end_of_another(shell):
    """Without spot VMs alone a zone had machines again; here it has none of any kind."""
    stockout = ("local", "stockout", "us-central1-f")
    shell.ok(*stockout)
    shell.ok(*stockout, "--spot")
    assert shell.ok(*stockout, "--spot", "--off") == "us-central1-f still has no machine left\n"
    shell.ok(*stockout, "e2-small", "--spot")
    assert shell.ok(*stockout, "--off") == "us-central1-f has machines again\n"


def test_a_stockout_everywhere_is_told_and_waited_out(shell, script):
    """Compute Engine's reason is shown; the job stays queued, and its owner need do nothing."""
    zones = [f"us-central1-{letter}" for letter in "abcf"]
    for zone in zones:
        shell.ok("local", "stockout", zone, "--for", "10m")
    refused = shell.run("submit", script("job-f"))
    for zone in zones:
        shell.ok("local", "stockout", zone, "--off")
    assert refused.returncode == 1
    assert "no capacity for it right now" in refused.stderr
    assert "tries again every minute" in refused.stderr
    assert "backing off" in shell.ok("show", "job-f")


def put(shell, name, data):
    """Write an object into the jobs' bucket."""
    url = f"{shell.environment['STORAGE_EMULATOR_HOST']}/upload/storage/v1/b/demo-jobs/o?uploadType=media"
    request = urllib.request.Request(f"{url}&name={quote(name, safe='')}", data=data, method="POST")
    with urllib.request.urlopen(request, timeout=60):
        pass


def until(look):
    """Look again until it is so; each look is a whole command, so a bound on looks is one on time."""
    if not any(look() for _ in range(200)):
        raise AssertionError("it never came")


def test_a_marker_that_was_put_aside_is_listed_put_back_and_dropped(shell):
    """The reason is shown; put back, it is looked at once more; dropped, it is gone."""
    put(shell, "preempted-jobs/nobodys-vm", b"")
    until(lambda: "nobodys-vm" in shell.ok("quarantine", "list"))
    (aside,) = json.loads(shell.ok("quarantine", "list", "--json"))
    assert aside["reason"].endswith("no job has this name, and none has registered nobodys-vm-instance-id")
    # The copy is written before the marker is cleared, and a retry waits for that.
    until(lambda: "put back" in shell.run("quarantine", "retry", "nobodys-vm").stdout)
    until(lambda: "nobodys-vm" in shell.ok("quarantine", "list"))
    assert "dropped" in shell.ok("quarantine", "drop", "nobodys-vm", "--yes")
    assert "is empty" in shell.ok("quarantine", "list")


@longest
def test_a_job_is_stopped_and_starts_again(shell, script):
    """Closed and stopped by its owner; asked for, it is brought back in place, as attempt 2."""
    shell.ok("submit", script("job-g"))
    said = shell.ok("stop", "job-g", "--yes", "--why", "wrong data")
    assert "job-g is closed as stopped; Compute Engine was asked to stop job-g" in said
    until(lambda: "TERMINATED" in shell.ok("local", "status"))
    assert "Its stopped VM job-g is started again" in shell.ok("restart", "job-g")

    def running():
        shell.ok("local", "tick", "spotwarden-recover-spot")
        return "running, 2 attempts" in shell.ok("show", "job-g")

    until(running)


def test_the_mail_server_can_be_put_into_trouble_and_out_of_it(shell):
    """What is said last holds; without a word the state is shown."""
    refuses = ("local", "mail", "--refuse", "ada@example.com", "--mute", "2")
    said = "the mail server refuses ada@example.com, takes 2 without saying so\n"
    assert shell.ok(*refuses) == said
    # A mail of another test's job may have come meanwhile, and counts.
    assert shell.ok("local", "mail").startswith("the mail server refuses ada@example.com")
    assert shell.ok("local", "mail", "--down") == "the mail server is down\n"
    assert shell.ok("local", "mail", "--off") == "the mail server takes everything\n"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["show", "nobody"], "unknown job 'nobody'"),
        (["quarantine", "retry", "nobody"], "nobody: not in the quarantine; it is empty"),
        (["quarantine", "drop"], "name a marker"),
        (["show", "../x"], "'../x' is not a valid name"),
        (["local", "preempt", "nobody"], "nobody"),
        (["local", "stockout", "us-central1-a", "--for", "soon"], "write it as 90s, 10m or 2h"),
        (["local", "deny", "--off", "compute.instances.list"], "--off gives all permissions back"),
        (["local", "fault", "nonsense", "--status", "503"], "nonsense"),
    ],
)
def test_a_mistake_is_answered_in_words(shell, words, says):
    """What, where, what to do; never a traceback."""
    refused = shell.run(*words)
    assert refused.returncode != 0
    assert says in refused.stderr
    assert "Traceback" not in refused.stderr


@pytest.mark.parametrize(
    ("permission", "words", "role"),
    [
        ("storage.objects.list", ["jobs"], "roles/storage.objectViewer on the bucket"),
        ("storage.objects.list", [*RUN, "unlisted", *PROGRAM], "roles/storage.objectViewer on the bucket"),
        ("storage.objects.create", [*RUN, "unsent", *PROGRAM], "roles/storage.objectUser on the bucket"),
        (
            "compute.instances.create",
            [*RUN, "denied", *PROGRAM],
            "roles/compute.instanceAdmin.v1 on the project",
        ),
        ("compute.instances.list", ["stop", "denied"], "roles/compute.viewer on the project"),
        ("pubsub.topics.publish", ["notices", "test", "--to", "a@b.co"], "roles/pubsub.publisher"),
    ],
)
def test_whoever_lacks_a_permission_is_told_which_role_to_ask_for(shell, tmp_path, permission, words, role):
    """In Google's words for what is missing, and never as a traceback or JSON."""
    (tmp_path / "train.py").write_text("print(1)\n", encoding="utf-8")
    assert shell.ok("local", "deny", permission) == f"denied: {permission}\n"
    refused = shell.run(*words, at=tmp_path)
    assert shell.ok("local", "deny", "--off") == "no permission is denied\n"
    assert refused.returncode == 1
    assert f"Ask an administrator of the project for {role}" in refused.stderr
    assert "Traceback" not in refused.stderr
    assert '{"' not in refused.stderr


def test_without_settings_a_command_says_what_to_set(shell):
    """Every missing setting at once, and how to get them on the local cloud."""
    bare = {name: value for name, value in shell.environment.items() if not name.startswith("SPOTWARDEN_")}
    refused = Shell(bare).run("jobs")
    assert refused.returncode == 1
    for name in ("project", "bucket", "notices"):
        assert f"spotwarden config set {name} " in refused.stderr
    assert "spotwarden local env" in refused.stderr


def test_without_a_local_cloud_its_commands_say_how_to_start_one(shell, tmp_path):
    """Not a refused connection, but what to type."""
    bare = {name: value for name, value in shell.environment.items() if name != "SPOTWARDEN_LOCAL_URL"}
    refused = Shell(bare).run("local", "status", XDG_STATE_HOME=str(tmp_path))
    assert refused.returncode == 1
    assert "spotwarden local serve" in refused.stderr
