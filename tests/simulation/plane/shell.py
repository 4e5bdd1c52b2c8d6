"""A developer at a shell: the very commands, over the world in memory; time passes while they wait."""

import contextlib
import os
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import Any

from greenlet import getcurrent

from spotwarden import clock
from spotwarden.cli.acting import asking, stopping
from spotwarden.cli.context import Context
from spotwarden.cli.launching import beside, in_place, staging, starting, submit
from spotwarden.governance import recording
from spotwarden.model.policy import Mode, Policy
from spotwarden.notify.templates import mails
from spotwarden.notify.templates.view import MessageView
from spotwarden.ports import Cloud, Transfers
from tests.fakes.files import MemoryFiles
from tests.simulation.plane.commands import Spell
from tests.simulation.plane.jobs import PlaneJob
from tests.simulation.plane.product import SETTINGS

STEP_SECONDS = 5.0
_CLOUDS: dict[Any, Cloud] = {}


class AtDesk(Context, frozen=True, kw_only=True):
    """A context whose files go through the store that its process sees."""

    def files(self) -> Transfers:
        """As `Context.files`."""
        return MemoryFiles(self.cloud.store)


def _open() -> Context:
    policy = Policy(version="command", mode=Mode.ENFORCE)
    return AtDesk(settings=SETTINGS, policy=policy, cloud=_CLOUDS[getcurrent()])


def command(spell: Spell, job: PlaneJob) -> Callable[[Cloud], object]:
    """What an owner types, as something that a process does."""

    def type_it(cloud: Cloud) -> object:
        _CLOUDS[getcurrent()] = cloud
        os.environ["SPOTWARDEN_OWNER"] = job.owner or "nobody"
        try:
            _callback(spell, job)
            return True
        finally:
            _CLOUDS.pop(getcurrent(), None)

    return type_it


def _callback(spell: Spell, job: PlaneJob) -> object:
    match spell:
        case Spell.SUBMIT:
            return _call(
                submit.submit,
                script=_script(job),
                job=job.name,
                code=None,
                owner=job.owner,
                again=True,
                resolve=False,
            )
        case Spell.RESTART:
            return _call(stopping.restart, job=job.name)
    return _call(stopping.stop, job=job.name, delete=spell is Spell.DELETE, why="", yes=True)


def _call(typed: Any, **options: Any) -> object:
    return typed.callback(**options)


@cache
def _folder() -> TemporaryDirectory[str]:
    return TemporaryDirectory(prefix="plane-")


@cache
def _file(text: bytes) -> Path:
    # Each has a folder of its own: the command looks at everything that lies beside a script.
    file = Path(mkdtemp(dir=_folder().name)) / "create-instance.sh"
    file.write_bytes(text)
    return file


def _at_hand(prefix: str) -> contextlib.AbstractContextManager[str]:
    """A folder for the files of one command: always the same one, for each is written before it is read."""
    del prefix
    return contextlib.nullcontext(_folder().name)


def _script(job: PlaneJob) -> Path:
    return _file(job.script)


@contextlib.contextmanager
def at_shell(now: Callable[[], Any], wait: Callable[[float], None]) -> Iterator[None]:
    """Have all commands work in this world until the end of the block."""
    slept = [0.0]

    class Time:
        """Stands in for the module `time`."""

        @staticmethod
        def sleep(seconds: float) -> None:
            slept[0] += max(seconds, STEP_SECONDS)
            wait(max(seconds, STEP_SECONDS))

        @staticmethod
        def monotonic() -> float:
            return slept[0]

    end_job, render = stopping.end_job, mails._render

    def only_text(template: str, message: MessageView) -> str:
        return "" if template == "mail.html.j2" else render(template, message)

    patches: list[tuple[Any, str, Any]] = [
        (clock, "now", now),
        # What a sweep saw is kept for back-tests, which nobody makes here: it is written, and not packed.
        (recording, "packed", lambda _seen: b""),
        # The judge reads a mail as text.
        (mails, "_render", only_text),
        (staging, "TemporaryDirectory", _at_hand),
        (submit, "open_context", _open),
        (asking, "open_context", _open),
        (beside, "time", Time),
        (starting, "time", Time),
        (stopping, "time", Time),
        (staging, "AT_ONCE", 1),
        (in_place, "AT_ONCE", 1),
        (stopping, "end_job", lambda desk, affair, ending: end_job(desk, affair, ending, Time.sleep)),
    ]
    before = [(place, name, getattr(place, name)) for place, name, _ in patches]
    for place, name, value in patches:
        setattr(place, name, value)
    try:
        yield
    finally:
        for place, name, value in before:
            setattr(place, name, value)
