"""URLs of Compute Engine's resources, as short as they are still good for everyone."""

import re

_FULL = re.compile(r"(?:https?:)?//[^/]+/(?:compute/[a-z0-9]+/)?(?=projects/)")


def partial(link: str) -> str:
    """The URL from its project on: the same whichever host, port or version of the API gave it."""
    return _FULL.sub("", link, count=1)


def last(link: str) -> str:
    """The name at the end of a URL."""
    return link.rsplit("/", 1)[-1]
