"""Pages that say that there is nothing to show."""

from spotwarden.report.views.frame import PageFrame
from spotwarden.report.views.rendering import render


def trouble(title: str, says: str, frame: PageFrame, todo: str = "") -> str:
    """What went wrong, and what to do."""
    return render("trouble", frame.at("trouble", frame.depth), title=title, says=says, todo=todo)
