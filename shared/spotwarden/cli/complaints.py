"""What a person is told of what went wrong outside of us."""

import errno

from spotwarden.layout import NotInLayoutError
from spotwarden.ports import BrokenError, RejectedError, UnansweredError

_THIS_MACHINE = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM}
"""A disk that is full, or may not be written: nothing that a traceback helps with."""


def complaint(error: Exception) -> str:
    """One sentence; "" for a fault of ours, whose traceback is what helps."""
    # Google's libraries take a while to import; whoever sees this has them already.
    from spotwarden.gcp.errors import REFUSALS  # noqa: PLC0415 — see above

    if isinstance(error, UnansweredError):
        return f"Google Cloud does not answer: {error}"
    if isinstance(error, REFUSALS):
        return f"Google Cloud refuses it: {error}"
    if isinstance(error, OSError) and error.errno in _THIS_MACHINE:
        where = f": {error.filename}" if error.filename else ""
        return f"this machine does not allow it: {error.strerror}{where}"
    return str(error) if isinstance(error, BrokenError | NotInLayoutError | RejectedError) else ""
