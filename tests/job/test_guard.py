"""What a program may import to learn when it has to save."""

import importlib.util
import os
import signal
import threading

import pytest

from tests.job.lab import KIT

SOURCE = KIT / "python" / "spotwarden_preemption.py"


@pytest.fixture
def notice(tmp_path, monkeypatch):
    """Where the job kit would write that the VM will be taken."""
    path = tmp_path / "notice"
    monkeypatch.setenv("SPOTWARDEN_NOTICE", str(path))
    return path


@pytest.fixture
def guard():
    """A function that makes a guard; what handled SIGTERM before does so again afterwards."""
    spec = importlib.util.spec_from_file_location("spotwarden_preemption", SOURCE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    before = signal.getsignal(signal.SIGTERM)
    yield module.guard
    signal.signal(signal.SIGTERM, before)


def test_a_checkpoint_is_asked_for_once_a_notice(guard, notice):
    """The training goes on after it, and must not save at each step."""
    watch = guard()
    assert [watch.requested, watch.requested] == [False, False]
    notice.touch()
    assert [watch.requested, watch.requested, watch.stopping] == [True, False, False]


def test_a_second_notice_asks_again(guard, notice):
    """The first one came to nothing, and the kit took it back."""
    watch = guard()
    for moment in (1, 2):
        notice.touch()
        os.utime(notice, (moment, moment))
        assert [watch.requested, watch.requested] == [True, False]
        notice.unlink()
        assert watch.requested is False


def test_at_the_end_of_the_notice_it_asks_once_more(guard, notice):
    """Also where no signal reaches the program, as behind the shell of a container."""
    watch = guard()
    notice.touch()
    assert watch.requested
    notice.with_name("notice.stop").touch()
    assert [watch.requested, watch.stopping, watch.requested] == [True, True, False]


def test_a_stop_between_the_two_questions_waits_for_the_checkpoint(guard, notice):
    """Else a program that saves where it is asked to, and then ends, would end without the save."""
    watch = guard()
    assert watch.requested is False
    os.kill(os.getpid(), signal.SIGTERM)
    assert watch.stopping is False
    assert [watch.requested, watch.stopping] == [True, True]


def test_a_program_that_saves_by_itself_asks_only_whether_to_stop(guard, notice):
    """It never asks whether a checkpoint is wanted."""
    watch = guard()
    assert watch.stopping is False
    os.kill(os.getpid(), signal.SIGTERM)
    assert watch.stopping is True


def test_sigterm_asks_for_the_last_checkpoint(guard, monkeypatch):
    """On any machine; a handler that was there before still has its turn."""
    monkeypatch.delenv("SPOTWARDEN_NOTICE", raising=False)
    heard = []
    signal.signal(signal.SIGTERM, lambda number, _frame: heard.append(number))
    watch = guard()
    assert [watch.requested, watch.stopping] == [False, False]
    os.kill(os.getpid(), signal.SIGTERM)
    assert [watch.requested, watch.stopping, heard] == [True, True, [signal.SIGTERM]]


def test_a_guard_in_another_thread_reads_the_file(guard, notice):
    """Python takes signals in the main thread alone."""
    found = []
    notice.touch()
    thread = threading.Thread(target=lambda: found.append(guard().requested), daemon=True)
    thread.start()
    thread.join()
    assert found == [True]


def test_the_kit_ships_the_module_as_it_is():
    """`assemble` has put it into startup.sh."""
    assert SOURCE.read_text() in (KIT / "startup.sh").read_text()
