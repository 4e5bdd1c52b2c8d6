"""What a browser may do with our pages: show them, and send their one form back to us."""

from base64 import b64encode
from collections.abc import Mapping
from hashlib import sha256

from spotwarden.notify.links.pages.template import STYLE

_STYLE = b64encode(sha256(STYLE.encode()).digest()).decode()
POLICY = (
    f"default-src 'none'; style-src 'sha256-{_STYLE}'; form-action 'self'; base-uri 'none';"
    " frame-ancestors 'none'"
)
"""The style sheet stands in the page, and is allowed by its digest alone."""

HEADERS: Mapping[str, str] = {
    "Content-Type": "text/html; charset=utf-8",
    "Content-Security-Policy": POLICY,
    # The link is in the address: no other site may hear of it, and no cache or index may keep the page.
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "X-Robots-Tag": "noindex, nofollow",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Strict-Transport-Security": "max-age=31536000",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
