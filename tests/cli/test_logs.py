"""`spotwarden logs`: every line once, in order, over all attempts, and an end as the job's."""

import sys
from datetime import timedelta

import pytest

from spotwarden import clock
from spotwarden.cli.looking import logs as command
from spotwarden.cli.looking.logs import follow
from spotwarden.cli.looking.reading import TAIL_BYTES, LinesWanted, beyond
from spotwarden.cli.looking.saying import readable
from spotwarden.cli.main import main
from spotwarden.layout import StatusCode
from spotwarden.model.attempt import AttemptState, Try
from tests.cli.logged import JOB, Speaker
from tests.fakes.trouble import rejected, unanswered


@pytest.fixture
def speaker(monkeypatch) -> Speaker:
    """A job without attempts yet; the command's clock is its cloud's."""
    speaker = Speaker()
    monkeypatch.setattr(clock, "now", speaker.cloud.clock.now)
    monkeypatch.setattr(command, "open_context", lambda: speaker.context)
    return speaker


@pytest.fixture
def run(speaker, capsys):
    """Run `spotwarden logs train …` and give status, output and what was said beside it."""

    def run(*words: str) -> tuple[int, list[str], list[str]]:
        status = main(["logs", JOB, *words], standalone_mode=False)
        said = capsys.readouterr()
        return status or 0, said.out.splitlines(), said.err.splitlines()

    return run


@pytest.fixture
def follower(speaker, capsys):
    """Follow the job while things happen to it: one after the other, between two looks."""

    def run(*happenings, **wanted) -> tuple[int, list[str], list[str]]:
        left = list(happenings)

        def pause(seconds: float) -> None:
            speaker.wait(seconds)
            assert left, "it follows a job that has ended"
            left.pop(0)()

        status = follow(speaker.context, JOB, LinesWanted(**wanted), pause=pause)
        said = capsys.readouterr()
        return status, said.out.splitlines(), said.err.splitlines()

    return run


ONE = "-- attempt 1, instance 11, us-central1-a --"
TWO = "-- attempt 2, instance 21, us-central1-b --"


def test_all_attempts_are_told_oldest_first_each_under_its_line(speaker, run):
    """With the id and the zone that a person would look for."""
    speaker.attempt(1)
    speaker.say("11", "epoch 1", "epoch 2")
    speaker.wait(60)
    speaker.attempt(2, zone="us-central1-b")
    speaker.say("21", "epoch 2 again")
    assert run() == (0, [ONE, "epoch 1", "epoch 2", TWO, "epoch 2 again"], [])


def test_what_cloud_logging_does_not_know_is_taken_from_the_job_kit(speaker, run):
    """In its place among the attempts; and of a VM that it knows, nothing is taken twice."""
    speaker.attempt(1)
    speaker.store(1, "a stored line\nand another\n")
    speaker.wait(60)
    speaker.attempt(2, zone="us-central1-b")
    speaker.say("21", "heard")
    speaker.store(2, "heard\n")
    assert run()[1] == [ONE, "a stored line", "and another", TWO, "heard"]


@pytest.mark.parametrize("trouble", [rejected("forbidden"), unanswered(after_work=False)])
def test_who_may_not_read_cloud_logging_sees_what_is_stored_and_why(speaker, run, trouble):
    """The reason stands beside the output, not in it."""
    speaker.attempt(1)
    speaker.say("11", "unheard")
    speaker.store(1, "stored\n")
    speaker.logs.trouble.order("lines", trouble)
    status, out, err = run()
    assert (status, out) == (0, [ONE, "stored"])
    assert err == [one for one in err if "what the job kit has stored is shown" in one]
    assert len(err) == 1


def test_lines_of_several_nodes_carry_their_names(speaker, run):
    """And one line stands above the whole attempt."""
    speaker.attempt(1, "train-1", "train-2")
    speaker.say("11", "rank 0")
    speaker.say("12", "rank 1")
    head = "-- attempt 1, train-1 is instance 11, train-2 is instance 12, us-central1-a --"
    assert run()[1] == [head, "train-1 | rank 0", "train-2 | rank 1"]
    assert run("--node", "train-2")[1] == ["-- attempt 1, instance 12, us-central1-a --", "rank 1"]


def test_one_attempt_can_be_chosen(speaker, run):
    """What there is not is refused with what there is."""
    speaker.attempt(1)
    speaker.say("11", "one")
    speaker.attempt(2, zone="us-central1-b")
    speaker.say("21", "two")
    assert run("--attempt", "2")[1] == [TWO, "two"]
    with pytest.raises(Exception, match="attempt 1, node train"):
        run("--attempt", "3")


def test_lines_since_a_moment(speaker, run):
    """The moment itself included; a stored log counts by when it was last stored."""
    speaker.attempt(1)
    speaker.say("11", "early")
    speaker.attempt(2, zone="us-central1-b")
    speaker.store(2, "stored early\n")
    speaker.wait(3600)
    speaker.say("11", "late")
    assert run("--since", "1h")[1] == [ONE, "early", "late", TWO, "stored early"]
    speaker.wait(1)
    assert run("--since", "1h")[1] == [ONE, "late"]


def test_the_last_lines(speaker, run):
    """Over the attempts, and from stored logs where Cloud Logging has fewer."""
    speaker.attempt(1)
    speaker.store(1, "a\nb\nc\n")
    speaker.attempt(2, zone="us-central1-b")
    speaker.say("21", "d", "e")
    assert run("--tail", "2")[1] == [TWO, "d", "e"]
    assert run("--tail", "3")[1] == [ONE, "c", TWO, "d", "e"]
    assert run("--tail", "9")[1] == [ONE, "a", "b", "c", TWO, "d", "e"]


def test_moments_stand_before_the_lines_where_they_are_wanted(speaker, run):
    """In UTC, to the second."""
    speaker.attempt(1)
    speaker.say("11", "epoch 1")
    assert run("-t")[1] == [ONE, "2026-01-05 09:00:00 epoch 1"]


def test_a_job_that_nobody_has_seen_yet_is_known_by_what_it_registered(speaker, run):
    """A developer's own launch, before the first sweep."""
    speaker.register(JOB, "77")
    speaker.say("77", "hello")
    assert run()[1] == ["-- attempt 1, instance 77 --", "hello"]


def test_a_vm_that_was_replaced_before_anybody_wrote_it_down_is_not_forgotten(speaker, run):
    """Its successor's record names it."""
    speaker.say("11", "before")
    speaker.attempt(2, replaces={JOB: "11"}, lost_in="us-central1-a", zone="us-central1-b")
    speaker.say("21", "after")
    assert run()[1] == [ONE, "before", TWO, "after"]


def soon_over(speaker) -> None:
    """Attempt 2 was asked for and has ended before anybody wrote down what its VM is."""
    speaker.attempt(1)
    speaker.register(JOB, "11")
    speaker.say("11", "epoch 1")
    speaker.wait(60)
    speaker.attempt(2, state=AttemptState.PLACING, zone="us-central1-b", replaces={JOB: "11"})


def test_an_attempt_that_ended_before_its_vm_was_written_down_is_told_by_what_it_stored(speaker, run):
    """A program that fails at once: why it did stands in the log, whose VM nobody can name any more."""
    soon_over(speaker)
    speaker.store(2, "no module named torch\n")
    speaker.end("1")
    unnamed = "-- attempt 2, an instance that is not on record, us-central1-b --"
    assert run()[1] == [ONE, "epoch 1", unnamed, "no module named torch"]
    assert run("--tail", "1")[1] == [unnamed, "no module named torch"]


def test_an_attempt_whose_vm_was_not_written_down_is_known_by_what_it_registered(speaker, run):
    """Cloud Logging has more than what the job kit stores; nothing is told twice."""
    soon_over(speaker)
    speaker.register(JOB, "21")
    speaker.say("21", "no module named torch", "deleting train")
    speaker.store(2, "no module named torch\n")
    speaker.end("1")
    assert run()[1] == [ONE, "epoch 1", TWO, "no module named torch", "deleting train"]


def test_the_registration_of_the_attempt_before_is_not_the_new_ones(speaker, run):
    """It stays until the next VM writes its own."""
    soon_over(speaker)
    assert run()[1] == [ONE, "epoch 1"]


def test_following_an_attempt_that_is_over_before_it_is_written_down_tells_its_log_once(speaker, follower):
    """Its record stays as it is, or names the VM at the last moment."""
    soon_over(speaker)

    def over():
        speaker.store(2, "no module named torch\n")
        speaker.end("1")

    status, lines, _ = follower(over)
    assert (status, lines[-1], lines.count("no module named torch")) == (1, "no module named torch", 1)


def test_what_is_stored_while_the_record_may_still_name_the_vm_waits_for_that(speaker, follower):
    """Cloud Logging knows the VM then, and nothing is told twice."""
    soon_over(speaker)
    ends = [
        lambda: speaker.store(2, "epoch 2\n"),
        lambda: (speaker.attempt(2, zone="us-central1-b"), speaker.say("21", "epoch 2")),
        lambda: speaker.end("0"),
    ]
    status, lines, _ = follower(*ends)
    assert (status, lines) == (0, [ONE, "epoch 1", TWO, "epoch 2"])


def test_an_attempt_that_was_only_claimed_has_no_vm(speaker, run):
    """Whoever has registered is somebody's of before."""
    soon_over(speaker)
    speaker.register(JOB, "21")
    speaker.attempt(2, state=AttemptState.CLAIMED, tries=())
    assert run()[1] == [ONE, "epoch 1"]


def test_silence_is_said_to_be_silence(speaker, run):
    """Beside the output, which stays empty."""
    speaker.attempt(1)
    assert run() == (0, [], ["-- nothing has been logged yet --"])


def test_silence_since_a_moment_is_not_said_to_be_silence_from_the_start(speaker, run):
    """There are lines from before it."""
    soon_over(speaker)
    assert run("--since", "2030-01-01") == (
        0,
        [],
        ["-- nothing has been logged since 2030-01-01 00:00:00 UTC --"],
    )


def test_there_is_no_such_job(run):
    """The bucket is named."""
    with pytest.raises(Exception, match="unknown job 'train' in gs://b"):
        run()


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("plain", ["plain"]),
        ("a\tb", ["a       b"]),
        ("\x1b[32mgreen\x1b[0m", ["green"]),
        ("\x1b[2Jgone\x07", [r"\x1b[2Jgone\x07"]),
        ("10%\r50%\r100%\r", ["100%"]),
        ("two\nlines\n", ["two", "lines"]),
        ("\u202etxt", [r"\u202etxt"]),
        ("", [""]),
    ],
)
def test_what_a_program_prints_steers_no_terminal(text, lines):
    """A bar of progress is shown as it was left, colours are taken off, all else is shown as what it is."""
    assert readable(text) == lines


def test_following_goes_on_over_a_preemption_and_ends_as_the_job_does(speaker, follower):
    """Every line once, whatever happens in between."""
    speaker.attempt(1)
    speaker.say("11", "epoch 1")

    def backing_off() -> None:
        refused = (
            Try(place="us-central1-a", request_id="r", at=speaker.cloud.clock.now(), error="stockout"),
        )
        speaker.attempt(2, state=AttemptState.BACKING_OFF, tries=refused)

    def back() -> None:
        speaker.attempt(2, zone="us-central1-b")
        speaker.say("21", "epoch 2")

    status, out, err = follower(
        lambda: speaker.say("11", "epoch 1 goes on"),
        backing_off,
        back,
        lambda: (speaker.say("21", "done"), speaker.end("0")),
    )
    assert status == 0
    assert out == [ONE, "epoch 1", "epoch 1 goes on", TWO, "epoch 2", "done"]
    assert err == ["-- attempt 2: backing off, stockout --", "-- the job ended with status 0 --"]


@pytest.mark.parametrize("state", [AttemptState.PLACING, AttemptState.RUNNING])
def test_what_brought_an_attempt_about_stands_before_its_lines(speaker, follower, monkeypatch, state):
    """Also where its first lines are there at the very look that shows the attempt."""
    monkeypatch.setattr(sys, "stderr", sys.stdout)
    speaker.attempt(1)
    speaker.say("11", "epoch 1")

    def lost() -> None:
        speaker.say("11", "preempted")
        speaker.attempt(2, state=state, zone="us-central1-b", reason="Compute Engine preempted the instance")
        speaker.register(JOB, "21")
        speaker.say("21", "epoch 2")

    _, printed, _ = follower(lost, lambda: None, lambda: speaker.end("0"))
    why = f"-- attempt 2: {state.value}, Compute Engine preempted the instance --"
    assert printed[:-1] == [ONE, "epoch 1", "preempted", why, TWO, "epoch 2"]


def test_the_first_attempt_that_runs_is_no_news(speaker, follower):
    """Who launches and follows reads its lines at once."""
    speaker.register(JOB, "11")
    _, _, err = follower(lambda: speaker.attempt(1), lambda: speaker.end("0"))
    assert err == ["-- the job ended with status 0 --"]


def test_following_goes_on_after_a_late_status_of_an_attempt_before(speaker, follower):
    """Only its own attempt's ends it."""
    speaker.attempt(1)
    speaker.attempt(2)
    name = speaker.layout.build(StatusCode(job=JOB))

    def late() -> None:
        speaker.cloud.store.put(name, b"1", {"attempt": "1"})

    status, out, _ = follower(late, lambda: speaker.say("21", "goes on"), lambda: speaker.end("0"))
    assert (status, out[-1]) == (0, "goes on")


def test_a_line_that_comes_late_is_told_all_the_same(speaker, follower):
    """Cloud Logging takes some seconds, and not the same for all."""
    speaker.attempt(1)
    then = speaker.cloud.clock.now()
    speaker.wait(25)
    speaker.say("11", "new")
    _, out, _ = follower(lambda: speaker.logs.say("11", then, "late"), lambda: speaker.end("0"))
    assert out == [ONE, "new", "late"]


def test_a_stored_log_that_grows_is_told_piece_by_piece(speaker, follower):
    """Its beginning is not told again, also when it has been cut."""
    speaker.attempt(1)
    long = "".join(f"line {number}\n" for number in range(1000))
    _, out, _ = follower(
        lambda: speaker.store(1, long),
        lambda: speaker.store(1, long + "more\n"),
        lambda: speaker.store(1, "[the beginning was cut]\n" + long[5000:] + "more\nlast\n"),
        lambda: speaker.end("0"),
    )
    assert out == [ONE, *(f"line {number}" for number in range(1000)), "more", "last"]


def test_a_vm_whose_stored_log_was_shown_is_not_told_again_by_cloud_logging(speaker, follower):
    """Whichever comes first is kept to."""
    speaker.attempt(1)
    speaker.store(1, "a\n")
    _, out, _ = follower(
        lambda: (speaker.say("11", "a", "b"), speaker.store(1, "a\nb\n")), lambda: speaker.end("0")
    )
    assert out == [ONE, "a", "b"]


def test_a_moment_without_an_answer_is_waited_for(speaker, follower):
    """The stored log lags behind: it is shown only when Cloud Logging stays away."""
    speaker.attempt(1)
    speaker.say("11", "a", "b")
    speaker.store(1, "a\n")
    speaker.logs.trouble.order("lines", unanswered(after_work=False), times=2)
    _, out, err = follower(lambda: None, lambda: None, lambda: speaker.end("0"))
    assert out == [ONE, "a", "b"]
    assert err == ["-- the job ended with status 0 --"]


def test_cloud_logging_that_stays_away_is_done_without(speaker, follower):
    """At the third look without an answer; nothing is told twice when it is back."""
    speaker.attempt(1)
    speaker.say("11", "a")
    speaker.store(1, "a\n")
    speaker.logs.trouble.order("lines", unanswered(after_work=False), times=3)
    _, out, err = follower(lambda: None, lambda: None, lambda: None, lambda: speaker.end("0"))
    assert out == [ONE, "a"]
    assert "doesn't respond" in err[0]


def test_a_bucket_that_is_away_for_a_while_does_not_end_the_following(speaker, follower):
    """The job runs on for weeks; what was said meanwhile is told, and the silence once."""
    speaker.attempt(1)
    speaker.store(1, "a\n")
    away = unanswered(after_work=False)

    def silent():
        speaker.cloud.store.trouble.order("entries", away, times=2)

    def unread():
        speaker.store(1, "a\nb\n")
        speaker.cloud.store.trouble.order("read", away, about=".log", times=1)

    status, out, err = follower(silent, lambda: None, unread, lambda: None, lambda: speaker.end("3"))
    assert (status, out) == (3, [ONE, "a", "b"])
    assert [line for line in err if "asking again" in line] == err[:2]
    assert len(err) == 3


def test_an_end_that_comes_between_two_looks_at_it_is_known_by_its_status(speaker, follower, monkeypatch):
    """The listing is a moment older than the ledger: a job that has failed must not look as if it had not."""
    speaker.attempt(1)
    entries = speaker.cloud.store.entries

    def ended():
        speaker.end("3")
        speaker.attempt(1, state=AttemptState.ENDED)

        def older(*args, **more):
            return [entry for entry in entries(*args, **more) if not entry.name.endswith("status-code")]

        monkeypatch.setattr(speaker.cloud.store, "entries", older)

    assert follower(ended)[0] == 3


def test_at_the_end_nothing_is_waited_for(speaker, follower):
    """What is stored is better than nothing."""
    speaker.attempt(1)
    speaker.store(1, "a\n")
    speaker.end("0")
    speaker.logs.trouble.order("lines", unanswered(after_work=False), times=9)
    assert follower()[1] == [ONE, "a"]


def test_following_from_the_last_lines_tells_what_comes_and_nothing_older(speaker, follower):
    """Though older lines are asked for again, for the sake of late ones."""
    speaker.attempt(1)
    for number in range(5):
        speaker.wait(1)
        speaker.say("11", f"line {number}")
    _, out, _ = follower(lambda: speaker.say("11", "new"), lambda: speaker.end("0"), tail=2)
    assert out == [ONE, "line 3", "line 4", "new"]


@pytest.mark.parametrize(
    ("end", "status"),
    [
        (lambda speaker: speaker.end("0"), 0),
        (lambda speaker: speaker.end("3"), 3),
        (lambda speaker: speaker.end("255"), 255),
        (lambda speaker: speaker.end("256"), 1),
        (lambda speaker: speaker.end("killed"), 1),
        (lambda speaker: speaker.attempt(1, state=AttemptState.STOPPED), 143),
        (lambda speaker: speaker.attempt(1, state=AttemptState.GAVE_UP), 75),
    ],
)
def test_the_exit_status_tells_how_the_job_ended(speaker, follower, end, status):
    """Its own where it wrote one that a command can end with."""
    speaker.attempt(1)
    speaker.say("11", "x")
    assert follower(lambda: end(speaker))[0] == status


def test_following_a_job_that_is_over_tells_all_and_ends(speaker, follower):
    """Nothing is waited for."""
    speaker.attempt(1)
    speaker.say("11", "x")
    speaker.end("4")
    assert follower() == (4, [ONE, "x"], ["-- the job ended with status 4 --"])


def test_interrupting_leaves_the_job_alone(speaker, follower):
    """And says how to look again."""
    speaker.attempt(1)

    def interrupt() -> None:
        raise KeyboardInterrupt

    status, _, err = follower(interrupt)
    assert status == 130
    assert err == ["-- the job keeps running; `spotwarden logs -f train` shows it again --"]


def test_time_that_passes_without_a_line_costs_few_reads(speaker, follower):
    """One listing a look; what has not changed is not read once more."""
    speaker.attempt(1)
    speaker.say("11", "x")
    reads = []
    read = speaker.cloud.store.read
    speaker.cloud.store.read = lambda name, **more: reads.append(name) or read(name, **more)
    follower(*(lambda: None for _ in range(10)), lambda: speaker.end("0"))
    assert reads.count("train/metadata/attempts/1.json") == 1


def test_the_new_part_of_a_log_is_found_behind_what_was_told():
    """By its beginning, else by its end; where neither is there, all of it is new."""
    told = "".join(f"{number}\n" for number in range(TAIL_BYTES))
    assert beyond("", "a") == "a"
    assert beyond("a\n", "a\nb\n") == "b\n"
    assert beyond(told, f"cut\n{told[100:]}new\n") == "new\n"
    assert beyond(told, "another\n") == "another\n"


def test_a_span_of_no_length_is_refused(run):
    """As everywhere."""
    with pytest.raises(Exception, match="neither a time nor a duration"):
        run("--since", "yesterday")


def test_a_line_of_long_ago_is_found(speaker, run):
    """A developer's own launch may be older than our record of it."""
    speaker.logs.say("11", speaker.cloud.clock.now() - timedelta(days=3), "old")
    speaker.attempt(1, seen=True)
    assert run()[1] == [ONE, "old"]
