"""Pages that say that there is nothing to show."""

from spotwarden.report.views.frame import PageFrame
from spotwarden.report.views.rendering import render


def trouble(title: str, says: str, frame: PageFrame) -> str:
    """What went wrong."""
    return render("trouble", frame.at("trouble", frame.depth), title=title, says=says)
