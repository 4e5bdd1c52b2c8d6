"""TPUs: what a program is told of them, what their driver writes, the engine that Google's image lacks."""

import stat

import pytest

SETTINGS = (
    "NODE=vm JOB=j ATTEMPT=3 OUTPUT=$PWD/output WORK=$PWD INPUT= PROGRESS= RANK= NODES=1 "
    "MASTER= PORT= HOSTFILE="
)
NAMES = ("PJRT_", "TPU_")


def of_machine(shell, kind, **attributes):
    """Say what the VM is, as its metadata would."""
    (shell.state / "metadata/machine-type").write_text(f"projects/17/machineTypes/{kind}")
    for name, value in attributes.items():
        (shell.state / "metadata" / name.replace("_", "-")).write_text(value)


def environment(shell, given=""):
    """The lines of the program's environment that are about TPUs."""
    shell.set(env=given)
    shell.run(f"{SETTINGS}; write_environment")
    lines = (shell.state / "environment").read_text().splitlines()
    return [line for line in lines if line.startswith(NAMES)]


@pytest.mark.parametrize("kind", ["ct6e-standard-4t", "ct5p-hightpu-4t", "tpu7x-standard-4t"])
def test_a_program_on_a_vm_with_tpus_is_told_that_it_is_alone_with_them(shell, kind):
    """For PyTorch the device, for the driver a folder that exists, and that there is one worker, this one."""
    of_machine(shell, kind)
    logs = shell.folder / "log/tpu-3"
    assert environment(shell) == [
        "PJRT_DEVICE=TPU",
        f"TPU_LOG_DIR={logs}",
        "TPU_WORKER_ID=0",
        "TPU_WORKER_HOSTNAMES=localhost",
    ]
    assert logs.is_dir()


def test_a_part_of_a_slice_is_told_by_google_which_part_it_is(shell):
    """By an attribute that the driver reads."""
    of_machine(shell, "ct6e-standard-4t", tpu_env="TPU_WORKER_ID: '1'\n")
    assert [line.partition("=")[0] for line in environment(shell)] == ["PJRT_DEVICE", "TPU_LOG_DIR"]


def test_a_part_of_a_slice_of_which_google_says_nothing_is_told_by_its_name(shell):
    """Its place among the nodes, all of them, and how their chips are laid out."""
    of_machine(shell, "ct6e-standard-4t", NODES="16")
    shell.set(topology="8x8")
    shell.run(f"{SETTINGS}; NODE=train-03; find_place; write_environment")
    found = dict(line.split("=", 1) for line in (shell.state / "environment").read_text().splitlines())
    assert (found["TPU_WORKER_ID"], found["TPU_TOPOLOGY"]) == ("2", "8x8")
    assert found["TPU_WORKER_HOSTNAMES"] == ",".join(f"train-{number:02}" for number in range(1, 17))


def test_nodes_with_tpus_of_their_own_are_no_slice(shell):
    """Each is alone with its chips."""
    of_machine(shell, "ct6e-standard-4t", NODES="4")
    shell.run(f"{SETTINGS}; NODE=train-2; find_place; write_environment")
    lines = (shell.state / "environment").read_text().splitlines()
    assert {"RANK=1", "TPU_WORKER_ID=0", "TPU_WORKER_HOSTNAMES=localhost"} <= set(lines)


def test_what_the_developer_says_of_the_tpus_comes_instead(shell):
    """Once each: of two lines an engine may take either."""
    of_machine(shell, "ct6e-standard-4t")
    said = environment(shell, "TPU_WORKER_ID=7\nA=1\nPJRT_DEVICE=CPU\nTPU_LOG_DIR=disabled")
    assert said == [
        "TPU_WORKER_HOSTNAMES=localhost",
        "TPU_WORKER_ID=7",
        "PJRT_DEVICE=CPU",
        "TPU_LOG_DIR=disabled",
    ]


@pytest.mark.parametrize("kind", ["e2-standard-4", "a3-highgpu-8g", "ct6e-standard-4", ""])
def test_other_machines_are_told_nothing(shell, kind):
    """PyTorch would look for a device that is not there."""
    of_machine(shell, kind)
    assert environment(shell) == []


KEEP = f"{SETTINGS}; mkdir -p log/tpu-3 output; TPU_LOG_AT_MOST=5;"


def test_what_the_driver_wrote_joins_the_output(shell):
    """Its newest part, under the node and the attempt; links to it and empty files do not."""
    of_machine(shell, "ct6e-standard-4t")
    written = "echo 0123456789 >tpu_driver.INFO.1; ln -s tpu_driver.INFO.1 tpu_driver.INFO; : >empty"
    shell.run(f"{KEEP} cd log/tpu-3; {written}; cd ../..; keep_tpu_logs")
    kept = shell.folder / "output/logs/libtpu/vm-3"
    assert {path.name: path.read_text() for path in kept.iterdir()} == {"tpu_driver.INFO.1": "6789\n"}


def test_a_log_of_the_driver_is_whole_when_it_goes_up(shell):
    """However long it is and whenever it was written: what was copied is not written any more."""
    of_machine(shell, "ct6e-standard-4t")
    script = "SIZE=99999999 FILE=logs/libtpu/vm-3/a; may_be_half && echo half || echo whole"
    assert shell.run(f"{KEEP} echo 1 >log/tpu-3/a; keep_tpu_logs; {script}") == "whole\n"


def test_a_driver_that_wrote_nothing_leaves_nothing(shell):
    """Nor does a machine without TPUs, whatever is there."""
    shell.run(f"{KEEP} echo 1 >log/tpu-3/a; keep_tpu_logs; rm log/tpu-3/a")
    of_machine(shell, "ct6e-standard-4t")
    shell.run(f"{KEEP} keep_tpu_logs; rm -r log; keep_tpu_logs")
    assert list((shell.folder / "output").iterdir()) == []


def test_the_drivers_log_is_no_progress(shell):
    """The program's own output is."""
    of_machine(shell, "ct6e-standard-4t")
    look = "LOG=$PWD/x CODE=$PWD; signs_of_progress; printf '%s\\n' \"$REPLY\""
    script = f"{KEEP} echo 1 >output/model; {look}; echo 2 >log/tpu-3/a; keep_tpu_logs; {look};"
    before, after, later = shell.run(f"{script} sleep 0.01; echo 3 >output/model; {look}").splitlines()
    assert before == after != later


ENGINE = """#!/bin/bash
[ "$1" = info ] || printf '<%s>' "$@" >>"$ASKED"
"""
RUN = 'CODE=/w/code NODE=job-1 TOKEN_UNTIL=9999999999 GPU=/nowhere; choose_command && "${RUN[@]}"'


@pytest.fixture
def tools(shell):
    """A PATH with only what the kit needs, and an apt-get that brings a docker."""
    folder = shell.folder / "tools"
    folder.mkdir()
    for name in ("bash", "timeout", "env", "cat", "chmod", "cp", "mkdir", "printf"):
        folder.joinpath(name).symlink_to(f"/usr/bin/{name}")
    (shell.folder / "engine").write_text(ENGINE)
    made = f'cp "{shell.folder}/engine" "{folder}/docker"; chmod +x "{folder}/docker"'
    installer = f"#!/bin/bash\n[[ $* != *docker.io ]] || {{ {made}; }}\n"
    (folder / "apt-get").write_text(installer)
    (folder / "apt-get").chmod(stat.S_IRWXU)
    shell.environment |= {"PATH": str(folder), "ASKED": str(shell.folder / "asked")}
    return folder


def test_a_container_may_reach_the_tpus_by_an_engine_that_is_installed_for_it(shell, tools):
    """Google's image for TPUs has none, and its devices want a privileged container."""
    of_machine(shell, "ct6e-standard-4t")
    shell.set(container="image", container_flags="--shm-size=8g")
    said = shell.run(RUN)
    assert "installing docker" in said
    assert "<--privileged><--shm-size=8g><image>" in (shell.folder / "asked").read_text()


def test_no_engine_is_installed_on_other_machines(shell, tools):
    """An image of one's own without an engine is a mistake that is told."""
    of_machine(shell, "e2-standard-4")
    shell.set(container="image", engine_wait="0")
    assert shell.attempt(RUN).returncode != 0
    assert not (tools / "docker").exists()
