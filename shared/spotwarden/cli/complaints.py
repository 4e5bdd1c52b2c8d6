"""What a person is told of what went wrong outside of us."""

from spotwarden.layout import NotInLayoutError
from spotwarden.ports import BrokenError, RejectedError, UnansweredError


def complaint(error: Exception) -> str:
    """One sentence; "" for a fault of ours, whose traceback is what helps."""
    # Google's libraries take a while to import; whoever sees this has them already.
    from spotwarden.gcp.errors import REFUSALS  # noqa: PLC0415 — see above

    if isinstance(error, UnansweredError):
        return f"Google Cloud does not answer: {error}"
    if isinstance(error, REFUSALS):
        return f"Google Cloud refuses it: {error}"
    return str(error) if isinstance(error, BrokenError | NotInLayoutError | RejectedError) else ""
