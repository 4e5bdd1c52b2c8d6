"""The few errors that what we need from outside may raise."""


class ConflictError(Exception):
    """The object's generation is not the one named: somebody else was first. Nothing was changed."""


class RejectedError(Exception):
    """The other side answered that it did not do it; `code` is its reason word (`alreadyExists`, …)."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message


class UnansweredError(Exception):
    """No answer, or one that leaves open whether the call was carried out. Asking again is safe."""


class BrokenError(ValueError):
    """An object of the bucket is not what its name says, or far too large for it; the message names it."""
