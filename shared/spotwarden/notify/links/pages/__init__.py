"""The pages that a link in a message opens: one card, no script, nothing from elsewhere."""

from spotwarden.notify.links.pages.rendering import headers, render

__all__ = ["headers", "render"]
