"""Where Compute Engine and Cloud Monitoring are spoken to."""

import ipaddress
from urllib.parse import urlsplit

GOOGLE = "https://compute.googleapis.com"


def checked_endpoint(endpoint: str) -> str:
    """The endpoint without a slash at its end; "" means that of Google's Compute Engine.

    Raises:
        ValueError: it is neither https nor http on loopback, so a token would cross the net in the clear.
    """
    url = urlsplit(endpoint or GOOGLE)
    if url.scheme == "https" or is_loopback(endpoint):
        return (endpoint or GOOGLE).rstrip("/")
    raise ValueError(
        f"The endpoint {endpoint!r} is neither https:// nor http:// on this machine; "
        "leave it empty for Google, or give something like http://127.0.0.1:8080."
    )


def is_loopback(endpoint: str) -> bool:
    """Whether the endpoint is plain http on this machine, as the local cloud's is."""
    url = urlsplit(endpoint)
    if url.scheme != "http" or not url.hostname:
        return False
    try:
        return ipaddress.ip_address(url.hostname).is_loopback
    except ValueError:
        return url.hostname == "localhost"
