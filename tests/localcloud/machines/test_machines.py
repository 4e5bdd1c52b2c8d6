"""A virtual machine runs its scripts unmodified, lives on after them, and leaves nothing behind."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from datetime import timedelta

import httpx
import psutil
import pytest

from localcloud.machines.environment import guest_environment
from localcloud.machines.folder import Folder
from localcloud.machines.host import Host

MINUTE = timedelta(minutes=1)
FOREVER = "trap '' TERM; touch ready; sleep 300 & wait; sleep 301"


def test_a_startup_script_runs_unmodified(run, vm):
    """Every byte of the script reaches bash: quotes, dollars, backslashes, lines without an end."""
    script = (
        "#! /bin/bash\nx='a \\\nb'\nprintf '%s|%s\\n' \"$x\" \"$(echo 'it'\\''s')\"\ncat <<'E'\n$HOME\t\\n\nE"
    )

    async def scene():
        return await (await vm(startup_script=script)).finished()

    assert run(scene()) == "a \\\nb|it's\n$HOME\t\\n\n"


def test_the_shebang_decides_who_reads_the_script(run, vm):
    """A script for another interpreter is run by that one."""

    async def scene():
        return await (await vm(startup_script=f"#!{sys.executable}\nprint(6 * 7)\n")).finished()

    assert run(scene()) == "42\n"


def test_a_script_without_shebang_is_bash(run, vm):
    """As on Compute Engine, where bash starts the script."""

    async def scene():
        return await (await vm(startup_script="[[ -n $BASH_VERSION ]] && echo bash")).finished()

    assert run(scene()) == "bash\n"


def test_the_console_shows_what_the_guest_agent_says(run, vm):
    """Each line of output goes to the console behind the script's key, and the exit status at the end."""

    async def scene():
        machine = await vm(startup_script="echo one; echo two >&2; printf three; exit 7")
        await machine.finished()
        return machine.messages

    assert run(scene())[1:7] == [
        "Starting startup scripts (local cloud).",
        "Found startup-script in metadata.",
        "startup-script: one",
        "startup-script: two",
        "startup-script: three",
        "startup-script exit status 7",
    ]


def test_a_machine_without_scripts_just_runs(run, vm):
    """No script is no error, and there is nothing to end."""

    async def scene():
        machine = await vm()
        await machine.machines.shut_down(machine.id, MINUTE)
        return machine.messages

    assert run(scene()) == [
        "Booting.",
        "No startup scripts to run.",
        "No shutdown scripts to run.",
        "Power off.",
    ]


def test_a_script_at_a_url_runs_after_the_one_in_the_metadata(run, vm, eventually, serve_text):
    """`startup-script-url` is fetched and run second."""

    async def scene():
        url = await serve_text("echo from the url")
        machine = await vm(startup_script="echo from the metadata", metadata={"startup-script-url": url})
        await eventually(lambda: "Finished running startup scripts" in machine.console)
        return machine.read("var/log/startup.log")

    assert run(scene()) == "from the metadata\nfrom the url\n"


def test_a_script_that_cannot_be_fetched_is_said_on_the_console(run, vm, eventually):
    """The message has the URL and the reason, and the machine runs on."""

    async def scene():
        machine = await vm(metadata={"startup-script-url": "http://127.0.0.1:1/none.sh"})
        await eventually(lambda: "Finished running startup scripts" in machine.console)
        return machine.console

    assert "startup-script-url: cannot download http://127.0.0.1:1/none.sh: " in run(scene())


def test_the_guest_has_folders_of_its_own(run, vm):
    """HOME, TMPDIR and the working directory lie inside the machine's folder."""

    async def scene():
        machine = await vm(startup_script='echo "$HOME"; echo "$PWD"; dirname "$(mktemp)"')
        return machine, await machine.finished()

    machine, said = run(scene())
    assert said.splitlines() == [
        str(machine.folder / "root"),
        str(machine.folder),
        str(machine.folder / "tmp"),
    ]


def test_nothing_of_our_environment_reaches_the_guest(instance, tmp_path):
    """Only PATH, after the stand-ins, and the network settings are taken from this computer."""
    host = Host(
        folder=tmp_path,
        standins=tmp_path / "standins",
        clock=None,
        cloud=lambda: {"PUBSUB_EMULATOR_HOST": "127.0.0.1:1"},
        environment={
            "PATH": "/own/bin",
            "SECRET": "x",
            "https_proxy": "http://proxy:3128",
            "NO_PROXY": "corp",
        },
        measure=None,
        on_poweroff=None,
        metric_period=MINUTE,
    )
    resource = instance()
    environment = guest_environment(
        resource, Folder.of(resource, tmp_path), host=host, metadata="127.0.0.1:99"
    )
    assert "SECRET" not in environment
    assert environment["https_proxy"] == "http://proxy:3128"
    assert environment["no_proxy"] == "localhost,127.0.0.1,corp"
    assert environment["http_proxy"] == "http://127.0.0.1:99"
    assert environment["PUBSUB_EMULATOR_HOST"] == "127.0.0.1:1"
    assert environment["PATH"].startswith(f"{tmp_path}/standins:")
    assert environment["PATH"].endswith(":/own/bin")


def test_the_machine_goes_on_when_its_startup_script_has_ended(run, vm, eventually):
    """What the script left in the background lives until the machine ends."""

    async def scene():
        machine = await vm(startup_script="nohup sleep 300 > /dev/null 2>&1 & disown")
        await machine.finished()
        await eventually(lambda: [process.name() for process in machine.processes] == ["sleep"])
        await machine.machines.kill(machine.id)
        return machine.processes

    assert run(scene()) == []


def test_output_of_background_processes_is_kept(run, vm, eventually):
    """The log and the console follow a process that outlives the startup script."""

    async def scene():
        machine = await vm(startup_script="(while [ ! -e go ]; do sleep 0.01; done; echo late) &\necho early")
        await machine.finished()
        (machine.folder / "go").touch()
        await eventually(lambda: machine.read("var/log/startup.log") == "early\nlate\n")
        return machine.messages

    assert run(scene())[-1] == "startup-script: late"


def test_a_shutdown_runs_the_shutdown_script_while_the_job_still_runs(run, vm, eventually):
    """The shutdown script can still see the training process and its files."""
    shutdown = "kill -0 $(cat pid) && echo the job is alive; cp progress saved"

    async def scene():
        machine = await vm(
            startup_script="sleep 300 & echo $! > pid; echo 42 > progress; wait", shutdown_script=shutdown
        )
        await eventually(lambda: machine.read("progress"))
        await machine.machines.shut_down(machine.id, MINUTE)
        return machine

    machine = run(scene())
    assert machine.read("saved") == "42\n"
    assert machine.read("var/log/shutdown.log") == "the job is alive\n"
    assert "shutdown-script exit status 0" in machine.messages


def test_a_shutdown_script_that_takes_too_long_is_cut_off(run, vm, eventually):
    """After the grace everything is killed, the shutdown script included."""

    async def scene():
        machine = await vm(startup_script=FOREVER, shutdown_script="echo begun; sleep 300; echo done > done")
        await eventually((machine.folder / "ready").exists)
        await machine.machines.shut_down(machine.id, timedelta(seconds=0.5))
        return machine

    machine = run(scene())
    assert machine.read("var/log/shutdown.log") == "begun\n"
    assert machine.read("done") == ""
    assert "The shutdown script did not end in time." in machine.messages
    assert machine.processes == []


def test_a_shutdown_asks_before_it_kills(run, vm, eventually):
    """After the shutdown script every process gets SIGTERM and what is left of the grace."""

    async def scene():
        machine = await vm(
            startup_script="trap 'echo tidy > tidied; exit' TERM; touch ready; sleep 300 & wait"
        )
        await eventually((machine.folder / "ready").exists)
        await machine.machines.shut_down(machine.id, MINUTE)
        return machine.read("tidied")

    assert run(scene()) == "tidy\n"


def test_a_kill_runs_no_shutdown_script(run, vm, eventually):
    """The power is cut: nothing is asked, nothing is left."""

    async def scene():
        machine = await vm(startup_script=FOREVER, shutdown_script="touch ran")
        await eventually((machine.folder / "ready").exists)
        await machine.machines.kill(machine.id)
        return machine.processes, (machine.folder / "ran").exists()

    assert run(scene()) == ([], False)


def test_a_kill_ends_a_shutdown_that_is_under_way(run, vm, eventually):
    """Both calls return, and nothing is left."""

    async def scene():
        machine = await vm(startup_script=FOREVER, shutdown_script="touch stopping; sleep 300")
        await eventually((machine.folder / "ready").exists)
        shutting_down = asyncio.create_task(machine.machines.shut_down(machine.id, MINUTE))
        await eventually((machine.folder / "stopping").exists)
        await machine.machines.kill(machine.id)
        await shutting_down
        return machine.processes

    assert run(scene()) == []


@pytest.mark.parametrize("rounds", range(5))
def test_a_kill_right_after_boot_leaves_nothing(run, vm, survivors, rounds):
    """However early the end comes, no process slips through."""

    async def scene():
        machine = await vm(startup_script="setsid sleep 300 & sleep 301")
        for _ in range(rounds):
            await asyncio.sleep(0)
        await machine.machines.kill(machine.id)
        return machine.processes

    assert run(scene()) == []
    assert [process for process in survivors(f"{os.getpid()}-") if process.pid != os.getpid()] == []


def test_a_stopped_machine_can_start_again_on_its_disk(run, vm, eventually):
    """The same folder is there after a stop and a start; the startup script runs at each boot."""

    async def scene():
        machine = await vm(startup_script="echo boot >> boots")
        await machine.finished()
        await machine.machines.shut_down(machine.id, MINUTE)
        await machine.machines.boot(machine.resource)
        await eventually(lambda: machine.console.count("startup-script exit status") == 2)
        return machine.read("boots")

    assert run(scene()) == "boot\nboot\n"


def test_shutdown_inside_asks_for_the_machines_end(run, vm, world, eventually):
    """`sudo shutdown -h now` tells the cloud which instance wants to be off; this computer stays on."""

    async def scene():
        machine = await vm(startup_script="sudo shutdown -h now; echo asked; sleep 300")
        await eventually(lambda: world.powered_off)
        return machine

    machine = run(scene())
    assert world.powered_off == [machine.id]


def test_a_later_shutdown_can_be_taken_back(run, vm, world):
    """`shutdown -c` cancels `shutdown +1`."""

    async def scene():
        machine = await vm(startup_script="shutdown -h +1 && shutdown -c && echo cancelled")
        return await machine.finished()

    assert run(scene()) == "cancelled\n"
    assert world.powered_off == []


def test_a_reboot_runs_both_scripts_and_keeps_the_machine(run, vm, world, eventually):
    """`reboot` is a shutdown and a boot that the cloud does not see."""

    def commands(machine):
        return [process.cmdline()[-1] for process in machine.processes if process.cmdline()]

    startup = "echo boot >> boots; [ -e rebooted ] || { touch rebooted; reboot; sleep 300; }; sleep 301"

    async def scene():
        machine = await vm(startup_script=startup, shutdown_script="touch shut")
        await eventually(lambda: machine.read("boots") == "boot\nboot\n")
        return await eventually(lambda: "301" in commands(machine) and commands(machine)), machine

    running, machine = run(scene())
    assert "300" not in running
    assert (machine.folder / "shut").exists()
    assert world.powered_off == []


def test_a_machine_that_is_deleted_while_it_reboots_stays_off(run, vm, eventually):
    """The end that the cloud decides wins over the reboot that the guest asked for."""

    async def scene():
        machine = await vm(
            startup_script="touch up; reboot; sleep 300", shutdown_script="touch shut; sleep 300"
        )
        await eventually((machine.folder / "shut").exists)
        (machine.folder / "up").unlink()
        await machine.machines.kill(machine.id)
        return machine.processes, (machine.folder / "up").exists()

    assert run(scene()) == ([], False)


def test_an_unknown_machine_is_nobodys_worry(run, machines):
    """Ending, asking and forgetting an instance that never ran does nothing."""

    async def scene():
        await machines.kill("1")
        await machines.shut_down("1", MINUTE)
        machines.forget("1")
        return machines.console("1")

    assert run(scene()) == ""


def test_a_forgotten_machine_is_gone_but_for_its_folder(run, vm):
    """Its console is not known any more; its files are there to look at."""

    async def scene():
        machine = await vm(startup_script="echo done > result")
        await machine.finished()
        await machine.machines.kill(machine.id)
        machine.machines.forget(machine.id)
        return machine.console, machine.read("result")

    assert run(scene()) == ("", "done\n")


def test_a_machine_that_is_on_cannot_be_forgotten(run, vm):
    """Nobody could end its processes otherwise."""

    async def scene():
        machine = await vm(startup_script="sleep 300")
        machine.machines.forget(machine.id)
        await machine.machines.close()
        return machine.processes

    assert run(scene()) == []


def test_the_metadata_server_ends_with_the_machine(run, vm):
    """After the end nothing listens on its port."""

    async def scene():
        machine = await vm(startup_script="echo $GCE_METADATA_HOST")
        address = (await machine.finished()).strip()
        await machine.machines.kill(machine.id)
        async with httpx.AsyncClient() as client:
            with pytest.raises(httpx.ConnectError):
                await client.get(f"http://{address}/")

    run(scene())


OWNER = """
import asyncio, json, sys
from datetime import timedelta
from pathlib import Path
from localcloud.clock import Clock
from localcloud.machines import ProcessMachines

async def main():
    machines = ProcessMachines(folder=Path(sys.argv[1]), clock=Clock(), environment=dict, measure=print,
                               on_poweroff=print, metric_period=timedelta(seconds=60))
    await machines.boot(json.loads(sys.argv[2]))
    print("booted", flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


def test_no_machine_survives_a_killed_local_cloud(run, eventually, tmp_path, instance, survivors):
    """SIGKILL of the process that runs the machines ends all of theirs, daemons included."""
    script = "(setsid bash -c 'sleep 300 & disown' &); trap '' TERM; touch ready; sleep 301"
    argv = [sys.executable, "-c", OWNER, str(tmp_path), json.dumps(instance(startup_script=script))]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout.readline() == "booted\n"
        mark = f"{owner.pid}-"

        async def scene():
            await eventually(lambda: any(path.exists() for path in tmp_path.glob("*/ready")))
            below = psutil.Process(owner.pid)
            # The daemon has left its parent by the time that the script is ready, or is about to.
            await eventually(lambda: len(below.children(recursive=True)) >= 4)
            everyone = below.children(recursive=True)
            os.kill(owner.pid, signal.SIGKILL)
            await eventually(lambda: not any(map(psutil.Process.is_running, everyone)))

        try:
            run(scene())
        finally:
            # Where something has failed nobody else ends it, and the block would wait for it.
            owner.kill()
    assert survivors(mark) == []
