"""What came from a bucket, made harmless before it stands in a page."""

import json
from urllib.parse import quote

from markupsafe import Markup

from spotwarden.notify.templates.text import clean

_CONSOLE = "https://console.cloud.google.com/storage/browser/"
MOST = 4000
"""Characters of any one text."""


def finalize(value: object) -> object:
    """What a template makes of each value: text is cleaned, then escaped by the template."""
    if isinstance(value, Markup) or not isinstance(value, str):
        return "" if value is None else value
    if value.isascii() and value.isprintable() and len(value) <= MOST:
        return value
    return clean(value, MOST)


def safe_url(url: str) -> str:
    """The console's page of a `gs://` URL; "" for any other: nobody is sent anywhere else."""
    return _CONSOLE + quote(url.removeprefix("gs://"), safe="/") if url.startswith("gs://") else ""


def data(value: object) -> Markup:
    """JSON to stand in a page, in a data block: nothing in it can end the block or begin markup."""
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(text)  # noqa: S704 — every sign that HTML knows is written as its number
