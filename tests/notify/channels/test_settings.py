"""What the environment may say of channels, and how it is told what it may not."""

import json

import pytest

from spotwarden.model.message import Shape
from spotwarden.notify.channels import ChannelSettings, ChannelSettingsError, open_mailer
from spotwarden.notify.channels.model import Hook, Secret, Security, Sender, Smtp
from spotwarden.ports import RejectedError
from tests.notify.channels.messages import mail, post

FROM = "Spotwarden <spotwarden@example.com>"
SECRET = "0123456789abcdef"
URL = "https://hooks.example.com/services/T000/B000/xyzzy"


def smtp(url: str, *, password: str = "", sender: str = FROM) -> Smtp | None:
    """What is read of these settings of mail."""
    environ = {"SPOTWARDEN_SMTP": url, "SPOTWARDEN_SMTP_PASSWORD": password, "SPOTWARDEN_MAIL_FROM": sender}
    return ChannelSettings.read(environ).smtp


def hooks(rows: object) -> ChannelSettings:
    """What is read of these hooks."""
    return ChannelSettings.read({"SPOTWARDEN_HOOKS": rows if isinstance(rows, str) else json.dumps(rows)})


def slack(**what: object) -> dict[str, object]:
    """One hook; only what matters need be given."""
    return {"ml-chat": {"shape": "slack", "url": URL, **what}}


@pytest.mark.parametrize(
    ("url", "security", "host", "port", "user"),
    [
        ("smtp://me@mail.example.com:2587", Security.STARTTLS, "mail.example.com", 2587, "me"),
        ("smtp://mail.example.com", Security.STARTTLS, "mail.example.com", 587, ""),
        (
            "smtps://me%40example.com@mail.example.com",
            Security.TLS,
            "mail.example.com",
            465,
            "me@example.com",
        ),
        ("smtps://me@example.com@mail.example.com/", Security.TLS, "mail.example.com", 465, "me@example.com"),
        ("smtp+plain://127.0.0.1:2525", Security.PLAIN, "127.0.0.1", 2525, ""),
        ("smtp+plain://[::1]:2525", Security.PLAIN, "::1", 2525, ""),
        ("smtp+plain://localhost:2525", Security.PLAIN, "localhost", 2525, ""),
    ],
)
def test_a_mail_server_is_read_from_its_url(url: str, security: Security, host: str, port: int, user: str):
    """The scheme says how it is kept from being read, the port follows from it."""
    assert smtp(url, password="x" if user else "") == Smtp(
        host=host,
        port=port,
        security=security,
        sender=Sender(name="Spotwarden", address="spotwarden@example.com"),
        user=user,
        password=Secret("x" if user else ""),
    )


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("mail.example.com:587", "not a server and a port"),
        ("mail.example.com", "not a server and a port"),
        ("http://mail.example.com", "an unknown scheme"),
        ("smtp://", "not a server and a port"),
        ("smtp://mail.example.com:99999", "an invalid port"),
        ("smtp://mail.example.com:0", "not a server and a port"),
        ("smtp://[mail", "an invalid port"),
        ("smtp://mail.example.com/inbox", "not a server and a port"),
        ("smtp://mail.example.com?tls=no", "not a server and a port"),
        ("smtp+plain://mail.example.com:25", "unencrypted"),
        ("smtp+plain://10.0.0.1:25", "unencrypted"),
        ("smtp+plain://me@127.0.0.1:25", "a user without TLS"),
    ],
)
def test_a_mail_server_that_cannot_be_is_refused(url: str, says: str):
    """The message names the variable, what is wrong and what is right."""
    with pytest.raises(ChannelSettingsError, match=f"SPOTWARDEN_SMTP.*{says}.*it is like smtp://"):
        smtp(url)


def test_a_password_in_the_url_is_refused_and_not_repeated():
    """It would stand in every place that shows the environment."""
    with pytest.raises(ChannelSettingsError, match="SPOTWARDEN_SMTP_PASSWORD") as refused:
        smtp("smtp://me:sesame@mail.example.com:587")
    assert "sesame" not in str(refused.value)


@pytest.mark.parametrize(
    ("url", "password", "says"),
    [
        ("smtp://me@mail.example.com", "", "SPOTWARDEN_SMTP_PASSWORD is not set"),
        ("smtp://me@mail.example.com", "\n", "SPOTWARDEN_SMTP_PASSWORD is not set"),
        ("smtp://mail.example.com", "sesame", "SPOTWARDEN_SMTP names no user"),
        ("smtp://me@mail.example.com", "sesäme", "other than printable ASCII"),
        ("smtp://me@mail.example.com", "ses\x00ame", "other than printable ASCII"),
    ],
)
def test_user_and_password_go_together_and_are_plain(url: str, password: str, says: str):
    """One without the other is a setting forgotten."""
    with pytest.raises(ChannelSettingsError, match=says) as refused:
        smtp(url, password=password)
    assert "ame" not in str(refused.value).replace("names", "")


def test_the_line_end_that_a_secret_was_stored_with_is_no_part_of_it():
    """A blank may be."""
    found = smtp("smtp://me@mail.example.com", password=" ses ame\r\n")
    assert found is not None
    assert found.password.reveal() == " ses ame"


@pytest.mark.parametrize(
    ("said", "name", "address"),
    [
        ("spotwarden@example.com", "", "spotwarden@example.com"),
        ("<spotwarden@example.com>", "", "spotwarden@example.com"),
        ('"ML, ops" <a+b@x.example>', "ML, ops", "a+b@x.example"),
        (" Spötwarden  <a@x>", "Spötwarden", "a@x"),
    ],
)
def test_a_sender_is_an_address_with_or_without_a_name(said: str, name: str, address: str):
    """As it stands in a header."""
    found = smtp("smtp://mail.example.com", sender=said)
    assert found is not None
    assert found.sender == Sender(name=name, address=address)


@pytest.mark.parametrize(
    "said",
    [
        "",
        "Spotwarden",
        "a@b, c@d",
        "a@b <c@d> e",
        "A <a@b>\r\nBcc: eve@x",
        "A\nB <a@b>",
        "jürgen@example.com",
    ],
)
def test_a_sender_that_is_none_is_refused(said: str):
    """With an example of one."""
    with pytest.raises(ChannelSettingsError, match=r"SPOTWARDEN_MAIL_FROM .* it is like Spotwarden <"):
        smtp("smtp://mail.example.com", sender=said)


def test_hooks_are_read_by_their_names():
    """Each with its shape; a signed one with its secret; http only on this machine."""
    settings = hooks(
        {
            **slack(),
            "space": {"shape": "chat", "url": "https://chat.example.com/v1/x?key=a&token=b"},
            "tool-2": {"shape": "json", "url": "http://127.0.0.1:8080", "secret": SECRET},
        }
    )
    assert settings.hooks["ml-chat"] == Hook(shape=Shape.SLACK, url=Secret(URL))
    assert settings.hooks["tool-2"].secret == Secret(SECRET)
    assert settings.shapes == {"ml-chat": Shape.SLACK, "space": Shape.CHAT, "tool-2": Shape.JSON}


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ("{", "is not a JSON object"),
        ("[]", "is not a JSON object"),
        ("\ud800", "is not a JSON object"),
        ({"ML chat": {}}, "'ML chat' has a name"),
        ({"": {}}, "'' has a name"),
        ({"x" * 64: {}}, "has a name"),
        ({"ml-chat": URL}, "'ml-chat' is invalid"),
        ({"ml-chat": {"shape": "slack"}}, "'ml-chat' is invalid .*`url`"),
        (slack(shape="teams"), "'ml-chat' is invalid .a shape is slack, chat, json"),
        (slack(channel="#ml"), "'ml-chat' is invalid .*`channel`"),
        (slack(secret=SECRET), "slack checks no signatures"),
        (slack(shape="json"), "without a secret of at least 16"),
        (slack(shape="json", secret=SECRET[1:]), "without a secret of at least 16"),
        (slack(url="http://hooks.example.com/xyzzy"), "neither https:// nor http:// on this machine"),
        (slack(url="ftp://hooks.example.com/xyzzy"), "neither https:// nor http:// on this machine"),
        (slack(url="xyzzy"), "an invalid url"),
        (slack(url="https://"), "an invalid url"),
        (slack(url="https://x:99999/xyzzy"), "an invalid url"),
        (slack(url="https://x/xyzzy\r\nHost: eve"), "an invalid url"),
        (slack(url="https://x/xy zzy"), "an invalid url"),
        (slack(url="https://me:xyzzy@x/"), "with a user"),
        (slack(url="https://x/#xyzzy"), "a fragment"),
    ],
)
def test_a_hook_that_cannot_be_is_refused_and_not_repeated(rows: object, says: str):
    """The message names the variable and the hook, never its URL or secret."""
    with pytest.raises(ChannelSettingsError, match=f"(?s)SPOTWARDEN_HOOKS.*{says}.*it is like ") as refused:
        hooks(rows)
    for secret in ("xyzzy", SECRET[1:]):
        assert secret not in str(refused.value)


def test_a_shape_that_is_a_secret_in_the_wrong_place_is_not_repeated():
    """Nor a field's wrong value."""
    with pytest.raises(ChannelSettingsError) as refused:
        hooks(slack(shape=SECRET))
    assert SECRET not in str(refused.value)


def test_settings_that_are_shown_show_no_secret():
    """In a traceback or a log."""
    shown = repr(hooks(slack(shape="json", secret=SECRET))) + repr(smtp("smtp://me@x", password="sesame"))
    assert not [secret for secret in ("xyzzy", SECRET, "sesame") if secret in shown]


def test_a_channel_that_is_not_set_says_what_to_set():
    """The message waits, and goes out once it is."""
    nothing = open_mailer(ChannelSettings.read({}))
    with pytest.raises(RejectedError, match="unsent: SPOTWARDEN_SMTP is not set"):
        nothing.send(mail())
    with pytest.raises(RejectedError, match="unsent: SPOTWARDEN_HOOKS is not set"):
        nothing.send(post())


def test_a_hook_that_nobody_has_set_is_named():
    """With those that there are: a policy may misspell one."""
    with pytest.raises(RejectedError, match="unsent: SPOTWARDEN_HOOKS has no 'other', only ml-chat"):
        open_mailer(hooks(slack())).send(post(hook="other"))
