"""What goes wrong around a job: the bucket, the token, the disk, the last seconds."""

import json
import shutil
from collections.abc import Iterator

import pytest

from tests.job.serving import QuietHandler, serving


def test_a_bucket_that_is_away_delays_a_job_and_loses_nothing(lab):
    """At the start the VM waits rather than train from nothing, in the end it waits with the status."""
    lab.write("patient/output/step", "7\n")
    lab.fault(service="storage", path="patient/", status=503, count=2)
    vm = lab.job(
        'cat "$SPOTWARDEN_OUTPUT/step"; echo 8 > "$SPOTWARDEN_OUTPUT/step"; echo ready', name="patient"
    )
    vm.until_said("ready")
    lab.fault(service="storage", method="POST", status=503, count=2)
    assert vm.status() == "0"
    assert "7\nready\n" in vm.said
    assert vm.object("output/step") == "8\n"


def test_a_marker_whose_upload_is_cut_is_written_all_the_same(lab):
    """Within the same thirty seconds."""
    vm = lab.job("echo here; sleep 60")
    vm.until_said("here")
    lab.until(lambda: vm.beat, "a heartbeat")
    lab.fault(service="storage", method="POST", cut=True, count=2)
    vm.preempt()
    vm.until_gone()
    assert vm.marker["instance_id"] == vm.id


def test_a_marker_arrives_though_the_output_hangs(lab):
    """Each has the whole time; what hangs is given up before the VM goes."""
    vm = lab.job(
        'echo here; head -c 300000 /dev/zero > "$SPOTWARDEN_OUTPUT/model"; sleep 60', spotwarden_sync="600"
    )
    vm.until_said("here")
    lab.fault(service="storage", method="POST", delay_seconds=3, count=1)
    vm.preempt()
    vm.until_gone()
    assert vm.marker


def test_a_full_disk_ends_the_log_and_not_the_program(lab, tmp_path):
    """The console still has all of it; output that could be written goes up."""
    (tmp_path / "log").mkdir()
    for name, target in {
        "log/1.log": "/dev/full",
        "log/1.jsonl": "/dev/full",
        "sent": "/nowhere/sent",
    }.items():
        (tmp_path / name).symlink_to(target)
    vm = lab.job(
        'seq 3; echo "{\\"loss\\": 1}" > "$SPOTWARDEN_PROGRESS"; sleep 1.5; echo x > "$SPOTWARDEN_OUTPUT/x"',
        spotwarden_folder=str(tmp_path),
    )
    assert vm.status() == "0"
    assert "1\n2\n3\n" in vm.said
    assert vm.object("output/x") == "x\n"
    assert vm.beat["metrics"] == {"loss": 1}
    vm.until_gone()


def test_output_that_cannot_go_up_is_no_success(lab):
    """No object can have its name: the others go up, the status says failure, the VM stays with its disk."""
    name = "/".join(["d" * 200] * 6)
    vm = lab.job(f'cd "$SPOTWARDEN_OUTPUT"; mkdir -p {name}; echo x > {name}/x; echo y > y')
    assert vm.status() == "74"
    assert vm.object("output/y") == "y\n"
    vm.until_said("on this VM, which stays")
    assert "no object can be called" in vm.said
    vm.delete()


def test_a_kit_that_was_killed_still_leaves_its_marker(lab):
    """The shutdown script needs nothing of it."""
    vm = lab.job('kill -9 $(cat "$HOME/.spotwarden/pid"); echo here; sleep 60')
    vm.until_said("here")
    vm.preempt()
    vm.until_gone()
    assert vm.marker["attempt"] == 1


class Metadata:
    """A metadata server that says what a test tells it to."""

    def __init__(self) -> None:
        self.token: dict[str, object] | None = None
        self.asked: list[str] = []
        outer = self

        class Handler(QuietHandler):
            def do_GET(self) -> None:
                outer.asked.append(self.path)
                body = json.dumps(outer.token).encode() if outer.token else b"away"
                self.send_response(200 if outer.token else 503)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        self.handler = Handler


@pytest.fixture
def metadata() -> Iterator[Metadata]:
    """The server; nothing of it is left."""
    served = Metadata()
    with serving(served.handler) as served.address:
        yield served


AUTHORIZE = 'authorize; cat "$STATE/token"; stat -c %a "$STATE/token"; '


def test_a_token_is_kept_where_nobody_else_can_read_it_and_used_until_it_ends(shell, metadata):
    """One question for many requests; an hour's token is asked for anew three minutes before its end."""
    metadata.token = {"access_token": "secret", "expires_in": 3599, "token_type": "Bearer"}
    said = shell.run(AUTHORIZE * 2, GCE_METADATA_HOST=metadata.address)
    assert said == "Authorization: Bearer secret\n600\n" * 2
    assert len(metadata.asked) == 1
    (shell.state / "token-until").write_text("1\n")
    shell.run(AUTHORIZE, GCE_METADATA_HOST=metadata.address)
    assert len(metadata.asked) == 2


def test_an_old_token_is_used_while_the_token_server_is_away(shell, metadata):
    """Google's tokens live on for some minutes; a request goes out without one rather than not at all."""
    assert shell.run(AUTHORIZE, GCE_METADATA_HOST=metadata.address).splitlines()[0] == "644"
    (shell.state / "token").write_text("Authorization: Bearer old\n")
    assert shell.run(AUTHORIZE, GCE_METADATA_HOST=metadata.address).startswith("Authorization: Bearer old\n")


@pytest.mark.parametrize(
    ("status", "answer"),
    [("200", 0), ("204", 0), ("404", 1), ("412", 3), ("403", 4), ("400", 4)]
    + [(status, 2) for status in ("000", "", "401", "408", "429", "500", "503")],
)
def test_what_is_tried_again_and_what_never_is(shell, status, answer):
    """A refused token may be an old one; another refusal is for good."""
    assert shell.attempt("STATUS=$1; understood", status).returncode == answer


def test_patience_has_an_end(shell):
    """What is refused for good is not repeated, what may work is, until the time is over."""
    count = 'tries=0; try() { tries=$((tries + 1)); return "$1"; }; sleep() { SECONDS=$((SECONDS + 1)); }; '
    for answer, tries in ((0, "1"), (1, "1"), (3, "1"), (4, "1")):
        assert shell.run(f"{count} patiently 60 try {answer}; echo $? $tries") == f"{answer} {tries}\n"
    kept, times = shell.run(f"{count} patiently 60 try 2; echo $? $tries").split()
    assert (kept, int(times) > 5) == ("2", True)


def test_metadata_is_read_without_curl(shell, metadata):
    """Bash speaks HTTP itself."""
    metadata.token = {"access_token": "by hand", "expires_in": 100}
    tools = shell.folder / "tools"
    tools.mkdir()
    for tool in ("cat", "timeout", "mv", "rm", "stat", "bash", "mkdir"):
        (tools / tool).symlink_to(shutil.which(tool))
    said = shell.run(AUTHORIZE, GCE_METADATA_HOST=metadata.address, PATH=str(tools))
    assert said.startswith("Authorization: Bearer by hand\n")
