"""Ctrl-C and SIGTERM at a real process: its status, its last words, and no traceback."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator

import psutil
import pytest

SCRIPT = "gcloud compute instances create test-vm --zone=us-central1-a --machine-type=e2-small\n"
SPOTWARDEN = [sys.executable, "-c", "from spotwarden.cli.entry import main; main()"]
AT_IMPORT = """
import os, signal, sys
class Press:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Press())
"""
LOCAL = "import runpy; runpy.run_module('localcloud', run_name='__main__')"
WAIT = 60


def call_of(process: subprocess.Popen[str], server: socket.socket) -> socket.socket:
    """The connection of this process, and of no other that still knows the port."""
    while True:
        connection, (_, port) = server.accept()
        own = psutil.Process(process.pid).net_connections("tcp")
        if port in [one.laddr.port for one in own if one.laddr]:
            return connection
        connection.close()


@pytest.fixture
def mute() -> Iterator[socket.socket]:
    """A server that takes a connection and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(WAIT)
        yield server


@pytest.fixture
def interrupted(mute, tmp_path):
    """Type `spotwarden …`, and send a signal once it waits for an answer; gives its status and words."""
    (tmp_path / "create-instance.sh").write_text(SCRIPT)
    (tmp_path / "train.py").write_text("")
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("SPOTWARDEN")},
        "SPOTWARDEN_PROJECT": "p",
        "SPOTWARDEN_BUCKET": "b",
        "SPOTWARDEN_NOTICES": "n",
        "SPOTWARDEN_OWNER": "ada@example.com",
        "STORAGE_EMULATOR_HOST": f"http://127.0.0.1:{mute.getsockname()[1]}",
        "SPOTWARDEN_COMPUTE_ENDPOINT": f"http://127.0.0.1:{mute.getsockname()[1]}",
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "NO_PROXY": "*",
    }

    def run(number, *words):
        process = subprocess.Popen(
            [*SPOTWARDEN, *words], cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True
        )
        try:
            with call_of(process, mute):
                process.send_signal(number)
                return process.wait(WAIT), process.communicate(timeout=WAIT)[1]
        finally:
            process.kill()

    return run


RUN = ("run", "--job", "x", "--machine", "e2-small", "--zone", "us-central1-a", "--", "true")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("submit", "create-instance.sh"), "interrupted: nothing was stored or launched"),
        (RUN, "interrupted: nothing was stored or launched"),
        (("stop", "x", "--yes"), "interrupted: nothing was changed"),
        (("restart", "x"), "interrupted: nothing was changed"),
        (("extend", "x", "--by", "4h"), "interrupted"),
        (("download", "x"), "interrupted"),
        (("shell", "--job", "x", "--", "true"), "interrupted"),
        (("show", "x"), "interrupted"),
    ],
    ids=lambda words: words[0] if isinstance(words, tuple) else "",
)
def test_ctrl_c_ends_a_command_that_waits_with_130_and_a_word(interrupted, words, says):
    """At once, though a call is under way that nobody answers."""
    status, said = interrupted(signal.SIGINT, *words)
    assert status == 130, said
    assert says in said
    assert "Traceback" not in said


def test_sigterm_ends_it_as_well_with_143(interrupted):
    """A session that is closed, or `timeout`, is told what Ctrl-C is told."""
    status, said = interrupted(signal.SIGTERM, "submit", "create-instance.sh")
    assert (status, "interrupted: nothing was stored" in said, "Traceback" in said) == (143, True, False)


@pytest.mark.parametrize("module", ["click", "spotwarden.cli.main", "spotwarden.cli.lazy"])
def test_ctrl_c_among_the_imports_ends_a_command_with_130_and_no_traceback(module):
    """They take a while, and nobody waits for them before they think better of it."""
    code = AT_IMPORT.format(module=module) + "from spotwarden.cli.entry import main\nmain()"
    done = subprocess.run(
        [sys.executable, "-c", code, "--help"], capture_output=True, text=True, timeout=WAIT, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "\ninterrupted\n")


@pytest.mark.parametrize("module", ["click", "localcloud.commands.serve", "asyncio"])
def test_so_it_is_with_the_local_cloud(module):
    """`spotwarden local` becomes its process."""
    code = AT_IMPORT.format(module=module) + LOCAL
    done = subprocess.run(
        [sys.executable, "-c", code, "--help"], capture_output=True, text=True, timeout=WAIT, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "\ninterrupted\n")


def test_a_command_of_the_local_cloud_that_ctrl_c_ends_has_the_status_130(mute):
    """While it waits for an answer; what it does then it does to its end."""
    url = f"http://127.0.0.1:{mute.getsockname()[1]}"
    environment = {**os.environ, "NO_PROXY": "*", "SPOTWARDEN_LOCAL_URL": url}
    process = subprocess.Popen(
        [sys.executable, "-c", LOCAL, "status"], env=environment, stderr=subprocess.PIPE, text=True
    )
    try:
        with call_of(process, mute):
            process.send_signal(signal.SIGINT)
            assert (process.wait(WAIT), process.communicate(timeout=WAIT)[1]) == (130, "\ninterrupted\n")
    finally:
        process.kill()


def test_a_stranger_at_the_port_is_not_taken_for_the_command(mute):
    """Whoever still calls a server that had the port before would have the signal sent too early."""
    stranger = socket.create_connection(mute.getsockname())
    code = f"import socket, sys; s = socket.create_connection({mute.getsockname()!r}); sys.stdin.read()"
    with (
        subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, text=True) as process,
        stranger,
    ):
        with call_of(process, mute) as connection:
            assert connection.getpeername() != stranger.getsockname()
        process.communicate()
