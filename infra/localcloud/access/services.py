"""The rules of the doors to Google's services, the main entrance and those of the functions."""

from localcloud.access.rules import Rules

PAGES = "/local/mailbox"
NOT_JSON = ("/upload/", "/resumable/upload/", "/batch", "/token")
"""Media of Cloud Storage, batches (multipart/mixed) and OAuth's token requests, which are forms."""


def is_page(path: str) -> bool:
    """Whether it is something for people to look at."""
    return path == PAGES or path.startswith(f"{PAGES}/")


def takes_json(path: str) -> bool:
    """Whether a body for it is JSON."""
    return not path.startswith(NOT_JSON)


SERVICES = Rules(pages=is_page, json=takes_json)
