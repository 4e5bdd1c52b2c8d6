"""The guardian: the process between the local cloud and the processes of one virtual machine or function.

It is run as a script (`python -I -S guardian.py CONTROL_FD ARGV…`) and so uses the standard library only; or
a process that forks its commands calls `guard` in the child (see `localcloud.deployment.fork_server`).
It is two processes, the *outer* and, as its child, the *inner*, whose child is the command:

    local cloud ──control socket── outer ──lifeline pipe── inner ── command ── …

Both are subreapers (Linux, `prctl(2)`): whatever a descendant does, it ends up as their child when its parent
dies, so `waitpid` says for certain when nothing is left. If the local cloud goes, however that happens, the
control socket closes and the outer kills all; if the outer is killed, the lifeline closes and the inner does;
if the inner is, its children are the outer's. Should both be killed at once, the command dies by its
parent-death signal and the local cloud sweeps the rest by their environment mark, as it does on systems that
have no subreapers (see `localcloud.supervisor.marks`).
The local cloud sends single bytes, `T` (SIGTERM to every descendant) and `K` (kill); it is told, one a line:
`started INNER_PID COMMAND_PID`, `exited STATUS` (negative for a signal), `empty`.
"""

# pathlib would double the time that a guardian takes to start.

import contextlib
import ctypes
import os
import select
import signal
import sys
from collections.abc import Callable, Iterator

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
LINUX = sys.platform == "linux"
KERNEL_LISTS_CHILDREN = os.path.exists(f"/proc/self/task/{os.getpid()}/children")

FREEZE_ROUNDS = 50  # looks for processes born while we stopped the others, before killing what is there
REAP_SECONDS = 0.02  # until it is looked again whether the killed are gone


def main() -> None:
    """Run the command under guard; return when neither it nor any descendant of it is left."""
    guard(int(sys.argv[1]), lambda: execute(sys.argv[2:]))


def guard(control: int, command: Callable[[], None]) -> None:
    """Have the command in a process of its own under guard; return, outer and inner, when all is over."""
    os.set_inheritable(control, False)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    lifeline, held = os.pipe()
    inner = os.fork()
    if inner == 0:
        os.close(held)
        guard_command(command, control, lifeline)
    else:
        os.close(lifeline)
        guard_inner(inner, control)


def guard_inner(inner: int, control: int) -> None:
    """The outer's life: carry out orders; kill all when the local cloud or the inner is gone."""
    let_go_of_output()
    wake = wake_on_child()
    while True:
        ended, some_left = reap()
        if not some_left:
            break
        orders = b"K" if inner in ended else hear(control, wake)
        if b"K" in orders:
            exterminate(wake)
            break
        if b"T" in orders:
            send(signal.SIGTERM, spare=inner)
    tell(control, "empty")


def guard_command(run: Callable[[], None], control: int, lifeline: int) -> None:
    """The inner's life: start the command, tell its end; kill all when the outer is gone."""
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    wake = wake_on_child()
    command = spawn(run)
    tell(control, f"started {os.getpid()} {command}")
    let_go_of_output()
    while True:
        ended, some_left = reap()
        if command in ended:
            tell(control, f"exited {ended[command]}")
        if not some_left:
            return
        if b"K" in hear(lifeline, wake):
            exterminate(wake)
            tell(control, "empty")
            return


def hear(channel: int, wake: int) -> bytes:
    """Wait for orders or for a child's end; `b""` for the latter, `b"K"` if the other side is gone."""
    ready, _, _ = select.select([channel, wake], [], [])
    if wake in ready:
        os.read(wake, 4096)
    if channel not in ready:
        return b""
    try:
        return os.read(channel, 4096) or b"K"
    except ConnectionError:
        return b"K"


def tell(control: int, line: str) -> None:
    """Report to the local cloud, if it is still there."""
    with contextlib.suppress(OSError):
        os.write(control, f"{line}\n".encode())


def spawn(run: Callable[[], None]) -> int:
    """Start the command in a session of its own, to die with us."""
    parent = os.getpid()
    pid = os.fork()
    if pid:
        return pid
    os.setsid()
    die_with(parent)
    run()
    sys.exit()


def execute(argv: list[str]) -> None:
    """Become another program; end with 126 or 127 if it cannot run."""
    try:
        for number in (signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        os.execvp(argv[0], argv)  # noqa: S606 - what the guardian is for
    except OSError as error:
        os.write(2, f"{argv[0]}: {error.strerror}\n".encode())
        os._exit(127 if isinstance(error, FileNotFoundError) else 126)


def die_with(parent: int) -> None:
    """Have the kernel kill this process when its parent dies (on Linux)."""
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(128 + signal.SIGKILL)


def prctl(option: int, value: int) -> None:
    """Set a property of this process, on Linux only; raise `OSError` if the kernel refuses."""
    if LINUX:
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.prctl(option, value, 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), f"prctl({option}) was refused")


def let_go_of_output() -> None:
    """Close our copies of the command's input and output, so that its reader sees the end when it comes."""
    null = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(null, standard)
    os.close(null)


def wake_on_child() -> int:
    """A descriptor that becomes readable when a child ends."""
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
    return reading


def reap() -> tuple[dict[int, int], bool]:
    """Collect the children that have ended, with their statuses; and whether any child is left."""
    ended: dict[int, int] = {}
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return ended, False
        if pid == 0:
            return ended, True
        ended[pid] = os.waitstatus_to_exitcode(status)


def exterminate(wake: int) -> None:
    """Kill every descendant; return when none is left, however fast they fork."""
    while reap()[1]:
        freeze()
        send(signal.SIGKILL)
        if select.select([wake], [], [], REAP_SECONDS)[0]:
            os.read(wake, 4096)


def freeze() -> None:
    """Stop all descendants first: one that stands still has no more children."""
    # A signal to a group is atomic with fork(2), so it reaches the children that a member is just making.
    # Without that a bomb of hundreds of processes is born faster than it can be stopped one by one.
    stopped: set[int] = set()
    for _ in range(FREEZE_ROUNDS):
        fresh = set(descendants()) - stopped
        if not fresh:
            return
        groups = set()
        for pid in fresh:
            with contextlib.suppress(ProcessLookupError):
                groups.add(os.getpgid(pid))
        for target in [*(-group for group in groups - {os.getpgrp()}), *fresh]:
            send_signal(target, signal.SIGSTOP)
        stopped |= fresh


def send(number: signal.Signals, *, spare: int = 0) -> None:
    """Send a signal to every descendant but one."""
    for pid in list(descendants()):
        if pid != spare:
            send_signal(pid, number)


def send_signal(pid: int, number: signal.Signals) -> None:
    """Send a signal to a process (or, negative, a group) that may be gone or, by set-user-ID, not ours."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def descendants(pid: int = 0) -> Iterator[int]:
    """The process ids of all descendants, or those of another process; those born meanwhile may be missing.

    Parents come before their children.
    """
    children = children_by_kernel if KERNEL_LISTS_CHILDREN else children_by_ps()
    queue = [pid or os.getpid()]
    while queue:
        for child in children(queue.pop()):
            queue.append(child)
            yield child


def children_by_kernel(pid: int) -> list[int]:
    """A process's children, as the kernel lists them for each of its threads (proc(5))."""
    found: list[int] = []
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children", encoding="ascii") as listing:
                found += map(int, listing.read().split())
    return found


def children_by_ps() -> Callable[[int], list[int]]:
    """Children by process id, from one look at ps(1), which every POSIX system has."""
    with os.popen("ps -A -o pid= -o ppid=") as listing:  # noqa: S605, S607 - a constant
        pairs = [tuple(map(int, line.split())) for line in listing]
    return lambda pid: [child for child, parent in pairs if parent == pid]


if __name__ == "__main__":
    main()
