"""A command in a running VM: what it says, how it ends, and with whom."""

import base64
import json

import httpx
import psutil
import pytest

TIMEOUT_SECONDS = 30


def pieces(cloud, node, command):
    """What comes back, piece by piece."""
    url, body = cloud.environment["SPOTWARDEN_LOCAL_URL"] + "/local/shell", {"node": node, "command": command}
    with httpx.stream("POST", url, json=body, timeout=TIMEOUT_SECONDS, trust_env=False) as answer:
        assert answer.status_code == 200
        for line in answer.iter_lines():
            yield json.loads(line)


def ran(cloud, command, node="test-vm"):
    """Output, errors and status of a command."""
    said, status = {"out": b"", "err": b""}, None
    for piece in pieces(cloud, node, command):
        status = piece.get("status", status)
        for word in said.keys() & piece.keys():
            said[word] += base64.b64decode(piece[word])
    return said["out"].decode(), said["err"].decode(), status


@pytest.mark.usefixtures("guest")
def test_output_errors_and_status_come_back(cloud):
    """Apart from each other; the command runs in the VM's home, as the VM."""
    out, err, status = ran(cloud, 'hostname; echo no >&2; [ "$PWD" = "$HOME" ] && exit 7')
    assert (out, err, status) == ("test-vm\n", "no\n", 7)


@pytest.mark.usefixtures("guest")
@pytest.mark.parametrize(
    ("command", "status"), [("true", 0), ("no-such-command", 127), ("kill -9 $$", 137), ("exit 255", 255)]
)
def test_the_status_is_that_of_the_command(cloud, command, status):
    """A signal counts as a shell counts it."""
    assert ran(cloud, command)[2] == status


@pytest.mark.usefixtures("guest")
def test_what_is_left_in_the_background_holds_nobody_up(cloud):
    """It goes on, and what it says later is not heard."""
    out, _, status = ran(cloud, "sleep 600 & echo $!")
    assert status == 0
    assert psutil.pid_exists(int(out))
    psutil.Process(int(out)).kill()


@pytest.mark.usefixtures("guest")
def test_output_comes_as_it_is_said_and_who_hangs_up_ends_the_command(cloud):
    """The first line is there while the command goes on; with its caller it is gone."""
    coming = pieces(cloud, "test-vm", "echo $$; exec sleep 600")
    pid = int(base64.b64decode(next(coming)["out"]))
    assert psutil.pid_exists(pid)
    coming.close()
    cloud.wait_until(lambda: not psutil.pid_exists(pid))


def test_a_command_ends_with_its_vm(cloud):
    """No process outlives the VM that it was started in."""
    cloud.create("short-vm", "sleep 3000")
    coming = pieces(cloud, "short-vm", "echo $$; exec sleep 600")
    pid = int(base64.b64decode(next(coming)["out"]))
    cloud.call("DELETE", "/compute/v1/projects/demo/zones/us-central1-a/instances/short-vm")
    assert [piece["status"] for piece in coming if "status" in piece] == [143]
    assert not psutil.pid_exists(pid)


@pytest.mark.usefixtures("guest")
@pytest.mark.parametrize(
    ("body", "status", "says"),
    [
        (
            {"node": "no-vm", "command": "true"},
            404,
            "There is no running VM 'no-vm'. To list VMs: spotwarden local status",
        ),
        ({"node": "test-vm"}, 400, "no command for a machine"),
        ({"node": "test-vm", "command": "true", "more": 1}, 400, "no command for a machine"),
    ],
    ids=["no such machine", "no command", "something unknown"],
)
def test_what_cannot_be_run_is_refused_in_words(cloud, body, status, says):
    """As any call of the local cloud."""
    url = cloud.environment["SPOTWARDEN_LOCAL_URL"] + "/local/shell"
    answer = httpx.post(url, json=body, timeout=TIMEOUT_SECONDS, trust_env=False)
    assert (answer.status_code, says in answer.json()["error"]["message"]) == (status, True)
