"""`spotwarden notices`: what waits to be told, what could not be, and what a person makes of it."""

import base64
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import msgspec
import pytest
from msgspec.structs import replace

from spotwarden import clock
from spotwarden.layout import DeliveryRound, OutboxEntry, UndeliveredRecord, notice_key, person_key
from spotwarden.model.delivery import Batch, Channel, Pending, Recipient, Round, Undelivered
from spotwarden.model.notice import Notice, Severity
from spotwarden.notify.templates.kinds import KINDS

NOW = datetime.now(UTC)
HOUR = timedelta(hours=1)
ADA = Recipient(channel=Channel.EMAIL, address="ada@example.com")
BOB = Recipient(channel=Channel.EMAIL, address="bob@example.com")
CHAT = Recipient(channel=Channel.HOOK, address="ml-chat")


def notice(name="n-1"):
    """A warning about an idle VM."""
    return Notice(
        id=name,
        kind="idle_warned",
        severity=Severity.WARNING,
        job="nap",
        at=NOW - 3 * HOUR,
        what="nap has idle GPUs",
        why="none was over 5%",
        evidence={"busiest GPU": "1.3%"},
    )


def pending(name="n-1", recipient=ADA, since=NOW - 2 * HOUR):
    """It waits for this recipient."""
    return Pending(notice=notice(name), recipient=recipient, since=since)


@pytest.fixture
def put(workstation):
    """Put a record into the bucket; gives its name."""

    def write(record):
        one = record.pending if isinstance(record, Undelivered) else record
        kind = UndeliveredRecord if isinstance(record, Undelivered) else OutboxEntry
        where = {"channel": one.recipient.channel.value, "person": person_key(one.recipient.address)}
        name = workstation.layout.build(kind(**where, notice=notice_key(one.notice.id)))
        workstation.store.write(name, msgspec.json.encode(record), generation=None)
        return name

    return write


def given_up(name="n-1", recipient=ADA, reason="no such user"):
    """It could not be delivered."""
    return Undelivered(pending=pending(name, recipient), at=NOW - HOUR, reason=reason)


def names(workstation, prefix):
    """The objects below a prefix of ours."""
    return [entry.name for entry in workstation.store.entries(f"spotwarden/{prefix}/")]


def test_nothing_is_said_to_be_nothing(workstation):
    """With the bucket, so that nobody looks into the wrong one."""
    assert workstation.ok("notices", "list") == f"no notices wait in gs://{workstation.bucket}\n"
    assert json.loads(workstation.ok("notices", "list", "--json")) == []


def test_what_waits_and_what_was_given_up_is_listed_the_oldest_first(workstation, put, monkeypatch):
    """To whom, for how long, what, and why."""
    monkeypatch.setattr(clock, "now", lambda: NOW)
    put(given_up("n-2", CHAT))
    put(pending())
    head, first, second = workstation.ok("notices", "list").splitlines()
    assert head.split() == ["KEY", "STANDS", "TO", "FOR", "KIND", "WHAT", "WHY"]
    assert first.split()[:5] == [notice_key("n-1")[:12], "waiting", "ada@example.com", "2h00m", "idle_warned"]
    assert "undelivered  hook ml-chat" in second
    assert second.endswith("no such user")
    only = workstation.ok("notices", "list", "--undelivered")
    assert "hook ml-chat" in only
    assert "ada@example.com" not in only


def test_a_list_for_programs_holds_the_whole_notice(workstation, put):
    """With the key, the recipient and the reason."""
    put(given_up())
    (one,) = json.loads(workstation.ok("notices", "list", "--json"))
    assert one["notice"]["id"] == "n-1"
    assert (one["stands"], one["channel"], one["to"]) == ("undelivered", "email", "ada@example.com")
    assert (one["key"], one["why"]) == (notice_key("n-1"), "no such user")


def test_why_something_waits_is_what_is_remembered_of_its_recipient(workstation, put):
    """Failures, the next try, and a message of which nobody knows; of others nothing is said."""
    put(pending())
    put(pending("n-2", BOB))
    batch = Batch(notices=("x",), message_id="m", sent_at=NOW)
    retry = datetime(2026, 1, 1, 12, tzinfo=UTC)
    remembered = Round(failures=3, error="421 too busy", retry=retry, sending=batch)
    name = workstation.layout.build(DeliveryRound(channel="email", person=person_key(ADA.address)))
    workstation.store.write(name, msgspec.json.encode(remembered), generation=None)
    ada, bob = sorted(json.loads(workstation.ok("notices", "list", "--json")), key=lambda one: str(one["to"]))
    assert ada["why"] == (
        "we can't tell whether the last message arrived; failed 3 times: 421 too busy; "
        "next try at 2026-01-01 12:00:00 UTC"
    )
    assert bob["why"] == ""


def test_a_notice_is_shown_in_full(workstation, put):
    """By its id or by the beginning of its key; what it says, and whom it did not reach."""
    put(given_up())
    put(pending(recipient=BOB))
    shown = workstation.ok("notices", "show", "n-1")
    assert shown == workstation.ok("notices", "show", notice_key("n-1")[:6])
    assert shown.startswith("n-1: nap has idle GPUs\n")
    assert "  busiest GPU 1.3%\n" in shown
    assert "ada@example.com: could not be delivered" in shown
    assert "bob@example.com: waits" in shown
    assert "bob" not in workstation.ok("notices", "show", "n-1", "--to", "ada@example.com")
    (one,) = json.loads(workstation.ok("notices", "show", "n-1", "--to", "ada@example.com", "--json"))
    assert one["to"] == "ada@example.com"


@pytest.mark.parametrize("word", ["n-9", notice_key("n-1")[:5], ""])
def test_an_unknown_notice_is_refused(workstation, put, word):
    """Also one that is named by too few digits."""
    put(given_up())
    assert "see `spotwarden notices list`" in workstation.refused("notices", "show", word)


def test_what_is_retried_waits_as_if_it_had_come_now(workstation, put):
    """It is no longer given up, and has all its time before it."""
    put(given_up())
    other = put(given_up("n-2"))
    assert "waits once more" in workstation.ok("notices", "retry", "n-1")
    assert names(workstation, "undelivered") == [other]
    (name,) = names(workstation, "outbox")
    waiting = msgspec.json.decode(workstation.store.read(name).data, type=Pending)
    assert waiting.notice == notice()
    assert waiting.since >= NOW


def test_what_waits_already_is_not_put_back_twice(workstation, put):
    """The one that waits stays as it is; the other record goes."""
    put(pending())
    put(given_up())
    workstation.ok("notices", "retry", "n-1")
    (name,) = names(workstation, "outbox")
    assert msgspec.json.decode(workstation.store.read(name).data, type=Pending) == pending()
    assert names(workstation, "undelivered") == []


def test_what_waits_cannot_be_retried_or_dropped(workstation, put):
    """It goes out by itself."""
    put(pending())
    for word in ("retry", "drop"):
        assert "see `spotwarden notices list`" in workstation.refused("notices", word, "n-1")
    assert len(names(workstation, "outbox")) == 1


@pytest.mark.parametrize(
    ("words", "left"),
    [
        (["--all"], 0),
        (["--all", "--to", "bob@example.com"], 2),
        (["n-1"], 1),
        (["n-1", "--to", "bob@example.com"], 2),
        (["n-1", "n-2", "n-1"], 0),
    ],
)
def test_what_is_meant_is_dropped_and_nothing_else(workstation, put, words, left):
    """All, all for one, one for all, or just one."""
    for record in (given_up(), given_up(recipient=BOB), given_up("n-2")):
        put(record)
    workstation.ok("notices", "drop", "--yes", *words)
    assert len(names(workstation, "undelivered")) == left
    assert names(workstation, "outbox") == []


def test_dropping_asks_first(workstation, put):
    """An answer that is no yes changes nothing."""
    put(given_up())
    assert "They won't be sent" in workstation.refused("notices", "drop", "--all")
    assert len(names(workstation, "undelivered")) == 1


def test_it_has_to_be_said_what_is_meant(workstation):
    """Nothing, or both a key and all, is a slip."""
    assert "add --all" in workstation.refused("notices", "retry")
    assert "add --all" in workstation.refused("notices", "drop", "n-1", "--all")


def test_what_cannot_be_read_is_told_beside_the_rest(workstation, put):
    """By its name, and with the reason."""
    put(given_up())
    name = put(given_up("n-2"))
    workstation.store.write(name, b"{", generation=None)
    said = workstation.refused("notices", "list")
    assert "ada@example.com" in said
    assert f"  {name}: " in said
    assert "waits once more" in workstation.ok("notices", "retry", "--all")


def test_what_is_none_of_ours_is_left_alone(workstation):
    """An object of another name is no notice."""
    workstation.store.write("spotwarden/undelivered/readme.txt", b"hello", generation=None)
    assert "no notices wait" in workstation.ok("notices", "list")


def test_text_of_others_steers_no_terminal(workstation, put):
    """Nor does a recipient's name."""
    put(given_up(recipient=Recipient(channel=Channel.HOOK, address="x\x1b[2J"), reason="a\nb"))
    said = workstation.ok("notices", "list")
    assert "\x1b" not in said
    assert len(said.splitlines()) == 2


@pytest.fixture
def published(served, workstation):
    """What is published on the topic from now on, each with its attributes."""
    topic = "projects/demo/topics/notices"
    subscription = f"projects/demo/subscriptions/{workstation.bucket}"
    put = {"trust_env": False, "timeout": 30}
    httpx.put(f"{served.url}/v1/{topic}", json={}, **put)
    httpx.put(f"{served.url}/v1/{subscription}", json={"topic": topic}, **put).raise_for_status()

    def pull():
        body = {"maxMessages": 1000, "returnImmediately": True}
        answer = httpx.post(f"{served.url}/v1/{subscription}:pull", json=body, **put).raise_for_status()
        messages = [one["message"] for one in answer.json().get("receivedMessages", ())]
        return [(json.loads(base64.b64decode(one["data"])), one["attributes"]) for one in messages]

    return pull


def test_a_sample_of_each_kind_is_published(workstation, published):
    """For that address, each an own notice that is known for a test."""
    said = workstation.ok("notices", "test", "--to", "ada@Example.com")
    assert f"{len(KINDS)} test messages for ada@Example.com published on the topic notices" in said
    told = published()
    assert {attributes["kind"] for _, attributes in told} == set(KINDS)
    assert {notice["owner"] for notice, _ in told} == {"ada@example.com"}
    assert len({notice["id"] for notice, _ in told}) == len(KINDS)
    assert all(notice["id"].startswith("test/") for notice, _ in told)


def test_one_kind_can_be_asked_for(workstation, published):
    """And an unknown one is refused."""
    workstation.ok("notices", "test", "--to", "ada@example.com", "--kind", "recovered")
    assert [attributes["kind"] for _, attributes in published()] == ["recovered"]
    assert "--kind" in workstation.refused("notices", "test", "--to", "ada@example.com", "--kind", "boredom")


@pytest.mark.parametrize("to", ["ada", "ada@", "@example.com", "a b@example.com", "a@b,c@d", "a@b\nBcc: c@d"])
def test_samples_go_to_no_malformed_address(workstation, published, to):
    """Nothing is published."""
    assert "is not a valid mail address" in workstation.refused("notices", "test", "--to", to)
    assert published() == []


def test_a_policy_that_mails_nobody_is_told_of(workstation, published):
    """The samples are on the topic all the same."""
    Path(workstation.policy).write_text('version = "1"\nmode = "enforce"\n[notify]\nemail = false\n')
    assert "only subscribers" in workstation.ok(
        "notices", "test", "--to", "a@b.example", "--kind", "recovered"
    )
    Path(workstation.policy).write_text('version = "1"\nmode = "enforce"\n[notify]\nemail = true\n')
    assert "only sub" not in workstation.ok("notices", "test", "--to", "a@b.example", "--kind", "recovered")
    assert len(published()) == 2


def test_what_there_was_nobody_to_tell_is_published_anew(workstation, put, published):
    """Perhaps there is somebody by now; the record goes."""
    put(given_up(recipient=Recipient(channel=Channel.EMAIL, address="")))
    assert "to nobody: waits once more" in workstation.ok("notices", "retry", "n-1")
    assert [notice["id"] for notice, _ in published()] == ["n-1"]
    assert names(workstation, "undelivered") == names(workstation, "outbox") == []


def test_what_nobody_can_read_can_only_be_dropped(workstation, put, published):
    """It would be as unreadable as before."""
    one = given_up()
    unreadable = replace(one, pending=replace(one.pending, notice=replace(notice(), kind="unreadable")))
    put(unreadable)
    assert "can only be dropped" in workstation.refused("notices", "retry", "n-1")
    assert (len(names(workstation, "undelivered")), names(workstation, "outbox"), published()) == (1, [], [])
    workstation.ok("notices", "drop", "n-1", "--yes")
    assert names(workstation, "undelivered") == []
