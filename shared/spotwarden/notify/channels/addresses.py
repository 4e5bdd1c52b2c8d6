"""Mail addresses, and what of a URL stays on this machine."""

import ipaddress
import re

LONGEST = 254
"""Octets of an address (RFC 5321, 4.5.3.1.3, without the angle brackets)."""

_DOMAIN = r"(?:[^\W_](?:[-\w]{0,61}[^\W_])?)(?:\.[^\W_](?:[-\w]{0,61}[^\W_])?)*"
_ADDRESS = re.compile(r"[^\s@<>()\[\]\\,;:\"\x00-\x20\x7f-\x9f]{1,64}@" + _DOMAIN)
_NAMED = re.compile(r"(?:(?P<name>[^<>@\"\\]*?)|\"(?P<quoted>[^<>\"\\]*)\")\s*<(?P<address>[^<>]*)>")


def is_address(text: str) -> bool:
    """Whether this is one mail address and nothing else, such as a mail server takes without quotes."""
    return bool(_ADDRESS.fullmatch(text)) and text.isprintable() and len(text.encode()) <= LONGEST


def name_and_address(text: str) -> tuple[str, str] | None:
    """The two parts of `Name <address>`, or of an address alone; None where it is neither."""
    text = text.strip()
    named = _NAMED.fullmatch(text)
    name, address = (named["name"] or named["quoted"] or "", named["address"]) if named else ("", text)
    return (name.strip(), address) if is_address(address) and name.isprintable() else None


def is_loopback(host: str) -> bool:
    """Whether a host is this machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
