"""The pages that a link in a message opens: one card, no script, nothing from elsewhere."""

from spotwarden.notify.links.pages.headers import HEADERS
from spotwarden.notify.links.pages.rendering import render

__all__ = ["HEADERS", "render"]
