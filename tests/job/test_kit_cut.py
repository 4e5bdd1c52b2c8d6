"""What is cut in the middle, hangs, or cannot be put where it belongs."""

from collections.abc import Iterator
from threading import Event

import pytest

from tests.job.serving import QuietHandler, serving

RECORD = b'{"number":2,"instances":{"vm":"17"}}'


class Bucket:
    """A bucket that begins each answer, and ends none; uploads hang but for the first `takes`."""

    def __init__(self) -> None:
        self.body, self.takes, self.taken, self.url = RECORD, 0, 0, ""
        self.over = Event()
        outer = self

        class Handler(QuietHandler):
            def do_GET(self) -> None:
                self.send_response(200)
                self.send_header("Content-Length", str(len(outer.body)))
                self.end_headers()
                self.wfile.write(outer.body[:-20])

            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                outer.taken += 1
                if outer.taken > outer.takes:
                    outer.over.wait(20)
                self.answer_empty()

        self.handler = Handler


@pytest.fixture
def bucket(shell) -> Iterator[Bucket]:
    """The bucket, which the shell's functions speak to."""
    served = Bucket()
    with serving(served.handler) as address:
        served.url = f"http://{address}"
        shell.environment["STORAGE_EMULATOR_HOST"] = served.url
        yield served
        served.over.set()


OPEN = """
BUCKET=jobs HERE=job OUTPUT=$PWD/output SENT_LIST=$PWD/sent TOKEN_UNTIL=9999999999
: >"$STATE/token"
open_bucket
"""


def test_a_download_that_is_cut_is_none(shell, bucket):
    """It began with 200; half a checkpoint, half an input or half the code would be taken for the whole."""
    assert bucket.url
    assert shell.attempt(f'{OPEN} get job/my-code.tar "$PWD/code.tar"').returncode == 2
    assert list(shell.folder.glob("code.tar*")) == []
    assert shell.attempt(f'{OPEN} list job/output/ "$PWD/there"').returncode == 2


def test_a_record_that_is_cut_fences_nobody(shell, bucket):
    """In its first half the next attempt names no VM; read as a whole it would end this one for good."""
    assert bucket.url
    said = shell.run(f"{OPEN} ID=17 NODE=vm ATTEMPT=1 NEXT=2; may_write 3; echo $?")
    assert said == "2\n"
    assert not (shell.state / "fenced").exists()


def test_an_upload_that_hangs_is_given_up_and_one_that_went_up_before_it_is_known(shell, bucket):
    """The second of one curl, too: an option of the first request does not hold for the others."""
    bucket.takes = 1
    for name in ("a", "b"):
        (shell.folder / "output").mkdir(exist_ok=True)
        (shell.folder / "output" / name).write_text(name)
    assert shell.run(f"{OPEN} STALLED=1; upload_output 86400; echo $?") == "2\n"
    sent = (shell.folder / "sent").read_text().split("\0")
    assert [line.rpartition(" ")[2] for line in sent] == ["a", ""]


def test_what_cannot_be_written_does_not_become_better_by_asking_again(shell, bucket):
    """The disk is full, say: a VM that waits for its bucket then would wait for ever."""
    bucket.body = b"x" * 40
    (shell.folder / "list").write_text("40\tjob/output/model.pt\n")
    script = f'{OPEN} fetch_listed job/output/ /proc/nowhere "$PWD/list"; echo $?'
    assert shell.run(script) == "spotwarden: a download can't be written; check whether the disk is full\n4\n"
    assert shell.attempt(f"{OPEN} get job/my-code.tar /proc/nowhere/code.tar").returncode == 4


def test_a_file_that_became_a_folder_does_not_hold_up_the_start(shell):
    """Nothing is deleted in the bucket, so it has both; a disk can have one of them."""
    names = ("a", "a-b", "a/b", "a/c/d", "a/c")
    (shell.folder / "list").write_text("".join(f"2\tjob/output/{name}\n" for name in names))
    stub = 'TRANSPORT=stub BUCKET=jobs TOKEN_UNTIL=9999999999; get() { echo x >"$2"; }; '
    said = shell.run(f'{stub} fetch_listed job/output/ "$PWD/output" "$PWD/list"')
    assert said.splitlines() == [
        f"spotwarden: gs://jobs/job/output/{name} is skipped: there is also a folder of that name"
        for name in ("a", "a/c")
    ]
    output = shell.folder / "output"
    found = sorted(str(one.relative_to(output)) for one in output.rglob("*") if one.is_file())
    assert found == ["a-b", "a/b", "a/c/d"]


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("HTTPError 412: At least one of the pre-conditions you specified did not hold.", 3),
        ("ERROR: gs://jobs/exp-412/metadata/status-code: HTTPError 503: Backend Error", 2),
        ("PreconditionException: 412 Precondition Failed", 3),
        ("ERROR: (gcloud.storage.cp) HTTPError 403: no storage.objects.create on gs://jobs/x", 4),
        ("Copying file:///root/output/ckpt-403.pt to gs://jobs/ckpt-403.pt\nERROR: connection reset", 2),
        ("The following URLs matched no objects or files:\n-gs://jobs/x", 1),
        ("bash: gsutil: command not found", 2),
    ],
)
def test_only_what_gcloud_and_gsutil_say_themselves_counts(shell, said, answer):
    """A status taken for written by somebody else, since the job is called so, would end a VM without one."""
    assert shell.attempt('told "$1"', said).returncode == answer


def test_a_bucket_that_is_away_for_longer_than_anybody_is_patient_still_gets_output_and_status(lab):
    """The VM has nothing else to do; it stays until both are there, and then goes."""
    wait = 'echo ready; until [ -e ../go ]; do sleep 0.1; done; echo 8 > "$SPOTWARDEN_OUTPUT/step"'
    vm = lab.job(wait, spotwarden_upload_timeout="1", spotwarden_sync="60")
    vm.until_said("ready")
    lab.fault(service="storage", method="POST", path="/upload/", status=503)
    (vm.folder / "root/spotwarden/go").touch()
    vm.until_said("on this VM, which stays")
    lab.well()
    assert vm.status() == "0"
    assert vm.object("output/step") == "8\n"
    vm.until_gone()
