"""`spotwarden run` and `spotwarden shell` against a local cloud with VMs, and no function."""

import contextlib
import json
import os
import subprocess
import urllib.request

import pytest
from click.testing import CliRunner

from spotwarden.cli.main import main
from spotwarden.gcp.storage import CloudStorage
from tests.e2e.conftest import SPOTWARDEN, marked
from tests.long import longest
from tests.waiting import looks

PROGRAM = """\
import json, os, pathlib, sys
out, given = pathlib.Path(os.environ["SPOTWARDEN_OUTPUT"]), pathlib.Path(os.environ["SPOTWARDEN_INPUT"])
runs = (out / "runs").read_text() if (out / "runs").exists() else ""
(out / "runs").write_text(runs + "x")
found = sorted(path.relative_to(given).as_posix() for path in given.rglob("*") if path.is_file())
print(json.dumps({"args": sys.argv[1:], "input": found, "a": os.environ.get("A"), "runs": len(runs)}))
print(sorted(os.listdir()))
sys.exit(int(os.environ.get("STATUS", "0")))
"""
AT = ("--machine", "e2-small", "--zone", "us-central1-a")


class Laptop:
    """A developer's shell beside a local cloud, in a folder with code."""

    def __init__(self, environment):
        self.environment = environment

    def run(self, *words):
        """Run `spotwarden …` in this process."""
        return CliRunner().invoke(main, list(words), env=self.environment)

    def start(self, *words):
        """Run it in a process of its own."""
        return subprocess.run(
            [str(SPOTWARDEN), *words],
            capture_output=True,
            text=True,
            timeout=60,
            stdin=subprocess.DEVNULL,
            env=self.environment,
            check=False,
        )

    @property
    def store(self):
        """The bucket."""
        return CloudStorage(bucket="jobs")

    def store_has(self, name):
        """Whether there is an object of this name."""
        with contextlib.closing(self.store) as store:
            return store.read(name) is not None

    def read(self, name):
        """The text of an object."""
        with contextlib.closing(self.store) as store:
            found = store.read(name)
        assert found is not None, name
        return found.data.decode()


def call(method, url, body):
    """Make what the functions' deployment would have made."""
    data = json.dumps(body).encode()
    request = urllib.request.Request(
        url, data=data, method=method, headers={"content-type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=60):
        pass


@pytest.fixture(scope="module")
def laptop(tmp_path_factory):
    """One local cloud for all tests of this file, with a bucket and a topic."""
    home = tmp_path_factory.mktemp("home")
    base = {name: value for name, value in os.environ.items() if not name.startswith("SPOTWARDEN")}
    base["XDG_STATE_HOME"] = str(home)
    words = [str(SPOTWARDEN), "local", "serve", "--project", "demo"]
    serving = subprocess.Popen(words, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, env=base)
    try:
        assert serving.stdout is not None
        url = json.loads(serving.stdout.readline())["http"]
        call("POST", f"{url}/storage/v1/b?project=demo", {"name": "jobs"})
        call("PUT", f"{url}/v1/projects/demo/topics/notices", {})
        with urllib.request.urlopen(f"{url}/local/env", timeout=60) as answer:
            told = json.load(answer)
        ours = {"PROJECT": "demo", "BUCKET": "jobs", "NOTICES": "notices", "OWNER": "ada@example.com"}
        told |= {f"SPOTWARDEN_{name}": value for name, value in ours.items()}
        with pytest.MonkeyPatch.context() as patch:
            for name, value in told.items():
                patch.setenv(name, value)
            yield Laptop({**base, **told})
    finally:
        serving.terminate()
        serving.communicate(timeout=60)
        assert marked(home) == []


@pytest.fixture
def here(tmp_path, monkeypatch):
    """The developer's folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(PROGRAM)
    (tmp_path / "data/sub").mkdir(parents=True)
    (tmp_path / "data/sub/b c.txt").write_text("data")
    (tmp_path / "big.bin").write_text("not code")
    (tmp_path / ".gitignore").write_text("*.bin\n")
    return tmp_path


def said_by(output):
    """The line that the program printed."""
    (line,) = [line for line in output.splitlines() if line.startswith("{")]
    return json.loads(line)


@pytest.mark.usefixtures("here")
def test_code_runs_as_it_is_and_goes_on_with_what_it_had_put_out(laptop):
    """Arguments, input, environment, output, status; run again, it finds its output as it was."""
    words = ("run", "--job", "one", *AT, "--input", "./data", "--env", "A=it's", "--max-runtime", "1h")
    done = laptop.run(*words, "--tag", "team=x", "--", "python3", "train.py", "a b", "$HOME")
    assert done.exit_code == 0, done.output
    told = {"args": ["a b", "$HOME"], "input": ["data/sub/b c.txt"], "a": "it's", "runs": 0}
    assert said_by(done.output) == told
    assert "['.gitignore', 'train.py']" in done.output
    assert laptop.read("one/output/runs") == "x"
    assert laptop.read("one/metadata/job.toml") == 'max_runtime = "1h"\n'
    record = json.loads(laptop.read("one/metadata/run.json"))
    assert record["command"] == ["python3", "train.py", "a b", "$HOME"]
    assert (record["environment"], record["tags"]) == (["A"], {"team": "x"})
    assert "it's" not in str(record)

    done = laptop.run(*words, "--overwrite", "--env", "STATUS=3", "--again", "--", "python3", "train.py")
    assert done.exit_code == 3, done.output
    assert said_by(done.output)["runs"] == 1
    assert "code: unchanged" in done.output
    assert "1 file, none sent, 1 unchanged" in done.output


def test_of_two_runs_at_once_one_runs_its_code_and_the_other_says_so(laptop, tmp_path):
    """Two people, two folders, one name: one VM, with the files of whoever launched it."""
    typed = {}
    for who in ("ada", "bob"):
        (tmp_path / who).mkdir()
        (tmp_path / who / "who.txt").write_text(f"code of {who}\n" * 20_000)
        words = [str(SPOTWARDEN), "run", "--job", "both", *AT, "--", "tail", "-n", "1", "who.txt"]
        typed[who] = subprocess.Popen(
            words,
            cwd=tmp_path / who,
            env=laptop.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
    said = {who: process.communicate(timeout=120)[0] for who, process in typed.items()}
    [winner] = [who for who, process in typed.items() if process.returncode == 0]
    [loser] = {"ada", "bob"} - {winner}
    assert f"code of {winner}" in said[winner]
    assert f"code of {loser}" not in said[loser]
    assert "spotwarden show both" in said[loser] or "choose another name" in said[loser], said[loser]
    assert json.loads(laptop.read("both/metadata/attempts/1.json"))["state"] in {"running", "ended"}
    assert laptop.store_has("both/metadata/attempts/2.json") is False


@pytest.mark.usefixtures("here")
def test_a_command_runs_among_the_processes_of_a_vm(laptop):
    """On the node that is meant, with its output, its errors and its status; then with none."""
    done = laptop.run("run", "--job", "pair", *AT, "--nodes", "2", "--no-follow", "--", "sleep 600")
    assert done.exit_code == 0, done.output
    said = laptop.start("shell", "--job", "pair", "--node", "2", "--", "hostname; echo no >&2; exit 7")
    assert (said.returncode, said.stdout, said.stderr) == (7, "pair-2\n", "no\n")
    said = laptop.start("shell", "--job", "pair", "--", "printf", "%s|", "a  b", "$HOME")
    assert (said.returncode, said.stdout) == (0, "a  b|$HOME|")
    refused = laptop.run("shell", "--job", "pair", "--node", "3", "--", "true")
    assert "pair has pair-1, pair-2" in refused.output
    refused = laptop.run("shell", "--job", "pair")
    assert "the local cloud has no interactive shell" in refused.output
    refused = laptop.run("shell", "--job", "nobody", "--", "true")
    assert "unknown job 'nobody'" in refused.output


@pytest.mark.usefixtures("here")
@longest
def test_output_of_a_job_is_input_of_the_next(laptop):
    """Fetched by its VM, in a folder that is called like the job."""
    with contextlib.closing(laptop.store) as store:
        store.write("before/output/model/m.bin", b"m", generation=0)
        store.write("before/metadata/status-code", b"0\n", generation=0)
    done = laptop.run("run", "--job", "after", *AT, "--input-job", "before", "--", "python3", "train.py")
    assert done.exit_code == 0, done.output
    assert said_by(done.output)["input"] == ["before/model/m.bin"]
    lost = laptop.run("run", "--job", "lost", "--machine", "e2-small", "--", "true")
    assert "--zone or --region is missing. e2-small is offered in" in lost.output
    assert "us-central1-a" in lost.output
    # Where its VM is still there, the command becomes another program: never in this process.
    for _ in looks(30, every=0.2):
        if (gone := laptop.start("shell", "--job", "after", "--", "true")).returncode:
            break
    assert "after has no VM now: it ended with status 0" in gone.stderr
