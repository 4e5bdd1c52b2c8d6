"""The stand-ins make a call again that Cloud Storage answered 429, as gcloud and gsutil do."""

import io
import subprocess
import time

import pytest

from localcloud.standins import again
from localcloud.standins.again import insist
from localcloud.standins.bucket import HELD, _held
from localcloud.standins.transport import CloudError

TOO_SOON = CloudError(429, "too soon")


@pytest.fixture
def pauses(monkeypatch):
    """The pauses that were made; none of them takes time."""
    made = []
    monkeypatch.setattr(time, "sleep", made.append)
    monkeypatch.setattr(again.random, "uniform", lambda _low, high: high)
    return made


def calls(*ends):
    """A call that ends so, one after the other."""
    left = list(ends)

    def call():
        end = left.pop(0)
        if isinstance(end, Exception):
            raise end
        return end

    return call


def test_a_call_that_came_too_soon_is_made_again_after_growing_pauses(pauses):
    """Each twice as long as the last."""
    assert insist(calls(TOO_SOON, TOO_SOON, TOO_SOON, "done")) == "done"
    assert pauses == [1, 2, 4]


def test_after_seven_tries_it_is_refused(pauses):
    """A minute has passed by then."""
    with pytest.raises(CloudError, match="too soon"):
        insist(calls(*[TOO_SOON] * 8))
    assert pauses == [1, 2, 4, 8, 16, 32]


@pytest.mark.parametrize(("error", "repeatable"), [(CloudError(412, "no"), True), (TOO_SOON, False)])
def test_another_refusal_and_what_cannot_be_sent_again_are_final(pauses, error, repeatable):
    """A precondition that fails once fails for ever."""
    with pytest.raises(CloudError, match=error.message):
        insist(calls(error, "done"), while_repeatable=repeatable)
    assert pauses == []


class Pipe(io.BytesIO):
    """What can be read once."""

    def seekable(self):
        """It cannot."""
        return False


@pytest.mark.parametrize(("size", "kept"), [(0, True), (HELD - 1, True), (HELD, True), (HELD + 1, False)])
def test_so_much_of_a_pipe_is_kept_and_nothing_of_it_is_lost(size, kept):
    """A larger one is passed on as it comes, and cannot be sent again."""
    content = bytes(range(256)) * (size // 256) + b"x" * (size % 256)
    held = _held(Pipe(content))
    assert held.seekable() == kept
    assert held.read() == content


@pytest.mark.parametrize(
    "command",
    [
        "echo later | gsutil cp - gs://bucket/again",
        "gsutil cp later gs://bucket/again",
        "gsutil -h x-goog-meta-a:b cp later gs://bucket/again",
        "gsutil cp gs://bucket/later gs://bucket/again",
        "gsutil rm gs://bucket/later",
    ],
)
def test_what_writes_to_the_bucket_is_done_in_the_end(cloud, guest, tmp_path, command):
    """The first try is refused; what arrives is whole."""
    (tmp_path / "later").write_text("later\n")
    subprocess.run(["gsutil", "cp", "later", "gs://bucket/later"], env=guest, cwd=tmp_path, check=True)
    once = {"service": "storage", "method": method_of(command), "status": 429, "count": 1}
    cloud.call("POST", "/local/faults", once)
    words = ["bash", "-c", command]
    done = subprocess.run(words, env=guest, cwd=tmp_path, check=False, capture_output=True, text=True)
    faults = cloud.call("GET", "/local/faults")["faults"]
    cloud.call("DELETE", "/local/faults")
    assert (done.returncode, faults[0]["hits"]) == (0, 1), done.stderr
    if " rm " not in command:
        words = ["gsutil", "cat", "gs://bucket/again"]
        read = subprocess.run(words, env=guest, check=True, capture_output=True)
        assert read.stdout == b"later\n"


def method_of(command):
    """The HTTP method by which a command changes something."""
    return "DELETE" if " rm " in command else "POST"
