"""The pages that a link in a letter opens: one card, no script, nothing from elsewhere."""

from spotwarden.decide.pages.headers import HEADERS
from spotwarden.decide.pages.rendering import render

__all__ = ["HEADERS", "render"]
