"""Pages that say that there is nothing to show."""

from spotwarden.decide.report_pages.frame import Frame
from spotwarden.decide.report_pages.rendering import render


def trouble(title: str, says: str, frame: Frame, todo: str = "") -> str:
    """What went wrong, and what to do."""
    return render("trouble", frame.at("trouble", frame.depth), title=title, says=says, todo=todo)
