"""What the fork server runs: `python -P process.py MAIN_MODULE…`, its output a socket of the local cloud.

It imports what the main modules import, but not them: each is read anew when its function starts. No client
is made and no thread started; were there a thread, it would end rather than fork, for a fork has only
the thread that forks, and locks that others held are never let go.

A request is four bytes of length, with which come two descriptors (the guardian's control socket and the
function's log), and JSON: `arguments`, `env`, `cwd`, `mark`. The answer is on the control socket: `guarding
PID`, and what the guardian tells from then on (see `localcloud.supervisor.guardian`); or that it is closed.
"""

import ast
import atexit
import contextlib
import ctypes
import gc
import importlib
import importlib.machinery
import json
import os
import runpy
import signal
import socket
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

GUARDIAN = Path(__file__).parents[2] / "supervisor" / "guardian.py"
MARK = "SPOTWARDEN_SUPERVISOR"
LENGTH_BYTES = 4
SERVER = (
    "functions_framework._cli",
    "functions_framework._http.gunicorn",
    "gunicorn.glogging",
    "gunicorn.http.wsgi",
)
"""What the command line of functions-framework imports, at once or when it serves."""

LATER = (
    "spotwarden.gcp.storage",
    "spotwarden.gcp.compute",
    "spotwarden.gcp.monitoring",
    "spotwarden.gcp.pubsub",
    "spotwarden.notify.channels.smtp",
    "spotwarden.notify.channels.hooks",
    "spotwarden.report.views",
    "spotwarden.report.export",
    "spotwarden.create_script.gcloud",
    "spotwarden.create_script.bash.evaluator.script",
    "jinja2",
    "yaml",
)
"""What the functions import at first use. One that is not there, or that no main module leads to, is left
out; one that is missing here only costs time."""


def main() -> None:
    """Import, then fork for each request until there is nobody to ask."""
    channel = socket.socket(fileno=os.dup(1))
    os.dup2(2, 1)
    # Nothing that is imported ever becomes garbage, and is the same for all: it is left out of every search.
    gc.disable()
    with reading() as read:
        load(sys.argv[1:])
    guardian = guardian_module()
    gc.freeze()
    gc.enable()
    imported_in = {name: os.environ.get(name) for name in read}
    signal.signal(signal.SIGCHLD, lambda _number, _frame: collect())
    while request := receive(channel):
        asked, control, log = request
        refuse_threads()
        if other := [name for name, value in imported_in.items() if asked["env"].get(name) != value]:
            sys.stderr.write(f"{asked['cwd']}: not forked: {', '.join(other)} counted when it was imported\n")
        elif os.fork() == 0:
            channel.close()
            branch(guardian, asked, control, log)
            os._exit(0)
        os.close(control)
        os.close(log)


def load(mains: Sequence[str]) -> None:
    """Import what these modules do, and will."""
    for name in SERVER:
        importlib.import_module(name)
    for main_module in mains:
        for name, parts in imports(Path(main_module)):
            # One that stands beside its main module, say: its function finds it, or tells.
            with contextlib.suppress(ImportError):
                import_from(name, parts)
    for name in LATER:
        if name.partition(".")[0] in sys.modules:
            with contextlib.suppress(ImportError):
                importlib.import_module(name)


def imports(main_module: Path) -> Iterator[tuple[str, list[str]]]:
    """What a source imports at its top: modules, and names of them. A bad one is for its function to tell."""
    try:
        body = ast.parse(main_module.read_bytes()).body
    except (OSError, SyntaxError, ValueError):
        return
    for statement in body:
        match statement:
            case ast.Import(names=modules):
                yield from ((alias.name, []) for alias in modules)
            case ast.ImportFrom(module=str(module), names=names, level=0):
                yield module, [alias.name for alias in names]


def import_from(name: str, parts: Sequence[str]) -> None:
    """Import a module, and those of its parts that are modules as well."""
    module = importlib.import_module(name)
    for part in parts:
        if not hasattr(module, part):
            importlib.import_module(f"{name}.{part}")


@contextlib.contextmanager
def reading() -> Iterator[set[str]]:
    """The variables of the environment that anybody asks for meanwhile."""
    read: set[str] = set()
    kind = type(os.environ)
    plain = kind.__getitem__

    def noted(self: os._Environ[str], name: str) -> str:
        read.add(name)
        return plain(self, name)

    kind.__getitem__ = noted  # type: ignore[method-assign]  # noted while it is imported
    try:
        yield read
    finally:
        kind.__getitem__ = plain  # type: ignore[method-assign]  # and put back


def guardian_module() -> ModuleType:
    """The guardian's source as a module: the package it is in would bring half the local cloud."""
    loader = importlib.machinery.SourceFileLoader("guardian", str(GUARDIAN))
    module = ModuleType(loader.name)
    loader.exec_module(module)
    return module


def receive(channel: socket.socket) -> tuple[dict[str, Any], int, int] | None:
    """The next request with its two descriptors; None when there will be none."""
    head, descriptors, _, _ = socket.recv_fds(channel, LENGTH_BYTES, 2)
    if not head:
        return None
    left, message = int.from_bytes(head), b""
    while len(message) < left:
        message += channel.recv(left - len(message))
    control, log = descriptors
    return json.loads(message), control, log


def refuse_threads() -> None:
    """End, loudly, if anybody started a thread."""
    threads = len(list(Path("/proc/self/task").iterdir()))
    if threads > 1:
        sys.exit(f"not forked: something that was imported started a thread; there are {threads}")


def collect() -> None:
    """Let go of the guardians that have ended."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def branch(guardian: ModuleType, asked: Mapping[str, Any], control: int, log: int) -> None:
    """Be the guardian, and in a child of it the function."""
    os.setsid()
    for output in (1, 2):
        os.dup2(log, output)
    os.close(log)
    os.chdir(asked["cwd"])
    environment = {MARK: asked["mark"]} | asked["env"] | {MARK: asked["mark"]}
    os.environ.clear()
    os.environ.update(environment)
    show(asked["arguments"], environment)
    guardian.tell(control, f"guarding {os.getpid()}")
    guardian.guard(control, lambda: serve(asked["arguments"]))


def show(arguments: Sequence[str], environment: Mapping[str, str]) -> None:
    """Have the system show these as ours, as far as there is room: the sweep by mark looks there, and people.

    What it shows is the memory that the process was started with (`/proc/PID/cmdline`, `environ` and, for
    where that is, `stat`, proc(5)); since the environment was cleared nobody else looks there.
    """
    fields = Path("/proc/self/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    overwrite(fields[45:47], [sys.executable, "-m", "functions_framework", *arguments])
    overwrite(fields[47:49], [f"{name}={value}" for name, value in environment.items()])


def overwrite(place: Sequence[str], lines: Sequence[str]) -> None:
    """Put these lines, as far as there is room, between two addresses."""
    begin, end = map(int, place)
    written = b"".join(os.fsencode(line) + b"\0" for line in lines)
    ctypes.memmove(begin, written[: end - begin - 1].ljust(end - begin, b"\0"), end - begin)


def serve(arguments: Sequence[str]) -> None:
    """Go on as functions-framework's command line does, in a process as Python starts one."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for ignored in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(ignored, signal.SIG_IGN)
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    here = str(Path.cwd())
    # gunicorn goes back to where it was imported, and opens its socket to everybody.
    sys.modules["gunicorn.config"].Chdir.default = here
    sys.modules["gunicorn.config"].Umask.default = 0o077
    sys.path.insert(0, here)
    sys.argv = ["functions_framework", *arguments]
    end = End()
    atexit.register(end.leave)  # the first to be registered is the last to be called
    with end:
        runpy.run_module("functions_framework", run_name="__main__", alter_sys=True)


class End:
    """Ends this process, and each that it forks, without taking apart what is imported.

    That writes to all of the memory that the functions share, and so copies it: 50 ms for each process.
    """

    status = 1

    def __enter__(self) -> None:
        """Begin."""

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """Remember the status with which Python will end, before it calls what was registered for that."""
        if error is None:
            self.status = 0
        elif isinstance(error, SystemExit):
            self.status = error.code if isinstance(error.code, int) else int(error.code is not None)

    def leave(self) -> None:
        """End."""
        for output in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                output.flush()
        os._exit(self.status)


if __name__ == "__main__":
    main()
