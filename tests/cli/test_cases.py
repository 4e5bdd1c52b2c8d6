"""`spotwarden cases`: what a person sees of a case, and what an answer changes."""

import json
from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from spotwarden import clock
from spotwarden.layout import JobFileName, Layout, notice_key
from spotwarden.model.case import Approval, Case, CaseState, Remediation, Warned
from spotwarden.model.delivery import Channel, Delivered, Recipient
from spotwarden.model.finding import Subject, Target
from spotwarden.model.governance import Remedy

NOW = datetime.now(UTC)
HOUR = timedelta(hours=1)


def case(key="4711", rule="idle", name="test-vm", **fields):
    """A case that was warned about an hour ago."""
    subject = Subject(
        key=key, job="test-vm", owner="ada", targets=(Target(id=key, name=name, zone="us-central1-a"),)
    )
    common = {
        "rule": rule,
        "subject": subject,
        "state": CaseState.WARNED,
        "opened": NOW - 2 * HOUR,
        "looked": NOW - HOUR,
        "since": NOW - 3 * HOUR,
        "reason": "its GPUs are idle",
        "evidence": {"busiest GPU": "1.3%"},
        "remedy": Remedy.STOP,
        "due": NOW + HOUR,
        "warnings": (Warned(level=1, at=NOW - HOUR, notice="n-1", delivered=NOW - HOUR),),
    }
    return Case(**{**common, **fields})


def test_no_case_is_said_to_be_none(workstation):
    """The bucket is named, so that nobody looks into the wrong one."""
    assert workstation.ok("cases", "list") == f"no open cases in gs://{workstation.bucket}\n"
    assert json.loads(workstation.ok("cases", "list", "--json")) == []


def test_cases_are_listed_the_oldest_first(workstation, monkeypatch):
    """Of all rules, or of one."""
    monkeypatch.setattr(clock, "now", lambda: NOW)
    workstation.file(case())
    workstation.file(case(rule="stall", opened=NOW - 5 * HOUR))
    head, *rows = workstation.ok("cases", "list").splitlines()
    assert head.split() == ["RULE", "CASE", "ABOUT", "OWNER", "STANDS", "FOR", "DUE", "REASON"]
    assert [row.split()[0] for row in rows] == ["stall", "idle"]
    assert rows[1].split()[1:6] == ["4711", "test-vm", "ada", "warned", "3h00m"]
    (only,) = json.loads(workstation.ok("cases", "list", "--rule", "idle", "--json"))
    assert only["rule"] == "idle"


def test_due_is_when_the_remedy_may_follow_and_not_when_the_limit_is_reached(workstation):
    """Its arrival and the grace, where that comes later; nothing for a warning that has not arrived."""
    warned = Warned(
        level=1,
        at=NOW - HOUR,
        notice="n-1",
        remedy=Remedy.STOP,
        targets=("4711",),
        due=NOW + HOUR,
        grace=3 * HOUR,
    )
    arrived = msgspec.structs.replace(warned, delivered=NOW)
    for key, warning in {"4711": arrived, "4712": msgspec.structs.replace(warned, targets=("4712",))}.items():
        workstation.file(case(key=key, warnings=(warning,)))
    rows = {row.split()[1]: row for row in workstation.ok("cases", "list").splitlines()[1:]}
    assert f"{NOW + 3 * HOUR:%Y-%m-%d %H:%M}" in rows["4711"]
    assert f"{NOW + HOUR:%Y-%m-%d %H:%M}" not in rows["4711"] + rows["4712"]
    shown = workstation.ok("cases", "show", "idle", "4711")
    words = " ".join(shown.split())
    assert f"limit reached {NOW + HOUR:%Y-%m-%d %H:%M} UTC" in words
    assert f"due {NOW + 3 * HOUR:%Y-%m-%d %H:%M} UTC" in words


def test_a_case_is_shown_with_its_evidence_and_history(workstation):
    """Everything that speaks for and against doing something."""
    remediation = Remediation(target="4711", request_id="r", at=NOW, error="quota: no")
    workstation.file(
        case(remediations=(remediation,), failures=1, keep_until=NOW - HOUR, kept_by="bob", kept_why="tuning")
    )
    shown = workstation.ok("cases", "show", "idle", "4711")
    for said in (
        "idle 4711: test-vm, warned",
        "its GPUs are idle",
        "busiest GPU 1.3%",
        "by bob, which is over",
        "tuning",
        "warning 1 was accepted as notice n-1",
        "stop 4711 failed: quota: no",
        "test-vm 4711 us-central1-a",
    ):
        assert said in shown
    assert json.loads(workstation.ok("cases", "show", "idle", "test-vm", "--json"))["failures"] == 1


@pytest.mark.parametrize("words", [("list",), ("show", "idle", "4711")])
def test_what_stands_in_the_bucket_steers_no_terminal(workstation, words):
    """An owner's name may hold anything: it is shown as it is, on its own line."""
    subject = msgspec.structs.replace(case().subject, owner="ada\x1b[2J\u202e\nroot")
    workstation.file(msgspec.structs.replace(case(), subject=subject, reason="idle\rfine"))
    said = workstation.ok("cases", *words)
    assert r"ada\x1b[2J\u202e\nroot" in said
    assert r"idle\rfine" in said
    assert not {"\x1b", "\u202e", "\r"} & set(said)


def test_a_veto_is_written_into_the_case_and_the_audit(workstation):
    """Who, until when, why; nothing else of the case is lost."""
    workstation.file(case())
    told = workstation.ok("cases", "keep", "idle", "test-vm", "--for", "8h", "--why", "debugging")
    kept = workstation.case("idle", "4711")
    assert told.startswith("test-vm: ada@example.com keeps it until ")
    assert (kept.kept_by, kept.kept_why) == ("ada@example.com", "debugging")
    assert kept.keep_until is not None
    assert timedelta(hours=7) < kept.keep_until - NOW < timedelta(hours=9)
    assert [one.notice for one in kept.warnings] == [one.notice for one in case().warnings]
    assert not any(one.counts for one in kept.warnings)
    (entry,) = workstation.store.entries("spotwarden/audit/")
    (written,) = json.loads(workstation.store.read(entry.name).data)
    assert (written["action"], written["outcome"]["type"]) == ("FileCase", "Done")
    assert written["why"].startswith("ada@example.com keeps it until ")
    assert "kept until" in workstation.ok("cases", "list")


def test_a_veto_may_name_its_last_day(workstation):
    """To the end of that day, UTC."""
    workstation.file(case())
    day = (NOW + timedelta(days=2)).date()
    workstation.ok("cases", "keep", "idle", "4711", "--until", str(day))
    end = datetime(day.year, day.month, day.day, tzinfo=UTC) + timedelta(days=1)
    assert workstation.case("idle", "4711").keep_until == end


def test_a_veto_is_bounded_by_the_policy(workstation, tmp_path):
    """By that of the defaults where there is no file, else by the file's."""
    workstation.file(case())
    assert "governance.longest_keep" in workstation.refused("cases", "keep", "idle", "4711", "--for", "8d")
    (tmp_path / "policy.toml").write_text('version = "1"\n[governance]\nlongest_keep = "2h"\n')
    assert "governance.longest_keep" in workstation.refused("cases", "keep", "idle", "4711", "--for", "3h")
    workstation.ok("cases", "keep", "idle", "4711", "--for", "1h")


def test_a_released_case_is_kept_no_longer(workstation):
    """A second release has nothing to end."""
    workstation.file(case(keep_until=NOW + HOUR, kept_by="ada"))
    assert "no longer keeps it" in workstation.ok("cases", "release", "idle", "4711")
    assert "warned" in workstation.ok("cases", "list")
    assert "it is not kept" in workstation.refused("cases", "release", "idle", "4711")


def test_a_job_is_given_more_time(workstation):
    """Twice means twice as much."""
    workstation.file(case(key="my-job", rule="job_cap"))
    workstation.ok("cases", "extend", "job_cap", "my-job", "--by", "4h")
    assert "by 4 h" in workstation.ok("cases", "show", "job_cap", "my-job")
    workstation.ok("cases", "extend", "job_cap", "my-job", "--by", "4h")
    assert workstation.case("job_cap", "my-job").extended == 8
    assert "by 8 h" in workstation.ok("cases", "show", "job_cap", "my-job")


def test_only_a_jobs_limit_is_extended(workstation):
    """The refusal says what helps instead, and nothing is written."""
    workstation.file(case())
    assert "only the limits of a job" in workstation.refused("cases", "extend", "idle", "4711", "--by", "1h")
    assert workstation.case("idle", "4711") == case()


def test_a_case_can_be_named_by_its_vm_or_job_only_where_that_is_clear(workstation):
    """Two VMs of one name are told apart by their ids; the message lists them."""
    workstation.file(case())
    workstation.file(case(key="4712"))
    said = workstation.refused("cases", "keep", "idle", "test-vm", "--for", "1h")
    assert "2 cases are about test-vm" in said
    assert "4711" in said
    assert "4712" in said
    workstation.ok("cases", "keep", "idle", "4712", "--for", "1h")
    assert workstation.case("idle", "4711").keep_until is None


def test_a_case_that_is_not_there_is_said_so(workstation):
    """With where to look."""
    workstation.file(case())
    assert "see `spotwarden cases list`" in workstation.refused("cases", "show", "idle", "other-vm")
    assert "see `spotwarden cases list`" in workstation.refused(
        "cases", "keep", "stall", "4711", "--for", "1h"
    )


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--for", "8"),
        ("--for", "0h"),
        ("--for", "-1h"),
        ("--for", f"{10**20}d"),
        ("--for", "999999999d"),
        ("--until", "tomorrow"),
        ("--for", "1h", "--until", "2099-01-01"),
    ],
)
def test_a_span_or_moment_that_cannot_be_meant_is_refused(workstation, words):
    """A bare number has no unit; one of both is needed; nothing is written."""
    workstation.file(case())
    workstation.refused("cases", "keep", "idle", "4711", *words)
    assert workstation.case("idle", "4711") == case()


def test_a_moment_with_a_zone_is_that_moment(workstation):
    """Half past in Berlin is half past an hour earlier in UTC."""
    workstation.file(case())
    moment = (NOW + 2 * HOUR).replace(microsecond=0)
    workstation.ok(
        "cases", "keep", "idle", "4711", "--until", (moment + HOUR).strftime("%Y-%m-%dT%H:%M:%S+01:00")
    )
    assert workstation.case("idle", "4711").keep_until == moment


def test_the_jobs_own_file_has_its_say_in_an_extension(workstation):
    """A job whose file sets a lower limit may still be extended to the policy's ceiling."""
    workstation.store.write(
        workstation.layout.build(JobFileName(job="test-vm")), b'max_runtime = "2h"\n', generation=0
    )
    workstation.file(case(key="my-job", rule="job_cap"))
    workstation.ok("cases", "extend", "job_cap", "my-job", "--by", "4h")
    assert workstation.case("job_cap", "my-job").extended == 4.0


def test_an_answer_that_comes_too_late_is_refused(workstation):
    """What was done is said, and when."""
    workstation.file(case(state=CaseState.ACTED))
    assert "it is too late: it was stopped at" in workstation.refused(
        "cases", "keep", "idle", "4711", "--for", "1h"
    )


def test_a_record_that_cannot_be_read_hides_no_other(workstation):
    """A veto may stand in it, so nothing is done about it; a person is told which it is, and what to do."""
    workstation.file(case())
    workstation.store.write("spotwarden/cases/idle/4712.json", b"{", generation=0)
    listed = workstation.refused("cases", "list")
    assert "4711" in listed
    assert "fix or remove them:\n  spotwarden/cases/idle/4712.json: " in listed
    workstation.ok("cases", "keep", "idle", "4711", "--for", "1h")
    for words in (("show", "idle", "4712"), ("keep", "idle", "4712", "--for", "1h")):
        assert "spotwarden/cases/idle/4712.json: " in workstation.refused("cases", *words)


@pytest.mark.parametrize("job", ["a_b-c", "spotwarden", "broken"])
def test_a_veto_asks_nothing_of_its_job(workstation, job):
    """A label that names no job, or a job whose ledger is broken: its VM can be kept all the same."""
    subject = msgspec.structs.replace(case().subject, job=job)
    workstation.store.write("broken/metadata/attempts/1.json", b"{", generation=None)
    workstation.file(msgspec.structs.replace(case(), subject=subject))
    workstation.ok("cases", "keep", "idle", "4711", "--for", "1h")
    assert workstation.case("idle", "4711").kept_by == "ada@example.com"


def test_a_policy_with_a_fault_takes_no_answer(workstation, tmp_path):
    """Its bounds are not known; the fault is named, and nothing is written."""
    workstation.file(case())
    (tmp_path / "policy.toml").write_text('version = "1"\n[idle]\nact = "soon"\n')
    assert "idle.act" in workstation.refused("cases", "keep", "idle", "4711", "--for", "1h")
    assert workstation.case("idle", "4711") == case()


def test_a_warning_that_has_not_arrived_is_said_so(workstation):
    """Its grace has not begun: whoever waits for the stop wants to know why."""
    on_its_way = Warned(level=1, at=NOW - HOUR, notice="n-1")
    workstation.file(case(warnings=(on_its_way,)))
    assert "warned, not arrived yet" in workstation.ok("cases", "list")
    workstation.file(case(key="4712", warnings=(msgspec.structs.replace(on_its_way, delivered=NOW),)))
    shown = workstation.ok("cases", "show", "idle", "4712")
    assert "test-vm, warned\n" in shown
    assert " UTC  warning 1 arrived; its grace began" in shown


def test_a_warning_that_has_arrived_since_the_last_sweep_is_said_so(workstation):
    """The mail is there, and its grace runs: the list does not wait for a sweep to find that out."""
    workstation.file(case(warnings=(Warned(level=1, at=NOW - HOUR, notice="n-1"),)))
    took = Delivered(
        notice="n-1",
        recipient=Recipient(channel=Channel.EMAIL, address="ada@example.com"),
        at=NOW,
        message_id="m",
    )
    name = f"{Layout().delivered(notice_key('n-1'))}x"
    workstation.store.write(name, msgspec.json.encode(took), generation=None)
    assert " warned " in workstation.ok("cases", "list")
    assert " UTC  warning 1 arrived; its grace began" in workstation.ok("cases", "show", "idle", "4711")


def gang(**fields):
    """A gang of three whose remedy ops were asked to approve an hour ago."""
    targets = tuple(Target(id=str(one), name=f"gang-{one}", zone="us-central1-a") for one in range(3))
    subject = Subject(key="gang", job="gang", owner="ada", targets=targets)
    asked = Approval(
        notice="n-2", asked=NOW - HOUR, remedy=Remedy.STOP, targets=("0", "1", "2"), since=NOW - 3 * HOUR
    )
    return case(**{"rule": "job_cap", "subject": subject, "approval": asked, **fields})


def test_a_remedy_is_approved_by_command(workstation):
    """By whom, why and until when stands in the case; a second time changes nothing."""
    workstation.file(gang())
    assert "waits for approval" in workstation.ok("cases", "list")
    said = workstation.ok("cases", "approve", "job_cap", "gang", "--why", "it hangs")
    assert "ada@example.com allows us to stop its 3 VMs until" in said
    given = workstation.case("job_cap", "gang").approval
    assert (given.by, given.why, given.until - given.at) == ("ada@example.com", "it hangs", timedelta(days=1))
    shown = workstation.ok("cases", "show", "job_cap", "gang")
    assert "ops were asked to approve it for 3 VMs" in shown
    assert "approved by ada@example.com until" in shown
    assert "ada@example.com allows us" in workstation.ok(
        "cases", "approve", "job_cap", "gang", "--why", "again"
    )
    assert workstation.case("job_cap", "gang").approval == given


def test_an_approval_lasts_as_long_as_the_policy_says(workstation, tmp_path):
    """Two hours, where a file says so."""
    (tmp_path / "policy.toml").write_text('version = "1"\n[governance]\napproval_lasts = "2h"\n')
    workstation.file(gang())
    workstation.ok("cases", "approve", "job_cap", "gang")
    given = workstation.case("job_cap", "gang").approval
    assert given.until - given.at == 2 * HOUR


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"approval": None}, "no approval was requested"),
        ({"since": NOW - HOUR}, "have changed since the request"),
        ({"remedy": Remedy.DELETE}, "have changed since the request"),
        ({"state": CaseState.ACTED}, "it is too late: it was stopped"),
        ({"keep_until": NOW + HOUR, "kept_by": "bob"}, "it is kept until"),
    ],
)
def test_only_what_was_asked_for_is_approved(workstation, fields, says):
    """A refusal says why, and nothing is written."""
    workstation.file(gang(**fields))
    assert says in workstation.refused("cases", "approve", "job_cap", "gang")
    assert workstation.case("job_cap", "gang") == gang(**fields)


def test_what_is_kept_is_approved_no_more(workstation):
    """The veto takes the approval back; who approves it after that is told that nobody has asked."""
    workstation.file(gang())
    workstation.ok("cases", "approve", "job_cap", "gang")
    workstation.ok("keep", "gang", "--for", "1h")
    assert workstation.case("job_cap", "gang").approval is None
    assert "it is kept until" in workstation.refused("cases", "approve", "job_cap", "gang")
