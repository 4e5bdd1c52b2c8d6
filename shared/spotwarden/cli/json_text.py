"""Anything as the JSON that `--json` prints."""

import re

import msgspec

_UNSEEN = re.compile("[\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""What a terminal obeys instead of showing it, or what turns the order of letters round."""


def json_text(value: object) -> str:
    """Indented JSON; what others wrote cannot steer the terminal it is printed to."""
    text = msgspec.json.format(msgspec.json.encode(value)).decode()
    return _UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
