"""Jobs in containers, by an engine that says what it was asked to do."""

import stat

import pytest

ENGINE = """#!/bin/bash
case $1 in
  info) exit "${ENGINE_IS_DOWN:-0}" ;;
  login) read -r password; printf '<%s>' login "${@:2}" "$password" >>"$ASKED"; echo >>"$ASKED" ;;
  *) printf '<%s>' "$@" >>"$ASKED"; echo >>"$ASKED" ;;
esac
"""


@pytest.fixture
def engine(shell):
    """A docker on the PATH; what it was asked to do."""
    tools = shell.folder / "tools"
    tools.mkdir()
    docker = tools / "docker"
    docker.write_text(ENGINE)
    docker.chmod(docker.stat().st_mode | stat.S_IEXEC)
    asked = shell.folder / "asked"
    shell.environment |= {"PATH": f"{tools}:{shell.environment['PATH']}", "ASKED": str(asked)}
    return asked


RUN = """
WORK=/w CODE=/w/code NODE=job-1 TOKEN_UNTIL=9999999999 GPU=${GPU_HERE:-/nowhere}
choose_command && "${RUN[@]}"
"""
START = (
    "<run><--rm><--name><spotwarden-job-1><--network><host>"
    "<--env-file>{state}/environment><-v></w:/w><-w></w/code>"
)


def test_a_container_runs_with_its_developers_flags(shell, engine):
    """The work folder is the same inside, the environment as well, and flags keep their quotes."""
    shell.set(
        container="repo/image:1",
        container_flags="--shm-size=8g --privileged -e 'A=b c'",
        command="python x.py",
    )
    shell.run(RUN)
    flags = "<--shm-size=8g><--privileged><-e><A=b c><repo/image:1><sh><-c><python x.py>"
    assert engine.read_text() == START.format(state=f"<{shell.state}")[0:].replace("<<", "<") + flags + "\n"


def test_a_container_gets_the_gpus_that_there_are(shell, engine):
    """All of them, before the developer's own flags, which may say otherwise."""
    shell.set(container="image", container_flags="--ipc=host")
    shell.run(RUN, GPU_HERE="/dev/null")
    assert "<--gpus><all><--ipc=host><image>" in engine.read_text()


def test_a_gpu_that_nobody_measures_is_told(shell):
    """On the console, where there is a GPU and no agent; not where there is none, or both."""
    hint = "GPU=$1 AGENT=$2; hint_at_agent"
    assert "no Ops Agent" in shell.run(hint, "/dev/null", "/nowhere")
    assert shell.run(hint, "/nowhere", "/nowhere") + shell.run(hint, "/dev/null", "/dev") == ""


def test_an_image_without_a_command_runs_its_own(shell, engine):
    """Nothing is put after the image."""
    shell.set(container="image")
    shell.run(RUN)
    assert engine.read_text().endswith("<image>\n")


def test_googles_registries_get_the_vms_token(shell, engine):
    """By the standard input, where nobody sees it; other registries never get it."""
    (shell.state / "token").write_text("Authorization: Bearer secret\n")
    for image in ("us-docker.pkg.dev/p/r/i", "gcr.io/p/i", "docker.pkg.dev.example.com/i", "python:3"):
        shell.set(container=image)
        shell.run(RUN)
    logins = [line for line in engine.read_text().splitlines() if "login" in line]
    words = "<login><--username><oauth2accesstoken><--password-stdin><https://{}><secret>"
    assert logins == [words.format("us-docker.pkg.dev"), words.format("gcr.io")]


def test_where_no_engine_works_the_job_cannot_run_and_says_why(shell, engine):
    """Rather than start over and over; one that is installed and down is none."""
    shell.set(container="image", engine_wait="0")
    down = shell.attempt(f"podman() {{ return 1; }}; {RUN}", ENGINE_IS_DOWN="1")
    assert (down.returncode, "no container engine works" in down.stdout) == (1, True)
    assert not engine.exists()


def test_a_container_job_without_an_engine_ends_and_its_vm_goes(lab):
    """Its status is 127, and nothing is left that could idle."""
    docker = lab.folder / "vms/standins/docker"
    docker.parent.mkdir(parents=True, exist_ok=True)
    docker.write_text("#!/bin/sh\nexit 1\n")
    docker.chmod(0o755)
    (docker.parent / "podman").symlink_to(docker)
    vm = lab.job("train", spotwarden_container="image", spotwarden_engine_wait="0")
    assert vm.status() == "127"
    vm.until_gone()
    assert "no container engine works in this image" in vm.said
