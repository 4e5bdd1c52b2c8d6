"""Signed links: nobody can make, change, borrow or outlive one."""

from base64 import urlsafe_b64encode
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from spotwarden.model.notice import CaseRef, Way
from spotwarden.model.offer import Offer, PreferenceOffer, Unfit
from spotwarden.notify.links.tokens import MOST_CHARACTERS, Keys, KeysError, read, sign

NOW = datetime(2026, 1, 5, 9, tzinfo=UTC)
WEEK = timedelta(days=7)
SECOND = timedelta(seconds=1)
HERE = '["p","b",""]'


def key(name, fill, size=32):
    """A key as the variable has it."""
    return f"{name}:{urlsafe_b64encode(bytes([fill]) * size).decode()}"


OLD, NEW = key("k1", 1), key("k2", 2)
KEYS = Keys.read(f"{NEW},{OLD}", HERE)
OFFER = Offer(
    id="0" * 32,
    way=Way.KEEP,
    notice="idle/1001/20260105T080000/warning-1",
    to="ada@example.com",
    job="nap",
    at=NOW - SECOND,
    expires=NOW + WEEK,
    case=CaseRef(rule="idle", key="1001", opened=NOW - timedelta(microseconds=123456)),
    hours=8.0,
)
PREFERENCE = PreferenceOffer(to="ada@example.com", expires=NOW + WEEK)
CHARACTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_."


@pytest.mark.parametrize("what", [OFFER, replace(OFFER, case=None, way=Way.RESTART), PREFERENCE])
def test_what_was_signed_is_read_as_it_was(what):
    """To the microsecond: a case is named by when it was opened."""
    assert read(sign(what, KEYS), KEYS, NOW) == what


def test_one_offer_always_makes_one_token():
    """In whatever time zone its moments stand: a message that is written twice bears the same link."""
    elsewhere = replace(OFFER, expires=OFFER.expires.astimezone(tz=None))
    assert sign(elsewhere, KEYS) == sign(OFFER, KEYS)


@pytest.mark.parametrize(("left", "fit"), [(SECOND, True), (timedelta(0), False)])
def test_a_link_is_good_until_it_expires(left, fit):
    """And not at that very moment."""
    found = read(sign(replace(OFFER, expires=NOW + left), KEYS), KEYS, NOW)
    assert isinstance(found, Offer) if fit else found is Unfit.EXPIRED


# --- tampering ---


@given(st.data())
def test_no_changed_character_is_ever_accepted(data):
    """Wherever it stands, the last one of the payload and of the signature included."""
    token = sign(OFFER, KEYS)
    place = data.draw(st.integers(0, len(token) - 1))
    other = data.draw(st.sampled_from(CHARACTERS).filter(lambda one: one != token[place]))
    changed = token[:place] + other + token[place + 1 :]
    assert read(changed, KEYS, NOW) in {Unfit.BROKEN, Unfit.FOREIGN}


def test_every_single_character_counts():
    """All of them, each changed by one bit where that leaves a character of the alphabet."""
    token = sign(OFFER, KEYS)
    for place, one in enumerate(token):
        for other in {chr(ord(one) ^ 1 << bit) for bit in range(7)} & set(CHARACTERS):
            changed = token[:place] + other + token[place + 1 :]
            assert read(changed, KEYS, NOW) in {Unfit.BROKEN, Unfit.FOREIGN}, (place, other)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda token: token + "A",
        lambda token: token + "=",
        lambda token: token + "\n",
        lambda token: " " + token,
        lambda token: token[:-1],
        lambda token: token.replace(".", "", 1),
        lambda token: token.replace("1.", "2.", 1),
        lambda token: token.rpartition(".")[0],
        lambda token: token.rpartition(".")[0] + ".",
        lambda token: token[: len(token) // 2],
    ],
)
def test_a_link_that_is_not_whole_is_broken(spoil):
    """Cut, padded, or with a line's end that a mail program has added."""
    assert read(spoil(sign(OFFER, KEYS)), KEYS, NOW) is Unfit.BROKEN


@given(st.text(max_size=400))
def test_no_text_is_a_link_and_none_breaks_the_reader(text):
    """Whatever somebody types behind the question mark."""
    assert read(text, KEYS, NOW) is Unfit.BROKEN


@given(st.binary(max_size=200))
def test_not_even_a_signed_payload_breaks_the_reader(data):
    """Somebody may have signed with our key what is no offer, such as a later version of us."""
    from spotwarden.notify.links import tokens  # noqa: PLC0415 — its private half

    said = f"1.k2.{KEYS.audience}.{tokens._text(data) or 'AA'}"
    signature = tokens._text(tokens.hmac(KEYS.keys["k2"], said.encode(), tokens.sha256))
    assert read(f"{said}.{signature}", KEYS, NOW) is Unfit.BROKEN


def test_what_is_too_long_is_not_even_looked_at():
    """Two thousand characters fit into any address; the one beyond is not read."""
    assert read("1.k2." + "A" * MOST_CHARACTERS, KEYS, NOW) is Unfit.BROKEN


def test_a_link_that_would_be_too_long_is_not_made():
    """Nobody gets a link that cannot be read again."""
    with pytest.raises(ValueError, match="too long"):
        sign(replace(OFFER, notice="n" * 2000), KEYS)
    room = replace(OFFER, notice="n" * 1200)
    assert read(sign(room, KEYS), KEYS, NOW) == room


# --- whose it is ---


@pytest.mark.parametrize("there", ['["q","b",""]', '["p","c",""]', '["p","b","users/"]', ""])
def test_a_link_of_another_deployment_is_foreign(there):
    """Another project, bucket or folder, though it has the very same secret."""
    other = Keys.read(f"{NEW},{OLD}", there)
    assert read(sign(OFFER, other), KEYS, NOW) is Unfit.FOREIGN


def test_a_foreign_link_with_our_audience_on_it_is_not_ours():
    """The name of the deployment is in the key as well."""
    other = Keys.read(NEW, "elsewhere")
    token = sign(OFFER, replace(other, audience=KEYS.audience))
    assert read(token, KEYS, NOW) is Unfit.BROKEN


def test_another_secret_under_the_same_name_is_not_ours():
    """The id of a key is no secret."""
    assert read(sign(OFFER, Keys.read(key("k2", 9), HERE)), KEYS, NOW) is Unfit.BROKEN


# --- rotation ---


def test_keys_are_rotated_with_an_overlap():
    """Links of the old key are good until it is taken away, and new ones bear the first key."""
    before, after = Keys.read(OLD, HERE), Keys.read(NEW, HERE)
    assert read(sign(OFFER, before), KEYS, NOW) == OFFER
    assert read(sign(OFFER, KEYS), after, NOW) == OFFER
    assert read(sign(OFFER, before), after, NOW) is Unfit.FOREIGN


@pytest.mark.parametrize("text", [f"{NEW}, {OLD}", f"{NEW},{OLD},", NEW.rstrip("=") + "," + OLD])
def test_keys_may_be_written_with_spaces_and_without_padding(text):
    """People paste them."""
    assert list(Keys.read(text, HERE).keys) == ["k2", "k1"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "not set"),
        (" , ", "not set"),
        ("c2VjcmV0" * 6, "key number 1 has no id"),
        (f"{NEW},no id:c2VjcmV0", "key number 2 has no id"),
        ("k1:not base64!" + "x" * 40, "the key k1 is not base64url"),
        (key("k1", 1, 31), "the key k1 has 31 bytes; 32 at least"),
        (f"{OLD},{OLD}", "two keys are called k1"),
    ],
)
def test_keys_that_cannot_be_used_are_refused_in_words(text, why):
    """The variable is named, and the key itself never is."""
    with pytest.raises(KeysError, match=why) as refused:
        Keys.read(text, HERE)
    said = str(refused.value)
    assert said.startswith("SPOTWARDEN_SIGNING_KEYS")
    secrets = [part.partition(":")[2] or part for part in text.split(",") if part.strip()]
    assert all(secret not in said for secret in secrets)


def test_a_key_of_just_enough_bytes_is_taken():
    """Thirty-two."""
    assert list(Keys.read(key("k1", 1, 32), HERE).keys) == ["k1"]


def test_keys_never_show_themselves():
    """Not in a traceback, a log or a debugger."""
    secret = KEYS.keys["k1"]
    assert repr(secret) not in repr(KEYS)
    assert str(KEYS) == "Keys(k2, k1)"
    assert repr(secret) not in str(KEYS.__rich_repr__())
