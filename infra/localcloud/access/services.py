"""The rules of the doors to Google's services, the main entrance and those of the functions."""

import re

from localcloud.access.rules import Rules

PAGES = "/local/mailbox"
NOT_JSON = ("/upload/", "/resumable/upload/", "/batch", "/token")
"""Media of Cloud Storage, batches (multipart/mixed) and OAuth's token requests, which are forms."""


_OBJECT = re.compile(
    r"/(?!(batch|compute|computeMetadata|download|local|oauth2|projects|resumable|storage|upload)/)"
    r"[a-z0-9][a-z0-9._-]+[a-z0-9]/."
)
"""The path of an object in Cloud Storage's XML API, whose uploads begin with the type of what follows."""


def is_page(path: str) -> bool:
    """Whether it is something for people to look at."""
    return path == PAGES or path.startswith(f"{PAGES}/")


def takes_json(path: str) -> bool:
    """Whether a body for it is JSON."""
    return not path.startswith(NOT_JSON) and not _OBJECT.match(path)


SERVICES = Rules(pages=is_page, json=takes_json)
