"""What a web hook gets: Slack's blocks, Google Chat's card, or the notices as they are."""

from datetime import timedelta

import msgspec
import pytest

from spotwarden.model.delivery import Channel, Recipient
from spotwarden.model.notice import Notice, Severity
from spotwarden.notify.outbox.due import MOST_IN_POST
from tests.notify.templates.messages import ANN, NOW, flood, notice, pending, post

SHAPES = ("slack", "chat", "json")
CROWD = Recipient(channel=Channel.HOOK, address="ml-chat")
LONG = {
    "why": "& because <of> " * 500,
    "todo": "& do <it> " * 500,
    "evidence": {f"k{n}": "& " * 3000 for n in range(40)},
}
"""More of everything than any receiver takes."""


def told(shape, *pendings, **facts):
    """The body, decoded."""
    return msgspec.json.decode(post(shape, *pendings, **facts))


def texts(value):
    """Every text within, joined."""
    if isinstance(value, dict):
        return "\n".join(map(texts, value.values()))
    if isinstance(value, list):
        return "\n".join(map(texts, value))
    return value if isinstance(value, str) else ""


@pytest.mark.parametrize("shape", SHAPES)
def test_it_says_what_happened_what_will_and_what_to_do(shape):
    """In every shape, all of it."""
    said = texts(told(shape))
    for words in (
        "nap-1 has idle GPUs",
        "It will be stopped",
        "Let it work, or stop it",
        "below 5 %",
        "1.0 %",
    ):
        assert words.lower() in said.lower()


@pytest.mark.parametrize("shape", SHAPES)
def test_no_link_goes_where_many_people_read(shape):
    """Neither those of answers nor that of somebody's preferences."""
    assert b"answers.example.com" not in post(shape, *flood(5))


@pytest.mark.parametrize("shape", SHAPES)
def test_a_second_copy_says_so(shape):
    """And a first one does not."""
    again, once = told(shape, again=True), told(shape)
    if shape == "json":
        assert (again["again"], once["again"]) == (True, False)
    else:
        assert "may already have this message" in texts(again)
        assert "already have this message" not in texts(once)


@pytest.mark.parametrize("shape", ["slack", "chat"])
def test_it_is_not_told_as_if_to_its_owner(shape):
    """Many people read it, and see whose it is."""
    said = texts(told(shape, pending(recipient=CROWD)))
    assert f"Posted here for {ANN}, the owner of nap." in said
    assert "subscribed" not in said


@pytest.mark.parametrize("many", [[pending()], [pending(notice(**LONG))], flood(60, **LONG), flood(1000)])
def test_slack_s_limits_are_kept(many):
    """50 blocks, 150 characters a header, 3,000 a text, 10 fields of 2,000; less than 13,000 in all."""
    body = told("slack", *many)
    assert 0 < len(body["blocks"]) <= 50
    for block in body["blocks"]:
        if block["type"] == "header":
            assert len(block["text"]["text"]) <= 150
        parts = [block["text"]] if "text" in block else block.get("fields") or block["elements"]
        assert len(parts) <= 10
        for part in parts:
            assert part["type"] == "plain_text"
            assert 1 <= len(part["text"]) <= (2000 if "fields" in block else 3000)
    assert len(texts(body["blocks"])) < 13_000


@pytest.mark.parametrize("many", [[pending()], [pending(notice(**LONG))], flood(60, **LONG), flood(1000)])
def test_google_chat_s_limits_are_kept(many):
    """32,000 bytes, and 100 widgets of a card: what is beyond them would be lost."""
    body = post("chat", *many)
    assert len(body) <= 32_000
    (card,) = msgspec.json.decode(body)["cardsV2"]
    widgets = [widget for section in card["card"]["sections"] for widget in section["widgets"]]
    assert 0 < len(widgets) <= 100


@pytest.mark.parametrize("character", ["\U0001f9d1", "\u00e4", '"', "\\"])
def test_google_chat_counts_bytes(character):
    """The limit holds for characters of four bytes, and for those that JSON escapes."""
    long = character * 4000
    facts = {
        "why": long,
        "todo": long,
        "then": long,
        "what": long,
        "evidence": {f"{n}": long for n in range(40)},
    }
    assert len(post("chat", pending(notice(**facts)))) <= 32_000


@pytest.mark.parametrize("shape", ["slack", "chat"])
def test_what_has_no_room_is_counted(shape):
    """The urgent ones have room first."""
    said = texts(told(shape, *flood(200)))
    shown = said.count("Urgent: job") + said.count("Warning: job")
    assert 3 < shown < 200
    assert f"And {200 - shown} more notices" in said
    assert said.index("Urgent: job-0-0") < said.index("Warning: ")


@pytest.mark.parametrize("shape", ["slack", "chat"])
@pytest.mark.parametrize("message", ["x", "\u00e4", "\U0001f9d1"])
def test_a_post_that_warns_names_every_vm_and_when(shape, message):
    """A chat may be all that its readers have: as many as go into one post are named, however long it is."""
    due = NOW + timedelta(minutes=30)
    facts = {"why": message * 4000, "todo": message * 4000}
    then = "it will be stopped, not before 09:30"
    some = flood(MOST_IN_POST, jobs=MOST_IN_POST, **facts, due=due, then=then)
    said = texts(told(shape, *some))
    for one in some:
        assert one.notice.what in said
    assert said.count("It will be stopped") + said.count("due Nov 21, 14:30 UTC") >= MOST_IN_POST
    assert len(post(shape, *some)) <= 32_000


@pytest.mark.parametrize(
    "mention", ["<!channel>", "<!here|here>", "<@U123>", "<users/all>", "<https://evil.example|x>"]
)
@pytest.mark.parametrize("shape", ["slack", "chat"])
def test_nobody_is_mentioned_by_what_stands_in_a_notice(shape, mention):
    """It is shown as it was written."""
    said = texts(
        told(shape, pending(notice(what=f"nap {mention}", why=mention, evidence={mention: mention})))
    )
    assert "<" not in said
    shown = (
        mention.replace("<", "&lt;").replace(">", "&gt;")
        if shape == "slack"
        else f"\u2039{mention[1:-1]}\u203a"
    )
    assert shown in said


def test_the_plain_shape_is_the_notices_themselves():
    """Each as the topic carries it, in their order; with the version of the shape."""
    many = flood(3, severity=Severity.INFO)
    body = told("json", *many)
    assert (body["schema"], body["id"], body["at"]) == (1, "p1", "2026-11-21T14:00:00Z")
    assert msgspec.convert(body["notices"], list[Notice], strict=False) == [one.notice for one in many]
    assert NOW.isoformat() == "2026-11-21T14:00:00+00:00"


def test_the_plain_shape_is_bounded_and_can_always_be_written():
    """5 MB of evidence are cut and say so; half a character is replaced."""
    body = post("json", pending(notice(why="\ud83d", evidence={"log": "x" * 5_000_000})))
    assert len(body) < 20_000
    assert b"5,000,000 characters in all" in body
