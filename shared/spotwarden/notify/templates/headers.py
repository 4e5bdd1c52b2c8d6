"""What a browser may do with our pages: show them, and what the page's own policy adds to that."""

from collections.abc import Mapping


def page_headers(policy: str) -> Mapping[str, str]:
    """The headers of a page; `policy` is what its Content-Security-Policy allows."""
    return {
        "Content-Type": "text/html; charset=utf-8",
        "Content-Security-Policy": (
            f"default-src 'none'; {policy}; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
        ),
        # The link may be in the address: no other site may hear of it, and no index may keep the page.
        "Referrer-Policy": "no-referrer",
        "X-Robots-Tag": "noindex, nofollow",
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
        "Strict-Transport-Security": "max-age=31536000",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    }
