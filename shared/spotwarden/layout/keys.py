"""Any text made fit to be a part of a name."""

from hashlib import sha256
from urllib.parse import quote


def quarantine_key(name: str) -> str:
    """Make any marker name fit for `Quarantined.key`; two names never share a key unless over 200 bytes."""
    return quote(name.encode()[:200], safe="") or "%00"


def notice_key(notice_id: str) -> str:
    """What names a notice's records, whatever is in its id."""
    return _digest(notice_id)


def person_key(address: str) -> str:
    """What names a recipient's records; two addresses never share one."""
    cut = address.encode(errors="surrogatepass")[:160]
    whole = len(cut) == len(address.encode(errors="surrogatepass"))
    return quote(cut if whole else cut + b"~" + _digest(address).encode(), safe="") or "%00"


def _digest(text: str) -> str:
    return sha256(text.encode(errors="surrogatepass")).hexdigest()[:32]
