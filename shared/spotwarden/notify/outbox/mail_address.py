"""What is a mail address, of what people and machines write where one should stand."""

import re

MOST_BYTES = 254
"""The longest path that SMTP can carry, without its angle brackets (RFC 5321, 4.5.3.1.3; erratum 1690)."""
MOST_BYTES_BEFORE_AT = 64
_LOCAL = re.compile(r"[^\s@,;:<>()\[\]\"\\]+")
_DOMAIN = re.compile(r"(?:[^\W_](?:[\w-]{0,61}[^\W_])?)(?:\.[^\W_](?:[\w-]{0,61}[^\W_])?)*")


def address(said: str) -> str:
    """The address, its domain in small letters; "" for anything that is not exactly one plain address.

    Quoted names, comments and literal IP addresses are legal in mail, and in an owner's name only a trap.
    """
    local, at, domain = said.rpartition("@")
    try:
        fits = len(said.encode()) <= MOST_BYTES and len(local.encode()) <= MOST_BYTES_BEFORE_AT
    except UnicodeEncodeError:
        return ""
    if not (at and fits and said.isprintable()):
        return ""
    if not _LOCAL.fullmatch(local) or not _DOMAIN.fullmatch(domain):
        return ""
    if local.startswith(".") or local.endswith(".") or ".." in local:
        return ""
    return f"{local}@{domain.casefold()}"
