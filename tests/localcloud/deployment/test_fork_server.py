"""Functions are forked from one process that has imported what they import, and notice nothing of it."""

import asyncio
import contextlib
import importlib
import os
import signal
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

import httpx
import psutil
import pytest

from localcloud.deployment import Function, Manifest, Processes
from localcloud.deployment.fork_server.process import LATER, End
from localcloud.deployment.manifest import Http, Retry
from localcloud.deployment.processes import Kept

TIMEOUT_SECONDS = 60
SOURCE = '''
import os
import sys
import functions_framework
{more}

@functions_framework.http
def ask(request):
    """Say what it is told, and where it is."""
    told = {{name: os.environ.get(name, "") for name in ("COLOUR", "FORWARDED_ALLOW_IPS")}}
    return told | {{"said": "{said}", "cwd": os.getcwd(), "first": sys.path[0], "argv": sys.argv[1:3]}}
'''
Asked = dict[str, str | list[str]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the function is, with a module beside it."""
    folder = tmp_path / "functions" / "ask"
    folder.mkdir(parents=True)
    write(folder)
    return folder


def write(folder: Path, *, more: str = "", said: str = "first") -> None:
    """The function's source."""
    (folder / "main.py").write_text(SOURCE.format(more=more, said=said), encoding="utf-8")


def processes(folder: Path, own: Mapping[str, str] | None = None) -> Processes:
    """The one function."""
    function = Function(
        name="ask",
        does="answers",
        memory="1Gi",
        timeout_seconds=60,
        permissions=(),
        retry=Retry(minimum_seconds=1, maximum_seconds=10),
        http=Http.PUBLIC,
    )
    root = folder.parents[1]
    manifest = Manifest(functions=(function,), topics={}, folder=root / "infra")
    return Processes(manifest=manifest, logs=root / "logs", own={"ask": own or {}})


def play(made: Processes, scene: Callable[[Kept], Awaitable[None]], **environment: str) -> None:
    """Start, have it played, and leave nothing behind."""

    async def story() -> None:
        try:
            await made.start(environment)
            await scene(made.kept["ask"])
        finally:
            await made.stop()

    asyncio.run(story())


async def answer(kept: Kept) -> Asked:
    """What the function says; a started one answers."""
    async with httpx.AsyncClient(trust_env=False, timeout=TIMEOUT_SECONDS) as client:
        return dict((await client.get(kept.url)).json())


async def came_back(kept: Kept, starts: int) -> Asked:
    """What it says once it was started so often."""
    async with asyncio.timeout(TIMEOUT_SECONDS):
        while True:
            try:
                if kept.starts >= starts:
                    return await answer(kept)
            except httpx.TransportError:
                pass
            await asyncio.sleep(0.01)


def is_forked(made: Processes, kept: Kept) -> bool:
    """Whether it came of the fork server."""
    assert made.fork_server
    parents = [one.pid for one in psutil.Process(kept.process.pid).parents()]
    return made.fork_server.process.pid in parents


def inherited(made: Processes, shown: psutil.Process) -> set[str]:
    """The files that both the fork server and this process have open."""
    assert made.fork_server
    server = psutil.Process(made.fork_server.process.pid)
    return {file.path for file in shown.open_files()} & {file.path for file in server.open_files()}


def test_a_function_is_forked_and_finds_itself_as_by_command_line(folder: Path):
    """Its environment, folder, path and arguments are its own, and so does the system show it."""
    made = processes(folder)

    async def scene(kept: Kept) -> None:
        assert is_forked(made, kept)
        assert await answer(kept) == {
            "COLOUR": "green",
            "FORWARDED_ALLOW_IPS": "",
            "said": "first",
            "cwd": str(folder),
            "first": str(folder),
            "argv": ["--source", str(folder / "main.py")],
        }
        shown = psutil.Process(kept.process.pid)
        assert shown.environ()["K_SERVICE"] == "ask"
        assert shown.cmdline()[1:5] == ["-m", "functions_framework", "--source", str(folder / "main.py")]
        assert os.getsid(shown.pid) == os.getpgid(shown.pid) == shown.pid
        # What it opens itself, a module in an import, is its own.
        assert not inherited(made, shown) - {str(made.log_of(kept.function))}

    play(made, scene, COLOUR="green")


def test_an_edit_of_a_function_counts_at_its_next_start(folder: Path):
    """Its source is read anew, and what stands beside it as well."""
    made = processes(folder)

    async def scene(kept: Kept) -> None:
        (folder / "beside.py").write_text('WORD = "second"\n', encoding="utf-8")
        write(folder, more="import beside", said='" + beside.WORD + "')
        assert (await answer(kept))["said"] == "first"
        os.killpg(kept.process.pid, signal.SIGKILL)
        assert (await came_back(kept, 2))["said"] == "second"
        assert is_forked(made, kept)

    play(made, scene)


def test_without_its_fork_server_a_function_goes_on_and_is_started_by_command_line(folder: Path):
    """The fork server's death costs nothing but time."""
    made = processes(folder)

    async def scene(kept: Kept) -> None:
        assert made.fork_server
        before = kept.process.pid
        os.kill(made.fork_server.process.pid, signal.SIGKILL)
        await made.fork_server.process.wait()
        assert (await answer(kept))["said"] == "first"
        assert (kept.process.pid, kept.starts) == (before, 1)
        os.kill(before, signal.SIGKILL)
        assert (await came_back(kept, 2))["COLOUR"] == "green"
        assert not is_forked(made, kept)

    play(made, scene, COLOUR="green")


def test_what_was_read_while_importing_must_be_the_same_for_the_function(folder: Path):
    """One that is told another value is not forked: its modules would hold the fork server's."""
    made = processes(folder, own={"FORWARDED_ALLOW_IPS": "10.0.0.1"})

    async def scene(kept: Kept) -> None:
        assert not is_forked(made, kept)
        assert (await answer(kept))["FORWARDED_ALLOW_IPS"] == "10.0.0.1"

    play(made, scene)
    log = (folder.parents[1] / "logs" / "fork_server.log").read_text(encoding="utf-8")
    assert log == f"{folder}: not forked: FORWARDED_ALLOW_IPS counted when it was imported\n"


def test_nothing_is_forked_of_a_process_with_threads(folder: Path, monkeypatch: pytest.MonkeyPatch):
    """A module that starts one as it is imported has the fork server say so and end; the function runs."""
    site = folder.parents[1] / "site"
    site.mkdir()
    thread = "import threading\nthreading.Thread(target=threading.Event().wait, daemon=True).start()\n"
    (site / "restless.py").write_text(thread, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", f"{site}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    write(folder, more="import restless")
    made = processes(folder)

    async def scene(kept: Kept) -> None:
        assert made.fork_server
        assert await made.fork_server.process.wait() == 1
        assert (await answer(kept))["said"] == "first"

    play(made, scene)
    log = (folder.parents[1] / "logs" / "fork_server.log").read_text(encoding="utf-8")
    assert log == "not forked: something that was imported started a thread; there are 2\n"


def test_a_forked_function_does_not_outlive_its_guardians(folder: Path):
    """Both killed at once, it dies by the kernel, and its worker by the mark; then it is started again."""
    made = processes(folder)

    async def scene(kept: Kept) -> None:
        function = psutil.Process(kept.process.pid)
        inner, outer = function.parents()[:2]
        assert is_forked(made, kept)
        came_of_it = [function, *function.children(recursive=True)]
        for guardian in (outer, inner):
            guardian.suspend()
        for guardian in (outer, inner):
            guardian.kill()
        async with asyncio.timeout(TIMEOUT_SECONDS):
            while kept.starts < 2:  # noqa: ASYNC110 - nobody tells
                await asyncio.sleep(0.001)
        assert not any(one.is_running() for one in came_of_it)
        assert (await came_back(kept, 2))["said"] == "first"

    play(made, scene)


def test_what_a_function_has_registered_for_its_end_is_done(folder: Path):
    """Also where the process then ends without taking itself apart."""
    registered = 'import atexit\natexit.register(lambda: open("left", "a").write("done"))'
    write(folder, more=registered)
    made = processes(folder)

    async def scene(kept: Kept) -> None:
        await answer(kept)
        assert is_forked(made, kept)

    play(made, scene)
    assert "done" in (folder / "left").read_text()


@pytest.mark.parametrize(
    ("error", "status"),
    [(None, 0), (SystemExit(), 0), (SystemExit(3), 3), (SystemExit("why"), 1), (ValueError("why"), 1)],
)
def test_a_function_ends_with_the_status_that_python_would_give_it(error: BaseException | None, status: int):
    """By which it is told why it did not start."""
    end = End()
    with contextlib.suppress(SystemExit, ValueError), end:
        if error:
            raise error
    assert end.status == status


def test_the_fork_server_ends_with_the_local_cloud(folder: Path):
    """Nothing of it is left, nor of what it forked."""
    made = processes(folder)
    seen: list[psutil.Process] = []

    async def scene(kept: Kept) -> None:
        assert made.fork_server
        fork_server = psutil.Process(made.fork_server.process.pid)
        seen.extend([fork_server, psutil.Process(kept.process.pid), *fork_server.children(recursive=True)])

    play(made, scene)
    assert len(seen) >= 5
    assert not any(one.is_running() for one in seen)


@pytest.mark.parametrize("name", LATER)
def test_what_the_fork_server_imports_for_later_is_there(name: str):
    """A name that moved is found here; the fork server itself would only be slower."""
    module, _, function = name.partition(":")
    loaded = importlib.import_module(module)
    assert not function or callable(getattr(loaded, function))
