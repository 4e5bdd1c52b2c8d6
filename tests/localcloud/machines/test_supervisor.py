"""A command under a supervisor, and all that came of it, ends when the local cloud says so or is gone."""

import asyncio
import os
import signal
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import psutil
import pytest

from localcloud import supervisor
from localcloud.supervisor import guardian, marks

DAEMONS = """
    sleep 300 &
    setsid sleep 301 &
    ( setsid bash -c 'sleep 302 & disown' & )
    ( trap '' TERM HUP INT; env -i setsid sleep 303 & )
    echo ready > ready
"""
"""Background processes of every kind: same group, own session, orphaned twice, unmarked and deaf."""

CHAIN_BOMB = """
import os, time
open("ready", "w").close()
end = time.monotonic() + 60
while time.monotonic() < end:
    if os.fork():
        os._exit(0)
    os.setsid()
    if os.fork() == 0:
        time.sleep(60)
        os._exit(0)
"""
"""A chain that forks, leaves its session and dies, over and over; each link leaves a sleeper behind."""

WIDE_BOMB = """
import os, time
open("ready", "w").close()
for _ in range(9):
    os.fork()
    time.sleep(0.1)
time.sleep(60)
"""
"""Every process becomes two, ten times a second; nine times, for a busy machine kills them late."""


def test_the_exit_status_is_the_commands(run, start):
    """`wait` tells the status of the command itself."""

    async def scene():
        return await (await start("exit 3")).wait()

    assert run(scene()) == 3


def test_a_signal_is_a_negative_status(run, start):
    """A command that died of a signal is reported as Python's subprocess would."""

    async def scene():
        return await (await start("kill -USR1 $$")).wait()

    assert run(scene()) == -signal.SIGUSR1


def test_descendants_live_on_when_the_command_has_ended(run, start, eventually):
    """A virtual machine goes on running what its startup script left in the background."""

    async def scene():
        supervised = await start("sleep 300 & exit 0")
        assert await supervised.wait() == 0
        await eventually(lambda: [process.name() for process in supervised.processes()] == ["sleep"])
        await supervised.kill()
        assert supervised.processes() == []

    run(scene())


def test_a_command_without_descendants_is_gone_when_it_ends(run, start):
    """Nothing keeps running for a command that is over, not even its guardian."""

    async def scene():
        supervised = await start("true")
        await supervised.gone()
        return supervised.processes(), psutil.pid_exists(supervised._guardian)

    assert run(scene()) == ([], False)


def test_no_daemon_escapes_a_kill(run, start, eventually, tmp_path, survivors):
    """Own sessions, double forks, ignored signals and cleared environments do not help."""

    async def scene():
        supervised = await start(DAEMONS)
        await eventually((tmp_path / "ready").exists)
        processes = await eventually(lambda: found if len(found := supervised.processes()) >= 4 else None)
        await supervised.kill()
        assert not any(process.is_running() for process in processes)
        assert survivors(supervised.mark) == []

    run(scene())


@pytest.mark.parametrize("bomb", [CHAIN_BOMB, WIDE_BOMB], ids=["chain", "wide"])
def test_a_fork_bomb_is_defused(run, start, eventually, tmp_path, survivors, bomb):
    """Processes born while the others are being killed are killed as well, however many."""

    async def scene():
        supervised = await start('"$@" & "$@" & "$@"', sys.executable, "-c", bomb)
        await eventually((tmp_path / "ready").exists)
        await eventually(lambda: len(supervised.processes()) > 50)
        await supervised.kill()
        return supervised.processes(), survivors(supervised.mark)

    assert run(scene()) == ([], [])


def test_terminate_lets_a_command_tidy_up(run, start, eventually, tmp_path):
    """SIGTERM comes first, to every process, and the grace is theirs."""

    async def scene():
        supervised = await start("trap 'echo tidy > tidied; exit 0' TERM; echo > ready; sleep 300 & wait")
        await eventually((tmp_path / "ready").exists)
        await supervised.terminate(timedelta(seconds=20))
        return await supervised.wait()

    assert run(scene()) == 0
    assert (tmp_path / "tidied").read_text() == "tidy\n"


def test_terminate_kills_what_outlives_the_grace(run, start, eventually, tmp_path):
    """A process that is deaf to SIGTERM is killed when the grace is over, and not before."""

    async def scene():
        supervised = await start("trap '' TERM; echo > ready; sleep 300")
        await eventually((tmp_path / "ready").exists)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(supervised.terminate(timedelta(hours=1)), timeout=0.2)
        assert supervised.processes() != []
        await supervised.terminate(timedelta(seconds=0.1))
        return await supervised.wait()

    assert run(scene()) == supervisor.supervised.LOST


@pytest.mark.parametrize("victim", ["outer", "inner"])
def test_a_killed_guardian_takes_all_along(run, start, eventually, tmp_path, victim):
    """If either guardian process is killed, the other one ends the command and every daemon."""

    async def scene():
        supervised = await start(DAEMONS + "sleep 304")
        await eventually((tmp_path / "ready").exists)
        processes = await eventually(lambda: found if len(found := supervised.processes()) >= 5 else None)
        os.kill(supervised._guardian if victim == "outer" else supervised._inner, signal.SIGKILL)
        await supervised.gone()
        assert not any(process.is_running() for process in processes)
        return await supervised.wait()

    assert run(scene()) == supervisor.supervised.LOST


def test_two_killed_guardians_leave_nothing_that_is_marked(run, start, eventually, tmp_path, survivors):
    """With both guardian processes killed at once, the local cloud finds the rest by their mark."""

    async def scene():
        supervised = await start("sleep 300 & setsid sleep 301 & echo > ready; sleep 302")
        await eventually((tmp_path / "ready").exists)
        for guard in (supervised._guardian, supervised._inner):
            os.kill(guard, signal.SIGSTOP)
        for guard in (supervised._guardian, supervised._inner):
            os.kill(guard, signal.SIGKILL)
        await supervised.gone()
        return survivors(supervised.mark)

    assert run(scene()) == []


OWNER = """
import asyncio, os, sys
from pathlib import Path
from localcloud import supervisor

async def main():
    supervised = await supervisor.start(["bash", "-c", sys.argv[1]], env=dict(os.environ), cwd=Path.cwd())
    print(supervised.mark, flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


def test_nothing_survives_a_killed_local_cloud(run, eventually, tmp_path, survivors):
    """SIGKILL gives the local cloud no chance to clean up; its guardians do."""
    with subprocess.Popen(
        [sys.executable, "-c", OWNER, DAEMONS + "sleep 304"], cwd=tmp_path, stdout=subprocess.PIPE, text=True
    ) as owner:
        mark = owner.stdout.readline().strip()

        async def scene():
            await eventually((tmp_path / "ready").exists)
            running = await eventually(lambda: found if len(found := survivors(mark)) >= 4 else None)
            everyone = psutil.Process(owner.pid).children(recursive=True)
            assert {process.pid for process in running} <= {process.pid for process in everyone}
            owner.kill()
            await eventually(lambda: not any(map(psutil.Process.is_running, everyone)), "something survived")

        run(scene())
    assert survivors(mark) == []


def test_leftovers_of_a_dead_local_cloud_are_swept(run, eventually, survivors, monkeypatch):
    """At its start a local cloud kills what carries the mark of one that is no longer alive."""
    # To all others on this machine its owner lives: one that starts meanwhile would be faster.
    mark = marks.new()
    monkeypatch.setattr(marks, "_has_living_owner", lambda found: found != mark)
    with subprocess.Popen(["sleep", "300"], env={**os.environ, supervisor.VARIABLE: mark}) as leftover:
        run(eventually(lambda: survivors(mark)))
        assert supervisor.sweep_leftovers() == 1
        leftover.wait()
    assert survivors(mark) == []


def test_who_has_ended_is_no_living_owner():
    """By its number alone, as long as nobody else has that."""
    gone = subprocess.Popen(["true"])
    gone.wait()
    assert not marks._has_living_owner(f"{gone.pid}-1700000000-abcdef")


@pytest.mark.parametrize("mark", ["living", "unreadable"])
def test_processes_of_the_living_are_spared(mark):
    """A sweep for leftovers touches neither what a living local cloud started nor a mark it cannot read."""
    value = marks.new() if mark == "living" else "not-a-mark"
    with subprocess.Popen(["sleep", "300"], env={**os.environ, supervisor.VARIABLE: value}) as process:
        assert supervisor.sweep_leftovers() == 0
        assert process.poll() is None
        process.kill()


def test_a_pid_that_was_given_to_another_process_is_not_a_living_owner():
    """The start time tells the local cloud from a later process with its number."""
    assert marks._has_living_owner(marks.new())
    assert not marks._has_living_owner(f"{os.getpid()}-1700000000-abcdef")


def test_output_goes_where_it_is_told_and_ends_with_the_last_writer(run, start):
    """Standard output and error arrive together, and end when the last process has closed them."""
    reading, writing = os.pipe()

    async def scene():
        supervised = await start("echo out; echo err >&2", stdout=writing)
        os.close(writing)
        await supervised.gone()
        return os.read(reading, 100) + os.read(reading, 100)

    assert run(scene()) == b"out\nerr\n"
    os.close(reading)


def test_the_environment_is_the_given_one_and_a_mark(run, start, tmp_path):
    """Nothing of our own environment leaks into a virtual machine."""

    async def scene():
        supervised = await start("exec env -0 > seen")
        await supervised.gone()
        return supervised.mark

    mark = run(scene())
    seen = dict(pair.split("=", 1) for pair in (tmp_path / "seen").read_text().split("\0") if pair)
    own_doing = {"PWD", "SHLVL", "_", "OLDPWD"}
    assert seen.keys() - own_doing == {"PATH", "LANG", supervisor.VARIABLE}
    assert seen[supervisor.VARIABLE] == mark


def test_signals_that_python_ignores_are_restored(run, start):
    """`yes | head -1` must end: a supervised command does not inherit Python's ignored SIGPIPE."""

    async def scene():
        # SIGPIPE and SIGXFSZ; others may be ignored because whoever started the tests ignores them (nohup).
        ignored = "0x$(sed -n 's/^SigIgn:[[:space:]]*//p' /proc/self/status)"
        return await (await start(f"[ $(({ignored} & 0x1001000)) = 0 ]")).wait()

    if not Path("/proc/self/status").exists():
        pytest.skip("/proc is not there: the signal mask of a process cannot be read")
    assert run(scene()) == 0


def test_a_command_that_is_not_there_is_refused(run, tmp_path):
    """The error names the command and what is wrong with it."""
    with pytest.raises(FileNotFoundError, match=r"cannot run 'no-such-thing': not found on PATH"):
        run(supervisor.start(["no-such-thing"], env={"PATH": os.environ["PATH"]}, cwd=tmp_path))


def test_a_folder_that_is_not_there_is_refused(run, tmp_path):
    """The error names the folder."""
    with pytest.raises(NotADirectoryError, match="there is no such folder"):
        run(supervisor.start(["true"], env={"PATH": os.environ["PATH"]}, cwd=tmp_path / "none"))


def test_a_file_that_cannot_be_executed_ends_as_in_a_shell(run, tmp_path):
    """A script whose interpreter is missing ends with 127 and says so on its output."""
    script = tmp_path / "script"
    script.write_text("#!/no/such/interpreter\n")
    script.chmod(0o755)

    async def scene():
        supervised = await supervisor.start([str(script)], env=dict(os.environ), cwd=tmp_path, stdout=writing)
        os.close(writing)
        await supervised.gone()
        return await supervised.wait()

    reading, writing = os.pipe()
    assert run(scene()) == 127
    assert os.read(reading, 1000) == f"{script}: No such file or directory\n".encode()
    os.close(reading)


def test_ps_and_the_kernel_agree_on_children(run, start, eventually):
    """Where the kernel does not list children, ps(1) tells the same."""

    async def scene():
        supervised = await start("sleep 300 & sleep 301 & wait")
        await eventually(lambda: len(supervised.processes()) == 3)
        listed = [guardian.children_by_kernel(supervised.pid), guardian.children_by_ps()(supervised.pid)]
        await supervised.kill()
        return listed

    if not guardian.KERNEL_LISTS_CHILDREN:
        pytest.skip("this kernel does not list children in /proc: nothing to compare with")
    kernel, ps = run(scene())
    assert sorted(kernel) == sorted(ps)
    assert len(ps) == 2
