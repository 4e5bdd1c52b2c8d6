"""The mail server, as the environment says it."""

from collections.abc import Mapping
from urllib.parse import SplitResult, unquote, urlsplit

from spotwarden.notify.channels.addresses import is_loopback, name_and_address
from spotwarden.notify.channels.model import ChannelSettingsError, Secret, Security, Sender, Smtp

PORTS = {Security.STARTTLS: 587, Security.TLS: 465, Security.PLAIN: 25}
"""Where a URL names none (RFC 6409, RFC 8314)."""

RIGHT = (
    "it is like smtp://user@mail.example.com:587 (STARTTLS), smtps://user@mail.example.com:465, "
    "or smtp+plain://127.0.0.1:2525 for a server on this machine"
)


def read_smtp(environ: Mapping[str, str]) -> Smtp | None:
    """The server; None where `SPOTWARDEN_SMTP` is not set."""
    said = environ.get("SPOTWARDEN_SMTP", "")
    if not said:
        return None
    url = _url(said)
    security = _security(url)
    user = unquote(url.username or "")
    return Smtp(
        host=url.hostname or "",
        port=url.port or PORTS[security],
        security=security,
        sender=_sender(environ.get("SPOTWARDEN_MAIL_FROM", "")),
        user=user,
        password=_password(environ.get("SPOTWARDEN_SMTP_PASSWORD", ""), user),
        ca=environ.get("SPOTWARDEN_SMTP_CA", ""),
    )


def _url(said: str) -> SplitResult:
    # Nothing of the value is repeated: who puts a password where it does not belong finds it in no log.
    try:
        url = urlsplit(said)
        port = url.port
    except ValueError:
        raise _wrong("SPOTWARDEN_SMTP has an invalid port") from None
    if url.password is not None:
        raise ChannelSettingsError(
            "SPOTWARDEN_SMTP holds a password; put it into SPOTWARDEN_SMTP_PASSWORD, from a secret"
        )
    if not url.hostname or url.path.strip("/") or url.query or url.fragment or port == 0:
        raise _wrong("SPOTWARDEN_SMTP is not a server and a port")
    return url


def _security(url: SplitResult) -> Security:
    try:
        security = Security(url.scheme)
    except ValueError:
        raise _wrong("SPOTWARDEN_SMTP has an unknown scheme") from None
    if security is Security.PLAIN and not is_loopback(url.hostname or ""):
        raise _wrong("SPOTWARDEN_SMTP would send mail unencrypted")
    if security is Security.PLAIN and url.username:
        raise _wrong("SPOTWARDEN_SMTP names a user without TLS, where a password could be read")
    return security


def _password(said: str, user: str) -> Secret:
    # Secrets are often stored with the line end that `echo` has put there.
    password = said.rstrip("\r\n")
    if bool(user) != bool(password):
        lacks = "SPOTWARDEN_SMTP_PASSWORD is not set" if user else "SPOTWARDEN_SMTP names no user"
        raise ChannelSettingsError(f"{lacks}; set both a user and a password, or neither")
    if not (user + password).isascii() or not (user + password).isprintable():
        raise ChannelSettingsError(
            "SPOTWARDEN_SMTP's user or SPOTWARDEN_SMTP_PASSWORD has characters other than printable ASCII, "
            "which mail servers treat differently; ask the server's administrator for others"
        )
    return Secret(password)


def _sender(said: str) -> Sender:
    found = name_and_address(said)
    if found is None or not found[1].isascii():
        raise ChannelSettingsError(
            f"SPOTWARDEN_MAIL_FROM is {said!r}; it is like Spotwarden <spotwarden@example.com>, "
            "with an address that the mail server lets you send from"
        )
    return Sender(name=found[0], address=found[1])


def _wrong(what: str) -> ChannelSettingsError:
    return ChannelSettingsError(f"{what}; {RIGHT}")
