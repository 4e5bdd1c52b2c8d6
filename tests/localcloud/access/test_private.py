"""What a local cloud leaves on disk, and what it takes from the environment that it is started in."""

import os
import stat
from pathlib import Path

import httpx
import pytest

from localcloud.private import tighten
from localcloud.surroundings import without_settings
from tests.localcloud.access.conftest import SETTINGS, STILL_SECONDS, UMASK, Served, vm
from tests.waiting import wait


def mode(path: Path) -> int:
    """The permission bits of a file or folder."""
    return stat.S_IMODE(path.lstat().st_mode)


def environment(pid: int) -> dict[str, str]:
    """The environment that a process was started with."""
    lines = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    return dict(line.decode().split("=", 1) for line in lines if b"=" in line)


def test_nothing_in_the_state_folder_is_open_to_others(served: Served):
    """Folders, files and sockets alike, but for what the programs in VMs make themselves."""
    upload = f"{served.http}/upload/storage/v1/b/demo-jobs/o?uploadType=media&name=a"
    httpx.post(upload, content=b"x", trust_env=False).raise_for_status()
    in_vms = served.state / "vms"
    made = [path for path in served.state.rglob("*") if in_vms not in path.parents]
    assert {path.name for path in made} >= {"storage", "logs", "home", "signing-keys", "index.sqlite"}
    assert {str(path): oct(mode(path)) for path in (served.state, *made) if mode(path) & 0o077} == {}


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks at open sockets")
def test_the_functions_sockets_are_the_owners(served: Served):
    """So is the folder that they are in; and gunicorn's control socket is there, not in the home folder."""
    (row,) = [each for each in served.functions() if each["name"] == "recover_spot"]
    argv = Path(f"/proc/{row['pid']}/cmdline").read_bytes().decode().split("\0")
    host = argv[argv.index("--host") + 1]
    folder = Path(host.removeprefix("unix:")).parent
    assert mode(folder) == 0o700
    wait(STILL_SECONDS, (folder / "gunicorn.ctl").is_socket, "gunicorn has no control socket there")
    sockets = [path for path in folder.iterdir() if path.is_socket()]
    assert {path.name.partition(":")[0] for path in sockets} >= {"recover_spot", "report_jobs"}
    assert {str(path): oct(mode(path)) for path in sockets if mode(path) & 0o077} == {}


def test_programs_in_vms_have_the_umask_that_the_developer_has(served: Served):
    """What they write is as readable as it would be without a local cloud."""
    script = "umask > said; touch file; mkdir folder; mv said umask; sleep 1000"
    httpx.post(served.instances, json=vm("umask", script), trust_env=False).raise_for_status()
    wait(STILL_SECONDS, lambda: list(served.state.glob("vms/umask-*/umask")), "its script says nothing")
    (said,) = served.state.glob("vms/umask-*/umask")
    folder = said.parent
    assert int(said.read_text(), 8) == UMASK
    assert (mode(folder / "file"), mode(folder / "folder")) == (0o666 & ~UMASK, 0o777 & ~UMASK)
    assert (mode(folder), mode(folder.parent)) == (0o700, 0o700)


def test_an_earlier_state_folder_is_closed(tmp_path: Path):
    """What it was told to keep is for its user alone from now on; the folder itself may be anybody's."""
    tmp_path.chmod(0o755)
    for name in ("storage", "vms", "logs", "home", "mine"):
        (tmp_path / name).mkdir(mode=0o755)
    for name in ("signing-keys", "ahead", "notes"):
        (tmp_path / name).write_text("x")
        (tmp_path / name).chmod(0o644)
    tighten(tmp_path)
    closed = {path.name for path in tmp_path.iterdir() if not mode(path) & 0o077}
    assert closed == {"storage", "vms", "logs", "home", "signing-keys", "ahead"}
    assert mode(tmp_path) == 0o755


def test_no_setting_of_the_developers_reaches_a_function(served: Served):
    """Neither the mail server's password nor the project; the hooks only where the row names them."""
    for row in served.functions():
        seen = environment(row["pid"])
        assert "SPOTWARDEN_SMTP_PASSWORD" not in seen, row["name"]
        assert "SPOTWARDEN_DRY_RUN" not in seen, row["name"]
        assert seen["SPOTWARDEN_PROJECT"] == "demo", row["name"]
        assert not set(SETTINGS.values()) - {SETTINGS["SPOTWARDEN_HOOKS"]} & set(seen.values()), row["name"]
        assert ("SPOTWARDEN_HOOKS" in seen) == (row["name"] == "notify_developers")


def test_what_is_no_setting_stays():
    """PATH, say, and the mark by which processes are found."""
    environ = {
        "PATH": "/bin",
        "SPOTWARDEN_SUPERVISOR": "m",
        "SPOTWARDEN_SMTP_PASSWORD": "p",
        "XSPOTWARDEN_A": "b",
    }
    assert without_settings(environ) == {"PATH": "/bin", "SPOTWARDEN_SUPERVISOR": "m", "XSPOTWARDEN_A": "b"}
    assert os.environ.get("PATH") == without_settings(os.environ).get("PATH")
